"""What of a list is shown."""

from datetime import UTC, datetime

from steward.agents.tasks.task_lists import headline, list_reading, sifted
from steward.tasks.filters import Filters

NOW = datetime(2026, 11, 16, 9, tzinfo=UTC)


def task(title: str, due: str | None = None) -> dict[str, object]:
    return {"id": title, "title": title, "due_date": due, "completed": False}


def test_what_is_due_next_is_one_task_and_nothing_that_is_late() -> None:
    reading = list_reading(Filters(nearest=True), NOW, certainty=1.0)
    late, soon, then = task("late", "2026-11-10"), task("soon", "2026-11-17"), task("then", "2026-11-20")
    assert reading.arguments["completed"] is False
    assert headline(reading.memo).about == "due next"
    assert sifted([then, late, task("some day"), soon], reading.memo) == [soon]


def test_where_all_are_late_the_one_that_waited_longest_is_due_next() -> None:
    memo = list_reading(Filters(nearest=True), NOW, certainty=1.0).memo
    older, newer = task("older", "2026-11-02"), task("newer", "2026-11-10")
    assert sifted([newer, older], memo) == [older]
    assert not sifted([task("some day")], memo)
