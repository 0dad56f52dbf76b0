"""Somebody sends what is slow to read: it is answered or refused soon, and others are served meanwhile."""

import hashlib
import io
import json
import socket
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from tests.attacks.conftest import ADMIN, Victim

pytestmark = [
    pytest.mark.slow,
    pytest.mark.alone,
    pytest.mark.timeout(90, func_only=True),
    pytest.mark.usefixtures("awake"),
]

SOON = 8.0  # generous: the machine of a test run is busy
OTHERS = 2.5  # how long the others may wait at most, on such a machine


@contextmanager
def others_are_served(victim: Victim, *, within: float = OTHERS) -> Iterator[None]:
    """Asks whether the server lives, again and again, while somebody else attacks it."""
    longest, stop = [0.0], threading.Event()

    def ask() -> None:
        with httpx.Client(base_url=victim.url, timeout=60) as client:
            while not stop.wait(0.05):
                started = time.monotonic()
                client.get("/healthz").raise_for_status()
                longest[0] = max(longest[0], time.monotonic() - started)

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        yield
    finally:
        stop.set()
        asking.join(60)
    assert longest[0] < within, f"others waited {longest[0]:.1f} s"


def say(victim: Victim, message: str, agent: str = "assistant") -> httpx.Response:
    started = time.monotonic()
    body = {"message": message, "agent": agent}
    try:
        answer = victim.client(ADMIN).post("/v1/chat", json=body, timeout=SOON)
    except httpx.TimeoutException:
        pytest.fail(f"no answer within {SOON:.0f} s")
    assert time.monotonic() - started < SOON
    return answer


MESSAGES = {
    "spaces": "Add a" + " " * 1_500 + "b",
    "many spaces": "Add a" + " " * 20_000 + "b",
    "tabs and newlines": "What is x" + "\t\n" * 5_000 + "and" + " " * 5_000 + "y",
    "dots": "Read " + "a." * 9_000,
    "dashes": "Read " + "-" * 18_000,
    "digits": "Remind me in " + "1" * 18_000 + " days",
    "addresses": "Read http://" + "a." * 9_000,
    "agreement": "Delete " + "yes " * 7_000,
    "fences": "Remind me to " + "```\n" * 7_000,
    "combining": "Add a" + "\u0301" * 18_000,
}


@pytest.mark.parametrize("name", MESSAGES)
@pytest.mark.parametrize("agent", ["assistant", "tasks"])
def test_a_message_made_to_be_slow_is_answered_soon(victim: Victim, name: str, agent: str) -> None:
    with others_are_served(victim):
        assert say(victim, MESSAGES[name], agent).status_code in (200, 202, 400)


COOKIES = {"quotes": 'a="' + '\\"' * 30_000 + '"', "signs": "=;" * 30_000}


@pytest.mark.parametrize("name", COOKIES)
def test_cookies_of_a_stranger_are_read_soon(victim: Victim, name: str) -> None:
    """Before anybody is known: whoever reaches the port sends them."""
    stranger = victim.client(Cookie=COOKIES[name])
    started = time.monotonic()
    for _ in range(3):
        assert stranger.get("/waiting", timeout=SOON).status_code == 401
    assert time.monotonic() - started < 1.0


