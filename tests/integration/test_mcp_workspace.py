"""A workspace with servers in mcp.json, from configuration to an approved call."""

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.deciders import deciding
from tests.support.door import MODEL, PERSON
from tests.support.mcp_servers import FOLDER, eventually

from steward.bootstrap.platform import Platform, open_platform
from steward.contract.agent import LifecycleState
from steward.contract.call import Done, PendingApproval, ToolCall
from steward.contract.errors import ConfigError
from steward.settings import Settings


def settings(home: Path, database_url: str, servers: object) -> Settings:
    home.mkdir(exist_ok=True)
    (home / "mcp.json").write_text(json.dumps(servers))
    return Settings(
        STEWARD_HOME=home, DATABASE_URL=database_url, OTEL_EXPORTER_OTLP_ENDPOINT="none", _env_file=None
    )  # type: ignore[call-arg]


def raw(*arguments: str, **keys: object) -> dict[str, object]:
    return {"command": sys.executable, "args": [str(FOLDER / "raw.py"), *arguments], **keys}


@pytest.fixture
async def platform(tmp_path: Path, database_url: str) -> AsyncIterator[Platform]:
    servers = {
        "notes": raw(risk={"echo": "reversible"}, aliases={"say": "echo"}),
        "dead": raw("--fault", "dies"),
        "later": raw(autoStart=False),
        "off": raw(disabled=True),
    }
    async with open_platform(settings(tmp_path / "home", database_url, {"mcpServers": servers})) as platform:
        yield platform


@pytest.mark.req("RES-ENT-Session", "ORC-US2-IT", "SKL-ENT-McpFile")
@pytest.mark.req("ORC-US2.1", "SKL-US4.1", "SKL-FR-003", "ORC-FR-006")
async def test_configured_servers_are_there_and_dead_ones_are_shown(platform: Platform) -> None:
    lifecycle = platform.orchestrator.lifecycle
    states = {status.id: status.state for status in lifecycle.statuses()}
    assert states["notes"] is LifecycleState.RUNNING
    assert states["dead"] is LifecycleState.UNAVAILABLE
    assert states["later"] is states["off"] is LifecycleState.STOPPED
    (dead,) = [status for status in lifecycle.statuses() if status.id == "dead"]
    assert "cannot open the database" in (dead.problem or "")
    health = await lifecycle.health("dead")
    assert not health.healthy
    await lifecycle.start("later")
    assert platform.orchestrator.registry.find("later__echo") is not None


@pytest.mark.req("ORC-US2.2")
async def test_a_rated_tool_runs_and_an_unknown_one_waits_for_a_person(platform: Platform) -> None:
    door = platform.orchestrator
    said = await door.execute(ToolCall(tool="say", arguments={"text": "hello"}, caller=MODEL))
    assert isinstance(said, Done)
    assert said.data == "hello"
    waits = await door.execute(ToolCall(tool="notes__count", arguments={}, caller=MODEL))
    assert isinstance(waits, PendingApproval)
    done = await door.approvals.approve(waits.proposal_id, by=deciding(PERSON.id))
    assert isinstance(done, Done)
    assert done.data == "counted"


async def test_servers_called_like_our_own_agents_stand_beside_them(
    tmp_path: Path, database_url: str
) -> None:
    named = {name: {"command": "not-there"} for name in ("files", "memory", "time", "notes")}
    async with open_platform(settings(tmp_path / "home", database_url, {"mcpServers": named})) as platform:
        agents = {status.id for status in platform.orchestrator.lifecycle.statuses()}
    assert {"files", "mcp-files", "memory", "mcp-memory", "time", "mcp-time", "notes"} <= agents


async def test_an_mcp_json_that_cannot_be_used_halts(tmp_path: Path, database_url: str) -> None:
    servers = {"a": {"command": []}}
    broken = settings(tmp_path / "home", database_url, {"mcpServers": servers})
    with pytest.raises(ConfigError) as error:
        async with open_platform(broken):
            pass
    assert error.value.code == "CONFIG_INVALID"
    assert "mcp.json" in error.value.message


async def test_a_server_that_comes_to_life_later_brings_its_tools(tmp_path: Path, database_url: str) -> None:
    missing = tmp_path / "late.py"
    server = {"late": {"command": sys.executable, "args": [str(missing)]}}
    async with open_platform(settings(tmp_path / "home", database_url, {"mcpServers": server})) as platform:
        assert platform.orchestrator.registry.find("late__echo") is None
        missing.write_text((FOLDER / "raw.py").read_text())
        await eventually(lambda: platform.orchestrator.registry.find("late__echo"))


async def test_a_changed_file_is_taken_over_while_steward_runs(tmp_path: Path, database_url: str) -> None:
    before = {"stays": raw(risk={"echo": "reversible"}), "goes": raw(), "changes": raw()}
    config = settings(tmp_path / "home", database_url, {"mcpServers": before})
    async with open_platform(config) as platform:
        registry = platform.orchestrator.registry
        stays = registry.get("stays__echo").agent
        after = {"stays": before["stays"], "changes": raw(namespace="other"), "comes": raw()}
        config.mcp_file.write_text(json.dumps({"mcpServers": after}))
        done = await platform.servers.reload()
        assert (done.added, done.changed, done.removed) == (("comes",), ("changes",), ("goes",))
        names = ("stays__echo", "goes__echo", "changes__echo", "other__echo", "comes__echo")
        assert [registry.find(name) is not None for name in names] == [True, False, False, True, True]
        assert registry.get("stays__echo").agent is stays
        assert (await platform.servers.reload()) == type(done)((), (), ())


@pytest.mark.parametrize("text", ["{", '{"mcpServers": {"a": {"command": []}}}'])
async def test_a_file_that_cannot_be_used_changes_nothing(
    tmp_path: Path, database_url: str, text: str
) -> None:
    config = settings(tmp_path / "home", database_url, {"mcpServers": {"stays": raw()}})
    async with open_platform(config) as platform:
        config.mcp_file.write_text(text)
        with pytest.raises(ConfigError):
            await platform.servers.reload()
        assert platform.orchestrator.registry.find("stays__echo") is not None
        config.mcp_file.write_text('{"mcpServers": {}}')
        assert (await platform.servers.reload()).removed == ("stays",)


async def test_the_first_server_of_a_workspace_can_come_later(tmp_path: Path, database_url: str) -> None:
    config = settings(tmp_path / "home", database_url, {"mcpServers": {}})
    async with open_platform(config) as platform:
        config.mcp_file.write_text(json.dumps({"mcpServers": {"comes": raw()}}))
        assert (await platform.servers.reload()).added == ("comes",)
        assert platform.orchestrator.registry.find("comes__echo") is not None
        assert platform.orchestrator.registry.find("list_resources") is not None
