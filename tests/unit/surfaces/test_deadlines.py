"""Requests that do not arrive are not waited for; those that do are answered, however slowly."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn

from steward.surfaces import deadlines
from steward.surfaces.deadlines import PunctualHttp

HEAD = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\n"


async def length(scope: Any, receive: Any, send: Any) -> None:
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        body, more = body + message["body"], message["more_body"]
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1")]})
    await send({"type": "http.response.body", "body": str(len(body)).encode()})


@asynccontextmanager
async def serving() -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A server with these deadlines, and a connection to it."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(length, http=PunctualHttp, log_config=None, lifespan="off")
    server = uvicorn.Server(config)
    server.config.load()
    server.lifespan = config.lifespan_class(config)
    await server.startup(sockets=[listening])
    reader, writer = await asyncio.open_connection(*listening.getsockname())
    try:
        yield reader, writer
    finally:
        writer.close()
        await server.shutdown(sockets=[listening])
        listening.close()


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "SECONDS_FOR_HEAD", 0.3)
    monkeypatch.setattr(deadlines, "SECONDS_FOR_BODY", 0.3)


@pytest.mark.parametrize("sent", [b"", b"POST / HT", HEAD[:-4], HEAD + b"abc"])
async def test_what_stops_half_way_is_told_so_and_ended(sent: bytes) -> None:
    async with serving() as (reader, writer):
        writer.write(sent)
        assert (await asyncio.wait_for(reader.read(), 10)).startswith(b"HTTP/1.1 408 ")


async def test_a_second_request_that_stops_half_way_is_ended_too() -> None:
    async with serving() as (reader, writer):
        writer.write(HEAD + b"abcdef" + HEAD[:20])
        assert b" 200 OK" in await asyncio.wait_for(reader.read(), 10)


async def test_a_body_that_comes_slowly_but_steadily_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "BYTES_A_SECOND", 1)
    async with serving() as (reader, writer):
        writer.write(HEAD + b"abc")
        await asyncio.sleep(0.8)
        writer.write(b"def")
        assert b" 200 OK" in await asyncio.wait_for(reader.readuntil(b"\r\n"), 10)


async def test_a_head_without_end_is_refused_long_before_its_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(deadlines, "SECONDS_FOR_HEAD", 60)
    async with serving() as (reader, writer):
        writer.write(HEAD[:-2] + b"X-A: ")
        with contextlib.suppress(ConnectionError):  # what was not read by then may end it with a reset
            for _ in range(3):
                writer.write(b"a" * 30_000)
                await writer.drain()
            await asyncio.wait_for(reader.read(), 10)
        assert reader.at_eof() or reader.exception() is not None


async def test_what_cannot_be_read_as_http_is_a_problem_like_any_other() -> None:
    async with serving() as (reader, writer):
        writer.write(b"not http at all\r\n\r\n")
        head, _, body = (await asyncio.wait_for(reader.read(), 10)).partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json" in head
    assert (json.loads(body)["status"], json.loads(body)["code"]) == (400, "INVALID_INPUT")
