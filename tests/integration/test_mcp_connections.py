"""One session with one server: what is registered, how questions and cancellation find their way."""

import asyncio
from typing import Any

import pytest
from tests.servers.modern import make_server
from tests.support.channels import Person, execute
from tests.support.mcp_servers import connected, eventually, free_port, lines, remote, serving, stdio

from steward.contract.tool import Origin, RiskLevel, ToolHints


async def test_a_caller_that_gives_up_cancels_the_call(tmp_path: Any) -> None:
    state = tmp_path / "state"
    async with connected(stdio("--state", str(state))) as agent:
        waiting = asyncio.create_task(execute(agent, "hang"))
        await eventually(lambda: "call hang" in lines(state))
        waiting.cancel()
        await eventually(lambda: any(line.startswith("cancelled") for line in lines(state)))
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert (await execute(agent, "echo", text="still here")).data == "still here"


async def test_a_question_that_could_be_anybodys_is_put_to_nobody() -> None:
    """On the old wire a question does not say which call asks it."""
    async with connected(stdio(name="s", script="modern.py", protocol="legacy")) as agent:
        waiting = asyncio.create_task(execute(agent, "wait", Person()))
        await eventually(lambda: agent.connection.session and agent.connection.session.in_flight)
        ben = Person()
        assert (await execute(agent, "ask_old", ben)).data["result"] == "cancel None"
        assert ben.asked == []
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)


async def test_tools_carry_what_the_host_says_and_the_server_claims() -> None:
    config = stdio(
        "--tools",
        "3",
        allow=("echo", "add", "tool_*"),
        deny=("tool_1",),
        risk=(("echo", RiskLevel.REVERSIBLE),),
        aliases={"say": "echo"},
        tool_timeout=5.0,
        trusted=True,
    )
    async with connected(config) as agent:
        tools = {spec.name: spec for spec in agent.manifest().tools}
    assert set(tools) == {"raw__echo", "raw__add", "raw__tool_0", "raw__tool_2"}
    echo = tools["raw__echo"]
    assert (echo.origin, echo.risk, echo.aliases) == (Origin.SERVER, RiskLevel.REVERSIBLE, ("say",))
    assert echo.hints == ToolHints(read_only=True, idempotent=True)
    assert (echo.hints_trusted, echo.replayable, echo.timeout) == (True, True, 5.0)
    assert tools["raw__add"].output_schema == {
        "type": "object",
        "properties": {"sum": {"type": "number"}},
        "required": ["sum"],
    }


async def test_hints_of_a_server_that_is_not_trusted_count_for_nothing() -> None:
    async with connected(stdio()) as agent:
        (echo,) = [spec for spec in agent.manifest().tools if spec.name == "raw__echo"]
    assert (echo.hints_trusted, echo.replayable, echo.risk) == (False, False, None)


async def test_every_page_of_a_long_list_is_read() -> None:
    async with connected(stdio("--tools", "57")) as agent:
        assert len([s for s in agent.manifest().tools if s.name.startswith("raw__tool_")]) == 57


async def test_a_server_that_is_down_is_found_when_it_comes_up() -> None:
    port = free_port()
    async with connected(remote(f"http://127.0.0.1:{port}/mcp", name="s")) as agent:
        await eventually(lambda: not agent.available())
        app = make_server().http_app(path="/mcp")
        async with serving(app, port):
            await eventually(agent.available)
            await eventually(lambda: agent.connection.session)
            assert (await execute(agent, "add", a=1, b=1)).data == {"result": 2}
