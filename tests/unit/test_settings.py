"""Settings come from the environment once, and a bad one is named."""

from pathlib import Path

import pytest

from steward.contract.errors import ConfigError
from steward.settings import Settings, load_settings


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for field in Settings.model_fields.values():
        monkeypatch.delenv(str(field.validation_alias.choices[0]), raising=False)  # type: ignore[union-attr]
    monkeypatch.chdir(tmp_path)


@pytest.mark.req("ORC-ASM-5")
@pytest.mark.req("RES-FR-029", "RES-FR-027", "RES-FR-028")
def test_the_defaults_are_the_documented_ones() -> None:
    settings = load_settings()
    assert (
        settings.otlp_endpoint,
        settings.service_name,
        settings.azure_deployment,
        settings.websearch_max_results,
        settings.websearch_timeout,
        settings.timeout,
        settings.database_url,
    ) == ("http://localhost:4317", "paias-agent-layer", "deepseek-v3", 10, 30.0, 30.0, None)


@pytest.mark.req("RES-FR-027")
def test_variables_and_a_dotenv_file_are_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("AZURE_AI_FOUNDRY_ENDPOINT=https://a.example\nSTEWARD_TIMEOUT=5\n")
    monkeypatch.setenv("STEWARD_TIMEOUT", "7")
    monkeypatch.setenv("STEWARD_ALLOWED_ROOTS", "/a:/b")
    settings = load_settings()
    assert (settings.azure_endpoint, settings.timeout, settings.roots) == (
        "https://a.example",
        7.0,
        (Path("/a"), Path("/b")),
    )


def test_a_variable_that_is_set_to_nothing_is_not_set_and_case_does_not_matter(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("STEWARD_TIMEOUT=5\nSTEWARD_MODEL=\nUNKNOWN_TO_US=1\n")
    monkeypatch.setenv("STEWARD_TIMEOUT", "")
    monkeypatch.setenv("steward_debug", "true")
    settings = load_settings()
    assert (settings.timeout, settings.model, settings.debug) == (5.0, None, True)


def test_without_roots_the_current_folder_is_the_root(tmp_path: Path) -> None:
    assert load_settings().roots == (tmp_path,)


@pytest.mark.req("RES-FR-028")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("STEWARD_TIMEOUT", "soon"),
        ("STEWARD_TIMEOUT", "-1"),
        ("WEBSEARCH_ENGINE", "altavista"),
        ("WEBSEARCH_MAX_RESULTS", "0"),
    ],
)
def test_a_value_that_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError) as caught:
        load_settings()
    assert (name in caught.value.message, caught.value.code) == (True, "CONFIG_INVALID")


def test_secrets_are_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://u:hunter2@h/d")
    monkeypatch.setenv("STEWARD_API_KEY", "hunter3")
    settings = load_settings()
    assert ("hunter" in repr(settings), sorted(settings.secrets())) == (
        False,
        ["hunter3", "postgresql://u:hunter2@h/d"],
    )


def test_every_part_of_the_home_stands_below_it(tmp_path: Path) -> None:
    settings = load_settings(STEWARD_HOME=tmp_path)
    parts = (
        settings.mcp_file,
        settings.policy_file,
        settings.tools_file,
        settings.skills_folder,
        settings.logs_folder,
        settings.database_folder,
    )
    assert all(part.is_relative_to(tmp_path) for part in parts)


def test_the_current_folder_is_the_default_root(tmp_path: Path) -> None:
    assert load_settings().roots == (tmp_path.resolve(),)


@pytest.mark.parametrize("home", ["", "ana", "people/ana"])
def test_neither_the_account_s_home_nor_a_folder_above_it_is_a_root_by_itself(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, home: str
) -> None:
    (tmp_path / home).mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("HOME", str(tmp_path / home))
    assert load_settings().roots == ()


def test_the_whole_disk_is_no_root_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert load_settings().roots == ()


def test_the_account_s_home_is_a_root_where_it_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("STEWARD_ALLOWED_ROOTS", "~")
    assert load_settings().places.folders == (tmp_path.resolve(),)


def test_the_home_of_steward_is_closed_and_its_uploads_can_be_ingested(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STEWARD_HOME", str(tmp_path / "home"))
    settings = load_settings()
    held = [
        settings.places.holds(tmp_path / "home" / "token"),
        settings.places.holds(tmp_path / "home" / "uploads" / "a.txt"),
        settings.ingestible.holds(tmp_path / "home" / "uploads" / "a.txt"),
    ]
    assert held == [False, False, True]
