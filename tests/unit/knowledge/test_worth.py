import pytest

from steward.knowledge.memory_rules import contradicts, worth_keeping


@pytest.mark.parametrize(
    "text",
    [
        "Hey Mel! Good to see you! How have you been?",
        "Thanks!",
        "ok",
        "Where do you live?",
        "Wow, that's great!",
        "!!",
    ],
)
def test_small_talk_and_questions_are_not_kept(text: str) -> None:
    assert not worth_keeping(text)


@pytest.mark.parametrize(
    "text",
    [
        "Ana lives in Berlin.",
        "Hi! I moved to Lisbon. How are you?",
        "Use asyncio.TaskGroup, not gather.",
        "I'm vegetarian",
    ],
)
def test_statements_are_kept(text: str) -> None:
    assert worth_keeping(text)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Ana's phone number is 456.", "Ana's phone number is 123."),
        ("I live in Paris", "I live in Berlin"),
        ("Ben does not work at Acme any more", "Ben works at Acme"),
        ("The deadline is Friday", "The deadline is Monday"),
        ("the deadline: Friday", "The deadline is Monday"),
        ("The deadline is on Friday", "The deadline is on Monday"),
        ("The deadline is 5 May", "The deadline is 3 May"),
        ("The flat costs 950 euros", "The flat costs 900 dollars"),
        ("Ana moved to Porto", "Ana lives in Lisbon"),
        ("Ana is a nurse", "Ana is a teacher"),
        ("Ana no longer likes tea", "Ana likes tea"),
        ("The project is called Heron", "The project is named Crane"),
    ],
)
def test_another_value_for_the_same_thing_contradicts(new: str, old: str) -> None:
    assert contradicts(new, old)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Ana's phone number is 123.", "Ana's phone number is 123."),
        ("Ben's phone number is 456.", "Ana's phone number is 123."),
        ("Ana lives in Berlin", "Ana works in Paris"),
        ("The deadline is Monday morning", "The deadline is Monday"),
        ("Is the deadline Monday?", "The deadline is Friday"),
        ("Tea.", "Ana likes tea"),
        ("Ana is allergic to shellfish", "Ana is allergic to peanuts"),
        ("Ana is kind", "Ana is tall"),
        ("Ana has a cat", "Ana has a dog"),
        ("Ana likes coffee", "Ana likes tea"),
        ("The meeting is in room 5", "The meeting is on Monday"),
        ("Ana is a teacher", "Ana is tired"),
        ("The plan is to sail north in May with Ben and Ida", "The plan is to buy a boat"),
    ],
)
def test_other_things_and_more_detail_do_not_contradict(new: str, old: str) -> None:
    assert not contradicts(new, old)
