"""What is asked to change about a task."""

from datetime import datetime

import pytest

from steward.tasks.changes import adds_a_note, read_update

WEDNESDAY = datetime(2026, 11, 18, 9, 0)  # noqa: DTZ001 - by the speaker's own clock


@pytest.mark.parametrize(
    ("said", "task", "title"),
    [
        ("rename 'wood for the sauna' to 'order birch for Kim'", "wood for the sauna", "order birch for Kim"),
        ('change "notes to self" to "letter to Ada"', "notes to self", "letter to Ada"),
        ("rename the sauna task to 'order birch to burn'", "sauna", "order birch to burn"),
        ("rename 'Sort shed' to 'Paint shed door' while you're at it", "Sort shed", "Paint shed door"),
        ('change "Wax skis" to "Wax Bo\'s skis", they\'re his', "Wax skis", "Wax Bo's skis"),
        ("can you rename 'Oil hinge' to 'Oil Al's gate', it's his?", "Oil hinge", "Oil Al's gate"),
        ("please reword 'ring Jo' as 'ring Jo to ask', that's clearer", "ring Jo", "ring Jo to ask"),
        (
            "update \u201cmap for Eve\u201d to \u201cmap for Eve\u2019s hike\u201d as she\u2019s off",
            "map for Eve",
            "map for Eve\u2019s hike",
        ),
    ],
)
def test_what_is_quoted_is_a_name_whatever_words_stand_in_it(said: str, task: str, title: str) -> None:
    reference, changes = read_update(said, WEDNESDAY)
    assert (reference.text, changes.title) == (task, title)


@pytest.mark.parametrize(
    ("said", "task", "rule"),
    [
        ("make oiling the gate repeat every monday", "oiling the gate", "FREQ=WEEKLY;BYDAY=MO"),
        ("have the chimney come back every year", "chimney", "FREQ=YEARLY"),
        ("repeat the backup task daily", "backup", "FREQ=DAILY"),
    ],
)
def test_a_task_is_made_to_repeat(said: str, task: str, rule: str) -> None:
    reference, changes = read_update(said, WEDNESDAY)
    assert (reference.text, changes.recurrence) == (task, rule)


def test_a_note_is_added_to_a_task_that_is_there() -> None:
    reference, changes = read_update("add a note to the regatta task saying Pia brings the rope", WEDNESDAY)
    assert (reference.text, changes.description) == ("regatta", "Pia brings the rope")


@pytest.mark.parametrize(
    ("said", "adds"),
    [("add a note to the regatta task saying Pia comes", True), ("add write a note to Pia", False)],
)
def test_a_note_to_a_task_is_told_from_a_task_of_notes(said: str, adds: bool) -> None:
    assert adds_a_note(said) is adds


@pytest.mark.parametrize(
    ("said", "task", "day"),
    [
        ("move rowing to Sunday as my shoulder is sore", "rowing", 22),
        ("push the eye test to Friday because I'm away", "eye test", 20),
        ("shift the bins to Monday, since there's a strike", "bins", 23),
        ("reschedule choir to the 25th of November cos they're on tour", "choir", 25),
        ("postpone the audit until Tuesday so that Ann can come", "audit", 24),
        ("move the hike to Saturday now that it's dry", "hike", 21),
    ],
)
def test_a_reason_behind_the_new_day_is_no_part_of_the_change(said: str, task: str, day: int) -> None:
    reference, changes = read_update(said, WEDNESDAY)
    assert changes.due is not None
    assert (reference.text, changes.title, changes.due.value.day) == (task, None, day)
