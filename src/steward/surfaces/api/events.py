"""A running call as a stream of server-sent events: its progress as it comes, then its result."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any

import orjson
from fastapi.responses import StreamingResponse

from steward.contract.call import ElicitAnswer, ToolResult, envelope

EVENT_STREAM = "text/event-stream"
EVENTS: dict[str, Any] = {  # for the description of a route: the form of each event
    EVENT_STREAM: {
        "schema": {
            "type": "object",
            "properties": {
                "event": {"type": "string"},
                "data": {"type": "string", "description": "JSON, or [DONE]."},
                "id": {"type": "string"},
            },
        }
    }
}


def event(name: str, data: Mapping[str, Any], *, identity: str | None = None) -> bytes:
    named = b"" if identity is None else b"id: %s\n" % identity.encode()
    return b"event: %s\ndata: %s\n%s\n" % (name.encode(), orjson.dumps(data, default=str), named)


class ProgressFeed:
    """The channel of a call whose caller listens. Who reads slowly misses steps, never the last one."""

    def __init__(self) -> None:
        self._latest: dict[str, Any] | None = None
        self._news = asyncio.Event()

    async def progress(self, done: float, total: float | None, message: str | None) -> None:
        self._latest = {"done": done, "total": total, "message": message}
        self._news.set()

    async def elicit(self, message: str, schema: Mapping[str, Any]) -> ElicitAnswer | None:
        del message, schema
        return None  # a stream goes one way

    async def until(self, work: "asyncio.Task[ToolResult]") -> AsyncIterator[dict[str, Any]]:
        """Each step that can be caught until the work is done."""
        while not work.done():
            heard = asyncio.ensure_future(self._news.wait())
            try:
                await asyncio.wait((work, heard), return_when=asyncio.FIRST_COMPLETED)
            finally:
                heard.cancel()
            if self._news.is_set() and self._latest is not None:
                self._news.clear()
                yield self._latest


def streamed(work: "asyncio.Task[ToolResult]", feed: ProgressFeed) -> StreamingResponse:
    return StreamingResponse(_call_events(work, feed), media_type=EVENT_STREAM)


async def _call_events(work: "asyncio.Task[ToolResult]", feed: ProgressFeed) -> AsyncIterator[bytes]:
    """A listener that goes away takes the call with it: nobody would read its result."""
    try:
        async for step in feed.until(work):
            yield event("progress", step)
        yield event("result", envelope(await work))
    finally:
        if not work.done():
            work.cancel()
            with suppress(asyncio.CancelledError):
                await work
