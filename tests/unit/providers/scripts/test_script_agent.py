"""Python tools in warm worker processes."""

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.support.waiting import until

from steward.contract.agent import ChangingAgent
from steward.contract.call import Done, Failed
from steward.contract.errors import ConfigError, NotFoundError, ToolError
from steward.providers.containment.plan import Containment
from steward.providers.containment.probe import strongest
from steward.providers.mcp.secrets import MappingSource, Secrets
from steward.providers.scripts.script_agent import ScriptToolsAgent
from steward.providers.scripts.tools_config import ToolsFile
from steward.providers.scripts.workers import WorkerPool, Workplace

Opened = tuple[ScriptToolsAgent, WorkerPool]

WHO = "import uuid\nME = str(uuid.uuid4())\ndef run(): return ME"  # tells one worker from the next


def entry(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "description": f"Does {name}.", "script": f"{name}.py", **fields}


def write(folder: Path, *entries: dict[str, Any], **scripts: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "tools.json").write_text(json.dumps({"tools": list(entries)}))
    for name, source in scripts.items():
        (folder / f"{name}.py").write_text(source)


@asynccontextmanager
async def opened(
    folder: Path, *, limit: int = 4, idle: float = 600.0, poll: float = 600.0
) -> AsyncGenerator[Opened]:
    pool = WorkerPool(limit=limit, idle_seconds=idle)
    agent = ScriptToolsAgent(ToolsFile(folder), pool=pool, poll_seconds=poll)
    await agent.initialize()
    try:
        yield agent, pool
    finally:
        await agent.shutdown()
        assert pool.pids == ()


@pytest.mark.req("SKL-FR-002", "SKL-FR-009")
async def test_a_script_runs_with_its_arguments_by_name(tmp_path: Path) -> None:
    write(tmp_path, entry("add"), add="def run(a, b=1):\n    return {'sum': a + b}")
    async with opened(tmp_path) as (agent, _):
        assert [spec.name for spec in agent.manifest().tools] == ["add"]
        assert await agent.execute("add", {"a": 2, "b": 3}) == Done(data={"sum": 5})
        assert await agent.execute("add", {"a": 2}) == Done(data={"sum": 3})


async def test_main_takes_the_whole_object_and_any_function_can_be_named(tmp_path: Path) -> None:
    write(
        tmp_path,
        entry("whole"),
        entry("named", script="sub/whole.py", function="other"),
        whole="def main(arguments):\n    return sorted(arguments)",
    )
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "whole.py").write_text("import asyncio\nasync def other(x):\n    return x * 2")
    async with opened(tmp_path) as (agent, _):
        assert await agent.execute("whole", {"b": 1, "a": 2}) == Done(data=["a", "b"])
        assert await agent.execute("named", {"x": 4}) == Done(data=8)


@pytest.mark.req("SKL-FR-009", "SKL-EDGE-03", "SKL-Q01")
async def test_a_script_runs_with_our_packages_as_us_and_sees_no_variable_that_might_be_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = """
import os, sys
import orjson
def run():
    return [sys.prefix, os.getuid(), os.getcwd(), os.environ.get("TOWN")]
"""
    monkeypatch.setenv("TOWN", "Rome")
    write(tmp_path, entry("where"), where=source)
    async with opened(tmp_path) as (agent, _):
        expected = [sys.prefix, os.getuid(), str(Path.cwd()), None]
        assert await agent.execute("where", {}) == Done(data=expected)


