"""Receivers of notices on this machine, each speaking its own protocol: HTTP and SMTP."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from typing import Any

from aiosmtpd.smtp import SMTP


@dataclass
class Posted:
    path: str
    headers: dict[str, str]
    body: Any
    at: float  # by the loop's clock


@dataclass
class WebReceiver:
    """A small HTTP server that keeps what is posted to it; `answers` are the next status codes."""

    port: int = 0
    posted: list[Posted] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    open: asyncio.Event = field(default_factory=asyncio.Event)  # cleared: it takes what comes and is silent

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            first, *lines = head.split("\r\n")
            headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines) if k}
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            status = self.answers.pop(0) if self.answers else 200
            now = asyncio.get_running_loop().time()
            self.posted.append(Posted(first.split(" ")[1], headers, json.loads(body), now))
            await self.open.wait()
            writer.write(f"HTTP/1.1 {status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".encode())
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def web_receiver() -> AsyncIterator[WebReceiver]:
    receiver = WebReceiver()
    receiver.open.set()
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()


@dataclass
class Mailbox:
    """An SMTP server that keeps its mail; `refuses` is what it says instead of taking one."""

    port: int = 0
    mail: list[EmailMessage] = field(default_factory=list)
    envelopes: list[tuple[str, list[str]]] = field(default_factory=list)
    refuses: str | None = None

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if self.refuses is not None:
            return self.refuses
        parsed = BytesParser(policy=policy.default).parsebytes(envelope.content)
        self.mail.append(parsed)
        self.envelopes.append((envelope.mail_from, list(envelope.rcpt_tos)))
        return "250 taken"


@asynccontextmanager
async def mailbox(**options: Any) -> AsyncIterator[Mailbox]:
    box = Mailbox()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: SMTP(box, loop=loop, **options), "127.0.0.1", 0)
    box.port = server.sockets[0].getsockname()[1]
    try:
        yield box
    finally:
        server.close()
