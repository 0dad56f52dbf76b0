"""Servers that die, hang, flap, babble or never start: no orphan, no wrong answer, no doubled call."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.servers.modern import make_server
from tests.support.channels import execute
from tests.support.door import Door
from tests.support.mcp_servers import (
    FAST,
    FOLDER,
    WATCHFUL,
    connected,
    eventually,
    free_port,
    lines,
    processes_of,
    remote,
    serving,
    stdio,
)

from steward.contract.call import Done, Failed
from steward.contract.tool import RiskLevel
from steward.orchestrator.lifecycle import LifecycleLimits
from steward.providers.mcp.connection import State, Timing
from steward.providers.mcp.links import Surroundings
from steward.providers.mcp.mcp_config import ServerConfig, StdioTransport
from steward.providers.mcp.pool import mcp_agents, setup_mcp_tools
from steward.providers.mcp.server_agent import MCPServerAgent

FREE = (("*", RiskLevel.REVERSIBLE),)


def server_processes(agent: MCPServerAgent) -> list[psutil.Process]:
    """The supervisor of a server and everything below it."""
    pid = agent.connection.facts().get("pid")
    try:
        return [] if pid is None else [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return []  # it ended in this very moment


def kill(agent: MCPServerAgent) -> None:
    """kill -9 of the server itself; its supervisor sees it die."""
    servers = server_processes(agent)[1:]
    for process in servers:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(servers, timeout=10)


# --- calls that meet a failing server ---


@pytest.mark.req("ORC-US2.3", "ORC-FR-006", "ORC-SC-003")
async def test_a_server_killed_in_the_middle_of_a_call_leaves_its_outcome_open(tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with connected(stdio("--state", str(state))) as agent:
        running = asyncio.create_task(execute(agent, "hang"))
        await eventually(lambda: "call hang" in lines(state))
        kill(agent)
        result = await running
        assert isinstance(result, Failed)
        assert (result.code, result.outcome_unknown, result.retryable) == ("SERVICE_UNAVAILABLE", True, False)
        assert lines(state).count("call hang") == 1  # and it was not sent again
        assert (await execute(agent, "echo", text="back")).data == "back"
        assert agent.connection.reconnects == 1


@pytest.mark.req("SKL-FR-017")
async def test_only_a_call_that_is_safe_to_repeat_is_repeated(tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with connected(stdio("--state", str(state), trusted=True)) as agent:
        assert (await execute(agent, "die_reading")).data == "second time"
        assert lines(state).count("call die_reading") == 2
        died = await execute(agent, "die")
        assert isinstance(died, Failed)
        assert died.outcome_unknown
        assert lines(state).count("call die") == 1


async def test_the_word_of_a_server_that_is_not_trusted_repeats_nothing(tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with connected(stdio("--state", str(state))) as agent:
        died = await execute(agent, "die_reading")
        assert isinstance(died, Failed)
        assert died.outcome_unknown
        assert lines(state).count("call die_reading") == 1


async def test_a_server_that_dies_on_every_call_is_not_called_for_ever(tmp_path: Path) -> None:
    state = tmp_path / "state"
    config = stdio("--state", str(state), trusted=True)
    async with connected(config, timing=Timing(backoff=0.01, poll=0.05, stable_after=0.0)) as agent:
        agent._catalogue.offers["raw__die"].spec.__dict__["hints"] = agent._catalogue.offers[
            "raw__echo"
        ].spec.hints  # claims to be safe, and kills
        result = await execute(agent, "die")
        assert isinstance(result, Failed)
        assert (result.code, result.retryable) == ("SERVICE_UNAVAILABLE", True)
        assert lines(state).count("call die") == 4  # once, and three retries


@pytest.mark.req("ORC-SC-003")
async def test_a_server_that_stops_answering_is_noticed_and_replaced(tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with connected(stdio("--state", str(state)), timing=WATCHFUL) as agent:
        processes = server_processes(agent)
        for process in processes[1:]:
            process.suspend()
        await eventually(lambda: agent.connection.reconnects >= 1 and agent.connection.session)
        _, alive = psutil.wait_procs(processes, timeout=10)
        assert alive == []


async def test_a_server_at_work_may_be_silent_for_a_while(tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with connected(stdio("--fault", "deaf", "--state", str(state)), timing=WATCHFUL) as agent:
        waiting = asyncio.create_task(execute(agent, "hang"))
        first = agent.connection.session
        await eventually(lambda: lines(state).count("ping") == 2)  # so the first went unanswered
        assert agent.connection.session is first
        result = await waiting
        assert isinstance(result, Failed)
        assert result.outcome_unknown  # until its silence lasts longer than any call may


@pytest.mark.req("SKL-EDGE-09", "SKL-FR-017", "ORC-Q24")
async def test_a_lost_server_is_tried_three_times_before_callers_are_turned_away(tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with connected(stdio("--state", str(state)), timing=Timing(backoff=0.01, poll=60)) as agent:
        agent.connection._opener = _counting(agent, state)
        kill(agent)
        callers = [asyncio.create_task(execute(agent, "echo", text=str(n))) for n in range(50)]
        results = await asyncio.gather(*callers)
        assert {type(result) for result in results} == {Failed}
        turned_away = [r for r in results if r.code == "SERVICE_UNAVAILABLE" and r.retryable]
        unknown = [r for r in results if r.outcome_unknown]  # sent before the loss was noticed
        assert len(turned_away) + len(unknown) == 50
        assert lines(state).count("try") == 3  # one reconnection at a time, for all of them
        assert not agent.available()
        assert (await execute(agent, "echo")).code == "SERVICE_UNAVAILABLE"  # at once, without another try
        assert lines(state).count("try") == 3


def _counting(agent: MCPServerAgent, state: Path) -> Any:
    """Every further connection fails, and is noted."""

    def opener(_waiting: object) -> Any:
        with state.open("a") as file:
            file.write("try\n")
        raise ConnectionRefusedError("nobody there")

    return opener


async def test_a_wrong_configuration_is_not_worth_retries(tmp_path: Path) -> None:
    config = ServerConfig(name="s", namespace="s", transport=StdioTransport("no-such-program"))
    async with connected(config, timing=Timing(poll=60)) as agent:
        await eventually(lambda: agent.connection.state is State.UNAVAILABLE)
        health = await agent.health()
        assert "no-such-program" in health.detail
    secret = stdio(env={"TOKEN": "${NOT_SET}"})
    async with connected(secret, timing=Timing(poll=60)) as agent:
        await eventually(lambda: agent.connection.state is State.UNAVAILABLE)
        assert "NOT_SET" in (await agent.health()).detail


# --- servers that fail as a whole ---


@pytest.mark.req("ORC-Q29")
async def test_a_server_that_dies_at_start_is_shown_with_its_last_words_and_polled(tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with connected(stdio("--fault", "dies", "--state", str(state))) as agent:
        await eventually(lambda: not agent.available())
        health = await agent.health()
        assert not health.healthy
        assert "cannot open the database" in health.detail
        assert (health.facts or {})["stderr"] == ["cannot open the database"]
        seen = len(lines(state))
        await eventually(lambda: len(lines(state)) > seen + 1)


async def test_a_server_that_never_speaks_costs_its_timeout_and_nothing_more() -> None:
    async with connected(stdio("--fault", "silent", timeout=0.3), timing=Timing(retries=0, poll=60)) as agent:
        await eventually(lambda: agent.connection.state is State.UNAVAILABLE)
        assert "0.3 s" in (await agent.health()).detail
    assert processes_of("--fault\0silent") == []


@pytest.mark.req("ORC-FR-006", "ORC-SC-004", "ORC-EDGE-01", "RES-FR-005")
async def test_nine_dead_servers_of_ten_do_not_hold_up_the_tenth(tmp_path: Path) -> None:
    dead = [stdio("--fault", "dies", name=f"dead{n}", risk=FREE) for n in range(9)]
    door = Door(limits=LifecycleLimits(tool=1.0))
    agents = mcp_agents([*dead, stdio("--tools", "60", name="alive", risk=FREE)], timing=FAST)
    for name, make in agents.items():
        door.orchestrator.register_agent_factory(name, make)
    await door.orchestrator.lifecycle.start_all()
    try:
        assert len(door.orchestrator.manifest(namespace="alive")) > 60
        assert (await door.call("alive__echo", text="here")).data == "here"
        slow = await door.call("alive__hang")
        assert isinstance(slow, Failed)
        assert slow.code == "TOOL_EXECUTION_TIMEOUT"
        assert door.log.executions[-1].result == slow  # logged for diagnosis
        assert (await door.call("alive__echo", text="still here")).data == "still here"
    finally:
        await door.orchestrator.lifecycle.stop_all()
    assert processes_of(str(FOLDER / "raw.py")) == []


@pytest.mark.req("RES-FR-005")
async def test_all_servers_are_set_up_by_one_function_even_when_all_are_dead() -> None:
    dead = [stdio("--fault", "dies", name=f"dead{n}") for n in range(3)]
    idle = stdio(name="idle", auto_start=False)
    agents = await setup_mcp_tools([*dead, idle, stdio(name="alive")], timing=FAST)
    try:
        assert [agent.config.name for agent in agents] == ["dead0", "dead1", "dead2", "alive"]
        assert [(await agent.health()).healthy for agent in agents] == [False, False, False, True]
    finally:
        await asyncio.gather(*(agent.shutdown() for agent in agents))


@pytest.mark.req("ORC-Q29")
async def test_a_flapping_server_is_followed_without_leaks_or_doubled_calls(tmp_path: Path) -> None:
    state = tmp_path / "state"
    timing = Timing(backoff=0.01, poll=0.02, stable_after=0.0)
    async with connected(stdio("--state", str(state)), timing=timing) as agent:
        answered = unknown = 0
        for _ in range(15):
            kill(agent)
            result = await execute(agent, "count")
            answered += isinstance(result, Done)
            unknown += isinstance(result, Failed) and result.outcome_unknown
            await eventually(lambda: agent.connection.session)
        assert answered + unknown == 15
        ran = lines(state).count("call count")
        assert answered <= ran <= answered + unknown
        await eventually(lambda: len(server_processes(agent)) == 2)  # the supervisor and one server
    assert processes_of(str(state)) == []


# --- answers that are none ---


@pytest.mark.req("RES-EDGE-02")
@pytest.mark.parametrize("tool", ["bad_json", "not_rpc", "no_content", "wrong_result", "wrong_error", "huge"])
async def test_a_malformed_answer_is_an_error_and_the_session_goes_on(tool: str) -> None:
    async with connected(stdio()) as agent:
        session = agent.connection.session
        result = await execute(agent, tool)
        assert isinstance(result, Failed)
        assert result.code == "INVALID_OUTPUT"
        assert (await execute(agent, "echo", text="fine")).data == "fine"
        assert agent.connection.session is session


async def test_chatter_on_standard_output_is_no_answer() -> None:
    async with connected(stdio()) as agent:
        assert (await execute(agent, "chatter")).data == "after the chatter"
        assert "Listening on nothing at all" in (agent.connection.facts())["stderr"]


async def test_endless_output_ends_the_session_in_bounded_memory() -> None:
    async with connected(stdio(max_message_bytes=64 * 1024)) as agent:
        before = psutil.Process().memory_info().rss
        result = await execute(agent, "endless")
        grown = psutil.Process().memory_info().rss - before
        assert isinstance(result, Failed)
        assert result.code in ("INVALID_OUTPUT", "SERVICE_UNAVAILABLE")
        assert grown < 32 * 1024 * 1024
        await eventually(lambda: agent.connection.reconnects >= 1 and agent.connection.session)
        assert (await execute(agent, "echo", text="fine")).data == "fine"


async def test_what_a_schema_forbids_does_not_pass_the_door() -> None:
    door = Door()
    (make,) = mcp_agents([stdio(risk=FREE)], timing=FAST).values()
    door.orchestrator.register_agent_factory("raw", make)
    await door.orchestrator.lifecycle.start_all()
    try:
        assert (await door.call("raw__add", numbers=[1, 2])).data == {"sum": 3}
        assert (await door.call("raw__add")).code == "INVALID_OUTPUT"
    finally:
        await door.orchestrator.lifecycle.stop_all()


async def test_many_calls_at_once_get_their_own_answers() -> None:
    async with connected(stdio()) as agent:
        results = await asyncio.gather(*(execute(agent, "echo", text=str(n)) for n in range(300)))
        assert [result.data for result in results] == [str(n) for n in range(300)]


# --- HTTP ---


async def test_a_call_that_meets_a_closed_port_surely_did_not_run() -> None:
    port = free_port()
    patient = Timing(backoff=0.01, poll=60, ping_every=60)
    async with contextlib.AsyncExitStack() as stack:
        up = await stack.enter_async_context(contextlib.AsyncExitStack())
        url = await up.enter_async_context(serving(make_server().http_app(path="/mcp"), port))
        agent = await stack.enter_async_context(connected(remote(f"{url}/mcp", name="s"), timing=patient))
        assert (await execute(agent, "add", a=1, b=1)).data == {"result": 2}
        await up.aclose()
        result = await execute(agent, "add", a=1, b=1)
        assert isinstance(result, Failed)
        assert (result.code, result.retryable, result.outcome_unknown) == ("SERVICE_UNAVAILABLE", True, False)
        assert not agent.available()


async def _respond(send: Any, status: int, body: bytes, kind: bytes = b"application/json") -> None:
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", kind)]})
    await send({"type": "http.response.body", "body": body})


class OddServer:
    """Speaks the old handshake over HTTP; every tool call meets what the test chose."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.calls = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        if scope["method"] != "POST":
            await _respond(send, 405, b"")
            return
        body, more = b"", True
        while more:
            event = await receive()
            body, more = body + event.get("body", b""), event.get("more_body", False)
        message = json.loads(body)
        method, request_id = message.get("method"), message.get("id")
        results = {
            "initialize": {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "odd", "version": "1"},
            },
            "tools/list": {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]},
            "ping": {},
        }
        if method == "tools/call":
            self.calls += 1
            await self.answer(request_id, send)
        elif request_id is None:
            await _respond(send, 202, b"")
        elif method in results:
            result = {"jsonrpc": "2.0", "id": request_id, "result": results[method]}
            await _respond(send, 200, json.dumps(result).encode())
        else:
            error = {"jsonrpc": "2.0", "id": request_id, "error": {"code": -32601, "message": "no"}}
            await _respond(send, 200, json.dumps(error).encode())