LONG = "add milk and tea, " * 400_000  # seven million characters
TOOL = {
    "name": "get_weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
PROTOCOLS: dict[str, tuple[str, dict[str, Any]]] = {
    "said before": (
        "/v1/chat/completions",
        {"messages": [{"role": "user", "content": LONG}, {"role": "assistant", "content": "x"},
                      {"role": "user", "content": "hello"}]},
    ),
    "told by its program": (
        "/v1/chat/completions",
        {"messages": [{"role": "system", "content": LONG}, {"role": "user", "content": "hello"}]},
    ),
    "with a tool": (
        "/v1/chat/completions",
        {"messages": [{"role": "user", "content": LONG}], "tools": [{"type": "function", "function": TOOL}]},
    ),
    "many messages": (
        "/v1/chat/completions",
        {"messages": [{"role": "user", "content": "a b"}, {"role": "assistant", "content": "c"}] * 60_000
         + [{"role": "user", "content": "hello"}]},
    ),
    "the newer protocol": (
        "/v1/responses",
        {"input": [{"role": "user", "content": LONG}], "tools": [{"type": "function", **TOOL}]},
    ),
    "its instructions": ("/v1/responses", {"input": "hello", "instructions": LONG}),
    "vectors": ("/v1/embeddings", {"model": "all-MiniLM-L6-v2", "input": LONG}),
}  # fmt: skip


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_heap_of_text_in_a_chat_programs_protocol_is_refused_soon(victim: Victim, name: str) -> None:
    path, body = PROTOCOLS[name]
    with others_are_served(victim):
        answer = victim.acting("use").post(path, json={"model": "assistant", **body}, timeout=SOON)
    assert answer.status_code == 400, answer.text[:500]


def nested(depth: int) -> dict[str, Any]:
    """Two references to the next definition in each: twice as much with every one."""
    both = [{"allOf": [{"$ref": f"#/$defs/d{each + 1}"}] * 2} for each in range(depth)]
    return {
        "type": "object",
        "properties": {"city": {"$ref": "#/$defs/d0"}},
        "$defs": {f"d{each}": one for each, one in enumerate([*both, {"type": "string"}])},
    }


SCHEMAS: dict[str, dict[str, Any]] = {
    "doubling": nested(40),
    "a pattern that backtracks": {
        "type": "object", "properties": {"city": {"type": "string", "pattern": "^(?=(a+)+$)(a+)+b$"}}
    },
    "a pattern that counts": {
        "type": "object", "properties": {"city": {"type": "string", "pattern": "^((a{1,50}){1,50}){1,50}$"}}
    },
    "in itself": {"type": "object", "properties": {"city": {"$ref": "#"}}},
    "many": {"type": "object", "properties": {f"p{n}": {"pattern": f"^x{n}[a-z]+$"} for n in range(60_000)}},
}  # fmt: skip


@pytest.mark.parametrize("name", SCHEMAS)
@pytest.mark.parametrize("brought", ["tool", "form"])
def test_a_schema_that_a_program_brings_holds_nobody_up(victim: Victim, name: str, brought: str) -> None:
    schema = SCHEMAS[name]
    said: dict[str, Any] = {
        "model": "assistant",
        "messages": [{"role": "user", "content": f"What is the weather in {'a' * 40}?"}],
    }
    tool = {"type": "function", "function": {**TOOL, "parameters": schema}}
    form = {"type": "json_schema", "json_schema": {"name": "weather", "schema": schema}}
    said |= {"tools": [tool]} if brought == "tool" else {"response_format": form}
    with others_are_served(victim):
        answer = victim.acting("use").post("/v1/chat/completions", json=said, timeout=SOON)
    assert answer.status_code in (200, 400), answer.text[:500]


def test_a_call_full_of_wildcards_asks_and_holds_nobody_up(victim: Victim) -> None:
    text = [f"/data/{i}*x?{i}/[ab]{i}/*.c{i}" for i in range(9_000)]
    body = {"arguments": {"title": "x", "tags": text}}
    with others_are_served(victim):
        victim.client(ADMIN).post("/v1/tools/add_task/call", json=body, timeout=SOON)


CONTENTS = {
    "brackets": "[" * 400_000,
    "quotes in quotes": "> " * 200_000 + "x",
    "lists in lists": "".join("  " * each + "- a\n" for each in range(1_500)),
    "headings": "# a\n\nb\n\n" * 300_000,
    "emphasis": "*a_ " * 500_000,
    "one line": "a " * 2_000_000,
    "tables": "|a|b|\n|-|-|\n|c|d|\n\n" * 100_000,
}


@pytest.mark.parametrize("name", CONTENTS)
def test_a_text_that_is_kept_holds_nobody_up(victim: Victim, name: str) -> None:
    program = victim.acting("use")
    made = {"action": "create", "collection_name": "heaps"}
    program.post("/v1/tools/manage_collections/call", json={"arguments": made})
    kept = {"content": CONTENTS[name], "source": f"{name}.md", "collection": "heaps"}
    with others_are_served(victim):
        program.post("/v1/tools/augment_knowledge/call", json={"arguments": kept, "timeout": 10}, timeout=60)


def test_an_archive_that_unpacks_to_far_more_than_it_holds_is_refused(victim: Victim) -> None:
    size, part = 400_000_000, "tasks.jsonl"
    digest = hashlib.sha256()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open(part, "w") as file:
            for _ in range(size // 1_000_000):
                digest.update(bytes(1_000_000))
                file.write(bytes(1_000_000))
        told = {part: {"sha256": digest.hexdigest(), "bytes": size, "lines": 1}}
        archive.writestr(
            "manifest.json", json.dumps({"format": "steward-export", "version": 1, "parts": told})
        )
    with others_are_served(victim):
        answer = victim.client(ADMIN).post("/v1/import", content=packed.getvalue(), timeout=60)
    assert (answer.status_code, "times its size" in answer.text) == (400, True)


def connected(victim: Victim) -> socket.socket:
    address = urlsplit(victim.url)
    return socket.create_connection((address.hostname or "", address.port or 0), timeout=40)


HALF_SENT = {
    "nothing": b"",
    "half a head": b"POST /v1/chat HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A",
    "half a body": b"POST /v1/chat HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: " + ADMIN.encode()
    + b"\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{",
    "half a call of the gateway": b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: " + ADMIN.encode()
    + b"\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{",
}  # fmt: skip


@pytest.mark.parametrize("name", HALF_SENT)
def test_a_hundred_half_sent_requests_end(victim: Victim, name: str) -> None:
    connections = [connected(victim) for _ in range(100)]
    try:
        for each in connections:
            each.sendall(HALF_SENT[name])
        with others_are_served(victim):
            for each in connections:
                while each.recv(4_096):  # until the server ends it; no end is a timeout, which fails
                    pass
    finally:
        for each in connections:
            each.close()


def test_headers_without_end_are_refused(victim: Victim) -> None:
    with connected(victim) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        refused = False
        for number in range(20_000):
            try:
                connection.sendall(b"X-%d: %s\r\n" % (number, b"a" * 200))
            except OSError:
                refused = True
                break
    assert refused
