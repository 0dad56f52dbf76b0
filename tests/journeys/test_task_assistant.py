"""Every story and edge case of the task assistant, on the planner and on a model over the real wire."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.scripted_model import RATE_LIMIT, Say
from tests.support.task_setup import Person, TaskSetup, call, look, task_house, touch

from steward.conversations.model import Answer, AnswerStatus, CallStatus

TROUBLE = "I'm having trouble updating your tasks right now. Please try again."


@pytest.fixture(params=["planner", "model"])
async def house(request: pytest.FixtureRequest, home: Path, database_url: str) -> AsyncIterator[TaskSetup]:
    async with task_house(home, database_url, scripted=request.param == "model") as house:
        yield house


def called(answer: Answer) -> list[str]:
    return [record.tool for record in answer.tool_calls]


# --- story 1: adding ---


@pytest.mark.req("TODO-US1-IT")
@pytest.mark.req("TODO-US1.1", "TODO-ABR-007", "TODO-ABR-013", "TODO-ABR-026", "TODO-SC-003")
async def test_adding_by_a_sentence(house: TaskSetup) -> None:
    ana = await house.person()
    answer = await ana.say(
        "Add buy milk to my tasks",
        call("add_task", title="buy milk"),
        Say("I've added 'buy milk' to your tasks."),
    )
    assert (answer.answer, called(answer)) == ("I've added 'buy milk' to your tasks.", ["add_task"])
    assert list(await ana.tasks()) == ["buy milk"]


@pytest.mark.req("TODO-US1.2", "TODO-ABR-015")
async def test_date_and_importance_are_taken_from_the_sentence_and_confirmed(house: TaskSetup) -> None:
    ana = await house.person()
    answer = await ana.say(
        "Add call mom tomorrow, it's important",
        call("add_task", title="call mom", due_date="tomorrow", priority="high"),
        Say("I've added 'call mom' to your tasks."),  # and leaves the details out
    )
    assert answer.answer == "I've added 'call mom' to your tasks (due tomorrow, high priority)."
    task = (await ana.tasks())["call mom"]
    assert (task["priority"], task["due_date"] is not None) == ("high", True)


@pytest.mark.req("TODO-US1.3")
async def test_remember_means_add(house: TaskSetup) -> None:
    ana = await house.person()
    answer = await ana.say(
        "remember eggs", call("add_task", title="eggs"), Say("I've added 'eggs' to your tasks.")
    )
    assert (answer.answer, list(await ana.tasks())) == ("I've added 'eggs' to your tasks.", ["eggs"])


# --- story 2: listing ---


@pytest.mark.req("TODO-US2-IT")
@pytest.mark.req("TODO-US2.1", "TODO-ABR-008")
async def test_tasks_are_shown_as_a_numbered_list(house: TaskSetup) -> None:
    ana = await house.person(
        "buy milk", "call mom", **{"call mom": {"due_date": "tomorrow", "priority": "high"}}
    )
    shown = "You have 2 tasks:\n1. call mom (due tomorrow, high priority)\n2. buy milk"
    answer = await ana.say("Show my tasks", look(), Say(shown))
    assert (answer.answer, called(answer)) == (shown, ["list_tasks"])


@pytest.mark.req("TODO-US2.2")
async def test_only_what_is_due_today_is_shown_to_who_asks_for_that(house: TaskSetup) -> None:
    ana = await house.person(
        "pay rent",
        "call mom",
        "read",
        **{"pay rent": {"due_date": "today"}, "call mom": {"due_date": "tomorrow"}},
    )
    answer = await ana.say(
        "What tasks are due today?",
        look(due_after="yesterday", due_before="tomorrow"),
        Say("You have 1 task due today:\n1. pay rent (due today)"),
    )
    assert answer.answer == "You have 1 task due today:\n1. pay rent (due today)"


@pytest.mark.req("TODO-US2.3")
async def test_an_empty_list_is_said_kindly(house: TaskSetup) -> None:
    ana = await house.person()
    answer = await ana.say("List my todos", look(), Say("You don't have any tasks yet."))
    assert (answer.answer, called(answer)) == ("You don't have any tasks yet.", ["list_tasks"])


# --- story 3: completing ---


@pytest.mark.req("TODO-US3-IT", "TODO-ASM-4")
@pytest.mark.req("TODO-US3.1", "TODO-ABR-009", "TODO-ABR-024")
async def test_saying_what_was_done_completes_it(house: TaskSetup) -> None:
    ana = await house.person("buy milk", "call mom")
    answer = await ana.say(
        "I bought the milk",
        look(),
        touch("complete_task", "buy milk"),
        Say("Great! I've marked 'buy milk' as complete."),
    )
    assert answer.answer == "Great! I've marked 'buy milk' as complete."
    assert called(answer) == ["list_tasks", "complete_task"]
    tasks = await ana.tasks()
    assert [tasks["buy milk"]["completed"], tasks["call mom"]["completed"]] == [True, False]


@pytest.mark.req("TODO-US3.2", "TODO-EDGE-02", "TODO-ABR-018", "TODO-ABR-006", "TODO-SC-008")
async def test_several_matches_are_listed_and_the_answer_chooses(house: TaskSetup) -> None:
    ana = await house.person("team meeting", "client meeting")
    several = "I found multiple tasks with 'meeting'. Which one did you complete?"
    asked = await ana.say(
        "Done with the meeting task",
        look(),
        Say(f"{several}\n1. team meeting\n2. client meeting"),
    )
    assert asked.status is AnswerStatus.QUESTION
    assert asked.answer.startswith(f"{several}\n1. ")
    assert ("team meeting" in asked.answer, "client meeting" in asked.answer) == (True, True)
    second = asked.answer.split("2. ")[1].split(" (")[0].strip()
    answer = await ana.say(
        "the second one",
        touch("complete_task", second),
        Say(f"Great! I've marked '{second}' as complete."),
    )
    assert answer.answer == f"Great! I've marked '{second}' as complete."
    assert [title for title, task in (await ana.tasks()).items() if task["completed"]] == [second]


@pytest.mark.req("TODO-US3.3", "TODO-EDGE-03", "TODO-ABR-017")
async def test_a_task_that_is_not_there_is_said_with_an_offer_that_a_yes_takes(house: TaskSetup) -> None:
    ana = await house.person("buy milk")
    sorry = "I couldn't find a task matching 'xyz'. Would you like to see your current tasks?"
    answer = await ana.say("Complete the xyz task", look(search="xyz"), Say(sorry))
    assert (answer.answer, answer.status) == (sorry, AnswerStatus.QUESTION)
    shown = await ana.say("Yes", look(), Say("You have 1 task:\n1. buy milk"))
    assert shown.answer == "You have 1 task:\n1. buy milk"
    assert not (await ana.tasks())["buy milk"]["completed"]


@pytest.mark.req("TODO-EDGE-03", "TODO-ABR-017")
async def test_deleting_what_is_not_there_deletes_nothing(house: TaskSetup) -> None:
    ana = await house.person("buy milk")
    sorry = "I couldn't find a task matching 'gym'. Would you like to see your current tasks?"
    answer = await ana.say("Delete the gym task", look(), Say(sorry))
    assert (answer.answer, list(await ana.tasks())) == (sorry, ["buy milk"])


# --- story 4: deleting ---


async def asked_to_delete(ana: Person) -> Answer:
    return await ana.say("Delete old reminder", look(), touch("delete_task", "old reminder"))


@pytest.mark.req("TODO-US4-IT")
@pytest.mark.req("TODO-US4.1", "TODO-ABR-010", "TODO-ABR-014", "TODO-SC-004")
async def test_deleting_asks_first(house: TaskSetup) -> None:
    ana = await house.person("old reminder", "buy milk")
    answer = await asked_to_delete(ana)
    asked, _, call = answer.answer.partition("\n\n```\n")
    assert asked == "Are you sure you want to delete 'old reminder'? This cannot be undone."
    assert call.startswith('│ What it does: deletes the task "old reminder"\n│ delete_task\n')
    assert (answer.status, answer.proposal_id is not None) == (AnswerStatus.PENDING_APPROVAL, True)
    assert set(await ana.tasks()) == {"old reminder", "buy milk"}


@pytest.mark.req("TODO-US4.2", "TODO-SC-003")
async def test_yes_deletes_that_one_task(house: TaskSetup) -> None:
    ana = await house.person("old reminder", "buy milk")
    await asked_to_delete(ana)
    answer = await ana.say("Yes, delete it", Say("I've deleted 'old reminder' from your tasks."))
    assert answer.answer == "I've deleted 'old reminder' from your tasks."
    assert list(await ana.tasks()) == ["buy milk"]


@pytest.mark.req("TODO-US4.3", "TODO-ABR-016")
async def test_no_keeps_it(house: TaskSetup) -> None:
    ana = await house.person("old reminder")
    await asked_to_delete(ana)
    answer = await ana.say("No, keep it", Say("Okay, I'll keep 'old reminder' in your tasks."))
    assert answer.answer == "Okay, I'll keep 'old reminder' in your tasks."
    assert (list(await ana.tasks()), "delete_task" in ana.ran()) == (["old reminder"], False)
    assert [(call.tool, call.status) for call in answer.tool_calls] == [("delete_task", CallStatus.REJECTED)]
    assert answer.reasoning == "Did not call delete_task: the person said no."


@pytest.mark.req("TODO-ABR-014", "TODO-SC-004")
@pytest.mark.parametrize(
    "said", ["hmm", "maybe", "what do you mean?", "yes but not that one", "show my tasks"]
)
async def test_whatever_is_not_a_yes_deletes_nothing(house: TaskSetup, said: str) -> None:
    ana = await house.person("old reminder")
    await asked_to_delete(ana)
    await ana.say(said, look(), Say("Deleted, as you wished!"))
    assert (list(await ana.tasks()), "delete_task" in ana.ran()) == (["old reminder"], False)


# --- story 5: changing ---


@pytest.mark.req("TODO-US5.1", "TODO-ABR-011")
async def test_a_meeting_is_moved_to_another_time_on_its_day(house: TaskSetup) -> None:
    ana = await house.person("meeting", meeting={"due_date": "today at 3pm"})
    before = (await ana.tasks())["meeting"]["due_date"]
    answer = await ana.say(
        "Change meeting to 4pm",
        look(),
        touch("update_task", "meeting", due_date=before.replace("T15", "T16")),
        Say("I've updated the meeting time to 4pm."),
    )
    after = (await ana.tasks())["meeting"]["due_date"]
    assert (answer.answer, after) == ("I've updated the meeting time to 4pm.", before.replace("T15", "T16"))


@pytest.mark.req("TODO-US5-IT")
@pytest.mark.req("TODO-US5.2", "TODO-ABR-011", "TODO-ABR-015")
async def test_a_priority_is_changed(house: TaskSetup) -> None:
    ana = await house.person("groceries", "buy milk")
    answer = await ana.say(
        "Make the groceries task high priority",
        look(),
        touch("update_task", "groceries", priority="high"),
        Say("I've updated 'groceries': it is now high priority."),
    )
    assert answer.answer == "I've updated 'groceries': it is now high priority."
    assert (await ana.tasks())["groceries"]["priority"] == "high"


# --- edge cases ---


@pytest.mark.req("TODO-EDGE-01", "TODO-ABR-006", "TODO-SC-008")
async def test_a_lone_noun_is_asked_about_and_a_yes_adds_it(house: TaskSetup) -> None:
    ana = await house.person()
    asked = await ana.say("groceries", Say("Would you like me to add 'groceries' as a new task?"))
    assert (asked.answer, asked.status) == (
        "Would you like me to add 'groceries' as a new task?",
        AnswerStatus.QUESTION,
    )
    assert await ana.tasks() == {}
    answer = await ana.say(
        "yes", call("add_task", title="groceries"), Say("I've added 'groceries' to your tasks.")
    )
    assert (answer.answer, list(await ana.tasks())) == (
        "I've added 'groceries' to your tasks.",
        ["groceries"],
    )


@pytest.mark.req("TODO-EDGE-04")
async def test_add_alone_asks_what_and_the_answer_is_added(house: TaskSetup) -> None:
    ana = await house.person()
    asked = await ana.say("Add", Say("What would you like to add?"))
    assert (asked.answer, asked.status) == ("What would you like to add?", AnswerStatus.QUESTION)
    answer = await ana.say(
        "buy stamps", call("add_task", title="buy stamps"), Say("I've added 'buy stamps' to your tasks.")
    )
    assert (answer.answer, list(await ana.tasks())) == (
        "I've added 'buy stamps' to your tasks.",
        ["buy stamps"],
    )


@pytest.mark.req("TODO-EDGE-05", "TODO-ABR-019", "TODO-ABR-020", "TODO-ABR-021", "TODO-SC-006")
@pytest.mark.parametrize(
    ("said", "tool"),
    [
        ("Add pay rent", "add_task"),
        ("I bought the milk", "complete_task"),
        ("Make buy milk high priority", "update_task"),
    ],
)
async def test_a_failing_server_is_said_kindly_once_and_the_conversation_goes_on(
    house: TaskSetup, said: str, tool: str
) -> None:
    ana = await house.person("buy milk")
    first = {
        "add_task": [call("add_task", title="pay rent")] * 3,
        "complete_task": [look(), *[touch("complete_task", "buy milk")] * 3],
        "update_task": [look(), *[touch("update_task", "buy milk", priority="high")] * 3],
    }[tool]
    await refuse_changes(house)
    answer = await ana.say(said, *first, Say("Done! psycopg.OperationalError at 10.0.0.7"))
    outcomes = [record.status for record in answer.tool_calls if record.tool == tool]
    assert (answer.answer, outcomes.count(CallStatus.FAILED)) == (TROUBLE, 1)
    again = await ana.say("Show my tasks", look(), Say("You have 1 task:\n1. buy milk"))
    assert again.answer == "You have 1 task:\n1. buy milk"


@pytest.mark.req("TODO-EDGE-05", "TODO-ABR-019", "TODO-ABR-020", "TODO-SC-006")
async def test_an_absent_task_server_is_said_kindly_and_the_conversation_goes_on(house: TaskSetup) -> None:
    ana = await house.person("buy milk")
    await house.platform.orchestrator.lifecycle.stop("tasks")
    answer = await ana.say("Add pay rent", Say("I have no tool for that."))
    assert (answer.answer, answer.status, answer.tool_calls) == (TROUBLE, AnswerStatus.FAILED, ())
    await house.platform.orchestrator.lifecycle.start("tasks")
    again = await ana.say("Show my tasks", look(), Say("You have 1 task:\n1. buy milk"))
    assert again.answer == "You have 1 task:\n1. buy milk"


async def refuse_changes(house: TaskSetup) -> None:
    """From now on the database takes no more changes of tasks, as with a full disk."""
    async with house.platform.database.transaction() as connection:
        await connection.execute(
            "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'no space left on /dev/sda1' USING ERRCODE = '53100'; END $$"
        )
        await connection.execute(
            "CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON tasks EXECUTE FUNCTION full_disk()"
        )


@pytest.mark.req("TODO-EDGE-06", "TODO-ABR-019")
async def test_too_many_requests_are_said_kindly(home: Path, database_url: str) -> None:
    async with task_house(home, database_url, scripted=True) as house:
        ana = await house.person()
        answer = await ana.say("Add buy milk", RATE_LIMIT)
    assert answer.status is AnswerStatus.FAILED
    assert answer.answer == "I'm getting too many requests at the moment. Please wait a moment and try again."


# --- the whole of it ---


@pytest.mark.req("TODO-PHASE-interface")
@pytest.mark.req("TODO-ABR-022")
async def test_a_life_from_adding_to_deleting_in_one_conversation(house: TaskSetup) -> None:
    ana = await house.person()
    said = [
        await ana.say(
            "Add buy milk to my tasks",
            call("add_task", title="buy milk"),
            Say("I've added 'buy milk' to your tasks."),
        ),
        await ana.say("Show my tasks", look(), Say("You have 1 task:\n1. buy milk")),
        await ana.say(
            "I bought the milk",
            look(),
            touch("complete_task", "buy milk"),
            Say("Great! I've marked 'buy milk' as complete."),
        ),
        await ana.say("Delete buy milk", look(), touch("delete_task", "buy milk")),
        await ana.say("yes", Say("I've deleted 'buy milk' from your tasks.")),
        await ana.say("Show my tasks", look(), Say("You don't have any tasks yet.")),
    ]
    assert [answer.answer.partition("\n\n```")[0] for answer in said] == [
        "I've added 'buy milk' to your tasks.",
        "You have 1 task:\n1. buy milk",
        "Great! I've marked 'buy milk' as complete.",
        "Are you sure you want to delete 'buy milk'? This cannot be undone.",
        "I've deleted 'buy milk' from your tasks.",
        "You don't have any tasks yet.",
    ]
