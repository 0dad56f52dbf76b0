"""What is said to a server once a link is open: negotiation, requests, questions on the way.

The SDK's session negotiates the era and answers the server's own requests; every request of ours goes to the
dispatcher directly, stamped as the era wants it. Protocol 2026-07-28, and 2025-11-25 down to 2024-11-05.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version as package_version
from typing import Any, cast

import mcp_types as types
from mcp.client.session import (
    ClientRequestContext,
    ClientSession,
    ElicitationFnT,
    ListRootsFnT,
    MessageHandlerFnT,
    SamplingFnT,
)
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost, listen
from mcp.shared.dispatcher import CallOptions, ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
    mcp_param_headers,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_MODERN_VERSION, MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from steward.contract.call import ClientChannel, ToolCall, current_call
from steward.contract.trace_context import passed_on
from steward.providers.mcp.links import ServerLink
from steward.providers.mcp.long_calls import EXTENSION, LongCallOfServer
from steward.providers.mcp.wire import BadAnswerError, ConnectionLostError

CLIENT = types.Implementation(name="steward", version=package_version("steward-agents"))
MAX_PAGES = 200
MAX_ROUNDS = 10  # questions that one call may ask in a row
_STATE_ONLY_PAUSE = 0.05
_LISTEN_PAUSE = 1.0
HeaderMap = Mapping[tuple[str, ...], str]

_CAPABILITIES = types.ClientCapabilities(
    sampling=types.SamplingCapability(),
    roots=types.RootsCapability(),
    elicitation=types.ElicitationCapability(
        form=types.FormElicitationCapability(), url=types.UrlElicitationCapability()
    ),
).model_dump(by_alias=True, mode="json", exclude_none=True)
_STAMP: dict[str, Any] = {
    types.CLIENT_INFO_META_KEY: CLIENT.model_dump(by_alias=True, mode="json", exclude_none=True),
    types.CLIENT_CAPABILITIES_META_KEY: _CAPABILITIES,
}


def client_session(
    link: ServerLink,
    *,
    elicit: ElicitationFnT,
    sample: SamplingFnT,
    roots: ListRootsFnT,
    hear: MessageHandlerFnT,
) -> ClientSession:
    return ClientSession(
        dispatcher=link.dispatcher,
        client_info=CLIENT,
        elicitation_callback=elicit,
        sampling_callback=sample,
        list_roots_callback=roots,
        message_handler=hear,
    )


async def negotiate(client: ClientSession, mode: str, *, probe_seconds: float) -> None:
    """Agree on a protocol: ask for the newest era, fall back to the handshake of the older ones.

    Only a server that names its versions and shares none with us is refused; anything else that is not
    a clear sign of the new era means the old one.
    """
    if mode == "legacy":
        await client.initialize()
        return
    try:
        async with asyncio.timeout(probe_seconds):
            raw = await client.send_discover(LATEST_MODERN_VERSION)
        discovered = types.DiscoverResult.model_validate(raw)
        if any(version in discovered.supported_versions for version in MODERN_PROTOCOL_VERSIONS):
            client.adopt(discovered)
            return
    except ConnectionLostError:
        raise
    except MCPError as error:
        if error.code == types.UNSUPPORTED_PROTOCOL_VERSION:
            served = _served(error)
            newest = next((version for version in MODERN_PROTOCOL_VERSIONS if version in served), None)
            if newest is not None:
                client.adopt(types.DiscoverResult.model_validate(await client.send_discover(newest)))
                return
            if served and not any(version in HANDSHAKE_PROTOCOL_VERSIONS for version in served):
                raise
    except (TimeoutError, ValidationError):
        pass
    try:
        await client.initialize()
    except MCPError as error:
        # A slow server may have taken the probe after we stopped waiting, and be of the new era after all.
        if error.code != types.UNSUPPORTED_PROTOCOL_VERSION:
            raise
        client.adopt(types.DiscoverResult.model_validate(await client.send_discover(LATEST_MODERN_VERSION)))


def _served(error: MCPError) -> list[str]:
    """The versions that a server which refused ours says it speaks; empty when it does not say."""
    try:
        return types.UnsupportedProtocolVersionErrorData.model_validate(error.data).supported
    except ValidationError:
        return []


class McpSession:
    """A negotiated conversation. Raises ConnectionLostError, BadAnswerError or the server's own MCPError."""

    def __init__(self, link: ServerLink, client: ClientSession) -> None:
        self.link = link
        self.client = client
        self.changed = asyncio.Event()  # the server's lists are not what they were
        self.heard_at = time.monotonic()
        self._in_flight: dict[object, ToolCall | None] = {}
        self._watches: dict[str, asyncio.Task[None]] = {}
        self.version = client.protocol_version or ""
        self.modern = self.version in MODERN_PROTOCOL_VERSIONS
        self.capabilities = client.server_capabilities or types.ServerCapabilities()
        self._meta = {types.PROTOCOL_VERSION_META_KEY: self.version, **self._stamp()} if self.modern else None
        self._wire_headers = link.kind == "http"

    def _stamp(self) -> dict[str, Any]:
        """Who we are and what we can. A server that can let go of a call hears that we can follow it."""
        if EXTENSION not in (self.capabilities.extensions or {}):
            return _STAMP
        return {
            **_STAMP,
            types.CLIENT_CAPABILITIES_META_KEY: {**_CAPABILITIES, "extensions": {EXTENSION: {}}},
        }

    @property
    def in_flight(self) -> int:
        return len(self._in_flight)

    def calls_in_flight(self) -> list[ToolCall]:
        return [call for call in self._in_flight.values() if call is not None]

    @property
    def server_info(self) -> dict[str, Any]:
        info = self.client.server_info
        return {} if info is None else {"name": info.name, "version": info.version}

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        on_progress: ProgressFnT | None = None,
        timeout: float | None = None,
        headers: dict[str, str] | None = None,
    ) -> dict[str, Any]:
        sent: dict[str, Any] = dict(params) if params else {}
        if self._meta is not None:
            sent["_meta"] = {**self._meta, **sent["_meta"]} if "_meta" in sent else self._meta
        opts: CallOptions = {}
        if timeout is not None:
            opts["timeout"] = timeout
        if on_progress is not None:
            opts["on_progress"] = self._noting(on_progress)
        if self._wire_headers:
            opts["headers"] = {**self._headers(method, sent), **(headers or {})}
        if self.link.lost.is_set():
            raise ConnectionLostError(self.link.reason() or "it is gone", sent=False)
        key = object()
        self._in_flight[key] = current_call.get()
        try:
            answer = await self.link.dispatcher.send_raw_request(method, sent, opts)
        except (ConnectionLostError, BadAnswerError):
            raise
        except MCPError as error:
            honest = self.link.honest(error)
            if honest is error and self.link.lost.is_set():
                honest = ConnectionLostError(self.link.reason() or error.message, sent=True)
            if honest is error and error.code != types.REQUEST_TIMEOUT:
                self.heard_at = time.monotonic()  # an error is an answer too
            raise honest from None
        finally:
            del self._in_flight[key]
        self.heard_at = time.monotonic()
        return answer

    def _headers(self, method: str, params: Mapping[str, Any]) -> dict[str, str]:
        headers = {MCP_PROTOCOL_VERSION_HEADER: self.version}
        if self.modern:
            headers[MCP_METHOD_HEADER] = method
            key = NAME_BEARING_METHODS.get(method)
            if key is not None:
                headers[MCP_NAME_HEADER] = encode_header_value(str(params[key]))
        return headers

    def _noting(self, on_progress: ProgressFnT) -> ProgressFnT:
        async def report(progress: float, total: float | None, message: str | None) -> None:
            self.heard_at = time.monotonic()
            await on_progress(progress, total, message)

        return report

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        header_map: HeaderMap | None = None,
        on_progress: ProgressFnT | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        params: dict[str, Any] = {"name": name, "arguments": arguments}
        if meta is not None:
            params["_meta"] = dict(meta)
        headers = mcp_param_headers(header_map, arguments) if header_map and self._wire_headers else None
        call = current_call.get()
        channel = None if call is None else call.channel
        if self.modern and isinstance(channel, ClientChannel) and channel.log_level is not None:
            params["_meta"] = {**(meta or {}), types.LOG_LEVEL_META_KEY: channel.log_level}
        return await self.interact("tools/call", params, headers=headers, on_progress=on_progress)

    async def pass_log(self, line: types.LoggingMessageNotificationParams) -> None:
        """A line belongs to the one caller there is; when there are several, the wire does not say whose."""
        channels = {id(call.channel): call.channel for call in self.calls_in_flight()}
        if len(channels) == 1 and isinstance(channel := next(iter(channels.values())), ClientChannel):
            await channel.log(line.level, line.data, line.logger)

    async def interact(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        headers: dict[str, str] | None = None,
        on_progress: ProgressFnT | None = None,
    ) -> dict[str, Any]:
        """A request that the server may answer with questions first (2026-07-28)."""
        params = passed_on(params)
        answer = await self.request(method, params, headers=headers, on_progress=on_progress)
        rounds = 0
        while answer.get("resultType") == "input_required":
            rounds += 1
            if rounds > MAX_ROUNDS:
                raise BadAnswerError(f"it asked more than {MAX_ROUNDS} times in a row")
            more = await self._answers(answer)
            answer = await self.request(method, {**params, **more}, headers=headers, on_progress=on_progress)
        if answer.get("resultType") == "task" and self.modern:
            return await LongCallOfServer(self, answer, answer=self._answers_to).outcome(answer)
        return answer

    async def _answers(self, raw: dict[str, Any]) -> dict[str, Any]:
        try:
            asked = types.InputRequiredResult.model_validate(raw)
        except ValidationError:
            raise BadAnswerError("it asked something that cannot be understood") from None
        more: dict[str, Any] = {}
        if asked.request_state is not None:
            more["requestState"] = asked.request_state
        if not asked.input_requests:
            await asyncio.sleep(_STATE_ONLY_PAUSE)
            return more
        return {**more, "inputResponses": await self._answered(asked.input_requests)}

    async def _answers_to(self, questions: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            asked = types.InputRequiredResult.model_validate({"inputRequests": questions})
        except ValidationError:
            raise BadAnswerError("it asked something that cannot be understood") from None
        return await self._answered(asked.input_requests or {})

    async def _answered(self, questions: Mapping[str, types.InputRequest]) -> dict[str, Any]:
        # All at once, so that a client which answers several together is asked together.
        return dict(await asyncio.gather(*(self._answer(key, one) for key, one in questions.items())))

    async def _answer(self, key: str, question: types.InputRequest) -> tuple[str, dict[str, Any]]:
        context = ClientRequestContext(session=self.client, request_id=key)
        response = await self.client.dispatch_input_request(context, question)
        if isinstance(response, types.ErrorData):
            raise MCPError(response.code, response.message, response.data)
        return key, response.model_dump(by_alias=True, mode="json", exclude_none=True)

    async def pages(self, method: str, key: str, *, timeout: float | None = None) -> list[dict[str, Any]]:
        """Every item of a paginated list, as it came."""
        items: list[dict[str, Any]] = []
        cursor: str | None = None
        seen: set[str] = set()
        for _ in range(MAX_PAGES):
            answer = await self.request(method, {"cursor": cursor} if cursor else None, timeout=timeout)
            found: Any = answer.get(key)
            if not isinstance(found, list):
                raise BadAnswerError(f"its answer to {method} has no list of {key}")
            items.extend(
                cast("dict[str, Any]", item) for item in cast("list[Any]", found) if isinstance(item, dict)
            )
            following: Any = answer.get("nextCursor")
            if not isinstance(following, str) or not following:
                return items
            if following in seen:
                break
            seen.add(following)
            cursor = following
        raise BadAnswerError(f"its answer to {method} never ends")

    async def watch(self, uri: str, on_change: Callable[[str], None]) -> None:
        """Be told when a resource changes; in the old era the news comes as a notification."""
        if not self.modern:
            await self.request("resources/subscribe", {"uri": uri})
        elif uri not in self._watches:
            self._watches[uri] = asyncio.create_task(self._watch(uri, on_change))

    async def unwatch(self, uri: str) -> None:
        if not self.modern:
            await self.request("resources/unsubscribe", {"uri": uri})
        elif (watch := self._watches.pop(uri, None)) is not None:
            watch.cancel()

    async def _watch(self, uri: str, on_change: Callable[[str], None]) -> None:
        while not self.link.lost.is_set():
            try:
                async with listen(self.client, resource_subscriptions=[uri]) as events:
                    async for _ in events:
                        on_change(uri)
            except SubscriptionLost:
                on_change(uri)  # something may have been missed
            except (MCPError, ListenNotSupportedError, TimeoutError):
                return
            await asyncio.sleep(_LISTEN_PAUSE)

    def close(self) -> None:
        for watch in self._watches.values():
            watch.cancel()

    async def ping(self, seconds: float) -> None:
        """A sign of life. The new era has no ping; discovery is its cheapest question."""
        await self.request("server/discover" if self.modern else "ping", timeout=seconds)

    async def follow_changes(self) -> None:
        """Subscribe to list changes, as the new era wants it; the old one sends them unasked."""
        tools, prompts, resources = (
            self.capabilities.tools,
            self.capabilities.prompts,
            self.capabilities.resources,
        )
        changing = [bool(part and part.list_changed) for part in (tools, prompts, resources)]
        while self.modern and any(changing) and not self.link.lost.is_set():
            try:
                async with listen(
                    self.client,
                    tools_list_changed=changing[0],
                    prompts_list_changed=changing[1],
                    resources_list_changed=changing[2],
                ) as events:
                    self.changed.set()  # something may have changed before anyone listened
                    async for _ in events:
                        self.changed.set()
            except SubscriptionLost:
                pass
            except (MCPError, ListenNotSupportedError, TimeoutError):
                return
            await asyncio.sleep(_LISTEN_PAUSE)
