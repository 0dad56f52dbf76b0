"""Turns that survive their program: what was said and done is known, and nothing is done twice."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from tests.support.model_stage import ANA, Stage, staged, statuses
from tests.support.scripted_model import CallTools, Hang, Say
from tests.support.waiting import until

from steward.agents.turn.turn import NOT_KEPT, WENT_ON
from steward.contract.errors import ErrorCode, StorageError
from steward.conversations.model import AnswerStatus, CallStatus
from steward.storage.conversations import PostgresConversationStore
from steward.storage.database.postgres import Database

MILK, BREAD = ("note", {"title": "milk"}), ("note", {"title": "bread"})
THREE = [CallTools(MILK), CallTools(BREAD), CallTools(("note", {"title": "tea"})), Say("All noted.")]


@pytest.fixture
async def stage(database: Database) -> AsyncIterator[Stage]:
    async with staged(database) as stage:
        stage.store = PostgresConversationStore(database, lease=timedelta(seconds=1))
        yield stage


async def killed(stage: Stage, *script: Any) -> str:
    """A turn whose program ends in the middle: nothing is stored any more, and no sign of life is given."""
    stage.model.script[:] = [*script, Hang()]
    chat = stage.chat()
    started = await chat.begin("note milk, bread and tea", speaker=ANA, agent="keeper")
    running = asyncio.create_task(started.run(to_be_left=lambda: True))
    await stage.model.hanging.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    stage.model.hanging.clear()
    return started.conversation


async def test_another_worker_goes_on_from_there(stage: Stage) -> None:
    conversation = await killed(stage, *THREE[:2])
    stage.model.script[:] = THREE
    started = await stage.chat().resume(conversation, user="ana")
    assert started is not None
    answer = await started.run()
    kept = await stage.store.load(conversation, user="ana")
    assert (answer.status, answer.answer) == (AnswerStatus.DONE, f"All noted.\n\n{WENT_ON}")
    assert statuses(answer) == [("note", CallStatus.DONE)] * 3
    assert stage.noted == ["milk", "bread", "tea"]
    assert [turn.said for turn in kept.turns] == ["note milk, bread and tea"]


async def test_there_is_nothing_to_go_on_with_twice(stage: Stage) -> None:
    conversation = await killed(stage, *THREE[:1])
    stage.model.script[:] = THREE
    started = await stage.chat().resume(conversation, user="ana")
    assert started is not None
    assert await stage.chat().resume(conversation, user="ana") is None
    await started.run()
    assert await stage.chat().resume(conversation, user="ana") is None


async def test_something_new_said_gets_an_account_of_what_was_left_first(stage: Stage) -> None:
    stage.here = await killed(stage, *THREE[:1])
    answer = await stage.say("hello again", Say("Hello."))
    kept = await stage.store.load(stage.here, user="ana")
    left, now = kept.turns
    assert (left.said, left.answer.status) == ("note milk, bread and tea", AnswerStatus.FAILED)
    assert left.answer.answer == (
        "This was done: `note`. Then it went wrong: Steward was interrupted in this turn."
    )
    assert (now.said, answer.answer) == ("hello again", "Hello.")
    assert "This was done: `note`" in str(stage.shown())


async def test_a_change_without_an_end_is_never_made_again_and_is_told(
    stage: Stage, database: Database
) -> None:
    conversation = await killed(stage, *THREE[:2])
    await database.execute("UPDATE open_turn_calls SET record = NULL WHERE arguments ->> 'title' = 'bread'")
    stage.model.script[:] = THREE
    started = await stage.chat().resume(conversation, user="ana")
    assert started is not None
    answer = await started.run()
    assert stage.noted == ["milk", "bread", "tea"]
    bread = answer.tool_calls[1]
    assert (bread.outcome_unknown, bread.error_code) == (True, ErrorCode.INTERRUPTED)


async def test_a_turn_that_wants_other_changes_than_were_made_stops_with_an_account(stage: Stage) -> None:
    conversation = await killed(stage, *THREE[:2])
    stage.model.script[:] = [CallTools(("note", {"title": "Milk, please"})), Say("All noted.")]
    started = await stage.chat().resume(conversation, user="ana")
    assert started is not None
    answer = await started.run()
    assert answer.status is AnswerStatus.FAILED
    assert answer.answer.startswith("This was done: `note`. Then it went wrong: Steward was interrupted")
    assert stage.noted == ["milk", "bread"]
    assert statuses(answer) == [("note", CallStatus.DONE)] * 2


async def test_a_turn_that_could_not_be_stored_is_gone_on_with_and_asks_about_the_same_call(
    stage: Stage, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object) -> bool:
        raise StorageError("The database is away.")

    script = [CallTools(MILK, ("burn", {"title": "letters"}))]
    with monkeypatch.context() as patched:
        patched.setattr(stage.store, "append", away)
        lost = await stage.say("burn the letters", *script)
    await database.execute("UPDATE conversations SET leased_until = now()")
    stage.model.script[:] = script
    started = await stage.chat().resume(lost.conversation, user="ana")
    assert started is not None
    answer = await started.run()
    waiting = await stage.door.orchestrator.approvals.list(states=["waiting"])
    assert "could not be stored" in lost.answer
    assert (answer.status, answer.proposal_id) == (AnswerStatus.PENDING_APPROVAL, lost.proposal_id)
    assert [proposal.id for proposal in waiting.items] == [lost.proposal_id]
    assert (stage.noted, stage.burned) == (["milk"], [])


async def test_a_turn_that_ends_its_programs_is_given_up(stage: Stage, database: Database) -> None:
    conversation = await killed(stage, *THREE[:1])
    await database.execute("UPDATE open_turns SET resumed = 3")
    assert await stage.chat().resume(conversation, user="ana") is None
    [turn] = (await stage.store.load(conversation, user="ana")).turns
    assert "Steward was interrupted in this turn." in turn.answer.answer


async def test_a_turn_whose_lease_is_lost_makes_no_further_call_and_says_so(
    stage: Stage, database: Database
) -> None:
    stage.model.script[:] = [CallTools(MILK), Hang(), CallTools(BREAD), Say("Noted.")]
    started = await stage.chat().begin("note milk and bread", speaker=ANA, agent="keeper")
    running = asyncio.create_task(started.run())
    await stage.model.hanging.wait()
    await database.execute("UPDATE conversations SET lease = lease + 1")  # another instance took it over
    async with asyncio.timeout(30):
        answer = await running
    assert stage.noted == ["milk"]
    assert answer.status is AnswerStatus.FAILED
    assert answer.answer.endswith(NOT_KEPT)


async def test_no_call_begins_on_a_lost_lease(stage: Stage, database: Database) -> None:
    stage.model.script[:] = [CallTools(MILK), Say("Noted.")]
    started = await stage.chat().begin("note milk", speaker=ANA, agent="keeper")
    await database.execute("UPDATE conversations SET lease = lease + 1")
    answer = await started.run()
    assert stage.noted == []
    assert "another Steward goes on with it" in answer.answer


async def test_a_queued_turn_is_taken_by_a_worker(stage: Stage) -> None:
    held = await stage.chat().queue("note milk", speaker=ANA, agent="keeper")
    stage.model.script[:] = [CallTools(MILK), Say("Noted.")]
    started = await stage.chat().resume(held.id, user="ana", queued=held.lease)
    assert started is not None
    answer = await started.run()
    assert (answer.status, answer.answer, stage.noted) == (AnswerStatus.DONE, "Noted.", ["milk"])


async def test_nothing_said_in_a_queued_turn_is_a_yes(stage: Stage) -> None:
    await stage.say("burn the letters", CallTools(("burn", {"title": "letters"})))
    held = await stage.chat().queue("yes", speaker=ANA, conversation=stage.here)
    started = await stage.chat().resume(held.id, user="ana", queued=held.lease)
    assert started is not None
    answer = await started.run()
    assert (answer.status, stage.burned) == (AnswerStatus.PENDING_APPROVAL, [])
    assert "Only somebody who may approve" in answer.answer


async def test_signs_of_life_keep_a_long_turn(stage: Stage, database: Database) -> None:
    stage.model.script[:] = [Hang()]
    chat = stage.chat()
    started = await chat.begin("think", speaker=ANA, agent="keeper")
    begun = await database.fetchval("SELECT now()")
    running = asyncio.create_task(started.run())
    await stage.model.hanging.wait()

    async def renewed() -> bool:
        until_when = await database.fetchval("SELECT leased_until FROM conversations")
        return until_when > begun + timedelta(seconds=2)

    await until(renewed)
    assert await stage.store.claim_left(started.conversation, user="ana") is None
    chat.stop(started.conversation, user="ana")
    assert NOT_KEPT not in (await running).answer
