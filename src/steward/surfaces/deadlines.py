"""HTTP connections that end: a request whose head or body does not come is not waited for.

Owns the deadlines on receiving. Does not own what an answer may take (the orchestrator) or how large a body
may be (`api.protection`). uvicorn has a deadline for the time between two requests only.
"""

import asyncio
from typing import Any

import orjson
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from steward.contract.errors import ErrorCode

SECONDS_FOR_HEAD = 10.0
SECONDS_FOR_BODY = 20.0  # and as many more as its bytes are worth
BYTES_A_SECOND = 1_024  # a line that is slower than this is no line
LARGEST_HEAD = 64 * 1024
_BAD_REQUEST = (
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/problem+json\r\n"
    b"connection: close\r\ncontent-length: %d\r\n\r\n"
)
_TOO_LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class PunctualHttp(HttpToolsProtocol):
    """uvicorn's protocol with deadlines for what a client sends."""

    _deadline: asyncio.TimerHandle | None = None
    _in_head = True  # or before one
    _whole = 0  # requests received on this connection
    _head_bytes = 0
    _body_bytes = 0
    _body_began = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._end_in(SECONDS_FOR_HEAD)

    def connection_lost(self, exc: Exception | None) -> None:
        self._received()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        in_head, whole = self._in_head, self._whole
        super().data_received(data)
        if in_head and self._in_head and whole == self._whole and not self.transport.is_closing():
            self._head_bytes += len(data)
            if self._head_bytes > LARGEST_HEAD:
                self.send_400_response("The headers are too large.")

    def send_400_response(self, msg: str) -> None:
        """What cannot be read as HTTP is a problem document as well: a client reads one form of error."""
        problem = {
            "type": "about:blank",
            "title": "Bad Request",
            "status": 400,
            "code": ErrorCode.INVALID_INPUT,
            "detail": msg,
            "fix": "Send a shorter address and fewer headers, as HTTP/1.1.",
        }
        body = orjson.dumps(problem)
        self.transport.write(_BAD_REQUEST % len(body) + body)
        self.transport.close()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head_bytes, self._body_began = 0, 0.0
        self._end_in(SECONDS_FOR_HEAD)

    def on_headers_complete(self) -> None:
        self._received()
        self._in_head = False
        super().on_headers_complete()
        self._body_bytes, self._body_began = 0, self.loop.time()
        if not self._should_upgrade():
            self._end_in(SECONDS_FOR_BODY)

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._received()
        self._in_head, self._whole = True, self._whole + 1
        super().on_message_complete()

    def _end_in(self, seconds: float) -> None:
        self._received()
        self._deadline = self.loop.call_later(seconds, self._late)

    def _received(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _late(self) -> None:
        """Too late, unless a body is on its way fast enough, or it is we who do not read it."""
        self._deadline = None
        worth = self._body_began + SECONDS_FOR_BODY + self._body_bytes / BYTES_A_SECOND - self.loop.time()
        if self._body_began and (worth > 0 or self.flow.read_paused):
            self._end_in(max(worth, 1.0))
            return
        answered: Any = self.cycle
        if answered is None or not answered.response_started:
            self.transport.write(_TOO_LATE)
        self.transport.close()
