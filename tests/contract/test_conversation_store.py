"""Every ConversationStore keeps these promises."""

import asyncio
from dataclasses import replace

import pytest

from steward.contract.errors import ConflictError, NotFoundError
from steward.conversations.model import (
    Answer,
    AnswerStatus,
    CallRecord,
    CallStatus,
    Conversation,
    NewTurn,
    PendingCall,
    Source,
)
from steward.conversations.ports import ConversationStore
from steward.storage.conversations import PostgresConversationStore
from steward.storage.postgres import Database, External
from steward.storage.tasks import PostgresUserStore
from steward.tasks.model import User

ANSWER = Answer(
    status=AnswerStatus.PENDING_APPROVAL,
    agent="tasks",
    conversation="c1",
    answer="Are you sure?",
    reasoning="Called delete_task: waits for approval.",
    confidence=0.5,
    tool_calls=(
        CallRecord(tool="list_tasks", arguments={}, status=CallStatus.DONE, data={"tasks": [1, "\0"]}),
        CallRecord(
            tool="delete_task",
            arguments={"task_id": "t1"},
            status=CallStatus.PENDING_APPROVAL,
            proposal_id="p1",
            risk="irreversible",
        ),
    ),
    sources=(Source(title="t", location="https://x"),),
    proposal_id="p1",
    missing_tools=("x",),
)
PENDING = PendingCall(
    tool_call_id="call-1",
    proposal_id="p1",
    tool="delete_task",
    arguments={"task_id": "t1"},
    risk="irreversible",
    reason="It cannot be taken back.",
    question="Are you sure?",
)
TURN = NewTurn(said="delete it", speaker="person:ana", answer=ANSWER, history='[{"a": 1}]', pending=[PENDING])


@pytest.fixture
async def store(database: Database) -> ConversationStore:
    people = PostgresUserStore(database)
    for name in ("ana", "ben"):
        await people.add(User(id=name, name=name, time_zone="UTC"))
    return PostgresConversationStore(database)


async def create(store: ConversationStore, name: str = "c1", user: str = "ana") -> Conversation:
    return await store.create(name, user=user, agent="tasks", title="delete it")


async def test_a_turn_comes_back_as_it_was(store: ConversationStore) -> None:
    made = await create(store)
    assert await store.append("c1", TURN)
    loaded = await store.load("c1", user="ana")
    [turn] = loaded.turns
    assert loaded == replace(
        made,
        history='[{"a": 1}]',
        pending=(PENDING,),
        turns=loaded.turns,
        updated_at=loaded.updated_at,
        running=False,
    )
    assert (turn.number, turn.said, turn.speaker, turn.answer) == (1, "delete it", "person:ana", ANSWER)


async def test_a_wish_to_stop_reaches_the_turn_that_runs_and_no_later_one(store: ConversationStore) -> None:
    await create(store)
    asked = [await store.request_stop("c1", user="ben"), await store.request_stop("c1", user="ana")]
    running = (await store.load("c1", user="ana")).running
    wanted = list(await store.stops(["c1", "c2"]))
    await store.append("c1", TURN)
    over = [await store.request_stop("c1", user="ana"), list(await store.stops(["c1"]))]
    await store.claim("c1", user="ana")
    assert (asked, running, wanted, over) == ([False, True], True, ["c1"], [False, []])
    assert (list(await store.stops(["c1"])), await store.request_stop("a\0b", user="ana")) == ([], False)


async def test_turns_are_numbered_and_the_latest_are_loaded(store: ConversationStore) -> None:
    await create(store)
    for number in range(4):
        if number:
            await store.claim("c1", user="ana")
        await store.append("c1", replace(TURN, said=f"said {number}"))
    whole, latest = await store.load("c1", user="ana"), await store.load("c1", user="ana", turns=2)
    assert [turn.number for turn in whole.turns] == [1, 2, 3, 4]
    assert [turn.said for turn in latest.turns] == ["said 2", "said 3"]


@pytest.mark.req("TODO-ABR-022")
async def test_one_turn_at_a_time(store: ConversationStore) -> None:
    await create(store)
    with pytest.raises(ConflictError):
        await store.claim("c1", user="ana")
    await store.release("c1")
    claims = await asyncio.gather(*(store.claim("c1", user="ana") for _ in range(8)), return_exceptions=True)
    assert sum(isinstance(claim, Conversation) for claim in claims) == 1
    assert sum(isinstance(claim, ConflictError) for claim in claims) == 7


async def test_another_program_waits_its_turn_and_takes_over_from_a_dead_one(
    store: ConversationStore, database_url: str
) -> None:
    async with Database(External(database_url)) as mine:
        await PostgresConversationStore(mine).create("c2", user="ana", agent="tasks", title="x")
        with pytest.raises(ConflictError):
            await store.claim("c2", user="ana")
    claimed = await store.claim("c2", user="ana")  # that program is gone
    assert claimed.id == "c2"


async def test_conversations_belong_to_their_user(store: ConversationStore) -> None:
    await create(store)
    await store.append("c1", TURN)
    for attempt in (store.load("c1", user="ben"), store.claim("c1", user="ben")):
        with pytest.raises(NotFoundError):
            await attempt
    assert not await store.delete("c1", user="ben")
    assert (await store.list("ben")).items == []


async def test_the_list_has_the_latest_first_in_pages(store: ConversationStore) -> None:
    for name in ("c1", "c2", "c3"):
        await create(store, name)
        await store.append(name, TURN)
    await store.claim("c1", user="ana")
    await store.append("c1", TURN)
    first = await store.list("ana", limit=2)
    second = await store.list("ana", limit=2, after=first.next)
    assert [each.id for each in (*first.items, *second.items)] == ["c1", "c3", "c2"]
    assert (first.items[0].pending, first.items[0].turns, second.next) == ((PENDING,), (), None)


async def test_a_thread_is_found_until_the_conversation_has_moved_on(store: ConversationStore) -> None:
    await create(store)
    await store.append("c1", replace(TURN, thread="f1"))
    assert await store.find("f1", user="ana") == "c1"
    assert await store.find("f1", user="ben") is None
    await store.claim("c1", user="ana")
    await store.append("c1", replace(TURN, thread="f2"))
    assert await store.find("f1", user="ana") is None


async def test_what_is_deleted_is_gone_even_in_the_middle_of_a_turn(store: ConversationStore) -> None:
    await create(store)
    assert await store.delete("c1", user="ana")
    assert not await store.append("c1", TURN)
    with pytest.raises(NotFoundError):
        await store.load("c1", user="ana")
    assert not await store.delete("c1", user="ana")
    assert not await store.delete("a\0b", user="ana")
    with pytest.raises(NotFoundError):
        await store.load("a\0b", user="ana")


async def test_nobody_talks_for_a_user_who_does_not_exist(store: ConversationStore) -> None:
    with pytest.raises(NotFoundError) as raised:
        await create(store, user="eve")
    assert raised.value.code == "INVALID_USER"


async def test_erasing_a_user_erases_what_they_said(store: ConversationStore, database: Database) -> None:
    await create(store)
    await store.append("c1", TURN)
    await PostgresUserStore(database).erase("ana")
    counts = [
        await database.fetchval(f"SELECT count(*) FROM {table}")
        for table in ("conversations", "conversation_turns")
    ]
    assert counts == [0, 0]
