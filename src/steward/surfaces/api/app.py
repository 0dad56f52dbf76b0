"""The HTTP API as one ASGI application over a running platform."""

import secrets

from fastapi import FastAPI

from steward.bootstrap import Platform
from steward.surfaces.api import agents, executions, health, problems, proposals, tools


def create_app(platform: Platform, *, local_token: str | None = None) -> FastAPI:
    """`local_token` is what the CLI of the same home proves itself with."""
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
    for room in (tools, agents, proposals, executions, health):
        app.include_router(room.router)
    return app
