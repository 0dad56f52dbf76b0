"""Requests that are sent again, callers that are counted, and streams that are taken up again."""

import asyncio
from collections import Counter
from typing import Any

import httpx
import pytest
from tests.integration.api.conftest import Connect
from tests.support.waiting import until

from steward.bootstrap import Platform
from steward.servers.gateway.guard import RateLimit
from steward.surfaces.api import turn_feeds as following
from steward.surfaces.api.app import create_app
from steward.surfaces.api.turn_feeds import TurnFeeds

KEY = {"Idempotency-Key": "order-66"}
CALL = "/v1/tools/add_task/call"
EVENTS = {"Accept": "text/event-stream"}


async def titles(api: httpx.AsyncClient) -> list[str]:
    return [task["title"] for task in (await api.get("/v1/tasks")).json()["items"]]


def adding(title: str) -> dict[str, Any]:
    return {"arguments": {"title": title}}


async def test_a_request_sent_again_is_answered_again_and_runs_once(api: httpx.AsyncClient) -> None:
    first = await api.post(CALL, json=adding("milk"), headers=KEY)
    again = await api.post(CALL, json=adding("milk"), headers=KEY)
    assert (again.status_code, again.json()) == (first.status_code, first.json())
    assert (first.headers.get("idempotency-replayed"), again.headers["idempotency-replayed"]) == (
        None,
        "true",
    )
    assert await titles(api) == ["milk"]


async def test_a_waiting_call_sent_again_is_the_same_proposal(api: httpx.AsyncClient) -> None:
    task = (await api.post("/v1/tasks", json={"title": "old"})).json()["data"]["task"]["id"]
    body = {"arguments": {"task_id": task}}
    asked = [await api.post("/v1/tools/delete_task/call", json=body, headers=KEY) for _ in range(2)]
    assert [each.status_code for each in asked] == [202, 202]
    assert len((await api.get("/v1/proposals")).json()["items"]) == 1


async def test_the_answer_that_shows_a_new_key_is_kept_nowhere(
    api: httpx.AsyncClient, platform: Platform
) -> None:
    body = {"name": "robot", "role": "use"}
    made = await api.post("/v1/keys", json=body, headers=KEY)
    again = await api.post("/v1/keys", json=body, headers=KEY)
    assert (made.status_code, again.status_code, "token" in again.json()) == (201, 409, False)
    kept = await platform.database.fetchval("SELECT count(*) FROM request_replays WHERE body IS NOT NULL")
    assert kept == 0


async def test_a_key_belongs_to_one_request(api: httpx.AsyncClient) -> None:
    await api.post(CALL, json=adding("milk"), headers=KEY)
    other = await api.post(CALL, json=adding("bread"), headers=KEY)
    assert (other.status_code, other.json()["code"], await titles(api)) == (422, "INVALID_INPUT", ["milk"])


async def test_a_key_belongs_to_its_caller(
    api: httpx.AsyncClient, connect: Connect, platform: Platform
) -> None:
    made = (await api.post("/v1/keys", json={"name": "robot", "role": "use", "user": "local"})).json()
    robot = connect(key=made["token"])
    await api.post(CALL, json=adding("milk"), headers=KEY)
    await robot.post(CALL, json=adding("bread"), headers=KEY)
    assert sorted(await titles(api)) == ["bread", "milk"]


async def test_what_was_refused_leaves_the_key_free(api: httpx.AsyncClient) -> None:
    wrong = await api.post(CALL, json={"arguments": 7}, headers=KEY)
    right = await api.post(CALL, json=adding("milk"), headers=KEY)
    assert (wrong.status_code, right.status_code, await titles(api)) == (422, 200, ["milk"])


@pytest.mark.parametrize("key", ["", "with space", "x" * 256, "ümlaut"])
async def test_an_unusable_key_is_refused(api: httpx.AsyncClient, key: str) -> None:
    answer = await api.post(CALL, json=adding("milk"), headers={b"Idempotency-Key": key.encode()})
    assert (answer.status_code, await titles(api)) == (400, [])


async def test_a_stranger_is_refused_with_or_without_a_key_of_that_kind(connect: Connect) -> None:
    assert (await connect().post(CALL, json=adding("milk"), headers=KEY)).status_code == 401


async def test_a_request_whose_answer_nobody_knows_is_not_run_again(
    api: httpx.AsyncClient, platform: Platform
) -> None:
    await api.post(CALL, json=adding("milk"), headers=KEY)
    await platform.database.execute("UPDATE request_replays SET status = NULL, body = NULL")
    again = await api.post(CALL, json=adding("milk"), headers=KEY)
    assert (again.status_code, again.json()["code"], await titles(api)) == (409, "CONFLICT", ["milk"])


