"""Calls that outlast their request: handles of the extension for tasks, over real HTTP and PostgreSQL."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import httpx
import pytest
from tests.support.gateway_setup import ACCEPT, GatewaySetup, build_house, open_session, served
from tests.support.waiting import until

from steward.contract.deciding import Role
from steward.servers.gateway.long_calls import EXTENSION, LongCalls
from steward.servers.gateway.ports import Member
from steward.storage.database.postgres import Database
from steward.storage.long_calls import PostgresLongCalls

VERSION = "2026-07-28"
META = "io.modelcontextprotocol/"
WITH_TASKS: dict[str, Any] = {"extensions": {EXTENSION: {}}, "elicitation": {"form": {}}}
OVER = ("completed", "failed", "cancelled")


class Keys:
    """Whoever shows a name is that member."""

    async def admit(self, key: str | None, scope: Any) -> Member | None:
        name, _, user = (key or "ana").partition("/")
        return Member(name, user=user or name, role=Role.READ if key == "reader" else Role.USE)


class Visitor:
    def __init__(self, url: str, key: str = "ana", *, capabilities: dict[str, Any] = WITH_TASKS) -> None:
        self._url = url
        self._headers = {**ACCEPT, "X-API-Key": key}
        self._capabilities = capabilities

    async def ask(self, method: str, headers: dict[str, str] | None = None, **params: Any) -> dict[str, Any]:
        """The whole message that answers."""
        meta = {
            f"{META}protocolVersion": VERSION,
            f"{META}clientInfo": {"name": "visitor", "version": "1"},
            f"{META}clientCapabilities": self._capabilities,
        }
        named = params.get("name") or params.get("taskId")
        about = {"mcp-protocol-version": VERSION, "mcp-method": method, "mcp-name": named or ""}
        about = {name: value for name, value in {**about, **(headers or {})}.items() if value}
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        async with httpx.AsyncClient(timeout=20, headers=self._headers) as http:
            answer = await http.post(self._url, json=message, headers=about)
        return answer.json()

    async def get(self, method: str, **params: Any) -> dict[str, Any]:
        return (await self.ask(method, **params))["result"]

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return await self.get("tools/call", name=tool, arguments=arguments)

    async def looks(self, task: str, *status: str) -> dict[str, Any]:
        """The handle once it has one of these states."""
        found: dict[str, Any] = {}

        async def there() -> bool:
            found.update(await self.get("tasks/get", taskId=task))
            return found["status"] in status

        await until(there)
        return found


@asynccontextmanager
async def houses(
    database: Database, count: int = 1, *, after: float = 0.05, **store: Any
) -> AsyncIterator[list[GatewaySetup]]:
    """Instances on one database, each with tools of its own that nobody else runs."""
    opened: list[GatewaySetup] = []
    async with served(
        doorkeeper=Keys(),
        house=build_house(),
        long_calls=LongCalls(PostgresLongCalls(database, **store), after=after),
    ) as house:
        opened.append(house)
        if count == 1:
            yield opened
            return
        async with houses(database, count - 1, after=after, **store) as others:
            yield [*opened, *others]


async def test_a_long_call_is_answered_with_a_handle_and_its_outcome_is_found_by_it(
    database: Database,
) -> None:
    async with houses(database) as (house,):
        ana = Visitor(house.url)
        handle = await ana.call("survey")
        assert (handle["resultType"], handle["status"], "result" in handle) == ("task", "working", False)
        found = await ana.get("tasks/get", taskId=handle["taskId"])
        assert (found["resultType"], found["status"], found["statusMessage"]) == (
            "complete",
            "working",
            "looking (1 of 3)",
        )
        house.go_on.set()
        asked = await ana.looks(handle["taskId"], "input_required")
        first, second = asked["inputRequests"]
        assert asked["inputRequests"][first]["method"] == "elicitation/create"
        yes = lambda name: {"action": "accept", "content": {"name": name}}  # noqa: E731
        assert await ana.get(
            "tasks/update", taskId=handle["taskId"], inputResponses={first: yes("a"), "other": yes("x")}
        )
        left = await ana.get("tasks/get", taskId=handle["taskId"])
        assert (left["status"], list(left["inputRequests"])) == ("input_required", [second])
        await ana.get("tasks/update", taskId=handle["taskId"], inputResponses={second: yes("b")})
        third = (await ana.looks(handle["taskId"], "input_required"))["inputRequests"]
        assert not {first, second} & set(third)
        await ana.get("tasks/update", taskId=handle["taskId"], inputResponses={next(iter(third)): yes("c")})
        over = await ana.looks(handle["taskId"], *OVER)
        assert (over["status"], over["result"]["structuredContent"]) == (
            "completed",
            {"answers": ["a", "b", "c"]},
        )
        assert [line.tool for line in house.log.lines] == ["survey"]


async def test_what_is_soon_over_or_waits_for_a_person_is_answered_at_once(database: Database) -> None:
    async with houses(database, after=5) as (house,):
        ana = Visitor(house.url)
        assert (await ana.call("echo", text="hi"))["structuredContent"] == {"text": "hi"}
        waits = await ana.call("wipe", name="disk")
        assert (waits["isError"], "steward approve" in waits["content"][0]["text"]) == (True, True)


@pytest.mark.parametrize("capabilities", [{}, {"elicitation": {"form": {}}}])
async def test_who_knows_no_handles_waits_and_may_not_ask_for_any(
    database: Database, capabilities: dict[str, Any]
) -> None:
    async with houses(database) as (house,):
        plain = Visitor(house.url, capabilities=capabilities)
        calling = asyncio.create_task(plain.call("survey"))
        refused = [await plain.ask(method, taskId="x") for method in ("tasks/get", "tasks/cancel")]
        refused.append(await plain.ask("tasks/update", taskId="x", inputResponses={}))
        assert {each["error"]["code"] for each in refused} == {-32021}
        assert EXTENSION in refused[0]["error"]["data"]["requiredCapabilities"]["extensions"]
        house.go_on.set()
        answer = await calling
        assert answer["resultType"] in ("complete", "input_required")


async def test_the_extension_is_told_and_older_clients_hear_of_none(database: Database) -> None:
    async with houses(database) as (house,), httpx.AsyncClient() as http:
        discovered = await Visitor(house.url).get("server/discover")
        assert discovered["capabilities"]["extensions"] == {EXTENSION: {}}
        session = await open_session(http, house.url)
        old = {"jsonrpc": "2.0", "id": 2, "method": "tasks/get", "params": {"taskId": "x"}}
        assert "-32601" in (await http.post(house.url, json=old, headers=session)).text


async def test_a_call_that_is_cancelled_ends_and_another_time_is_no_mistake(database: Database) -> None:
    async with houses(database) as (house,):
        ana = Visitor(house.url)
        handle = (await ana.call("wait"))["taskId"]
        for _ in range(2):
            assert set(await ana.get("tasks/cancel", taskId=handle)) <= {"resultType", "_meta"}
            assert (await ana.looks(handle, *OVER))["status"] == "cancelled"
        assert house.stopped.is_set()


async def test_any_instance_tells_of_a_call_and_passes_on_what_is_said(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steward.servers.gateway.long_calls.BEAT", 0.05)
    async with houses(database, 2) as (here, there):
        handle = (await Visitor(here.url).call("survey"))["taskId"]
        other = Visitor(there.url)
        here.go_on.set()
        while (found := await other.looks(handle, "input_required", *OVER))["status"] not in OVER:
            given = {key: {"action": "accept", "content": {"name": key}} for key in found["inputRequests"]}
            await other.get("tasks/update", taskId=handle, inputResponses=given)
            await until(partial(heard, other, handle, set(given)))
        assert len(found["result"]["structuredContent"]["answers"]) == 3
        waiting = (await Visitor(here.url).call("wait"))["taskId"]
        await other.get("tasks/cancel", taskId=waiting)
        assert (await other.looks(waiting, *OVER))["status"] == "cancelled"


async def heard(visitor: Visitor, handle: str, answered: set[str]) -> bool:
    found = await visitor.get("tasks/get", taskId=handle)
    return not answered & set(found.get("inputRequests", ()))


async def test_a_handle_is_its_callers_alone(database: Database) -> None:
    async with houses(database) as (house,):
        handle = (await Visitor(house.url).call("wait"))["taskId"]
        same_name = "ana/ben"  # her key was revoked, and the next one of this name is his
        for key, method, more in (
            (key, *each)
            for key in ("ben", same_name)
            for each in (("tasks/get", {}), ("tasks/cancel", {}), ("tasks/update", {"inputResponses": {}}))
        ):
            answer = await Visitor(house.url, key).ask(method, taskId=handle, **more)
            assert answer["error"]["code"] == -32602
        reader = await Visitor(house.url, "reader").ask("tasks/update", taskId=handle, inputResponses={})
        assert "may look but not call" in reader["error"]["message"]
        assert (await Visitor(house.url).get("tasks/get", taskId=handle))["status"] == "working"


@pytest.mark.parametrize("name", ["another", None])
async def test_a_header_that_names_another_task_is_refused(database: Database, name: str | None) -> None:
    async with houses(database) as (house,):
        ana = Visitor(house.url)
        handle = (await ana.call("wait"))["taskId"]
        answer = await ana.ask("tasks/get", {"mcp-name": name or ""}, taskId=handle)
        assert answer["error"]["code"] == -32020


async def test_a_call_whose_program_was_killed_is_said_to_have_an_unknown_end(database: Database) -> None:
    store = PostgresLongCalls(database, left_after=timedelta(0))
    await store.begin("left", caller="ana", user="ana")
    async with houses(database, left_after=timedelta(0)) as (house,):
        found = await Visitor(house.url).get("tasks/get", taskId="left")
    assert (found["status"], found["error"]["data"]["error_code"]) == ("failed", "OUTCOME_UNKNOWN")


async def test_a_handle_is_kept_for_a_day(database: Database) -> None:
    store = PostgresLongCalls(database)
    await store.begin("old", caller="ana", user="ana")
    await database.execute("UPDATE long_calls SET created_at = now() - interval '25 hours'")
    await store.begin("new", caller="ana", user="ana")
    found = [await store.get(name, caller="ana", user="ana") for name in ("old", "new")]
    assert (found[0], found[1] is not None) == (None, True)
