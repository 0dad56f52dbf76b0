"""Stopping a turn: from the same program, from another one, and what stays of it."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from tests.support.model_stage import ANA, Stage, staged, statuses
from tests.support.scripted_model import CallTools, Hang, Say

from steward.contract.errors import ConflictError, StewardError
from steward.conversations.model import AnswerStatus, CallStatus
from steward.storage.conversations import PostgresConversationStore
from steward.storage.database.postgres import Database, External


@pytest.fixture
async def stage(database: Database) -> AsyncIterator[Stage]:
    async with staged(database) as stage:
        yield stage


async def test_a_turn_is_stopped_and_the_next_one_goes_on(stage: Stage) -> None:
    stage.model.script[:] = [CallTools(("note", {"title": "milk"})), Hang()]
    chat = stage.chat()
    started = await chat.begin("note milk", speaker=ANA, agent="keeper")
    running = asyncio.create_task(started.run())
    await stage.model.hanging.wait()
    with pytest.raises(ConflictError):
        await stage.chat().begin("and now", speaker=ANA, conversation=started.conversation)
    stops = [chat.stop(started.conversation, user="eve"), chat.stop(started.conversation, user="ana")]
    answer = await running
    stage.here = answer.conversation
    again = await stage.say("go on", Say("Going on."))
    assert (stops, chat.stop(answer.conversation, user="ana")) == ([False, True], False)
    assert (answer.status, statuses(answer), again.answer) == (
        AnswerStatus.FAILED,
        [("note", CallStatus.DONE)],
        "Going on.",
    )


async def test_a_turn_is_stopped_from_another_program(stage: Stage, database_url: str) -> None:
    stage.model.script[:] = [CallTools(("note", {"title": "milk"})), Hang()]
    started = await stage.chat().begin("note milk", speaker=ANA, agent="keeper")
    running = asyncio.create_task(started.run())
    await stage.model.hanging.wait()
    async with Database(External(database_url)) as elsewhere:
        asked = await PostgresConversationStore(elsewhere).request_stop(started.conversation, user="ana")
        async with asyncio.timeout(30):
            answer = await running
    assert (asked, answer.status, statuses(answer)) == (
        True,
        AnswerStatus.FAILED,
        [("note", CallStatus.DONE)],
    )
    assert "The run was stopped." in answer.answer


async def test_a_database_that_cannot_be_asked_stops_nothing(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = asyncio.Event()

    async def broken(_: object) -> None:
        looked.set()
        raise StewardError("The database is away.")

    monkeypatch.setattr(stage.store, "beat", broken)
    stage.model.script[:] = [Hang()]
    chat = stage.chat()
    started = await chat.begin("hang", speaker=ANA, agent="keeper")
    running = asyncio.create_task(started.run())
    await looked.wait()
    still = not running.done()
    chat.stop(started.conversation, user="ana")
    assert (still, (await running).status) == (True, AnswerStatus.FAILED)


async def test_a_cancelled_turn_lets_go_of_its_conversation(stage: Stage) -> None:
    stage.model.script[:] = [Hang()]
    started = await stage.chat().begin("hang", speaker=ANA, agent="keeper")
    running = asyncio.create_task(started.run())
    await stage.model.hanging.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    stage.here = started.conversation
    assert (await stage.say("go on", Say("Going on."))).answer == "Going on."
    kept = await stage.store.load(started.conversation, user="ana")
    assert [turn.answer.status for turn in kept.turns] == [AnswerStatus.FAILED, AnswerStatus.DONE]
