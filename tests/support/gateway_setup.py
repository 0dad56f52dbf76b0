"""A door with a few tools behind it and the gateway in front, for tests over real transports."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import uvicorn

from steward.contract.call import ToolCall, current_call
from steward.contract.errors import ToolError
from steward.contract.tool import Effect, Origin, RiskLevel, ToolHints, ToolSpec
from steward.orchestrator.orchestrator import Orchestrator
from steward.policy.rules import Rules
from steward.providers.functions import FunctionTool, LegacyToolAgent
from steward.selection.lexical import LexicalRanker
from steward.servers.gateway.guard import GatewayGuard, OpenDoor, RateLimit
from steward.servers.gateway.http import HttpGateway
from steward.servers.gateway.long_calls import LongCalls
from steward.servers.gateway.ports import Doorkeeper, OfferedContents
from steward.servers.gateway.server import Gateway
from steward.servers.gateway.views import View
from steward.testing import MemoryProposalStore

ACCEPT = {"accept": "application/json, text/event-stream"}


async def open_session(http: httpx.AsyncClient, url: str, **headers: str) -> dict[str, str]:
    about = {"name": "raw", "version": "1"}
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about}
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    answer = await http.post(url, json=hello, headers={**ACCEPT, **headers})
    answer.raise_for_status()
    session = {
        **ACCEPT,
        **headers,
        "mcp-session-id": answer.headers["mcp-session-id"],
        "mcp-protocol-version": "2025-11-25",
    }
    await http.post(url, json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=session)
    return session


def told(answer: Any) -> dict[str, Any]:
    """The envelope of what was not done, as it travels beside the words."""
    return answer.meta["steward/result"]


class KeptLog:
    def __init__(self) -> None:
        self.lines: list[Any] = []

    async def begin(self, intent: Any) -> None:
        """What is about to run; these tests look at what ran."""

    def append(self, execution: Any) -> None:
        self.lines.append(execution)

    def accepting(self) -> bool:
        return True


class NoTracing:
    @contextmanager
    def tool_call(self, call: ToolCall) -> Iterator[Any]:
        yield self

    def finish(self, result: Any, **_: Any) -> None:
        pass


def builtin(name: str, risk: RiskLevel = RiskLevel.REVERSIBLE, /, **schema: Any) -> ToolSpec:
    return ToolSpec(
        name=name,
        description=f"The tool {name}",
        input_schema={"type": "object", "properties": schema},
        origin=Origin.BUILTIN,
        risk=risk,
        effect=Effect.READS if risk is RiskLevel.REVERSIBLE else Effect.WRITES_OUTSIDE,
        hints=ToolHints(read_only=risk is RiskLevel.REVERSIBLE),
    )


@dataclass
class GatewaySetup:
    orchestrator: Orchestrator
    proposals: MemoryProposalStore
    log: KeptLog
    wiped: list[str] = field(default_factory=list)
    started: asyncio.Event = field(default_factory=asyncio.Event)
    stopped: asyncio.Event = field(default_factory=asyncio.Event)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    url: str = ""
    gateway: Gateway | None = None


def channel() -> Any:
    call = current_call.get()
    assert call is not None
    return call.channel


def agents(house: GatewaySetup) -> list[LegacyToolAgent]:
    async def echo(text: str = "") -> dict[str, str]:
        return {"text": text}

    async def wipe(name: str) -> str:
        house.wiped.append(name)
        return f"wiped {name}"

    async def count(to: int = 3) -> str:
        for step in range(to):
            await channel().progress(step + 1, to, f"step {step + 1}")
        await channel().log("info", "counted", "counter")
        return "counted"

    async def ask() -> dict[str, Any]:
        answer = await channel().elicit(
            "Your name?", {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        )
        return {"answer": None if answer is None else {"action": answer.action, **answer.content}}

    async def ask_twice() -> dict[str, Any]:
        schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        one, two = await asyncio.gather(channel().elicit("One?", schema), channel().elicit("Two?", schema))
        return {"answers": [one.content["name"], two.content["name"]]}

    async def think() -> dict[str, Any]:
        message = {"role": "user", "content": {"type": "text", "text": "Say something"}}
        answer = await channel().ask("sampling/createMessage", {"messages": [message], "maxTokens": 9})
        return {"thought": None if answer is None else answer["content"]["text"]}

    async def wait() -> str:
        house.started.set()
        try:
            await asyncio.Event().wait()
        finally:
            house.stopped.set()
        return "never"

    async def survey() -> dict[str, Any]:
        """Takes its time, says how far it is, asks two things at once, and one more."""
        await channel().progress(1, 3, "looking")
        await house.go_on.wait()
        schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        both = await asyncio.gather(channel().elicit("One?", schema), channel().elicit("Two?", schema))
        last = await channel().elicit("Three?", schema)
        return {"answers": [None if each is None else each.content["name"] for each in (*both, last)]}

    async def fail() -> str:
        raise ToolError("The disk is full.", code="DISK_FULL", fix="Free some.")

    wipe_spec = builtin("wipe", RiskLevel.IRREVERSIBLE, name={"type": "string"})
    plain = [
        FunctionTool(builtin("echo", text={"type": "string"}), echo),
        FunctionTool(wipe_spec, wipe),
        FunctionTool(builtin("count", to={"type": "integer"}), count),
        FunctionTool(builtin("ask"), ask),
        FunctionTool(builtin("ask_twice"), ask_twice),
        FunctionTool(builtin("think"), think),
        FunctionTool(builtin("wait"), wait),
        FunctionTool(builtin("survey"), survey),
        FunctionTool(builtin("fail"), fail),
    ]
    inner = [FunctionTool(builtin("zoo__feed", text={"type": "string"}), echo)]
    return [LegacyToolAgent("house", plain), LegacyToolAgent("zoo", inner)]


def build_house() -> GatewaySetup:
    proposals, log = MemoryProposalStore(), KeptLog()
    orchestrator = Orchestrator(proposals=proposals, log=log, tracer=NoTracing(), rules=Rules)
    return GatewaySetup(orchestrator, proposals, log)


@asynccontextmanager
async def served(
    view: View | None = None,
    *,
    library: OfferedContents | None = None,
    doorkeeper: Doorkeeper | None = None,
    limit: RateLimit | None = None,
    house: GatewaySetup | None = None,
    long_calls: LongCalls | None = None,
) -> AsyncIterator[GatewaySetup]:
    """The gateway on a port of this machine, over a door with the house's tools."""
    house = house or build_house()
    for agent in agents(house):
        house.orchestrator.register_agent(agent)
    await house.orchestrator.lifecycle.start_all()
    gateway = Gateway(
        house.orchestrator, ranker=LexicalRanker(), view=view, library=library, long_calls=long_calls
    )
    house.gateway = gateway
    app = HttpGateway(gateway, house.orchestrator, guard=GatewayGuard(doorkeeper or OpenDoor(), limit=limit))
    async with app.run(), listening(app) as url:
        house.url = url
        yield house
    await house.orchestrator.lifecycle.stop_all()


@asynccontextmanager
async def listening(app: Any) -> AsyncIterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off")
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            server.force_exit = True
            await serving
