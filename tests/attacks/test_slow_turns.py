"""Somebody with a key sends messages that are slow to make sense of, one after the other.

Others are served meanwhile (test_slow_input.py); here it is counted what a turn costs: processor time of the
server, beside that of an ordinary message as long. So a busy machine changes nothing.
"""

import time

import httpx
import psutil
import pytest
from tests.attacks.conftest import ADMIN, Victim
from tests.attacks.nasty_messages import PIECES, lists, plain, repeated

pytestmark = [
    pytest.mark.slow,
    pytest.mark.alone,
    pytest.mark.timeout(600, func_only=True),
    pytest.mark.usefixtures("awake"),
]

AGENTS = ("assistant", "tasks", "researcher")
TIMES = 3.0  # what an ordinary message costs
MORE = 0.5  # seconds: what a list of short wishes does is work that was asked for


def seconds(victim: Victim) -> float:
    """Processor time of the server so far."""
    spent = psutil.Process(victim.process.pid).cpu_times()
    return spent.user + spent.system


def ask(victim: Victim, text: str, agent: str, conversation: str | None = None) -> httpx.Response:
    body = {"message": text, "agent": agent} | ({"conversation": conversation} if conversation else {})
    return victim.client(ADMIN).post("/v1/chat", json=body, timeout=120)


def cost(victim: Victim, text: str, agent: str, conversation: str | None = None) -> float:
    before = seconds(victim)
    answer = ask(victim, text, agent, conversation)
    assert answer.status_code in (200, 202), answer.text[:300]
    return seconds(victim) - before


@pytest.fixture(scope="module")
def most(victim: Victim, awake: None) -> float:
    """What a message may cost here and now."""
    del awake
    for agent in AGENTS:
        ask(victim, "hello", agent)
    each = sorted(cost(victim, plain(), "assistant") for _ in range(3))
    return TIMES * each[1] + MORE


def found_slow(victim: Victim, texts: dict[str, str], agent: str, most: float) -> dict[str, float]:
    """Those that cost more, looked at once more: what a background job takes falls on some turn."""
    slow = {name: spent for name, text in texts.items() if (spent := cost(victim, text, agent)) > most}
    return {name: spent for name in slow if (spent := cost(victim, f"{texts[name]} ", agent)) > most}


@pytest.mark.parametrize("kind", PIECES)
def test_one_piece_again_and_again_costs_no_more_than_ordinary_words(
    victim: Victim, most: float, kind: str
) -> None:
    texts = {piece: repeated(piece) for piece in PIECES[kind]}
    assert found_slow(victim, texts, "assistant", most) == {}


@pytest.mark.parametrize("agent", ["tasks", "researcher"])
def test_no_other_agent_is_slower(victim: Victim, most: float, agent: str) -> None:
    texts = {pieces[0]: repeated(pieces[0]) for pieces in PIECES.values()}
    assert found_slow(victim, texts, agent, most) == {}


@pytest.mark.parametrize("agent", AGENTS)
def test_a_list_of_wishes_costs_no_more_however_long_each_is(victim: Victim, most: float, agent: str) -> None:
    assert found_slow(victim, dict(lists()), agent, most) == {}


@pytest.mark.parametrize("opening", ["Add a task", "Delete the task call Bob"])
def test_an_answer_to_an_open_question_or_proposal_is_no_slower(
    victim: Victim, most: float, opening: str
) -> None:
    victim.client(ADMIN).post("/v1/tasks", json={"title": "call Bob"}).raise_for_status()
    slow: dict[str, float] = {}
    for pieces in PIECES.values():
        held = ask(victim, opening, "assistant").json()["conversation"]
        spent = cost(victim, repeated(pieces[0]), "assistant", held)
        if spent > most:
            slow[pieces[0]] = spent
    assert slow == {}


def test_the_time_that_is_counted_is_the_servers(victim: Victim) -> None:
    """Else nothing above could fail."""
    before, began = seconds(victim), time.monotonic()
    ask(victim, plain(), "assistant")
    assert 0.0 < seconds(victim) - before < 4 * (time.monotonic() - began) + 1