async def test_values_people_return_without_thinking_become_json(tmp_path: Path) -> None:
    source = """
import dataclasses, datetime, decimal, pathlib, uuid
@dataclasses.dataclass
class Point:
    x: int
def run():
    return [datetime.date(2026, 1, 2), Point(1), {3}, (4,), pathlib.Path("a"), decimal.Decimal("1.5"),
            uuid.UUID(int=0), 2**63]
"""
    write(tmp_path, entry("values"), values=source)
    async with opened(tmp_path) as (agent, _):
        uuid = "00000000-0000-0000-0000-000000000000"
        expected = ["2026-01-02", {"x": 1}, [3], [4], "a", "1.5", uuid, 2**63]
        assert await agent.execute("values", {}) == Done(data=expected)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def run():\n    x = {}\n    return x['town']", "KeyError: 'town' (tool.py, line 3)"),
        ("def run(:\n    pass", "SyntaxError"),
        ("import nothing_of_this_name", "ModuleNotFoundError"),
        ("def walk(): ...", "no function run or main"),
        ("def run(): return object()", "not a JSON value"),
        ("def run(): return float('nan')", "not JSON compliant"),
        ("def run(): return 10**30", "beyond 64 bits"),
        ("def run(): return 'x' * 5_000_000", "more than the 4194304 allowed"),
        ("import sys\ndef run(): sys.exit('enough')", "SystemExit: enough"),
        ("def run(needed): ...", "TypeError"),
    ],
)
async def test_a_failing_script_says_why_without_a_traceback_and_stays_usable(
    tmp_path: Path, source: str, said: str
) -> None:
    write(tmp_path, entry("tool"), tool=source)
    async with opened(tmp_path) as (agent, pool):
        result = await agent.execute("tool", {})
        assert isinstance(result, Failed)
        assert (result.code, result.retryable, result.outcome_unknown) == (
            "TOOL_EXECUTION_ERROR",
            False,
            False,
        )
        assert said in result.error
        assert "Traceback" not in result.error
        warm = pool.pids
        assert await agent.execute("tool", {}) == result
        assert pool.pids == warm


async def test_a_script_may_choose_its_own_code(tmp_path: Path) -> None:
    source = """
from steward.contract.errors import ToolError
def run():
    raise ToolError("No such town.", code="NO_TOWN", retryable=True)
"""
    write(tmp_path, entry("town"), town=source)
    async with opened(tmp_path) as (agent, _):
        result = await agent.execute("town", {})
        assert isinstance(result, Failed)
        assert (result.code, result.retryable) == ("NO_TOWN", True)


@pytest.mark.req("SKL-EDGE-05")
async def test_a_missing_script_is_a_tool_execution_error_that_names_it(tmp_path: Path) -> None:
    write(tmp_path, entry("ghost"))
    async with opened(tmp_path) as (agent, _):
        with pytest.raises(ToolError) as caught:
            await agent.execute("ghost", {})
        assert caught.value.code == "TOOL_EXECUTION_ERROR"
        assert "ghost.py" in caught.value.message
        health = await agent.health()
        assert (health.healthy, health.detail) == (False, "missing scripts: ghost.py")


async def test_a_tool_of_another_name_is_not_there(tmp_path: Path) -> None:
    write(tmp_path)
    async with opened(tmp_path) as (agent, _):
        with pytest.raises(NotFoundError):
            await agent.execute("ghost", {})


async def test_what_a_script_prints_never_reaches_its_answer(tmp_path: Path) -> None:
    source = """
import os, sys
def run():
    print("x" * 1_000_000)
    os.write(1, b"raw\\n")
    os.system("echo from a child")
    print(sys.stdin.read(), file=sys.stderr)
    sys.stdout.close()
    return "clean"
"""
    write(tmp_path, entry("noisy"), noisy=source)
    async with opened(tmp_path) as (agent, _):
        assert await agent.execute("noisy", {}) == Done(data="clean")


async def test_a_worker_stays_warm_between_calls_and_ends_when_idle(tmp_path: Path) -> None:
    write(tmp_path, entry("who"), who=WHO)
    async with opened(tmp_path, idle=0.2) as (agent, pool):
        first = await agent.execute("who", {})
        assert await agent.execute("who", {}) == first
        pids = [one.pid for one in psutil.Process(pool.pids[0]).children(recursive=True)]
        assert pids
        await until(lambda: not any(map(psutil.pid_exists, pids)))
        assert pool.pids == ()


@pytest.mark.req("SKL-SC-003")
async def test_little_time_passes_between_the_request_and_the_start_of_a_script(tmp_path: Path) -> None:
    write(tmp_path, entry("when"), when="import time\ndef run(): return time.monotonic()")
    overheads: list[float] = []
    async with opened(tmp_path) as (agent, _):
        for _ in range(10):
            asked = time.monotonic()
            result = await agent.execute("when", {})
            assert isinstance(result, Done)
            overheads.append(result.data - asked)  # one clock for all processes of a machine
    assert overheads[0] < 10  # its worker starts meanwhile; benchmarks/python_tools.py has the number
    assert min(overheads[1:]) < 0.2


