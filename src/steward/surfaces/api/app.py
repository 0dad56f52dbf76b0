"""The HTTP API as one ASGI application over a running platform."""

from collections.abc import Set
from typing import Any

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from steward.bootstrap import Platform
from steward.servers.gateway.guard import RateLimit
from steward.surfaces.api import (
    agents,
    chat,
    completions,
    documentation,
    executions,
    gaps,
    health,
    keys,
    knowledge,
    me,
    memory,
    openapi,
    ownership,
    problems,
    proposals,
    questions,
    registration,
    samples,
    sign_in,
    skills,
    tasks,
    tools,
    traces,
    trust,
    uploads,
    users,
)
from steward.surfaces.api.protection import App, Protection
from steward.surfaces.web.gate import Gate
from steward.surfaces.web.serving import WithPage
from steward.surfaces.web.visits import SignInLinks

# What a page of another site may send and read. Never cookies: a key speaks for itself.
GUESTS: dict[str, Any] = {
    "allow_methods": ("GET", "POST", "PUT", "PATCH", "DELETE"),
    "allow_headers": ("X-API-Key", "Authorization", "Content-Type", "X-Request-ID"),
    "expose_headers": ("X-Request-ID", "X-Conversation-ID", "Retry-After"),
}

ROOMS = (
    chat,
    completions,
    tools,
    gaps,
    trust,
    registration,
    tasks,
    users,
    agents,
    skills,
    proposals,
    questions,
    executions,
    traces,
    knowledge,
    uploads,
    memory,
    keys,
    ownership,
    me,
    sign_in,
    samples,
    health,
    documentation,
)


def create_app(
    platform: Platform,
    *,
    any_host: bool = False,
    origins: Set[str] = frozenset(),
    limit: RateLimit | None = None,
    page: App | None = None,
    page_proof: str | None = None,
) -> FastAPI:
    """The API and, beside it, the page.

    `page_proof` is what the page proves itself with; `any_host` and `origins`: see protection.py.
    """
    app = FastAPI(
        title="Steward",
        summary="Every tool call passes one governed door.",
        version="0.1.0",
        docs_url=None,  # our own page, which needs nothing from outside: documentation.py
        redoc_url=None,
    )
    app.state.platform = platform
    app.state.page_proof = page_proof
    app.state.limit = limit
    app.state.links = links = None if page is None else SignInLinks()
    problems.install(app)
    for room in ROOMS:
        app.include_router(room.router)
    if (
        page is not None and links is not None
    ):  # inside the protection: what holds for the API holds for the page and its socket
        gate = Gate(page, keys=platform.keys, links=links)
        app.add_middleware(WithPage, page=gate)  # pyright: ignore[reportArgumentType] - plain ASGI
    if origins:
        app.add_middleware(CORSMiddleware, allow_origins=sorted(origins), **GUESTS)
    app.add_middleware(Protection, any_host=any_host, origins=origins)  # pyright: ignore[reportArgumentType] - plain ASGI
    openapi.describe(app)
    return app