async def _huge(request_id: object, send: Any) -> None:
    result = {"content": [{"type": "text", "text": "x" * 200_000}]}
    await _respond(send, 200, json.dumps({"jsonrpc": "2.0", "id": request_id, "result": result}).encode())


async def _not_json(request_id: object, send: Any) -> None:
    await _respond(send, 200, b"{oops")


async def _bad_gateway(request_id: object, send: Any) -> None:
    await _respond(send, 502, b"", b"text/plain")


async def _busy(request_id: object, send: Any) -> None:
    await _respond(send, 503, b"", b"text/plain")


@pytest.mark.req("RES-EDGE-02")
@pytest.mark.parametrize(
    ("answer", "code", "unknown", "calls"),
    [
        (_huge, "INVALID_OUTPUT", False, 1),
        (_not_json, "INVALID_OUTPUT", False, 1),
        (_bad_gateway, "SERVICE_UNAVAILABLE", True, 1),
        (_busy, "SERVICE_UNAVAILABLE", False, 4),
    ],
    ids=["huge", "not JSON", "bad gateway", "busy"],
)
async def test_what_a_remote_answer_says_about_the_call(
    answer: Any, code: str, unknown: bool, calls: int
) -> None:
    odd = OddServer(answer)
    async with serving(odd) as url:
        config = remote(f"{url}/mcp", name="s", max_message_bytes=100_000)
        async with connected(config, timing=Timing(backoff=0.01, stable_after=0.0)) as agent:
            result = await execute(agent, "t")
            assert isinstance(result, Failed)
            assert (result.code, result.outcome_unknown, odd.calls) == (code, unknown, calls)