@pytest.mark.req("SKL-FR-002")
async def test_a_changed_script_is_loaded_again_and_a_changed_helper_too(tmp_path: Path) -> None:
    write(tmp_path, entry("say"), say="import words\ndef run(): return words.WORD", words="WORD = 'one'")
    async with opened(tmp_path) as (agent, _):
        assert await agent.execute("say", {}) == Done(data="one")
        (tmp_path / "words.py").write_text("WORD = 'second'")
        assert await agent.execute("say", {}) == Done(data="second")
        (tmp_path / "say.py").write_text("def run(): return 'without help'")
        assert await agent.execute("say", {}) == Done(data="without help")


async def test_never_more_workers_than_allowed_and_an_idle_one_makes_room(tmp_path: Path) -> None:
    names = [f"tool{number}" for number in range(5)]
    write(tmp_path, *map(entry, names), **dict.fromkeys(names, "def run(): return 1"))
    async with opened(tmp_path, limit=2) as (agent, pool):
        counts: list[int] = []

        async def call(name: str) -> None:
            assert await agent.execute(name, {}) == Done(data=1)
            counts.append(len(pool.pids))

        await asyncio.gather(*(call(name) for name in names * 2))
        assert max(counts) == 2


@pytest.mark.req("SKL-EDGE-08")
async def test_parallel_calls_of_one_tool_run_in_processes_of_their_own(tmp_path: Path) -> None:
    # Each call waits until both are inside: run one after the other they would never end.
    source = """
import pathlib, time, uuid
ME = str(uuid.uuid4())
def run(folder):
    folder = pathlib.Path(folder)
    (folder / ME).touch()
    while len(list(folder.iterdir())) < 2:
        time.sleep(0.01)
    return ME
"""
    meeting = tmp_path / "meeting"
    meeting.mkdir()
    write(tmp_path / "tools", entry("meet", parallel_capable=True), meet=source)
    async with opened(tmp_path / "tools") as (agent, _), asyncio.timeout(60):
        calls = (agent.execute("meet", {"folder": str(meeting)}) for _ in range(2))
        results = await asyncio.gather(*calls)
    assert len({result.data for result in results if isinstance(result, Done)}) == 2


@pytest.mark.req("SKL-EDGE-01", "SKL-Q06")
async def test_a_cancelled_call_kills_the_script_and_its_children(tmp_path: Path) -> None:
    source = """
import pathlib, subprocess, time
def run(file):
    subprocess.Popen(["sleep", "600"], start_new_session=True)
    pathlib.Path(file).touch()
    time.sleep(600)
"""
    write(tmp_path, entry("hang"), hang=source)
    pids_file = tmp_path / "started"
    async with opened(tmp_path) as (agent, pool):
        call = asyncio.create_task(agent.execute("hang", {"file": str(pids_file)}))
        await until(pids_file.exists)
        pids = [one.pid for one in psutil.Process(pool.pids[0]).children(recursive=True)]
        assert len(pids) >= 2
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert [pid for pid in pids if psutil.pid_exists(pid)] == []
        assert pool.pids == ()


async def test_a_worker_that_dies_during_a_call_leaves_the_outcome_unknown(tmp_path: Path) -> None:
    source = "import os\ndef run():\n    os.write(2, b'about to fall\\n')\n    os.kill(os.getpid(), 9)"
    write(tmp_path, entry("fall"), fall=source)
    async with opened(tmp_path) as (agent, _):
        result = await agent.execute("fall", {})
        assert isinstance(result, Failed)
        assert (result.code, result.outcome_unknown) == ("TOOL_EXECUTION_ERROR", True)
        assert "about to fall" in result.error


async def test_a_worker_that_died_between_calls_is_replaced_unnoticed(tmp_path: Path) -> None:
    write(tmp_path, entry("who"), who=WHO)
    async with opened(tmp_path) as (agent, pool):
        first = await agent.execute("who", {})
        assert isinstance(first, Done)
        (supervisor,) = pool.pids
        psutil.Process(supervisor).children(recursive=True)[-1].kill()
        await until(lambda: not psutil.pid_exists(supervisor))
        second = await agent.execute("who", {})
        assert isinstance(second, Done)
        assert second.data != first.data


