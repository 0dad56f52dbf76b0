"""The registry as one MCP server, whatever the transport and the era.

Owns the protocol's methods. Built on the SDK's low-level server, which negotiates both eras over stdio
and HTTP; calls are calls.py's, listings views.py's. Served protocol versions: 2026-07-28 and, through the
handshake, 2025-11-25 and older.
"""

import asyncio
from base64 import b64encode
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.session import ServerSession
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from pydantic import BaseModel

from steward.contract.deciding import Role
from steward.contract.errors import NotFoundError, StewardError
from steward.contract.ports import ToolRanker
from steward.contract.release import release
from steward.contract.tool import READ_RESOURCE
from steward.orchestrator.orchestrator import Orchestrator
from steward.servers.gateway import answers
from steward.servers.gateway.callers import SessionKey, holder_of, session_key
from steward.servers.gateway.calls import Calls
from steward.servers.gateway.conversation import Conversations
from steward.servers.gateway.library import library_agent
from steward.servers.gateway.link import Context, modern
from steward.servers.gateway.long_calls import EXTENSION, HandleParams, LongCalls, UpdateParams
from steward.servers.gateway.ports import OfferedContents
from steward.servers.gateway.views import View, ViewCatalogue

P = TypeVar("P", bound=BaseModel)
R = TypeVar("R")

PAGE = 200
ICON = (
    "data:image/svg+xml;base64,"
    + b64encode(
        b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><path d="M32 3 57 12v18c0 16-11 26-25 '
        b'31C18 56 7 46 7 30V12z" fill="#0d9488"/><path d="m20 32 9 9 16-18" fill="none" stroke="#fff" '
        b'stroke-width="6" stroke-linecap="round" stroke-linejoin="round"/></svg>'
    ).decode()
)
CALLING = frozenset(  # methods that reach a server behind this one with words of the client's
    (
        "tools/call",
        "tasks/update",
        "resources/read",
        "resources/subscribe",
        "resources/unsubscribe",
        "prompts/get",
        "completion/complete",
    )
)
RESOURCE_NOT_FOUND = -32002  # until 2025-11-25; since then it is INVALID_PARAMS


