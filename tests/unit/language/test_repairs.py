"""What people correct or take back in the same breath."""

from datetime import UTC, datetime

import pytest

from steward.language.repairs import mended, withdrawn
from steward.language.values import Moment
from steward.models.planner.dates import spoken_dates

NOW = datetime(2026, 11, 18, 9, tzinfo=UTC)


def dates(text: str) -> list[Moment]:
    return [
        Moment(each.start, each.end, each.value, timed=each.has_time, dated=each.has_day)
        for each in spoken_dates(text, NOW)
    ]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Remind me monday, wait no, tuesday, to call Bo", "Remind me tuesday to call Bo"),
        ("meeting on friday at 3pm... no, thursday", "meeting on thursday at 3pm"),
        ("meet Bob at 3pm on friday, sorry, 4pm", "meet Bob 4pm on friday"),
        ("book a table for 4 people, no wait, 6, on friday", "book a table for 6 people, on friday"),
        ("order 3 pizzas, sorry 4 pizzas", "order 4 pizzas"),
        ("email Tom, sorry, I mean Tim about the party", "email Tim about the party"),
        ("call Ana, I mean call Anna tomorrow", "call Anna tomorrow"),
        ("buy whole milk - no wait, oat milk", "buy whole oat milk"),
        ("put 'get petrol' on the list, no, make that 'charge the car'", "put 'charge the car' on the list"),
        ("what's the weather in Rome, sorry, Milan", "what's the weather in Milan"),
    ],
)
def test_what_comes_last_takes_the_place_of_what_it_corrects(said: str, meant: str) -> None:
    assert mended(said, dates) == meant


@pytest.mark.parametrize(
    "said",
    [
        "add coffee, no sugar",
        "play jazz and make it loud",
        'add a task to write "no, I mean it"',
        "I have no idea what to do on monday",
        "finish the report on monday, no later than friday",
        "no, monday is better",
        "I went on monday, no wait, it was tuesday",
    ],
)
def test_what_corrects_nothing_stays_as_it_was_said(said: str) -> None:
    assert mended(said, dates) == said


@pytest.mark.parametrize(
    ("said", "back"),
    [
        ("add milk to my list... actually no, don't, Tom's getting it", True),
        ("remind me to buy bread. Actually never mind", True),
        ('add "call Sam" - scratch that', True),
        ("please don't forget to add eggs", False),
        ("tell Ana, don't worry, it's fine", False),
        ('write "never mind" to Bob', False),
    ],
)
def test_what_is_taken_back_is_not_done(said: str, back: bool) -> None:
    assert withdrawn(said) is back


def test_a_heap_of_corrections_is_read_a_few_at_a_time() -> None:
    read: list[int] = []

    def dates(text: str) -> list[Moment]:
        read.append(len(text))
        return []

    mended("no, i mean " * 2_000, dates)
    assert sum(read) < 100_000