@pytest.mark.req("SKL-US3.1", "SKL-US3.2")
async def test_an_edit_by_hand_is_picked_up_and_a_broken_one_is_not(tmp_path: Path) -> None:
    write(tmp_path, entry("one"), one="def run(): return 1")
    async with opened(tmp_path, poll=0.01) as (agent, _):
        assert isinstance(agent, ChangingAgent)
        assert agent.available()
        told: list[tuple[str, ...]] = []
        agent.subscribe(lambda: told.append(tuple(spec.name for spec in agent.manifest().tools)))
        write(tmp_path, entry("one"), entry("two"), two="def run(): return 2")
        await until(lambda: told == [("one", "two")])
        assert await agent.execute("two", {}) == Done(data=2)

        (tmp_path / "tools.json").write_text("{")
        await until(lambda: agent.problem() is not None)
        assert not (await agent.health()).healthy
        assert await agent.execute("two", {}) == Done(data=2)

        write(tmp_path, entry("one"))
        await until(lambda: told[-1] == ("one",))
        assert (await agent.health()).healthy


@pytest.mark.req("SKL-FR-012", "SKL-EDGE-04")
async def test_the_agent_does_not_start_on_a_broken_or_missing_file(tmp_path: Path) -> None:
    for content in ("{", None):
        agent = ScriptToolsAgent(ToolsFile(tmp_path))
        (tmp_path / "tools.json").write_text(content) if content else (tmp_path / "tools.json").unlink()
        with pytest.raises(ConfigError):
            await agent.initialize()
        await agent.shutdown()


async def test_a_listener_that_refuses_leaves_the_tools_as_they_were(tmp_path: Path) -> None:
    write(tmp_path, entry("one"))
    async with opened(tmp_path) as (agent, _):
        before = agent.manifest()

        def refuse() -> None:
            if agent.manifest() != before:
                raise RuntimeError("no")

        agent.subscribe(refuse)
        write(tmp_path, entry("two"))
        with pytest.raises(RuntimeError):
            agent.reload()
        assert agent.manifest() == before


async def test_a_script_sees_of_its_folder_what_it_imports_and_what_its_entry_names(tmp_path: Path) -> None:
    source = """
import pathlib
import helper
def run():
    folder = pathlib.Path(__file__).parent
    return [helper.WORD, sorted(path.name for path in folder.iterdir() if path.name != "__pycache__")]
"""
    tools = tmp_path / "tools"
    write(
        tools,
        entry("look", files=["towns.csv"]),
        look=source,
        helper="import deep\nWORD = deep.WORD",
        other="x",
    )
    (tools / "deep").mkdir()
    (tools / "deep" / "__init__.py").write_text("WORD = 'deep'")
    (tools / "towns.csv").write_text("Rome")
    place = Workplace(Containment(mechanism=strongest(), hidden=(tmp_path,)), {"PATH": os.defpath})
    pool = WorkerPool(place=place)
    agent = ScriptToolsAgent(ToolsFile(tools), pool=pool)
    await agent.initialize()
    assert await agent.execute("look", {}) == Done(
        data=["deep", ["deep", "helper.py", "look.py", "towns.csv"]]
    )
    await agent.shutdown()


async def test_a_script_gets_the_variables_that_its_entry_names(tmp_path: Path) -> None:
    write(
        tmp_path,
        entry("ask", env={"WEATHER_KEY": "${MY_KEY}", "TOWN": "Rome"}),
        ask="from os import environ as e\ndef run(): return [e['WEATHER_KEY'], e['TOWN'], 'MY_KEY' in e]",
    )
    secrets = Secrets(MappingSource({"MY_KEY": "sesame"}))
    agent = ScriptToolsAgent(ToolsFile(tmp_path), secrets=secrets)
    await agent.initialize()
    assert await agent.execute("ask", {}) == Done(data=["sesame", "Rome", False])
    await agent.shutdown()


async def test_a_variable_that_is_not_set_is_named(tmp_path: Path) -> None:
    write(tmp_path, entry("ask", env={"KEY": "${MISSING}"}), ask="def run(): return 1")
    async with opened(tmp_path) as (agent, _):
        with pytest.raises(ConfigError, match="MISSING"):
            await agent.execute("ask", {})


async def test_a_module_that_was_missing_is_found_once_it_is_there(tmp_path: Path) -> None:
    write(tmp_path, entry("say"), say="import words\ndef run(): return words.WORD")
    async with opened(tmp_path) as (agent, _):
        assert isinstance(await agent.execute("say", {}), Failed)
        (tmp_path / "words.py").write_text("WORD = 'found'")
        assert await agent.execute("say", {}) == Done(data="found")
