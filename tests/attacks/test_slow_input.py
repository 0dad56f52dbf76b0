"""Somebody sends what is slow to read: it is answered or refused soon, and others are served meanwhile."""

import gzip
import hashlib
import io
import json
import socket
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import httpx
import pytest
from tests.attacks.conftest import ADMIN, Victim

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90, func_only=True)]

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


@pytest.fixture(scope="module", autouse=True)
def awake(victim: Victim) -> None:
    """Models are loaded before anything is measured."""
    for agent in ("assistant", "tasks"):
        victim.client(ADMIN).post("/v1/chat", json={"message": "Add milk", "agent": agent}, timeout=60)


MESSAGES = {
    "spaces": "Add a" + " " * 1_500 + "b",
    "many spaces": "Add a" + " " * 20_000 + "b",
    "trailing": "Play " + "the song please, " * 80 + "x",
    "tabs and newlines": "What is x" + "\t\n" * 5_000 + "and" + " " * 5_000 + "y",
    "quotes": "Find " + "'a " * 6_000,
    "dots": "Read " + "a." * 9_000,
    "dashes": "Read " + "-" * 18_000,
    "digits": "Remind me in " + "1" * 18_000 + " days",
    "joined": "What is a" + ", and" * 3_000 + " b?",
    "brackets": "[" * 10_000 + "]" * 10_000,
    "addresses": "Read http://" + "a." * 9_000,
    "combining": "Add a" + "\u0301" * 18_000,
}


@pytest.mark.parametrize("name", MESSAGES)
@pytest.mark.parametrize("agent", ["assistant", "tasks"])
def test_a_message_made_to_be_slow_is_answered_soon(victim: Victim, name: str, agent: str) -> None:
    with others_are_served(victim):
        assert say(victim, MESSAGES[name], agent).status_code in (200, 202, 400)


@pytest.mark.parametrize("unit", ["a", " ", "add milk and ", "é"])
def test_a_message_of_a_hundred_thousand_characters_is_refused_soon(victim: Victim, unit: str) -> None:
    message = "Add " + unit * (100_000 // len(unit)) + "x"
    with others_are_served(victim):
        answer = say(victim, message)
    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_INPUT")


def test_a_call_full_of_wildcards_asks_and_holds_nobody_up(victim: Victim) -> None:
    text = [f"/data/{i}*x?{i}/[ab]{i}/*.c{i}" for i in range(9_000)]
    body = {"arguments": {"title": "x", "tags": text}}
    with others_are_served(victim):
        victim.client(ADMIN).post("/v1/tools/add_task/call", json=body, timeout=SOON)


NESTED = ("[" * 100_000, '{"a":' * 50_000, '{"arguments": ' + "[" * 20_000 + "]" * 20_000 + "}")


def call_with(victim: Victim, text: str) -> httpx.Response:
    headers = {"content-type": "application/json"}
    route = "/v1/tools/list_tasks/call"
    return victim.client(ADMIN).post(route, content=text, headers=headers, timeout=SOON)


@pytest.mark.parametrize("text", NESTED)
def test_json_that_is_nested_too_deeply_is_refused(victim: Victim, text: str) -> None:
    with others_are_served(victim):
        assert call_with(victim, text).status_code in (400, 422)


def test_a_number_with_a_million_digits_is_refused(victim: Victim) -> None:
    with others_are_served(victim):
        answer = call_with(victim, '{"arguments": {"limit": ' + "9" * 1_000_000 + "}}")
    assert answer.json().get("success", False) is False


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


def _connected(victim: Victim) -> socket.socket:
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
    connections = [_connected(victim) for _ in range(100)]
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


def test_a_second_request_that_is_half_sent_ends_too(victim: Victim) -> None:
    with _connected(victim) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /healthz HTTP/1.1\r\nHo")
        while connection.recv(4_096):
            pass


def test_headers_without_end_are_refused(victim: Victim) -> None:
    with _connected(victim) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        refused = False
        for number in range(20_000):
            try:
                connection.sendall(b"X-%d: %s\r\n" % (number, b"a" * 200))
            except OSError:
                refused = True
                break
    assert refused


def test_gzip_on_a_request_is_not_unpacked(victim: Victim) -> None:
    body = gzip.compress(b" " * 50_000_000)
    headers = {"content-encoding": "gzip", "content-type": "application/json"}
    with others_are_served(victim):
        answer = victim.client(ADMIN).post("/v1/chat", content=body, headers=headers, timeout=SOON)
    assert answer.status_code in (400, 415, 422)
