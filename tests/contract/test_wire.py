"""The ways to an HTTP API: over a socket and inside this process, by the same suite."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.support.serving import served

from steward.surfaces.cli.inprocess import InProcess
from steward.surfaces.wire import LostError, SocketWire, Wire, target

gone = asyncio.Event()


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Tells what it was asked, piece by piece, or waits until its client has left."""
    body = b""
    while (message := await receive())["type"] == "http.request":
        body += message["body"]
        if not message["more_body"]:
            break
    headers = {name.decode(): value.decode() for name, value in scope["headers"]}
    told = {
        "method": scope["method"],
        "path": scope["path"],
        "query": scope["query_string"].decode(),
        "key": headers.get("x-key"),
        "body": body.decode(),
    }
    status = 404 if scope["path"] == "/missing" else 200
    await send({"type": "http.response.start", "status": status, "headers": []})
    text = json.dumps(told).encode() + "\r\nend ü".encode()
    for piece in (text[:7], text[7:-1], text[-1:]):  # the last letter is cut in two
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    if scope["path"] == "/endless":
        await receive()
        gone.set()
        return
    await send({"type": "http.response.body", "body": b"", "more_body": False})


@pytest.fixture(params=["socket", "in this process"])
async def wire(request: pytest.FixtureRequest) -> AsyncIterator[Wire]:
    gone.clear()
    if request.param == "socket":
        async with served(app) as address:
            yield SocketWire(address, {"X-Key": "k"})
    else:
        yield InProcess(app, {"X-Key": "k"})


async def pieces() -> AsyncIterator[bytes]:
    for piece in (b"one, ", b"two"):
        yield piece


async def test_a_request_arrives_and_its_answer_comes_back(wire: Wire) -> None:
    where = target("/v1/a%20b", {"q": "ä & b", "state": ["x", "y"]})
    async with wire.open("POST", where, body=b"hello", headers={"Content-Type": "text/plain"}) as answer:
        status, lines = answer.status, [line async for line in answer.lines()]
    assert (status, lines[1]) == (200, "end ü")
    assert json.loads(lines[0]) == {
        "method": "POST",
        "path": "/v1/a b",
        "query": "q=%C3%A4+%26+b&state=x&state=y",
        "key": "k",
        "body": "hello",
    }


async def test_a_body_may_come_in_pieces(wire: Wire) -> None:
    async with wire.open("POST", "/", body=pieces()) as answer:
        told = (await answer.read()).split(b"\r\n")[0]
    assert json.loads(told)["body"] == "one, two"


async def test_a_refusal_has_its_status_and_its_words(wire: Wire) -> None:
    async with wire.open("GET", "/missing") as answer:
        assert (answer.status, json.loads((await answer.read()).split(b"\r\n")[0])["method"]) == (404, "GET")


async def test_who_leaves_early_is_noticed(wire: Wire) -> None:
    async with asyncio.timeout(60):
        async with wire.open("GET", "/endless") as answer:
            await anext(aiter(answer.lines()))
        await gone.wait()


async def test_what_a_caller_raises_is_not_taken_for_a_lost_answer(wire: Wire) -> None:
    with pytest.raises(ValueError, match="mine"):
        async with wire.open("GET", "/"):
            raise ValueError("mine")


async def test_nobody_there_has_heard_nothing() -> None:
    with pytest.raises(LostError) as lost:
        async with SocketWire("http://127.0.0.1:9").open("GET", "/"):
            pass
    assert not lost.value.heard


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nshort",
    ],
)
async def test_an_answer_that_breaks_off_may_have_been_heard(said: bytes) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        with pytest.raises(LostError) as lost:
            async with SocketWire(f"http://127.0.0.1:{port}").open("GET", "/") as broken:
                await broken.read()
    assert lost.value.heard


async def test_an_answer_without_a_length_goes_to_the_end() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.0 200 OK\r\n\r\nall of it")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, SocketWire(f"http://127.0.0.1:{port}").open("GET", "/") as whole:
        assert await whole.read() == b"all of it"
