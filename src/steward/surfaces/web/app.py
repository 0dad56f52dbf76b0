"""The page as an application: server-rendered HTML over the same services as the HTTP API.

Owns its routes' frame: headers, errors as people read them, the stream of events, what is told to it. The
page calls the API's own functions, so that nothing on it reaches data in a second way.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, MutableMapping
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, StreamingResponse
from starlette.exceptions import HTTPException

from steward.bootstrap import Platform
from steward.contract.errors import StewardError
from steward.servers.gateway.guard import RateLimit
from steward.storage.database.changes import StoreChange
from steward.surfaces.api.events import EVENT_STREAM
from steward.surfaces.api.problems import status_of
from steward.surfaces.web import (
    access,
    activity,
    approvals,
    assets,
    chat,
    documents,
    jobs,
    memory,
    policy,
    schedules,
    servers,
    tasks,
    tool_editing,
    tools,
    undo,
)
from steward.surfaces.web.hub import Hub, PageEvent
from steward.surfaces.web.rendering import HEADERS, MARK, markup, waiting_count
from steward.surfaces.web.turns import LiveTurns
from steward.surfaces.web.visitor import Reading, visit_of
from steward.surfaces.web.visits import VISITS

logger = logging.getLogger(__name__)

ROOMS = (
    *(
        approvals,
        chat,
        tasks,
        documents,
        schedules,
        jobs,
        memory,
        tool_editing,
        tools,
        servers,
        policy,
        access,
        activity,
        assets,
    ),
    undo,
)
RAW_HEADERS = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
SECONDS_BETWEEN_LOOKS = 1.0  # at who runs; states of servers live in this process's memory


class WebPage:
    """The page, and what runs beside it while it is served. An ASGI application."""

    def __init__(self, platform: Platform, *, limit: RateLimit | None = None) -> None:
        self._platform = platform
        self.hub = Hub()
        self.turns = LiveTurns(self.hub)
        self._tool_changes = 0
        platform.orchestrator.registry.subscribe(self._count_change)
        self._app = _application(platform, self.hub, self.turns, limit)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def guarded(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                there = {name.lower() for name, _ in message["headers"]}
                more = [(name, value) for name, value in RAW_HEADERS if name not in there]
                message["headers"] = [*message["headers"], *more]
            await send(message)

        scope[MARK] = self.hub.mark  # before anything is read that is drawn
        await self._app(scope, receive, guarded)

    @asynccontextmanager
    async def run(self) -> AsyncGenerator[None]:
        watching = asyncio.create_task(self._watch_servers(), name="watching servers for the page")
        try:
            async with self._platform.changes.heard(self._tell):
                yield
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            await self.turns.close()

    def _tell(self, change: StoreChange | None) -> None:
        if change is None:
            self.hub.resync()
        else:
            self.hub.publish(change.room, user=change.user, data=change.id)
            if change.room == "conversations":  # whoever has this one open draws what was said elsewhere
                self.hub.publish(f"conversation-{change.id}", user=change.user)

    async def _watch_servers(self) -> None:
        before = self._servers()
        while True:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            if self.hub.streams and (now := self._servers()) != before:
                before = now
                self.hub.publish("servers", user=None)

    def _servers(self) -> object:
        """As they are now, and how often tools changed: one may go and come back between two looks."""
        statuses = self._platform.orchestrator.lifecycle.statuses()
        return self._tool_changes, [(each.id, each.state, each.problem, each.tools) for each in statuses]

    def _count_change(self) -> None:
        self._tool_changes += 1


def _application(platform: Platform, hub: Hub, turns: LiveTurns, limit: RateLimit | None) -> FastAPI:
    app = FastAPI(title="Steward's page", openapi_url=None, docs_url=None, redoc_url=None)
    app.state.platform = platform
    app.state.hub = hub
    app.state.turns = turns
    app.state.limit = limit
    for room in ROOMS:
        app.include_router(room.router)
    app.add_api_route("/", front)
    app.add_api_route("/events", events)
    app.add_api_route("/waiting", waiting)
    app.add_api_route("/leave", leave, methods=["POST"])
    for kind in (StewardError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, _explained)
    return app


async def front(request: Request, identity: Reading) -> Response:
    return await chat.show_new(request, identity)


async def waiting(request: Request, identity: Reading) -> Response:
    return HTMLResponse(markup("waiting.html", waiting=await waiting_count(request, identity)))


async def leave(request: Request, _: Reading) -> Response:
    VISITS.forget(visit_of(request).word)
    return RedirectResponse("/", status_code=303)


async def events(request: Request, identity: Reading) -> Response:
    """One stream a visit: what changes while somebody looks."""
    hub: Hub = request.app.state.hub
    platform: Platform = request.app.state.platform
    word = visit_of(request).word

    def hears(event: PageEvent) -> bool:
        everybodys = event.user is None or (event.name == "approvals" and identity.only is None)
        return everybodys or event.user == identity.user

    async def still() -> bool:
        try:
            await platform.keys.admit(VISITS.key_of(word))
        except StewardError:
            return False
        return True

    since = request.headers.get("last-event-id")
    stream = hub.follow(hears, since=since, still=still)
    headers = {"X-Accel-Buffering": "no", "X-Steward-Visit": VISITS.id_of(word) or ""}
    return StreamingResponse(stream, media_type=EVENT_STREAM, headers=headers)


async def _explained(request: Request, error: Exception) -> Response:
    """What went wrong and what to do about it: as a page, or as words where only a part was asked for."""
    status, words = _said(request, error)
    if "hx-request" in request.headers or request.method != "GET":
        return PlainTextResponse(words, status_code=status)
    return HTMLResponse(markup("problem.html", words=words, status=status), status)


def _said(request: Request, error: Exception) -> tuple[int, str]:
    if isinstance(error, StewardError):
        return status_of(error), error.explain()
    if isinstance(error, RequestValidationError):
        return 422, "This address is not one that the page makes. Go back and try again."
    if isinstance(error, HTTPException):
        missing = error.status_code == 404
        return error.status_code, "There is nothing at this address." if missing else str(error.detail)
    logger.error("page_failed", exc_info=error, extra={"path": request.url.path})
    return (
        500,
        f"Something went wrong inside Steward. The log has it under {request.scope.get('request_id')}.",
    )
