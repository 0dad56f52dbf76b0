"""A new home is made; a home that lost a registry file halts."""

import json
from pathlib import Path

import pytest

from steward.bootstrap.rules import WatchedRules
from steward.bootstrap.workspace.home import ensure, initialise
from steward.contract.errors import ConfigError
from steward.settings import Settings, load_settings


def settings(home: Path) -> Settings:
    return load_settings(STEWARD_HOME=home)


def test_a_home_that_was_never_made_is_made_with_files_that_can_be_used(tmp_path: Path) -> None:
    ensure(settings(tmp_path / "home"))
    made = sorted(str(path.relative_to(tmp_path / "home")) for path in (tmp_path / "home").rglob("*"))
    assert made == ["home.json", "logs", "mcp.json", "policy.toml", "skills", "tools", "tools/tools.json"]
    assert json.loads((tmp_path / "home" / "mcp.json").read_text()) == {"mcpServers": {}}
    assert WatchedRules(tmp_path / "home" / "policy.toml")().rules == ()


def test_making_it_again_changes_nothing_that_is_there(tmp_path: Path) -> None:
    initialise(settings(tmp_path))
    (tmp_path / "mcp.json").write_text('{"mcpServers": {"mine": {"command": "x"}}}')
    (tmp_path / "policy.toml").unlink()
    assert initialise(settings(tmp_path)) == (tmp_path / "policy.toml",)
    assert "mine" in (tmp_path / "mcp.json").read_text()


@pytest.mark.req("SKL-EDGE-04", "SKL-Q04", "SKL-FR-012")
@pytest.mark.parametrize("name", ["mcp.json", "tools/tools.json"])
def test_a_registry_file_that_goes_missing_halts(tmp_path: Path, name: str) -> None:
    ensure(settings(tmp_path))
    (tmp_path / name).unlink()
    with pytest.raises(ConfigError) as caught:
        ensure(settings(tmp_path))
    assert (caught.value.code, str(tmp_path / name) in caught.value.message) == ("CONFIG_MISSING", True)


def test_a_home_that_cannot_be_made_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ConfigError) as caught:
        initialise(settings(tmp_path / "file" / "home"))
    assert "STEWARD_HOME" in (caught.value.fix or "")


def test_rules_are_read_again_when_the_file_changes(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    rules = WatchedRules(path)
    assert rules().rules == ()
    path.write_text('trust = ["notes__append"]\n')
    assert [rule.tool for rule in rules().rules] == ["notes__append"]


@pytest.mark.parametrize("content", ["trust = [", None, "a = " + "[" * 5_000, 'trust = ["delete_task"]'])
def test_a_policy_that_breaks_or_goes_while_running_closes_the_door_until_it_is_whole(
    tmp_path: Path, content: str | None
) -> None:
    path = tmp_path / "policy.toml"
    path.write_text('trust = ["notes__append"]\n')
    rules = WatchedRules(path)
    good = rules()
    path.unlink()
    if content is not None:
        path.write_text(content)
    for _ in range(2):
        with pytest.raises(ConfigError) as caught:
            rules()
        assert (caught.value.code, str(path) in caught.value.message) == ("POLICY_FAILED", True)
    assert (rules.known, str(path) in (rules.problem() or "")) == (good, True)
    path.write_text("")
    assert (rules().rules, rules.problem()) == ((), None)


@pytest.mark.parametrize("content", [b"trust = [", b"\xff\xfe", b'trust = ["delete_task"]'])
def test_a_broken_file_halts_the_start(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "policy.toml").write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        WatchedRules(tmp_path / "policy.toml")
    assert ("policy.toml" in caught.value.message, bool(caught.value.fix)) == (True, True)
