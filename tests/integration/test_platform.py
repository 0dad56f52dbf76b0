"""The whole platform on a real database: built-in functions, doctor, spans."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from steward.bootstrap import Platform, open_platform
from steward.bootstrap.workspace import diagnosis
from steward.bootstrap.workspace.diagnosis import Verdict, diagnose
from steward.contract.call import Caller, CallerKind, Done, Failed, ToolCall, ToolResult
from steward.contract.errors import ConfigError
from steward.knowledge.facts import save_fact
from steward.providers.containment.plan import Mechanism
from steward.settings import Settings, load_settings
from steward.storage.library.facts import PostgresFactStore

MODEL = Caller(CallerKind.AGENT, "model")


@pytest.fixture
def settings(tmp_path: Path, database_url: str) -> Settings:
    (tmp_path / "vault").mkdir()
    return load_settings(
        STEWARD_HOME=tmp_path / "home",
        DATABASE_URL=database_url,
        OTEL_EXPORTER_OTLP_ENDPOINT="none",
        STEWARD_OBSIDIAN_VAULT=tmp_path / "vault",
    )


@pytest.fixture
async def platform(settings: Settings) -> AsyncIterator[Platform]:
    async with open_platform(settings) as platform:
        yield platform


async def call(platform: Platform, tool: str, **arguments: Any) -> ToolResult:
    return await platform.orchestrator.execute(ToolCall(tool=tool, arguments=arguments, caller=MODEL))


@pytest.mark.req("ORC-US3-IT", "ORC-ASM-4")
@pytest.mark.req("ORC-US3.1", "ORC-US3.2", "ORC-FR-010", "ORC-SC-002")
async def test_save_fact_gives_the_same_directly_and_through_the_door(platform: Platform) -> None:
    through = await call(platform, "save_fact", text="The key is at Ana's.")
    direct = await save_fact(PostgresFactStore(platform.database), "The key is at Ana's.", user="local")
    assert isinstance(through, Done)
    assert (through.data["id"], through.data["text"]) == (direct.id, direct.text)


@pytest.mark.req("ORC-US3.1", "ORC-FR-010")
async def test_log_to_obsidian_writes_without_asking_into_the_configured_vault(
    platform: Platform, tmp_path: Path
) -> None:
    result = await call(platform, "log_to_obsidian", text="Boiler serviced")
    assert isinstance(result, Done)
    assert "Boiler serviced" in (tmp_path / "vault" / result.data["note"]).read_text()


async def test_a_function_that_refuses_keeps_its_own_code(platform: Platform) -> None:
    result = await call(platform, "save_fact", text="   ")
    assert isinstance(result, Failed)
    assert result.code == "INVALID_INPUT"


@pytest.mark.req("ORC-FR-012")
async def test_everything_needed_is_on_this_machine(settings: Settings) -> None:
    findings = [item async for item in diagnose(settings, host="127.0.0.1", port=0, running=None)]
    by_name = {item.what: item.verdict for item in findings}
    assert by_name == {
        "home": Verdict.NOTE,
        "disk": Verdict.GOOD,
        "policy": Verdict.GOOD,
        "servers": Verdict.NOTE,
        "tools": Verdict.NOTE,
        "code": Verdict.GOOD,
        "database": Verdict.GOOD,
        "record": Verdict.GOOD,
        "library": Verdict.GOOD,
        "model": Verdict.GOOD,
        "port": Verdict.GOOD,
        "keys": Verdict.GOOD,
        "tracing": Verdict.NOTE,
        "extras": Verdict.GOOD,
    }


async def test_the_doctor_names_each_problem_with_its_fix(tmp_path: Path) -> None:
    broken = load_settings(
        STEWARD_HOME=tmp_path,
        DATABASE_URL="postgresql://u:hunter2@127.0.0.1:1/x",
        STEWARD_API_KEY="short",
        AZURE_AI_FOUNDRY_ENDPOINT="https://a.example",
        OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1",
    )
    (tmp_path / "home.json").write_text("{}")
    (tmp_path / "policy.toml").write_text("trust = 3")
    findings = [item async for item in diagnose(broken, host="127.0.0.1", port=1, running="http://x")]
    bad = {item.what for item in findings if item.verdict is Verdict.BAD}
    assert bad == {"home", "policy", "database", "model", "keys"}
    assert all(item.fix for item in findings if item.verdict is Verdict.BAD)
    assert "hunter2" not in repr(findings)


async def test_the_doctor_says_what_the_configured_embedder_has_not_read(
    settings: Settings, platform: Platform
) -> None:
    await platform.library.base.create_collection("papers")
    await platform.library.base.augment("Tea is brewed at eighty degrees.", source="tea", collection="papers")
    said: list[tuple[Verdict, bool]] = []
    for embedder in (None, "ollama:other", "nonsense"):
        chosen = settings.model_copy(update={"embedder": embedder})
        findings = [item async for item in diagnose(chosen, host="127.0.0.1", port=0, running=None)]
        (found,) = [item for item in findings if item.what == "library"]
        said.append((found.verdict, found.fix is not None))
    assert said == [(Verdict.GOOD, False), (Verdict.NOTE, True), (Verdict.BAD, True)]


@pytest.mark.parametrize(
    ("mechanism", "verdict", "said"),
    [
        (Mechanism.BUBBLEWRAP, Verdict.GOOD, "bubblewrap"),
        (Mechanism.LANDLOCK, Verdict.NOTE, "Landlock"),
        (Mechanism.NONE, Verdict.NOTE, "cannot contain"),
    ],
)
async def test_the_doctor_says_what_contains_code_here(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, mechanism: Mechanism, verdict: Verdict, said: str
) -> None:
    monkeypatch.setattr(diagnosis, "strongest", lambda: mechanism)
    findings = [item async for item in diagnose(settings, host="127.0.0.1", port=0, running=None)]
    (found,) = [item for item in findings if item.what == "code"]
    assert found.verdict is verdict
    assert said in found.detail


async def test_the_doctor_looks_at_tools_json_and_its_scripts(settings: Settings) -> None:
    entry = '{"name": "one", "description": "One.", "script": "one.py"}'
    settings.tools_folder.mkdir(parents=True)
    said: list[tuple[Verdict, bool]] = []
    for content, script in (
        ('{"tools": []}', False),
        (f"[{entry}]", False),
        (f"[{entry}]", True),
        ("{", True),
    ):
        settings.tools_file.write_text(content)
        if script:
            (settings.tools_folder / "one.py").write_text("def run(): ...")
        findings = [item async for item in diagnose(settings, host="127.0.0.1", port=0, running=None)]
        (found,) = [item for item in findings if item.what == "tools"]
        said.append((found.verdict, found.fix is not None))
    good, bad = (Verdict.GOOD, False), (Verdict.BAD, True)
    assert said == [good, bad, good, bad]


async def test_a_broken_policy_file_halts_the_start(settings: Settings) -> None:
    settings.home.mkdir(parents=True)
    settings.policy_file.write_text("trust = [")
    with pytest.raises(ConfigError) as caught:
        async with open_platform(settings):
            pass
    assert "policy.toml" in caught.value.message
