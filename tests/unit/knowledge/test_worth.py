import pytest

from steward.knowledge.worth import contradicts, worth_keeping


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
    ["Ana lives in Berlin.", "Hi! I moved to Lisbon. How are you?", "Use asyncio.TaskGroup, not gather."],
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
    ],
)
def test_other_things_and_more_detail_do_not_contradict(new: str, old: str) -> None:
    assert not contradicts(new, old)
