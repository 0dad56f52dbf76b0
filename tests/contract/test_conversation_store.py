"""Every ConversationStore keeps these promises."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from steward.contract.call import Caller, CallerKind
from steward.contract.errors import ConflictError, NotFoundError
from steward.conversations.model import (
    Answer,
    AnswerStatus,
    Beat,
    CallRecord,
    CallStatus,
    Conversation,
    NewTurn,
    OpenCall,
    Opening,
    PendingCall,
    Source,
)
from steward.conversations.ports import ConversationStore, LeaseLostError
from steward.storage.conversations import PostgresConversationStore
from steward.storage.database.postgres import Database
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
OPENING = Opening(said="delete it", caller=Caller(CallerKind.PERSON, "ana"))
TURN = NewTurn(said="delete it", speaker="person:ana", answer=ANSWER, history='[{"a": 1}]', pending=[PENDING])


@pytest.fixture
async def store(database: Database) -> ConversationStore:
    people = PostgresUserStore(database)
    for name in ("ana", "ben"):
        await people.add(User(id=name, name=name, time_zone="UTC"))
    return PostgresConversationStore(database)


async def create(store: ConversationStore, name: str = "c1", user: str = "ana") -> Conversation:
    return await store.create(name, user=user, agent="tasks", title="delete it", opening=OPENING)


async def test_a_turn_comes_back_as_it_was(store: ConversationStore) -> None:
    made = await create(store)
    assert await store.append(made, TURN)
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
    held = await create(store)
    asked = [await store.request_stop("c1", user="ben"), await store.request_stop("c1", user="ana")]
    running = (await store.load("c1", user="ana")).running
    wanted = await store.beat({"c1": held.lease, "c2": 1})
    await store.append(held, TURN)
    over = await store.request_stop("c1", user="ana")
    again = await store.claim("c1", user="ana", opening=OPENING)
    assert (asked, running, over) == ([False, True], True, False)
    assert wanted == Beat(stops=frozenset({"c1"}), lost=frozenset({"c2"}))
    assert await store.beat({"c1": again.lease}) == Beat()
    assert not await store.request_stop("a\0b", user="ana")


async def test_turns_are_numbered_and_the_latest_are_loaded(store: ConversationStore) -> None:
    held = await create(store)
    for number in range(4):
        if number:
            held = await store.claim("c1", user="ana", opening=OPENING)
        await store.append(held, replace(TURN, said=f"said {number}"))
    whole, latest = await store.load("c1", user="ana"), await store.load("c1", user="ana", turns=2)
    assert [turn.number for turn in whole.turns] == [1, 2, 3, 4]
    assert [turn.said for turn in latest.turns] == ["said 2", "said 3"]


@pytest.mark.req("TODO-ABR-022")
async def test_one_turn_at_a_time(store: ConversationStore) -> None:
    held = await create(store)
    with pytest.raises(ConflictError):
        await store.claim("c1", user="ana", opening=OPENING)
    await store.release(held)
    claims = await asyncio.gather(
        *(store.claim("c1", user="ana", opening=OPENING) for _ in range(8)), return_exceptions=True
    )
    assert sum(isinstance(claim, Conversation) for claim in claims) == 1
    assert sum(isinstance(claim, ConflictError) for claim in claims) == 7


async def test_whoever_gives_no_sign_of_life_is_followed_and_refused(
    store: ConversationStore, database: Database
) -> None:
    """Its lease is over: another one goes on under a higher number, and the first one can do nothing more."""
    asleep = PostgresConversationStore(database, lease=timedelta(0))
    first = await asleep.create("c2", user="ana", agent="tasks", title="x", opening=OPENING)
    call = OpenCall(call_id="call-1", tool="add_task", arguments={"title": "milk"})
    await asleep.begin_call(first, call)
    second = await store.claim_left("c2", user="ana")
    assert second is not None
    assert second.left is not None
    assert (second.lease > first.lease, second.left.said, second.left.calls) == (True, "delete it", (call,))
    with pytest.raises(LeaseLostError):
        await asleep.begin_call(first, replace(call, call_id="call-2"))
    assert (await store.beat({"c2": first.lease})).lost == {"c2"}
    assert not await store.append(first, TURN)
    assert await store.append(second, TURN)


async def test_a_sign_of_life_keeps_the_others_away(store: ConversationStore, database: Database) -> None:
    brief = PostgresConversationStore(database, lease=timedelta(0))
    held = await brief.create("c2", user="ana", agent="tasks", title="x", opening=OPENING)
    await store.beat({"c2": held.lease})
    with pytest.raises(ConflictError):
        await store.claim("c2", user="ana", opening=OPENING)
    assert await store.claim_left("c2", user="ana") is None
    assert await store.left() == []


async def test_what_was_left_is_found_with_how_its_calls_ended(
    store: ConversationStore, database: Database
) -> None:
    brief = PostgresConversationStore(database, lease=timedelta(0))
    held = await brief.create("c2", user="ana", agent="tasks", title="x", opening=OPENING)
    ended = OpenCall(call_id="a", tool="add_task", arguments={"b": 1, "a": "\0"})
    record = CallRecord(tool="add_task", arguments={"b": 1, "a": "\0"}, status=CallStatus.DONE, call_id="a")
    await brief.begin_call(held, ended)
    await brief.end_call(held, "a", record)
    await brief.begin_call(held, OpenCall(call_id="b", tool="list_tasks", arguments={}, within="a"))
    found = await store.left()
    claimed = await store.claim("c2", user="ana", opening=replace(OPENING, said="something else"))
    assert found == [("c2", "ana", "x")]
    assert claimed.left is not None
    assert claimed.left.said == "delete it"
    assert claimed.left.caller == OPENING.caller
    assert [call.record for call in claimed.left.calls] == [record, None]
    assert [call.within for call in claimed.left.calls] == [None, "a"]


async def test_a_queued_turn_is_for_whoever_knows_its_number(store: ConversationStore) -> None:
    held = await create(store)
    assert await store.queue(held)
    strangers = [await store.claim_left("c1", user="ana", queued=each) for each in (None, 99)]
    taken = await store.claim_left("c1", user="ana", queued=held.lease)
    assert (strangers, await store.claim_left("c1", user="ana", queued=held.lease)) == ([None, None], None)
    assert taken is not None
    assert taken.left is not None
    assert (taken.left.resumed, taken.left.said) == (0, "delete it")


async def test_a_turn_that_is_left_is_free_at_once(store: ConversationStore) -> None:
    held = await create(store)
    await store.leave(held)
    taken = await store.claim_left("c1", user="ana")
    assert taken is not None
    assert taken.left is not None
    assert taken.left.resumed == 1


async def test_conversations_belong_to_their_user(store: ConversationStore) -> None:
    await store.append(await create(store), TURN)
    for attempt in (store.load("c1", user="ben"), store.claim("c1", user="ben", opening=OPENING)):
        with pytest.raises(NotFoundError):
            await attempt
    assert not await store.delete("c1", user="ben")
    assert (await store.list("ben")).items == []


async def test_the_list_has_the_latest_first_in_pages(store: ConversationStore) -> None:
    for name in ("c1", "c2", "c3"):
        await store.append(await create(store, name), TURN)
    await store.append(await store.claim("c1", user="ana", opening=OPENING), TURN)
    first = await store.list("ana", limit=2)
    second = await store.list("ana", limit=2, after=first.next)
    assert [each.id for each in (*first.items, *second.items)] == ["c1", "c3", "c2"]
    assert (first.items[0].pending, first.items[0].turns, second.next) == ((PENDING,), (), None)


async def test_a_thread_is_found_until_the_conversation_has_moved_on(store: ConversationStore) -> None:
    await store.append(await create(store), replace(TURN, thread="f1"))
    assert await store.find("f1", user="ana") == "c1"
    assert await store.find("f1", user="ben") is None
    await store.append(await store.claim("c1", user="ana", opening=OPENING), replace(TURN, thread="f2"))
    assert await store.find("f1", user="ana") is None


async def test_what_is_deleted_is_gone_even_in_the_middle_of_a_turn(store: ConversationStore) -> None:
    held = await create(store)
    assert await store.delete("c1", user="ana")
    assert not await store.append(held, TURN)
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
    await store.append(await create(store), TURN)
    held = await create(store, "c2")
    await store.begin_call(held, OpenCall(call_id="a", tool="add_task", arguments={"title": "milk"}))
    await PostgresUserStore(database).erase("ana")
    counts = [
        await database.fetchval(f"SELECT count(*) FROM {table}")
        for table in ("conversations", "conversation_turns", "open_turns", "open_turn_calls")
    ]
    assert counts == [0, 0, 0, 0]


async def test_a_late_sign_of_life_does_not_hold_a_turn_that_has_ended(store: ConversationStore) -> None:
    held = await create(store)
    await store.append(held, TURN)
    assert await store.beat({"c1": held.lease}) == Beat()
    assert not (await store.load("c1", user="ana")).running
    assert (await store.claim("c1", user="ana", opening=OPENING)).lease > held.lease


async def test_a_conversation_is_found_by_its_title_and_by_what_was_said(store: ConversationStore) -> None:
    held = await create(store)
    await store.append(held, TURN)  # one of its results holds a character that is no text
    second = await create(store, "c2")
    bought = replace(ANSWER, answer="I bought oats.", tool_calls=())
    await store.append(second, replace(TURN, said="buy milk", answer=bought))
    await store.rename("c2", user="ana", title="Groceries")

    async def found(words: str, user: str = "ana") -> set[str]:
        return {each.id for each in (await store.list(user, containing=words)).items}

    assert await found("BOUGHT oats") == {"c2"}
    assert await found("Milk") == {"c2"}
    assert await found("grocer") == {"c2"}
    assert await found("delete") == {"c1"}
    assert await found("pending_approval") == set()
    assert await found("milk\0") == {"c2"}
    assert await found("milk", "ben") == set()


async def test_a_deleted_conversation_is_nowhere_until_it_is_restored(store: ConversationStore) -> None:
    held = await create(store)
    await store.append(held, TURN)
    assert await store.delete("c1", user="ben") is False
    assert await store.delete("c1", user="ana") is True
    assert await store.delete("c1", user="ana") is False
    with pytest.raises(NotFoundError):
        await store.load("c1", user="ana")
    with pytest.raises(NotFoundError):
        await store.claim("c1", user="ana", opening=OPENING)
    assert (await store.list("ana")).items == []
    assert await store.rename("c1", user="ana", title="x") is False
    assert await store.restore("c1", user="ben") is False
    assert await store.restore("c1", user="ana") is True
    assert await store.restore("c1", user="ana") is False
    assert len((await store.load("c1", user="ana")).turns) == 1


async def test_what_was_put_away_long_ago_goes_for_good(store: ConversationStore, database: Database) -> None:
    await create(store)
    await create(store, "c2")
    await store.delete("c1", user="ana")
    await database.execute("UPDATE conversations SET deleted_at = now() - interval '31 days' WHERE id = 'c1'")
    assert await store.restore("c1", user="ana") is False
    await store.delete("c2", user="ana")
    assert await database.fetchval("SELECT count(*) FROM conversations") == 1
