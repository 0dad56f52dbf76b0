# ruff: noqa: DTZ001, SIM905
"""From what a person says to what they want, with every slot."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.tasks.held_out import HELD_OUT, HELD_OUT_LATER

from steward.tasks.changes import Changes
from steward.tasks.dates.calendar import Grain
from steward.tasks.filters import Filters
from steward.tasks.intents.classify import Intent
from steward.tasks.language import (
    Add,
    Ask,
    Complete,
    Delete,
    List,
    Other,
    Update,
    understand,
)
from steward.tasks.priority import Priority
from steward.tasks.references import Reference

NOW = datetime(2026, 11, 16, 9, 0)  # a Monday
TODAY = datetime(2026, 11, 16)
DAY = timedelta(days=1)
Slots = tuple[str, str | None, Priority | None]


def slots(text: str) -> list[Slots]:
    meaning = understand(text, NOW)
    assert isinstance(meaning, Add), meaning
    return [
        (
            item.title,
            item.due.value.isoformat(sep=" ", timespec="minutes") if item.due else None,
            item.priority,
        )
        for item in meaning.items
    ]


def filters(text: str) -> Filters:
    meaning = understand(text, NOW)
    assert isinstance(meaning, List), meaning
    return meaning.filters


def reference(text: str) -> Reference:
    meaning = understand(text, NOW)
    assert isinstance(meaning, Complete | Delete | Update), meaning
    return meaning.reference


def update(text: str) -> tuple[str, Changes]:
    meaning = understand(text, NOW)
    assert isinstance(meaning, Update), meaning
    return meaning.reference.text, meaning.changes


# --- the stories of the specification -------------------------------------------------------------


@pytest.mark.req("TODO-US1.1", "TODO-ABR-001", "TODO-ABR-007")
def test_add_buy_milk_to_my_tasks_adds_buy_milk() -> None:
    assert slots("Add buy milk to my tasks") == [("buy milk", None, None)]


@pytest.mark.req("TODO-US1.2")
def test_call_mom_tomorrow_its_important_has_a_date_and_a_priority() -> None:
    meaning = understand("Add call mom tomorrow, it's important", NOW)
    assert slots("Add call mom tomorrow, it's important") == [("call mom", "2026-11-17 00:00", Priority.HIGH)]
    assert isinstance(meaning, Add)
    assert meaning.items[0].due is not None
    assert meaning.items[0].due.grain is Grain.DAY


@pytest.mark.req("TODO-US1.3", "TODO-ABR-001")
def test_remember_eggs_adds_eggs() -> None:
    assert slots("remember eggs") == [("eggs", None, None)]


@pytest.mark.req("TODO-US2.1", "TODO-US2.3", "TODO-ABR-002", "TODO-ABR-008")
@pytest.mark.parametrize("text", ["Show my tasks", "List my todos", "What are my tasks?", "Display my list"])
def test_asking_for_tasks_lists_them_all(text: str) -> None:
    assert filters(text) == Filters()


@pytest.mark.req("TODO-US2.2")
def test_what_is_due_today_is_a_filter_on_today() -> None:
    assert filters("What tasks are due today?") == Filters(due_after=TODAY, due_before=TODAY + DAY)


@pytest.mark.req("TODO-US3.1", "TODO-ABR-003", "TODO-ABR-009")
def test_i_bought_the_milk_completes_milk() -> None:
    assert reference("I bought the milk") == Reference("milk", hint="bought")
    assert understand("I bought the milk", NOW).intent is Intent.COMPLETE


@pytest.mark.req("TODO-US3.2", "TODO-US3.3", "TODO-ABR-003")
@pytest.mark.parametrize(
    ("text", "name"), [("Done with the meeting task", "meeting"), ("Complete the xyz task", "xyz")]
)
def test_a_completion_names_its_task(text: str, name: str) -> None:
    assert understand(text, NOW).intent is Intent.COMPLETE
    assert reference(text) == Reference(name)


@pytest.mark.parametrize(
    ("text", "intent", "name"),
    [
        ("cross off buy milk", Intent.COMPLETE, "buy milk"),
        ("cross the dentist off", Intent.COMPLETE, "dentist"),
        ("Please cross the tax return off my to-do list", Intent.COMPLETE, "tax return"),
        ("cross milk off the list", Intent.COMPLETE, "milk"),
        ("cross paper plates off the shopping list", Intent.DELETE, "paper plates"),
        ("cross out bread from my grocery list", Intent.DELETE, "bread"),
    ],
)
def test_what_is_crossed_off_is_done_and_off_another_list_it_is_taken(
    text: str, intent: Intent, name: str
) -> None:
    assert (understand(text, NOW).intent, reference(text)) == (intent, Reference(name))


@pytest.mark.req("TODO-US4.1", "TODO-ABR-004", "TODO-ABR-010")
def test_delete_old_reminder_names_it() -> None:
    assert understand("Delete old reminder", NOW).intent is Intent.DELETE
    assert reference("Delete old reminder") == Reference("old reminder")


@pytest.mark.req("TODO-US5.1", "TODO-ABR-005", "TODO-ABR-011")
def test_change_meeting_to_4pm_changes_the_time_only() -> None:
    name, changes = update("Change meeting to 4pm")
    assert name == "meeting"
    assert changes.due is not None
    assert (changes.due.value, changes.due.time_only) == (datetime(2026, 11, 16, 16), True)


@pytest.mark.req("TODO-US5.2", "TODO-ABR-005")
@pytest.mark.parametrize(
    "text", ["Make the groceries task high priority", "make the groceries task high priority, it's urgent"]
)
def test_make_groceries_high_priority_changes_the_priority(text: str) -> None:
    assert update(text) == ("groceries", Changes(priority=Priority.HIGH))


@pytest.mark.req("TODO-EDGE-01", "TODO-ABR-006")
def test_a_thing_without_a_verb_asks_whether_to_add_it() -> None:
    meaning = understand("groceries", NOW)
    assert isinstance(meaning, Ask)
    assert meaning.question == "Would you like me to add 'groceries' as a new task?"
    assert meaning.proposal is not None
    assert [item.title for item in meaning.proposal.items] == ["groceries"]


@pytest.mark.req("TODO-EDGE-04", "TODO-ABR-006")
@pytest.mark.parametrize(
    "text", ["Add", "add a task", "new task", "remind me", "please add something to my list"]
)
def test_adding_nothing_asks_what(text: str) -> None:
    meaning = understand(text, NOW)
    assert isinstance(meaning, Ask)
    assert (meaning.question, meaning.proposal) == ("What would you like to add?", None)


# --- adding ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("can you add walk the dog at 6pm today?", [("walk the dog", "2026-11-16 18:00", None)]),
        (
            "please remind me to submit the report by friday 5pm",
            [("submit the report", "2026-11-20 17:00", None)],
        ),
        ("remind me at 5 to pick up the kids", [("pick up the kids", "2026-11-16 17:00", None)]),
        ("remind me in 20 minutes to check the oven", [("check the oven", "2026-11-16 09:20", None)]),
        ("remind me about the dentist on monday", [("dentist", "2026-11-23 00:00", None)]),
        ("create a task to review the contract, low priority", [("review the contract", None, Priority.LOW)]),
        (
            "remember to pay the bills by the 20th, urgent",
            [("pay the bills", "2026-11-20 00:00", Priority.HIGH)],
        ),
        ("on my to do list, add dishes", [("dishes", None, None)]),
        ("add to my list of things to do: wash the dog", [("wash the dog", None, None)]),
        (
            "add to my to do list that i need to call the bank tomorrow",
            [("call the bank", "2026-11-17 00:00", None)],
        ),
        ("i'm out of bananas; add to shopping list", [("bananas", None, None)]),
        ("is bacon on my shopping list, add if it's not", [("bacon", None, None)]),
        ("make sure bread gets added to my shopping list", [("bread", None, None)]),
        ("put wash the counters down on my list of pending tasks", [("wash the counters down", None, None)]),
        ("don't forget to call grandma on her birthday", [("call grandma on her birthday", None, None)]),
        ("note to self: back up laptop", [("back up laptop", None, None)]),
        ("we need milk", [("milk", None, None)]),
        (
            "buy flowers for mom's birthday on saturday",
            [("buy flowers for mom's birthday", "2026-11-21 00:00", None)],
        ),
        (
            "new task: prepare slides for thursday's meeting",
            [("prepare slides for thursday's meeting", None, None)],
        ),
        (
            "add meeting with Bob at 3pm on Friday about budget",
            [("meeting with Bob about budget", "2026-11-20 15:00", None)],
        ),
        (
            'Add "finish slides" to my list for friday, high priority',
            [("finish slides", "2026-11-20 00:00", Priority.HIGH)],
        ),
        ("add order pizza for 5 people tonight", [("order pizza for 5 people", "2026-11-16 20:00", None)]),
        ("add watch the 6pm news", [("watch the 6pm news", None, None)]),
        ("add read 1984", [("read 1984", None, None)]),
        ("add call 555-1234 tomorrow", [("call 555-1234", "2026-11-17 00:00", None)]),
        ("create a new list for school supplies", [("new list for school supplies", None, None)]),
        ("add ☕ beans to shopping list", [("☕ beans", None, None)]),
        ("add بقالة", [("بقالة", None, None)]),
        ("call mom and dad on sunday", [("call mom and dad", "2026-11-22 00:00", None)]),
        (
            "schedule dentist appointment for next tuesday at 10am",
            [("dentist appointment", "2026-11-24 10:00", None)],
        ),
        (
            "Add call mom tomorrow about the party at 5pm",
            [("call mom about the party", "2026-11-17 17:00", None)],
        ),
    ],
)
def test_a_request_to_add_gives_title_date_and_priority(text: str, expected: list[Slots]) -> None:
    assert slots(text) == expected


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("add milk, eggs and bread to my shopping list", ["milk", "eggs", "bread"]),
        ("add buy milk and call mom", ["buy milk", "call mom"]),
        ("todo buy cat food, clean litter box, call vet", ["buy cat food", "clean litter box", "call vet"]),
        (
            "Add these tasks:\n- sweep porch\n- clean grill\n- buy charcoal",
            ["sweep porch", "clean grill", "buy charcoal"],
        ),
        ("add buy milk and eggs", ["buy milk and eggs"]),
    ],
)
def test_several_tasks_in_one_breath_are_several(text: str, titles: list[str]) -> None:
    assert [title for title, _, _ in slots(text)] == titles


def test_a_date_said_first_counts_for_every_task_without_its_own() -> None:
    assert slots("remind me tomorrow to call the bank and pay rent on friday") == [
        ("call the bank", "2026-11-17 00:00", None),
        ("pay rent", "2026-11-20 00:00", None),
    ]


def test_a_description_is_kept_apart() -> None:
    meaning = understand("add dentist on dec 3 at 10am with description bring insurance card", NOW)
    assert isinstance(meaning, Add)
    assert [(i.title, i.description) for i in meaning.items] == [("dentist", "bring insurance card")]


@pytest.mark.parametrize(
    ("text", "title", "rule", "due"),
    [
        ("todo: water plants every monday", "water plants", "FREQ=WEEKLY;BYDAY=MO", "2026-11-23 00:00"),
        (
            "remind me to take my medicine at 8pm every day",
            "take my medicine",
            "FREQ=DAILY",
            "2026-11-16 20:00",
        ),
        ("remind me to pay rent on the 1st of every month", "pay rent", "FREQ=MONTHLY", "2026-12-01 00:00"),
        ("add a task to back up laptop every 2 weeks", "back up laptop", "FREQ=WEEKLY;INTERVAL=2", None),
        ("remind me to stretch every other day", "stretch", "FREQ=DAILY;INTERVAL=2", None),
        ("add gym every monday and thursday", "gym", "FREQ=WEEKLY;BYDAY=MO,TH", "2026-11-23 00:00"),
        ("remind me to journal every evening", "journal", "FREQ=DAILY", "2026-11-16 18:00"),
        (
            "remind me to commute every weekday at 8am",
            "commute",
            "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
            "2026-11-17 08:00",
        ),
        (
            "remind me to clean the car every weekend",
            "clean the car",
            "FREQ=WEEKLY;BYDAY=SA,SU",
            "2026-11-21 00:00",
        ),
        ("add a task to review budget monthly", "review budget", "FREQ=MONTHLY", None),
        ("add a task to send the daily report", "send the daily report", None, None),
    ],
)
def test_repetition_becomes_a_rule(text: str, title: str, rule: str | None, due: str | None) -> None:
    meaning = understand(text, NOW)
    assert isinstance(meaning, Add)
    (item,) = meaning.items
    when = item.due.value.isoformat(sep=" ", timespec="minutes") if item.due else None
    assert (item.title, item.recurrence, when) == (title, rule, due)


# --- listing --------------------------------------------------------------------------------------

_WEEK = TODAY + 7 * DAY


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what's left for today?", Filters(due_after=TODAY, due_before=TODAY + DAY, completed=False)),
        ("show overdue tasks", Filters(overdue=True, completed=False)),
        (
            "what are my high priority tasks this week",
            Filters(due_after=TODAY, due_before=_WEEK, priority=Priority.HIGH),
        ),
        ("tasks due before friday", Filters(due_before=datetime(2026, 11, 20))),
        ("anything due by friday?", Filters(due_before=datetime(2026, 11, 21))),
        ("tasks after december 1", Filters(due_after=datetime(2026, 12, 2))),
        ("what do I have to do on wednesday", Filters(due_after=TODAY + 2 * DAY, due_before=TODAY + 3 * DAY)),
        ("show me everything due in the next 3 days", Filters(due_after=TODAY, due_before=TODAY + 4 * DAY)),
        ("what have i completed this week", Filters(done_after=TODAY, done_before=_WEEK, completed=True)),
        ("show finished tasks", Filters(completed=True)),
        ("is milk on my shopping list", Filters(search="milk")),
        ("did i add walk the dog to my list", Filters(search="walk the dog")),
        ("find tasks about budget", Filters(search="budget")),
        ("search my todos for invoice", Filters(search="invoice")),
        ("when is the report due", Filters(search="report")),
        ("which tasks contain report", Filters(search="report")),
        ("do i have any tasks", Filters()),
    ],
)
def test_a_question_becomes_filters(text: str, expected: Filters) -> None:
    assert filters(text) == expected


# --- completing and deleting ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mark laundry as done", Reference("laundry")),
        ("mark the second one as complete", Reference("", ordinals=(2,))),
        ("task 3 is done", Reference("", ordinals=(3,))),
        ("the laundry is done", Reference("laundry")),
        ("the report has been submitted", Reference("report")),
        ("check off groceries", Reference("groceries")),
        ("mark everything as done", Reference("", everything=True)),
        ("I called the dentist this morning", Reference("dentist", hint="called")),
        ("I'm done with laundry and dishes", Reference("laundry and dishes", parts=("laundry", "dishes"))),
        ("it's done", Reference("", pronoun=True)),
        ("i took care of the dishes", Reference("dishes")),
        ("delete everything", Reference("", everything=True)),
        ("clear my to do list", Reference("", everything=True)),
        ("delete all completed tasks", Reference("", everything=True, completed=True)),
        ("remove milk from the shopping list", Reference("milk")),
        ("take watering the plants off of my to do list", Reference("watering the plants")),
        ("get rid of the gym task", Reference("gym")),
        ("delete the first two tasks", Reference("", ordinals=(1, 2))),
        ("delete tasks 1 and 3", Reference("", ordinals=(1, 3))),
        ("delete the last one", Reference("", ordinals=(-1,))),
        ("delete it", Reference("", pronoun=True)),
        ("Yes, delete it", Reference("", pronoun=True)),
        ("cancel my dentist reminder", Reference("dentist reminder")),
        ("delete the task about the car", Reference("car")),
        ('remove "buy milk"', Reference("buy milk")),
        ("i no longer need to wash dishes; take it off my list", Reference("wash dishes")),
        ("find my shopping list and delete it", Reference("", pronoun=True)),
        ("milk should be removed from the list", Reference("milk")),
    ],
)
def test_a_task_is_referred_to_by_its_own_words(text: str, expected: Reference) -> None:
    assert reference(text) == expected


# --- updating -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name", "due"),
    [
        ("push the dentist to next friday at 5pm", "dentist", "2026-11-27 17:00"),
        ("move my meeting from 3pm to 4pm", "meeting", "2026-11-16 16:00"),
        ("the meeting got moved to friday", "meeting", "2026-11-20 00:00"),
        ("reschedule dentist for next tuesday", "dentist", "2026-11-24 00:00"),
        ("set the due date of taxes to april 15", "taxes", "2027-04-15 00:00"),
        ("update the report to be due on monday at noon", "report", "2026-11-23 12:00"),
        ("reschedule my 3pm call to 5pm", "3pm call", "2026-11-16 17:00"),
        ("change it to 5pm", "", "2026-11-16 17:00"),
    ],
)
def test_a_new_date_moves_the_task(text: str, name: str, due: str) -> None:
    found, changes = update(text)
    assert changes.due is not None
    assert (found, changes.due.value) == (name, datetime.fromisoformat(due))


@pytest.mark.parametrize(
    ("text", "name", "changes"),
    [
        ("rename gym to evening workout", "gym", Changes(title="evening workout")),
        ("change the title of buy milk to buy oat milk", "buy milk", Changes(title="buy oat milk")),
        ("replace eggs with tofu", "eggs", Changes(title="tofu")),
        ("postpone the report by two days", "report", Changes(delay=2 * DAY)),
        ("push the meeting back a week", "meeting", Changes(delay=7 * DAY)),
        ("move the dentist appointment up by one day", "dentist appointment", Changes(delay=-DAY)),
        ("set the priority of laundry to low", "laundry", Changes(priority=Priority.LOW)),
        ("prioritize the budget review", "budget review", Changes(priority=Priority.HIGH)),
        ("lower the priority of the budget review", "budget review", Changes(priority=Priority.LOW)),
        ("remove the due date from laundry", "laundry", Changes(clear_due=True)),
        ("reopen the report task", "report", Changes(completed=False)),
        ("mark gym as not done", "gym", Changes(completed=False)),
        ("add a note to dentist: bring the x-rays", "dentist", Changes(description="bring the x-rays")),
        ("edit the dentist task", "dentist", Changes()),
    ],
)
def test_a_change_is_what_was_asked(text: str, name: str, changes: Changes) -> None:
    assert update(text) == (name, changes)


# --- intents in general ---------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["hello", "thanks!", "what's the weather", "play some jazz", "ok"])
def test_speech_about_something_else_is_other(text: str) -> None:
    assert isinstance(understand(text, NOW), Other)


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_saying_nothing_asks_what_to_do(text: str) -> None:
    assert isinstance(understand(text, NOW), Ask)


@pytest.mark.req("TODO-SC-002")
@pytest.mark.parametrize("speech", [HELD_OUT, HELD_OUT_LATER], ids=["first", "later"])
def test_speech_that_the_classifier_never_saw_is_understood(speech: dict[str, tuple[str, ...]]) -> None:
    said = [(text, intent) for intent, texts in speech.items() for text in texts]
    wrong = [
        (text, intent, found)
        for text, intent in said
        if (found := str(understand(text, NOW).intent).replace("ask", "clarify")) != intent
    ]
    assert len(wrong) <= 0.05 * len(said), wrong


@given(st.text(max_size=300))
@settings(max_examples=300, deadline=None)
def test_any_text_is_understood_without_an_error(text: str) -> None:
    meaning = understand(text, NOW)
    assert 0 <= meaning.confidence <= 1
    if isinstance(meaning, Add):
        assert all(1 <= len(item.title) <= 500 for item in meaning.items)


_WORDS = (
    "add delete change mark done the my task list to on from tomorrow friday at 5 milk and , it's urgent "
    "remind me buy call what is due i bought move by week all everything second high priority ; : every"
).split()


@given(st.lists(st.sampled_from(_WORDS), max_size=14).map(" ".join))
@settings(max_examples=500, deadline=None)
def test_any_heap_of_task_words_is_understood_without_an_error(text: str) -> None:
    understand(text, NOW)


@pytest.mark.parametrize(
    "text", ["add " * 200_000, "x" * 10_000_000, "add a\0b", "add " + "to my list " * 300, "," * 3000]
)
def test_hostile_texts_are_answered(text: str) -> None:
    assert understand(text, NOW).confidence > 0
