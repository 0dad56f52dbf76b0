"""Visits to the page's script in this process, against a real API on a socket of its own."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, nullcontext
from typing import Any

import uvicorn
from streamlit.testing.v1 import AppTest

SECONDS = 60
SCRIPT = """
from steward.surfaces.web import session
from steward.surfaces.web.views import {view}

if session.sign_in():
    session.speak()
    {view}.show()
"""


class Visit:
    """One visitor on one page. Each step waits until the page has been drawn."""

    def __init__(self, app: AppTest) -> None:
        self.app = app

    def leave(self) -> None:
        if "api" in self.app.session_state:
            self.app.session_state["api"].close()

    async def draw(self) -> AppTest:
        return await asyncio.to_thread(self.app.run, timeout=SECONDS)

    async def press(self, label: str, *, key: str | None = None) -> AppTest:
        button = next(
            item
            for item in self.app.button
            if item.label == label and (key is None or str(item.key).startswith(key))
        )
        await asyncio.to_thread(button.click().run, timeout=SECONDS)
        return self.app

    async def write(self, label: str, text: str) -> AppTest:
        field = next(item for item in (*self.app.text_input, *self.app.text_area) if item.label == label)
        await asyncio.to_thread(field.set_value(text).run, timeout=SECONDS)
        return self.app

    async def choose(self, label: str, value: Any) -> AppTest:
        field = next(item for item in self.app.selectbox if item.label == label)
        await asyncio.to_thread(field.set_value(value).run, timeout=SECONDS)
        return self.app

    def text(self) -> str:
        """Everything on the page that is there to be read."""
        kinds = ("title", "subheader", "markdown", "caption", "code", "error", "warning", "html", "toast")
        return "\n".join(
            str(item.value if hasattr(item, "value") else item)
            for kind in kinds
            for item in self.app.get(kind)
        )

    def labels(self) -> list[str]:
        return [item.label for kind in ("checkbox", "button", "expander") for item in self.app.get(kind)]


PROOF = "the-proof-of-this-page"


def visit(view: str, api: str, *, key: str | None = None, **query: str) -> Visit:
    """A visitor who signed in with this key; without one, whoever the cookie of this browser says."""
    app = AppTest.from_string(SCRIPT.format(view=view), default_timeout=SECONDS)
    app.secrets["steward"] = {"api": api, "proof": PROOF}
    if key is not None:
        app.session_state["key"] = key
    for name, value in query.items():
        app.query_params[name] = value
    return Visit(app)


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