# --- processes ---


async def test_shutdown_ends_a_server_that_ignores_it_with_its_children(tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with connected(stdio("--fault", "stubborn", "--state", str(state))) as agent:
        processes = server_processes(agent)
        child = int(next(line for line in lines(state) if line.startswith("child")).split()[1])
        processes.append(psutil.Process(child))
        assert len(processes) == 4
        async with asyncio.timeout(5):
            await agent.shutdown()
        _, alive = psutil.wait_procs(processes, timeout=5)
        assert alive == []


async def test_no_server_outlives_a_killed_parent(tmp_path: Path) -> None:
    state = tmp_path / "state"
    program = f"""
import asyncio
from tests.support.mcp_servers import stdio, connected
async def main():
    async with connected(stdio("--fault", "stubborn", "--state", {str(state)!r})) as agent:
        print(agent.connection.facts()["pid"], flush=True)
        await asyncio.sleep(3600)
asyncio.run(main())
"""
    parent = subprocess.Popen(  # noqa: ASYNC220 - it is the program under test
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
    )
    try:
        assert parent.stdout is not None
        pid = int(await asyncio.to_thread(parent.stdout.readline))
        supervisor = psutil.Process(pid)
        processes = [supervisor, *supervisor.children(recursive=True)]
        assert len(processes) == 3  # the supervisor, the server, and the child that left its session
        os.kill(parent.pid, signal.SIGKILL)
        _, alive = await asyncio.to_thread(psutil.wait_procs, processes, timeout=10)
        assert alive == []
    finally:
        parent.kill()
        parent.wait()
        if parent.stdout is not None:
            parent.stdout.close()


async def test_the_environment_of_steward_does_not_leak_into_servers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_AI_FOUNDRY_API_KEY", "very secret")
    async with connected(stdio(env={"GIVEN": "yes"}), around=Surroundings()) as agent:
        environment = server_processes(agent)[1].environ()
    assert environment["GIVEN"] == "yes"
    assert "PATH" in environment
    assert "very secret" not in environment.values()
