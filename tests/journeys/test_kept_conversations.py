"""Whole conversations with the default agent, played to the end.

Each set was written before the program was made to hold it (tests/requests/conversations_*.jsonl). Right when
the program met it: of the first 23 of 66, of the second 23 of 31; of the third 13 of its first 40, and 34 of
the other 39 once those were mended; of the fourth 19 of 30. The fifth and the sixth are our own, of the kinds
that were missed: of the sixth 14 of 20. Of the seventh it was 23 of one half, and 15 of the other once those
were mended. What is forgotten, deleted or changed and was not meant is counted
apart; one such change is left in the seventh.
"""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
import time_machine
from tests.conversing import HARM, RIGHT, WRONG_EFFECT, play_all

SETS = Path(__file__).parent.parent / "requests"
MONDAY = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)  # "friday" is another day than "tomorrow"


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("name", "right", "wrong_effects"),
    [
        ("first", 0.93, 0),
        ("second", 0.9, 0),
        ("third", 0.95, 0),
        ("fourth", 0.95, 0),
        ("fifth", 0.95, 0),
        ("sixth", 0.95, 0),
        ("seventh", 0.8, 1),
    ],
)
async def test_conversations_written_without_sight_of_the_program(
    tmp_path: Path, database_url: str, name: str, right: float, wrong_effects: int
) -> None:
    rows = [json.loads(line) for line in (SETS / f"conversations_{name}.jsonl").read_text().splitlines()]

    with time_machine.travel(MONDAY):
        played = await play_all(rows, tmp_path, database_url)

    missed = [
        "\n".join([f"=== {row['id']}: {each.verdict}", *each.transcript, *each.why])
        for row, each in zip(rows, played, strict=True)
        if each.verdict != RIGHT
    ]
    told = "\n".join(missed)
    assert sum(each.verdict == RIGHT for each in played) / len(rows) >= right, told
    assert not [each for each in played if each.verdict == HARM], told
    assert sum(each.verdict == WRONG_EFFECT for each in played) <= wrong_effects, told
