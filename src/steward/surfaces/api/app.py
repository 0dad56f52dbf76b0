"""The HTTP API as one ASGI application over a running platform."""

from collections.abc import Set
from typing import Any

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from steward.bootstrap import Platform
from steward.contract.release import release
from steward.servers.gateway.guard import RateLimit
from steward.surfaces.api import openapi, problems
from steward.surfaces.api.idempotency import Idempotency
from steward.surfaces.api.protection import App, Protection
from steward.surfaces.api.rooms import RoomsOnDemand, add_rooms
from steward.surfaces.api.turn_feeds import TurnFeeds
from steward.surfaces.web.gate import Gate
from steward.surfaces.web.serving import WithPage
from steward.surfaces.web.visits import SignInLinks
from steward.telemetry.numbers import Timings

# What a page of another site may send and read. Never cookies: a key speaks for itself.
GUESTS: dict[str, Any] = {
    "allow_methods": ("GET", "POST", "PUT", "PATCH", "DELETE"),
    "allow_headers": (
        "X-API-Key",
        "Authorization",
        "Content-Type",
        "X-Request-ID",
        "Idempotency-Key",
        "Last-Event-ID",
    ),
    "expose_headers": (
        *("X-Request-ID", "X-Conversation-ID", "Retry-After", "Idempotency-Replayed"),
        *("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"),
    ),
}


def create_app(
    platform: Platform,
    *,
    any_host: bool = False,
    origins: Set[str] = frozenset(),
    limit: RateLimit | None = None,
    page: App | None = None,
    whole: bool = True,
) -> FastAPI:
    """The API and, beside it, the page. `any_host` and `origins`: see protection.py.

    `whole`: all its rooms are there at once, and not each when it is first asked for.
    """
    app = FastAPI(
        title="Steward",
        summary="Every tool call passes one governed door.",
        version=release(),
        docs_url=None,  # our own page, which needs nothing from outside: documentation.py
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,  # what a generated client calls it
    )
    app.state.platform = platform
    app.state.limit = limit
    app.state.feeds = TurnFeeds()
    app.state.requests = timings = Timings("method", "route", "status")
    app.state.links = links = None if page is None else SignInLinks()
    problems.install(app)
    if whole:
        add_rooms(app)
    else:
        app.add_middleware(RoomsOnDemand, api=app)  # pyright: ignore[reportArgumentType] - plain ASGI
    if page is not None and links is not None:
        # Inside the protection: what holds for the API holds for the page and its stream.
        gate = Gate(page, keys=platform.keys, links=links)
        app.add_middleware(WithPage, page=gate)  # pyright: ignore[reportArgumentType] - plain ASGI
    app.add_middleware(Idempotency)  # pyright: ignore[reportArgumentType] - plain ASGI
    if origins:
        app.add_middleware(CORSMiddleware, allow_origins=sorted(origins), **GUESTS)
    app.add_middleware(Protection, any_host=any_host, origins=origins, timings=timings)  # pyright: ignore[reportArgumentType] - plain ASGI
    openapi.describe(app)
    return app
