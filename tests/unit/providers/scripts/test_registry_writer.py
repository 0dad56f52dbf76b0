"""Changes to tools.json: one after the other, whole or not at all."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.support.waiting import until

from steward.contract.call import Done
from steward.contract.errors import (
    AgentError,
    ConfigError,
    ConflictError,
    InputError,
    NotFoundError,
    StewardError,
    UnavailableError,
)
from steward.providers.scripts import registry_writer
from steward.providers.scripts.registry_writer import AddTool, RegistryWriter, RemoveTool, UpdateTool
from steward.providers.scripts.script_agent import ScriptToolsAgent
from steward.providers.scripts.tools_config import ToolEntry, ToolsFile, parse_entry

RUN = "def run():\n    return 1\n"


def tool(name: str, **fields: Any) -> ToolEntry:
    return parse_entry({"name": name, "description": "A tool.", "script": f"{name}.py", **fields})


@asynccontextmanager
async def writing(folder: Path, **owners: str) -> AsyncGenerator[tuple[RegistryWriter, ScriptToolsAgent]]:
    file = ToolsFile(folder)
    file.initialise()
    agent = ScriptToolsAgent(file, poll_seconds=600)
    await agent.initialize()
    writer = RegistryWriter(agent, owner=owners.get)
    try:
        yield writer, agent
    finally:
        await writer.close()
        await agent.shutdown()


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def names(agent: ScriptToolsAgent) -> list[str]:
    return [spec.name for spec in agent.manifest().tools]


@pytest.mark.req("SKL-FR-010", "SKL-US3.1", "SKL-US3.2", "SKL-Q02", "SKL-Q10")
async def test_tools_are_added_updated_and_removed_while_running(tmp_path: Path) -> None:
    async with writing(tmp_path) as (writer, agent):
        applied = await writer.submit(AddTool(tool("one"), RUN))
        assert applied.entry == tool("one")
        assert applied.warnings == ()
        assert await agent.execute("one", {}) == Done(data=1)

        await writer.submit(UpdateTool(tool("one", timeout=3), "def run(): return 2"))
        assert await agent.execute("one", {}) == Done(data=2)
        assert agent.manifest().tools[0].timeout == 3
        assert agent.file.load().tools == {"one": tool("one", timeout=3)}

        await writer.submit(RemoveTool("one"))
        assert names(agent) == []
        assert agent.file.load().tools == {}


@pytest.mark.req("SKL-FR-015", "SKL-EDGE-06", "SKL-Q08")
async def test_a_hundred_concurrent_writers_leave_every_accepted_change(tmp_path: Path) -> None:
    async with writing(tmp_path) as (writer, agent):
        results = await asyncio.gather(
            *(writer.submit(AddTool(tool(f"t{number % 90}"), RUN)) for number in range(100)),
            return_exceptions=True,
        )
        accepted = [result.entry.name for result in results if isinstance(result, registry_writer.Applied)]
        refused = [result.code for result in results if isinstance(result, StewardError)]
        assert (len(accepted), refused) == (90, ["TOOL_DUPLICATE"] * 10)
        assert list(agent.file.load().tools) == names(agent) == accepted


WRITER_PROCESS = """
import asyncio, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.unit.providers.scripts.test_registry_writer import RUN, AddTool, tool, writing
async def main():
    async with writing(Path(sys.argv[2])) as (writer, agent):
        sys.stdin.read()
        await asyncio.gather(*(
            writer.submit(AddTool(tool(f"{sys.argv[3]}_{number}"), RUN)) for number in range(20)))
