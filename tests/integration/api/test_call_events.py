"""A call followed as events, over the transport that the commands use inside their own process."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import pytest
from tests.support.owner import owner_headers
from tests.support.serving import served

from steward.bootstrap import Platform
from steward.contract.call import Channel, current_call
from steward.contract.errors import StewardError, UnavailableError
from steward.contract.tool import Effect, Origin, RiskLevel, ToolSpec
from steward.providers.functions import FunctionTool, LegacyToolAgent
from steward.surfaces.api.app import create_app
from steward.surfaces.cli.client import Api
from steward.surfaces.cli.inprocess import InProcess
from steward.surfaces.wire import SocketWire, Wire


def channel() -> Channel:
    call = current_call.get()
    assert call is not None
    assert call.channel is not None
    return call.channel


async def add_tool(platform: Platform, function: Callable[..., Any], **properties: Any) -> None:
    spec = ToolSpec(
        name=function.__name__,
        description="For this test.",
        origin=Origin.BUILTIN,
        risk=RiskLevel.REVERSIBLE,
        effect=Effect.READS,
        input_schema={"type": "object", "properties": properties},
    )
    platform.orchestrator.register_agent(LegacyToolAgent(spec.name, [FunctionTool(spec, function)]))
    await platform.orchestrator.lifecycle.start(spec.name)


@pytest.fixture
async def wire(platform: Platform) -> Wire:
    return InProcess(create_app(platform), owner_headers(platform))


async def test_progress_comes_as_it_happens_and_then_the_result(platform: Platform, wire: Wire) -> None:
    heard = asyncio.Event()

    async def count(to: int) -> dict[str, int]:
        assert await channel().elicit("Sure?", {}) is None  # a stream goes one way
        for step in range(1, to + 1):
            await channel().progress(step, to, f"step {step}")
            await heard.wait()
            heard.clear()
        return {"counted": to}

    await add_tool(platform, count, to={"type": "integer"})
    api = Api(wire)
    told: list[tuple[str, dict[str, Any]]] = []
    async for name, data in api.stream("/v1/tools/count/call", {"arguments": {"to": 2}}):
        told.append((name, data))
        heard.set()
    assert told[:2] == [
        ("progress", {"done": 1, "total": 2, "message": "step 1"}),
        ("progress", {"done": 2, "total": 2, "message": "step 2"}),
    ]
    assert (told[2][0], told[2][1]["status"], told[2][1]["data"]) == ("result", "done", {"counted": 2})


async def test_what_goes_wrong_is_told_in_the_stream_or_before_it(platform: Platform, wire: Wire) -> None:
    async def nothing(to: int = 1) -> None:
        del to

    await add_tool(platform, nothing, to={"type": "integer"})
    api = Api(wire)
    events = [item async for item in api.stream("/v1/tools/nothing/call", {"arguments": {"to": "x"}})]
    assert [(name, data["error_code"]) for name, data in events] == [("result", "INVALID_ARGUMENTS")]
    with pytest.raises(StewardError) as refused:
        await anext(api.stream("/v1/tools/nothing/call", {"unknown": 1}))
    assert refused.value.code == "INVALID_INPUT"


async def test_who_stops_listening_stops_the_call(platform: Platform, wire: Wire) -> None:
    stopped = asyncio.Event()

    async def endless() -> None:
        await channel().progress(1, None, "on my way")
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    await add_tool(platform, endless)
    headers = {"Accept": "text/event-stream", "Content-Type": "application/json"}
    async with asyncio.timeout(60):
        async with wire.open("POST", "/v1/tools/endless/call", body=b"{}", headers=headers) as answer:
            assert await anext(aiter(answer.lines())) == "event: progress"
        await stopped.wait()


async def test_a_stream_that_is_left_early_leaves_nothing_behind(
    platform: Platform, caplog: pytest.LogCaptureFixture
) -> None:
    async def steps() -> None:
        for step in range(5):
            await channel().progress(step, 5, "on my way")
            await asyncio.sleep(0)

    async def command(address: str) -> str:
        async with aclosing(
            Api(SocketWire(address, owner_headers(platform)), running=address).stream(
                "/v1/tools/steps/call", {}
            )
        ) as told:
            return (await anext(told))[0]

    await add_tool(platform, steps)
    async with served(create_app(platform)) as address:
        assert await asyncio.to_thread(asyncio.run, command(address)) == "progress"
    assert [
        record for record in caplog.records if record.name == "asyncio" and record.levelname == "ERROR"
    ] == []


async def test_an_application_that_fails_or_says_nothing_is_no_answer() -> None:
    async def silent(_scope: Any, _receive: Any, _send: Any) -> None:
        pass

    async def broken(_scope: Any, _receive: Any, _send: Any) -> None:
        raise ValueError("inside")

    with pytest.raises(UnavailableError):
        await anext(Api(InProcess(silent)).stream("/", {}))
    with pytest.raises(ValueError, match="inside"):
        await Api(InProcess(broken)).get("/")
