"""The HTTP API as one ASGI application over a running platform."""

import secrets

from fastapi import FastAPI

from steward.bootstrap import Platform
from steward.surfaces.api import (
    agents,
    executions,
    health,
    keys,
    knowledge,
    memory,
    openapi,
    problems,
    proposals,
    questions,
    registration,
    tasks,
    tools,
    traces,
    users,
)
from steward.surfaces.api.protection import Protection


def create_app(platform: Platform, *, local_token: str | None = None, any_host: bool = False) -> FastAPI:
    """`local_token` is what the CLI of the same home proves itself with; `any_host`: see protection.py."""
    app = FastAPI(
        title="Steward",
        summary="Every tool call passes one governed door.",
        version="0.1.0",
        docs_url="/docs",
        redoc_url=None,
    )
    app.state.platform = platform
    app.state.local_token = local_token or secrets.token_urlsafe(32)
    problems.install(app)
    rooms = (
        tools,
        registration,
        tasks,
        users,
        agents,
        proposals,
        questions,
        executions,
        traces,
        knowledge,
        memory,
        keys,
        health,
    )
    for room in rooms:
        app.include_router(room.router)
    app.add_middleware(Protection, any_host=any_host)  # pyright: ignore[reportArgumentType] - plain ASGI
    openapi.describe(app)
    return app