asyncio.run(main())
"""


@pytest.mark.req("SKL-FR-015", "SKL-EDGE-06")
async def test_writers_in_several_processes_lose_nothing(tmp_path: Path) -> None:
    ToolsFile(tmp_path).initialise()
    root = str(Path(__file__).parents[4])
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            WRITER_PROCESS,
            root,
            str(tmp_path),
            f"p{number}",
            stdin=asyncio.subprocess.PIPE,
        )
        for number in range(5)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
    assert [await process.wait() for process in processes] == [0] * 5
    expected = {f"p{process}_{number}" for process in range(5) for number in range(20)}
    assert set(ToolsFile(tmp_path).load().tools) == expected


@pytest.mark.req("SKL-FR-012")
@pytest.mark.parametrize(
    ("change", "error"),
    [
        (AddTool(tool("held"), RUN), ConflictError),
        (AddTool(tool("web_search"), RUN), ConflictError),
        (AddTool(tool("new", script="held.py"), "def run(): return 'other'"), ConflictError),
        (UpdateTool(tool("ghost"), RUN), NotFoundError),
        (RemoveTool("ghost"), NotFoundError),
        (AddTool(tool("new"), "def run(:"), InputError),
        (AddTool(tool("new"), "def walk(): ..."), InputError),
        (AddTool(tool("new"), "x = '\0'"), InputError),
        (AddTool(tool("new", function="go"), RUN), InputError),
        (AddTool(tool("new"), RUN + "#" * 2**20), InputError),
        (UpdateTool(tool("held", function="go")), InputError),
    ],
)
async def test_a_change_that_cannot_work_changes_nothing(
    tmp_path: Path, change: registry_writer.Change, error: type[StewardError]
) -> None:
    async with writing(tmp_path, web_search="web") as (writer, agent):
        await writer.submit(AddTool(tool("held"), RUN))
        before = contents(tmp_path)
        with pytest.raises(error):
            await writer.submit(change)
        assert contents(tmp_path) == before
        assert names(agent) == ["held"]


@pytest.mark.parametrize(
    "source",
    [
        "from os.path import join as run",
        "from os.path import *",
        "import json\nrun = json.dumps",
        "try:\n    from fast import run\nexcept ImportError:\n    def run(): ...",
        "async def main(arguments): ...",
        "class run: ...",
    ],
)
async def test_an_entry_function_may_be_bound_in_any_way(tmp_path: Path, source: str) -> None:
    async with writing(tmp_path) as (writer, agent):
        await writer.submit(AddTool(tool("new"), source))
        assert names(agent) == ["new"]


async def test_a_script_that_is_still_to_come_is_a_warning(tmp_path: Path) -> None:
    async with writing(tmp_path) as (writer, agent):
        applied = await writer.submit(AddTool(tool("later")))
        assert len(applied.warnings) == 1
        assert "later.py" in applied.warnings[0]
        (tmp_path / "later.py").write_text(RUN)
        assert await agent.execute("later", {}) == Done(data=1)


@pytest.mark.req("SKL-FR-015")
async def test_a_reload_that_fails_puts_file_script_and_tools_back(tmp_path: Path) -> None:
    async with writing(tmp_path) as (writer, agent):
        await writer.submit(AddTool(tool("held"), RUN))
        before = contents(tmp_path)

        def refuse_changes() -> None:
            if names(agent) != ["held"] or agent.manifest().tools[0].timeout:
                raise RuntimeError("no")

        agent.subscribe(refuse_changes)
        for change in (AddTool(tool("new"), RUN), UpdateTool(tool("held", timeout=1), "def run(): return 9")):
            with pytest.raises(AgentError):
                await writer.submit(change)
            assert contents(tmp_path) == before
            assert names(agent) == ["held"]
        assert await agent.execute("held", {}) == Done(data=1)


async def test_a_hand_edit_that_broke_the_file_is_reported_and_kept(tmp_path: Path) -> None:
    async with writing(tmp_path) as (writer, agent):
        agent.file.path.write_text("{")
        with pytest.raises(ConfigError):
            await writer.submit(AddTool(tool("new"), RUN))
        assert agent.file.path.read_text() == "{"


async def test_a_hand_edit_of_another_entry_survives_a_change(tmp_path: Path) -> None:
    async with writing(tmp_path) as (writer, agent):
        agent.file.path.write_text(json.dumps({"tools": [tool("by_hand").shape()]}))
        await writer.submit(AddTool(tool("new"), RUN))
        assert names(agent) == ["by_hand", "new"]


async def test_a_folder_that_cannot_be_written_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with writing(tmp_path) as (writer, agent):

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(agent.file, "write", full)
        with pytest.raises(UnavailableError) as caught:
            await writer.submit(AddTool(tool("new"), RUN))
        assert "No space left" in caught.value.message
        assert not (tmp_path / "new.py").exists()


async def test_a_change_goes_through_when_whoever_asked_leaves(tmp_path: Path) -> None:
    async with writing(tmp_path) as (writer, agent):
        asking = asyncio.create_task(writer.submit(AddTool(tool("new"), RUN)))
        await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await writer.close()
        assert names(agent) == ["new"]


async def test_a_full_queue_says_so(tmp_path: Path) -> None:
    async with writing(tmp_path) as (writer, _):
        waiting = [
            asyncio.create_task(writer.submit(RemoveTool("ghost")))
            for _ in range(registry_writer.MAX_WAITING)
        ]
        await asyncio.sleep(0)
        with pytest.raises(UnavailableError) as caught:
            await asyncio.gather(*(writer.submit(RemoveTool("ghost")) for _ in range(2)))
        assert caught.value.code == "RATE_LIMITED"
        await asyncio.gather(*waiting, return_exceptions=True)


@pytest.mark.req("SKL-Q10")
async def test_a_call_in_flight_ends_well_while_its_tool_is_changed(tmp_path: Path) -> None:
    source = """
import pathlib, time
def run(folder):
    folder = pathlib.Path(folder)
    (folder / "inside").touch()
    while not (folder / "go").exists():
        time.sleep(0.01)
    return "old"
"""
    signals = tmp_path / "signals"
    signals.mkdir()
    async with writing(tmp_path / "tools") as (writer, agent), asyncio.timeout(60):
        await writer.submit(AddTool(tool("slow"), source))
        call = asyncio.create_task(agent.execute("slow", {"folder": str(signals)}))
        await until((signals / "inside").exists)
        await writer.submit(UpdateTool(tool("slow"), "def run(folder): return 'new'"))
        await writer.submit(RemoveTool("slow"))
        (signals / "go").touch()
        assert await call == Done(data="old")
