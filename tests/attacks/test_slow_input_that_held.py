"""Slow input that did no harm before either: kept so that it stays so. The others: test_slow_input.py."""

import gzip

import httpx
import pytest
from tests.attacks.conftest import ADMIN, Victim
from tests.attacks.test_slow_input import SOON, connected, others_are_served, say

pytestmark = [
    pytest.mark.slow,
    pytest.mark.alone,
    pytest.mark.timeout(90, func_only=True),
    pytest.mark.usefixtures("awake"),
]

MESSAGES = {
    "trailing": "Play " + "the song please, " * 80 + "x",
    "quotes": "Find " + "'a " * 6_000,
    "joined": "What is a" + ", and" * 3_000 + " b?",
    "brackets": "[" * 10_000 + "]" * 10_000,
}


@pytest.mark.parametrize("name", MESSAGES)
@pytest.mark.parametrize("agent", ["assistant", "tasks"])
def test_a_long_heap_of_signs_is_answered_soon(victim: Victim, name: str, agent: str) -> None:
    with others_are_served(victim):
        say(victim, MESSAGES[name], agent)


NESTED = ("[" * 100_000, '{"a":' * 50_000, '{"arguments": ' + "[" * 20_000 + "]" * 20_000 + "}")


def call_with(victim: Victim, text: str) -> httpx.Response:
    headers = {"content-type": "application/json"}
    route = "/v1/tools/list_tasks/call"
    return victim.client(ADMIN).post(route, content=text, headers=headers, timeout=SOON)


@pytest.mark.parametrize("unit", ["a", " ", "add milk and ", "é"])
def test_a_message_of_a_hundred_thousand_characters_is_refused_soon(victim: Victim, unit: str) -> None:
    message = "Add " + unit * (100_000 // len(unit)) + "x"
    with others_are_served(victim):
        answer = say(victim, message)
    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_INPUT")


@pytest.mark.parametrize("text", NESTED)
def test_json_that_is_nested_too_deeply_is_refused(victim: Victim, text: str) -> None:
    with others_are_served(victim):
        assert call_with(victim, text).status_code in (400, 422)


def test_a_number_with_a_million_digits_is_refused(victim: Victim) -> None:
    with others_are_served(victim):
        answer = call_with(victim, '{"arguments": {"limit": ' + "9" * 1_000_000 + "}}")
    assert answer.json().get("success", False) is False


def test_a_second_request_that_is_half_sent_ends_too(victim: Victim) -> None:
    with connected(victim) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /healthz HTTP/1.1\r\nHo")
        while connection.recv(4_096):
            pass


def test_gzip_on_a_request_is_not_unpacked(victim: Victim) -> None:
    body = gzip.compress(b" " * 50_000_000)
    headers = {"content-encoding": "gzip", "content-type": "application/json"}
    with others_are_served(victim):
        answer = victim.client(ADMIN).post("/v1/chat", content=body, headers=headers, timeout=SOON)
    assert answer.status_code in (400, 415, 422)
