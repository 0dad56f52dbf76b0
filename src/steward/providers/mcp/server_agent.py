"""An MCP server as an agent: its tools, found, named, judged and called.

Owns what one server offers and how a call to it ends. The connection keeps the session (connection.py), the
orchestrator governs the call.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp_types import HEADER_MISMATCH

from steward.contract.agent import AgentManifest, Health
from steward.contract.call import Failed, ToolCall, ToolResult, current_call
from steward.contract.errors import (
    ConflictError,
    ErrorCode,
    NotFoundError,
    StewardError,
    UnavailableError,
)
from steward.contract.pins import SEEN, Pin, PinStore
from steward.policy.rules import Rules
from steward.providers.mcp import answers, federation
from steward.providers.mcp.connection import Callbacks, Connection, State, Timing
from steward.providers.mcp.links import LinkOpener, Surroundings, link_opener
from steward.providers.mcp.mcp_config import ServerConfig
from steward.providers.mcp.offers import Catalogue, Offer, OfferReader
from steward.providers.mcp.questions import Questions
from steward.providers.mcp.session import McpSession
from steward.providers.mcp.wire import BadAnswerError, ConnectionLostError

logger = logging.getLogger(__name__)

MAX_START = 20.0  # seconds; a slower server goes on connecting while everything else works
READ_SECONDS = 30.0  # for a resource or a prompt, unless the server's toolTimeout says otherwise


class MCPServerAgent:
    """One server of mcp.json: an Agent, ChangingAgent, AcceptingAgent, DecliningAgent and PromptAgent."""

    ends_when_cancelled = True

    def __init__(
        self,
        config: ServerConfig,
        *,
        around: Surroundings | None = None,
        opener: LinkOpener | None = None,
        pins: PinStore | None = None,
        rules: Callable[[], Rules] = Rules,
        timing: Timing | None = None,
    ) -> None:
        self.config = config
        self._pins = pins
        self._timing = timing or Timing()
        self._reader = OfferReader(config, pinned=pins is not None, rules=rules)
        self._catalogue = Catalogue()
        self._listeners: list[Callable[[], None]] = []
        self._watchers: list[Callable[[str], None]] = []
        self._settled = asyncio.Event()  # the first try to connect is over
        self._patience = min(config.timeout + 1, MAX_START)
        questions = Questions(self._calls_in_flight)
        self.connection = Connection(
            config.name,
            opener or link_opener(config, around or Surroundings()),
            Callbacks(
                elicit=questions.elicit,
                sample=questions.sample,
                roots=questions.roots,
                on_session=self._discover,
                on_state=self._on_state,
                on_resource=self._on_resource,
            ),
            timeout=config.timeout,
            timing=self._timing,
            protocol=config.protocol,
        )

    # --- Agent ---

    async def initialize(self) -> None:
        """Connect. A server that cannot be reached stays registered, unavailable, and is tried again."""
        if self.connection.state is State.STOPPED:
            await self._recall()
            self._settled.clear()
            self.connection.start()
        try:
            async with asyncio.timeout(self._patience):
                await self._settled.wait()
        except TimeoutError:
            pass  # the connection goes on by itself; health says how far it is

    async def execute(self, tool: str, params: Mapping[str, Any]) -> ToolResult:
        offer = self._catalogue.offers.get(tool)
        if offer is None:
            return Failed(
                error=f"Server '{self.config.name}' has no tool '{tool}' now.", code=ErrorCode.TOOL_NOT_FOUND
            )
        if offer.spec.blocked is not None:
            return Failed(error=offer.spec.blocked, code=ErrorCode.TOOL_QUARANTINED)
        try:
            return await self._call(offer, params)
        except UnavailableError as error:
            return Failed.from_error(error)

    async def decline(self, tool: str, params: Mapping[str, Any]) -> None:
        """Only a person's no goes out: its Steward turns its proposal down."""
        offer = self._catalogue.offers.get(tool)
        if offer is not None:
            session = await self.connection.ready()
            meta = federation.call_meta(current_call.get())
            await self._translated(session.call_tool(offer.own_name, params, meta=meta), "tools/call")

    async def tell(self, tool: str, params: Mapping[str, Any]) -> str | None:  # noqa: ARG002
        offer = self._catalogue.offers.get(tool)
        return None if offer is None else f"calls {offer.own_name!r} of the server {self.config.name!r}"

    async def shutdown(self) -> None:
        await self.connection.stop()

    def manifest(self) -> AgentManifest:
        return AgentManifest(
            id=self.config.name,
            name=self.config.name,
            tools=tuple(offer.spec for offer in self._catalogue.offers.values()),
            capabilities=("mcp",),
            requires_approval=self.config.requires_approval,
        )

    async def health(self) -> Health:
        connection, facts = self.connection, self.connection.facts()
        facts["tools"] = len(self._catalogue.offers)
        held = {
            offer.spec.name: offer.spec.blocked
            for offer in self._catalogue.offers.values()
            if offer.spec.blocked
        }
        flags = {
            offer.spec.name: list(offer.verdict.flags)
            for offer in self._catalogue.offers.values()
            if offer.verdict is not None and offer.verdict.flags
        }
        facts |= {key: value for key, value in (("quarantined", held), ("flagged", flags)) if value}
        if self._catalogue.problems:
            facts["problems"] = list(self._catalogue.problems)
        detail = connection.problem or (
            "connected" if connection.state is State.READY else str(connection.state)
        )
        return Health(healthy=connection.state is State.READY, detail=detail, facts=facts)

    # --- ChangingAgent ---

    def subscribe(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def available(self) -> bool:
        return self.connection.available

    def problem(self) -> str | None:
        return self.connection.problem

    # --- AcceptingAgent ---

    def quarantined(self) -> dict[str, str]:
        """Why each tool that is held back is held back."""
        offers = self._catalogue.offers.values()
        return {offer.spec.name: offer.spec.blocked for offer in offers if offer.spec.blocked is not None}

    async def accept(self, tool: str, *, shown: str | None = None) -> None:
        offer = self._catalogue.offers.get(tool)
        if offer is None:
            raise NotFoundError(
                f"Server '{self.config.name}' has no tool '{tool}'.", code=ErrorCode.TOOL_NOT_FOUND
            )
        if offer.spec.blocked is None or offer.verdict is None or self._pins is None:
            raise ConflictError(f"'{tool}' is accepted already.", fix="There is nothing to do.")
        pin = offer.verdict.pin
        if not offer.verdict.acceptable:
            raise ConflictError(offer.spec.blocked)
        if shown is not None and shown != offer.spec.blocked:
            raise ConflictError(
                f"'{tool}' changed again since it was shown.", fix="Look at it as it is now, then accept it."
            )
        await self._pins.accept(replace(pin, accepted=True))
        session = self.connection.session
        if session is None:
            await self._recall()
            self._tell()
        else:
            await self._discover(session)

    async def rejudge(self) -> None:
        """Once more against what was accepted, which another instance may have changed."""
        if (session := self.connection.session) is not None:
            await self._discover(session)

    # --- what else a server has ---

    @property
    def namespace(self) -> str:
        return self.config.namespace

    async def list_resources(self) -> list[dict[str, Any]]:
        return await self._pages("resources/list", "resources")

    async def list_resource_templates(self) -> list[dict[str, Any]]:
        return await self._pages("resources/templates/list", "resourceTemplates")

    async def read_resource(self, uri: str) -> dict[str, Any]:
        return await self._ask("resources/read", {"uri": uri})

    async def list_prompts(self) -> list[dict[str, Any]]:
        return await self._pages("prompts/list", "prompts")

    async def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> dict[str, Any]:
        return await self._ask("prompts/get", {"name": name, "arguments": dict(arguments or {})})

    async def complete(self, params: Mapping[str, Any]) -> dict[str, Any]:
        return await self._ask("completion/complete", params)

    async def watch_resource(self, uri: str) -> None:
        session = await self.connection.ready()
        await self._translated(session.watch(uri, self._on_resource), "resources/subscribe")

    async def unwatch_resource(self, uri: str) -> None:
        session = await self.connection.ready()
        await self._translated(session.unwatch(uri), "resources/unsubscribe")

    def subscribe_resources(self, listener: Callable[[str], None]) -> None:
        """`listener` gets the URI of each watched resource that changed."""
        self._watchers.append(listener)

    def _on_resource(self, uri: str) -> None:
        for watcher in self._watchers:
            watcher(uri)

    async def _pages(self, method: str, key: str) -> list[dict[str, Any]]:
        session = await self.connection.ready()
        offered = {
            "resources": session.capabilities.resources,
            "resourceTemplates": session.capabilities.resources,
            "prompts": session.capabilities.prompts,
        }
        if offered[key] is None:
            return []
        return await self._translated(session.pages(method, key, timeout=self.config.timeout), method)

    async def _ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Reading is safe to repeat, so a session lost meanwhile costs one more try."""
        for _ in range(self._timing.retries):
            session = await self.connection.ready()
            try:
                return await self._translated(session.interact(method, params), method)
            except UnavailableError:
                if not session.link.lost.is_set():
                    raise
        raise UnavailableError(f"Server '{self.config.name}' does not stay connected.")

    async def _translated(self, work: Any, method: str) -> Any:
        try:
            async with asyncio.timeout(self.config.tool_timeout or READ_SECONDS):
                return await work
        except TimeoutError:
            raise UnavailableError(f"Server '{self.config.name}' did not answer {method} in time.") from None
        except ConnectionLostError as error:
            raise UnavailableError(f"Server '{self.config.name}' was lost: {error.message}.") from error
        except BadAnswerError as error:
            raise StewardError(
                f"Server '{self.config.name}' answered {method} with nothing usable: {error.message}.",
                code=ErrorCode.INVALID_OUTPUT,
            ) from error
        except MCPError as error:
            raise NotFoundError(f"Server '{self.config.name}' refused {method}: {error.message}.") from error

    # --- calls ---

    async def _call(self, offer: Offer, params: Mapping[str, Any]) -> ToolResult:
        name, server = offer.spec.name, self.config.name
        call = current_call.get()
        channel = None if call is None else call.channel

        async def report(progress: float, total: float | None, message: str | None) -> None:
            assert channel is not None
            await channel.progress(progress, total, message)

        on_progress = None if channel is None else report
        reason = ""
        for attempt in range(1 + self._timing.retries):
            session = await self.connection.ready()
            try:
                answer = await session.call_tool(
                    offer.own_name,
                    params,
                    header_map=offer.header_map,
                    on_progress=on_progress,
                    meta=federation.call_meta(call) if self.config.steward else None,
                )
                return answers.result_of(name, answer, steward=server if self.config.steward else None)
            except ConnectionLostError as error:
                if error.sent and not offer.spec.replayable:
                    return answers.lost(name, server, error.message)
                reason = error.message
            except BadAnswerError as error:
                return answers.bad_answer(name, error)
            except MCPError as error:
                if error.code == HEADER_MISMATCH and attempt == 0:
                    await self._discover(
                        session
                    )  # it did not run: the server wants headers we did not know of
                    offer = self._catalogue.offers.get(name, offer)
                    continue
                return answers.refused(name, error)
        return Failed(
            error=f"Server '{server}' does not stay connected long enough to run '{name}': {reason}.",
            code=ErrorCode.SERVICE_UNAVAILABLE,
            retryable=True,
        )

    # --- discovery ---

    async def _discover(self, session: McpSession) -> None:
        """Read the server's tools anew, judge them, and tell who listens."""
        listed: list[dict[str, Any]] = []
        if session.capabilities.tools is not None:
            listed = await session.pages("tools/list", "tools", timeout=self.config.timeout)
        known: Mapping[str, Pin] = {}
        if self._pins is not None:
            known = await self._pins.of(self.config.name)
        catalogue = self._reader.read(listed, known, modern=session.modern)
        if self._pins is not None:
            seen = [] if SEEN in known else [_seen(self.config.name)]
            if pins := [*seen, *catalogue.new_pins]:
                await self._pins.remember(pins)
        self._catalogue = catalogue
        for problem in catalogue.problems:
            logger.warning("mcp_tool_skipped", extra={"agent": self.config.name, "problem": problem})
        self._tell()

    async def _recall(self) -> None:
        """What the server offered when it was last seen, so that its tools are known while it is away."""
        if self._pins is None or self.connection.session is not None:
            return
        self._catalogue = self._reader.recall(await self._pins.of(self.config.name))

    def _calls_in_flight(self) -> list[ToolCall]:
        session = self.connection.session
        return [] if session is None else session.calls_in_flight()

    def _on_state(self) -> None:
        if self.connection.state is not State.CONNECTING:
            self._settled.set()
        self._tell()

    def _tell(self) -> None:
        for listener in tuple(self._listeners):
            listener()


def _seen(agent: str) -> Pin:
    return Pin(agent=agent, tool=SEEN, digest="", definition={}, accepted=True)
