"""An ASGI application of these tests on a real socket."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, nullcontext
from typing import Any

import uvicorn


@asynccontextmanager
async def served(app: Any) -> AsyncGenerator[str]:
    """The address at which an ASGI application answers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off"))
        server.capture_signals = nullcontext  # pyright: ignore[reportAttributeAccessIssue]
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            await serving