async def test_keys_are_forgotten_after_a_day(api: httpx.AsyncClient, platform: Platform) -> None:
    await api.post(CALL, json=adding("milk"), headers=KEY)
    await platform.database.execute("UPDATE request_replays SET at = now() - interval '25 hours'")
    await api.post(CALL, json=adding("milk"), headers=KEY)
    assert await titles(api) == ["milk", "milk"]


async def test_every_answer_says_how_its_caller_stands(platform: Platform, api: httpx.AsyncClient) -> None:
    made = (await api.post("/v1/keys", json={"name": "robot", "role": "use", "user": "local"})).json()
    app = create_app(platform, limit=RateLimit(per_minute=60, burst=2))
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(
        transport=transport, base_url="http://localhost", headers={"X-API-Key": made["token"]}
    ) as robot:
        answers = [await robot.get("/v1/me") for _ in range(3)]
    assert [each.status_code for each in answers] == [200, 200, 429]
    assert [each.headers["ratelimit-remaining"] for each in answers] == ["1", "0", "0"]
    assert {each.headers["ratelimit-limit"] for each in answers} == {"2"}
    assert [int(each.headers["ratelimit-reset"]) for each in answers] == [1, 2, 2]


async def test_operations_have_plain_names_of_their_own(api: httpx.AsyncClient) -> None:
    paths = (await api.get("/openapi.json")).json()["paths"]
    names = [operation["operationId"] for path in paths.values() for operation in path.values()]
    assert [name for name, times in Counter(names).items() if times > 1 or "v1" in name] == []
    assert {"list_tasks", "call_tool", "create_chat_completion"} <= set(names)


async def test_executions_are_typed(api: httpx.AsyncClient) -> None:
    await api.post(CALL, json=adding("milk"))
    document = (await api.get("/openapi.json")).json()["components"]["schemas"]["ExecutionShape"]
    [line] = (await api.get("/v1/executions?tool=add_task")).json()["items"]
    assert {"at", "tool", "status", "caller", "duration_ms"} <= set(document["properties"]) & set(line)


def numbered(text: str) -> list[tuple[str, str]]:
    """The id and the name of each event."""
    lines = text.splitlines()
    ids = [line[4:] for line in lines if line.startswith("id: ")]
    return list(zip(ids, [line[7:] for line in lines if line.startswith("event: ")], strict=True))


async def test_a_stream_is_taken_up_again_after_the_last_event_that_was_seen(api: httpx.AsyncClient) -> None:
    whole = await api.post("/v1/chat", json={"message": "what time is it in Tokyo?"}, headers=EVENTS)
    events, here = numbered(whole.text), whole.headers["x-conversation-id"]
    back = await api.get(f"/v1/conversations/{here}/events", headers={"Last-Event-ID": events[0][0]})
    start = await api.get(f"/v1/conversations/{here}/events")
    assert (numbered(back.text), numbered(start.text)) == (events[1:], events)
    assert events[-1][1] == "done"


async def test_only_the_own_turn_is_taken_up_by_a_name_of_its_own(api: httpx.AsyncClient) -> None:
    here = (await api.post("/v1/chat", json={"message": "hello"}, headers=EVENTS)).headers[
        "x-conversation-id"
    ]
    unknown = await api.get("/v1/conversations/nothing/events")
    foreign = await api.get(f"/v1/conversations/{here}/events", headers={"Last-Event-ID": "other-1"})
    others = await api.get(f"/v1/conversations/{here}/events", params={"user": "somebody"})
    assert [each.status_code for each in (unknown, foreign, others)] == [404, 400, 404]


class Slow:
    """A turn that goes on until it is stopped."""

    conversation = "c"

    def __init__(self) -> None:
        self.ended = asyncio.Event()

    def stop(self) -> None:
        self.ended.set()

    async def run(self, listener: Any) -> None:
        await listener("first")
        await self.ended.wait()


async def test_a_turn_that_nobody_follows_any_more_is_stopped_after_a_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(following, "GRACE_SECONDS", 0.05)
    turn, feeds = Slow(), TurnFeeds(kept=0.0)
    feed = feeds.begin(turn, user="ana")  # type: ignore[arg-type]
    steps = feed.follow(0, signs=0.01)
    assert [await anext(steps), await anext(steps)] == [(1, "first"), None]
    await steps.aclose()
    async with asyncio.timeout(10):
        await feed.over
    await until(lambda: not feeds._feeds)


async def test_a_follower_who_comes_back_in_time_keeps_the_turn_going(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(following, "GRACE_SECONDS", 0.2)
    turn, feeds = Slow(), TurnFeeds()
    feed = feeds.begin(turn, user="ana")  # type: ignore[arg-type]
    steps = feed.follow(0, signs=5)
    assert await anext(steps) == (1, "first")
    await steps.aclose()
    again, after = feeds.resume("c", user="ana", last=feed.name_of(1))
    more = again.follow(after, signs=0.5)
    assert (await anext(more), turn.ended.is_set()) == (None, False)
    turn.stop()
    await more.aclose()
    await feed.over