class _Negotiating(Server[Any]):
    """Tells clients of the handshake era that lists may change."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        changes = NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)
        # The extensions that we have are for clients that come without a handshake.
        return super().create_initialization_options(
            notification_options or changes, experimental_capabilities, extensions or {}
        )


class Gateway:
    """One view of the registry, ready to be served."""

    def __init__(
        self,
        door: Orchestrator,
        *,
        ranker: ToolRanker,
        view: View | None = None,
        library: OfferedContents | None = None,
        piped: Role = Role.USE,
        long_calls: LongCalls | None = None,
    ) -> None:
        """`piped`: what its owner lets a client on a pipe do; over HTTP its key says so.

        `long_calls`: where calls that outlast their request are kept; None: each is waited for.
        """
        self.view = view or View()
        self.catalogue = ViewCatalogue(door, self.view, ranker)
        self.long_calls = long_calls
        self.conversations = Conversations(self._log_level, long_calls)
        self.calls = Calls(
            door, self.view, catalogue=self.catalogue, conversations=self.conversations, piped=piped
        )
        self.server = _Negotiating(
            self.view.name,
            version=release(),
            title="Steward",
            icons=[types.Icon(src=ICON, mime_type="image/svg+xml", sizes=["any"])],
            instructions=self.view.instructions,
            cache_hints={method: CacheHint(ttl_ms=0) for method in _CACHED},
            get_tool_input_schema=self._input_schema,
        )
        security = RequestStateSecurity.ephemeral(ttl=600.0)
        security.bind_principal = holder_of
        self.server.middleware.append(RequestStateBoundary(security, default_audience=self.view.name))
        self._library = library
        self._bus = InMemorySubscriptionBus()
        self._sessions: dict[SessionKey, ServerSession] = {}
        self._levels: dict[SessionKey, str] = {}
        self._background: set[asyncio.Task[None]] = set()
        self._register_tools()
        if long_calls is not None:
            self._register_long_calls(long_calls)
        if library is not None:
            self._register_library(library)
            library.subscribe(self._resource_changed)
            if door.registry.find(READ_RESOURCE) is None:  # every view of a door shares it
                door.registry.add(library_agent(door.registry))
        door.registry.subscribe(self._lists_changed)

    async def serve_stdio(self) -> None:
        async with stdio_server() as (read, write):
            await self.server.run(read, write, self.server.create_initialization_options())

    def close(self) -> None:
        self.conversations.close()
        if self.long_calls is not None:
            self.long_calls.close()

    # --- methods ---

    def _register_tools(self) -> None:
        add = self._add
        add("tools/list", types.PaginatedRequestParams, self._list_tools)
        add("tools/call", types.CallToolRequestParams, self.calls.handle)
        add("logging/setLevel", types.SetLevelRequestParams, self._set_level)
        self.server.add_request_handler(
            "subscriptions/listen", types.SubscriptionsListenRequestParams, ListenHandler(self._bus)
        )
        self.server.add_notification_handler(
            "notifications/initialized", types.NotificationParams, self._initialized
        )

    def _register_long_calls(self, long_calls: LongCalls) -> None:
        self.server.extensions[EXTENSION] = {}
        self._add("tasks/get", HandleParams, long_calls.get)
        self._add("tasks/update", UpdateParams, long_calls.update)
        self._add("tasks/cancel", HandleParams, long_calls.cancel)

    def _add(
        self, method: str, params: type[P], handler: Callable[[Context, P], Awaitable[dict[str, Any]]]
    ) -> None:
        async def complete(context: Context, asked: P) -> dict[str, Any]:
            if method in CALLING:
                self.calls.require_use(context)
            result = await handler(context, asked)
            if modern(context):
                result.setdefault("resultType", "complete")
            return result

        self.server.add_request_handler(method, params, complete)

    def _register_library(self, library: OfferedContents) -> None:
        async def resources(_: Context, params: types.PaginatedRequestParams) -> dict[str, Any]:
            return _page("resources", await library.resources(), params.cursor)

        async def templates(_: Context, params: types.PaginatedRequestParams) -> dict[str, Any]:
            return _page("resourceTemplates", await library.templates(), params.cursor)

        async def prompts(_: Context, params: types.PaginatedRequestParams) -> dict[str, Any]:
            return _page("prompts", await library.prompts(), params.cursor)

        async def read(context: Context, params: types.ReadResourceRequestParams) -> dict[str, Any]:
            uri = str(params.uri)
            target = await _found(library.reading(uri), context, uri=uri)
            missing = INVALID_PARAMS if modern(context) else RESOURCE_NOT_FOUND
            return answers.contents(await self.calls.through(context, params, target), not_found=missing)

        async def prompt(context: Context, params: types.GetPromptRequestParams) -> dict[str, Any]:
            target = await _found(library.prompting(params.name, params.arguments or {}), context)
            return answers.contents(await self.calls.through(context, params, target))

        async def complete(context: Context, params: types.CompleteRequestParams) -> dict[str, Any]:
            question = params.model_dump(by_alias=True, mode="json", exclude_none=True)
            return await self.calls.by_the_way(context, await _found(library.completing(question), context))

        async def watching(context: Context, uri: str, *, watched: bool) -> dict[str, Any]:
            target = await _found(library.watching(uri, watched=watched), context, uri=uri)
            return await self.calls.by_the_way(context, target)

        async def watch(context: Context, params: types.SubscribeRequestParams) -> dict[str, Any]:
            return await watching(context, str(params.uri), watched=True)

        async def unwatch(context: Context, params: types.UnsubscribeRequestParams) -> dict[str, Any]:
            return await watching(context, str(params.uri), watched=False)

        add = self._add
        add("resources/list", types.PaginatedRequestParams, resources)
        add("resources/templates/list", types.PaginatedRequestParams, templates)
        add("resources/read", types.ReadResourceRequestParams, read)
        add("resources/subscribe", types.SubscribeRequestParams, watch)
        add("resources/unsubscribe", types.UnsubscribeRequestParams, unwatch)
        add("prompts/list", types.PaginatedRequestParams, prompts)
        add("prompts/get", types.GetPromptRequestParams, prompt)
        add("completion/complete", types.CompleteRequestParams, complete)

    async def _list_tools(self, context: Context, params: types.PaginatedRequestParams) -> dict[str, Any]:
        del context
        return _page("tools", self.catalogue.listing(), params.cursor)

    async def _set_level(self, context: Context, params: types.SetLevelRequestParams) -> dict[str, Any]:
        self._levels[session_key(context)] = params.level
        return {}

    def _log_level(self, context: Context) -> str:
        return self.level_of(session_key(context))

    def level_of(self, key: SessionKey) -> str:
        return self._levels.get(key, "info")

    def _input_schema(self, name: str) -> Mapping[str, Any] | None:
        spec = self.catalogue.find(name)
        return None if spec is None else spec.input_schema

    # --- news ---

    async def _initialized(self, context: Context, params: types.NotificationParams) -> None:
        del params
        if not modern(context):
            self._sessions[session_key(context)] = context.session

    def _lists_changed(self) -> None:
        """Something behind the door changed; which of its lists did, nobody says."""
        self._soon(self._bus.publish(ToolsListChanged()))
        self._tell(lambda session: session.send_tool_list_changed())
        if self._library is not None:
            self._soon(self._bus.publish(PromptsListChanged()))
            self._soon(self._bus.publish(ResourcesListChanged()))
            self._tell(lambda session: session.send_prompt_list_changed())
            self._tell(lambda session: session.send_resource_list_changed())

    def _resource_changed(self, uri: str) -> None:
        self._soon(self._bus.publish(ResourceUpdated(uri=uri)))
        self._tell(lambda session: session.send_resource_updated(uri))

    def _tell(self, news: Callable[[ServerSession], Coroutine[Any, Any, None]]) -> None:
        for key, session in tuple(self._sessions.items()):
            self._soon(self._tell_one(key, news(session)))

    async def _tell_one(self, key: SessionKey, news: Coroutine[Any, Any, None]) -> None:
        try:
            await news
        except Exception:  # noqa: BLE001 - a session that is gone hears no news
            self._sessions.pop(key, None)

    def forget(self, session: str) -> None:
        """A session ended."""
        for known in (self._sessions, self._levels):
            for key in [each for each in known if each.session == session]:
                del known[key]
        self.calls.runs.forget(session)

    def _soon(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


_CACHED: tuple[Any, ...] = (
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "server/discover",
)


def _page(key: str, items: Sequence[Mapping[str, Any]], cursor: str | None) -> dict[str, Any]:
    if cursor is not None and not cursor.isdecimal():
        raise MCPError(INVALID_PARAMS, "This cursor is not one of ours.")
    start = int(cursor or 0)
    shape: dict[str, Any] = {key: list(items[start : start + PAGE])}
    if start + PAGE < len(items):
        shape["nextCursor"] = str(start + PAGE)
    return shape


async def _found(work: Coroutine[Any, Any, R], context: Context, **data: str) -> R:
    try:
        return await work
    except NotFoundError as error:
        code = INVALID_PARAMS if modern(context) or "uri" not in data else RESOURCE_NOT_FOUND
        raise MCPError(code, error.explain(), data or None) from error
    except StewardError as error:
        raise MCPError(types.INTERNAL_ERROR, error.explain(), {"code": error.code}) from error
