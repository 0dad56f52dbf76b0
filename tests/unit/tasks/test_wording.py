"""Due dates as people say them."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from steward.tasks.wording import due_words, is_overdue

NOW = datetime(2026, 11, 15, 9, tzinfo=ZoneInfo("Europe/Berlin"))  # a Sunday


@pytest.mark.parametrize(
    ("due", "words", "overdue"),
    [
        ("2026-11-15", "today", False),
        ("2026-11-14", "yesterday", True),
        ("2026-11-16", "tomorrow", False),
        ("2026-11-16T17:00:00+01:00", "tomorrow 17:00", False),
        ("2026-11-15T07:30:00Z", "today 08:30", True),
        ("2026-11-15T09:30:00+01:00", "today 09:30", False),
        ("2026-11-20", "Friday", False),
        ("2026-11-22", "22 Nov", False),
        ("2026-11-12", "3 days ago", True),
        ("2026-11-01", "1 Nov", True),
        ("2027-03-01", "1 Mar 2027", False),
    ],
)
def test_a_due_date_reads_as_people_say_it(due: str, words: str, overdue: bool) -> None:
    assert (due_words(due, NOW), is_overdue(due, NOW)) == (words, overdue)
