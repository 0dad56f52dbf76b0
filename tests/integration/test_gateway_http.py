"""Who may reach the gateway over HTTP, and what becomes of requests that are not plain."""

import asyncio
import json
from collections.abc import MutableMapping
from typing import Any

import httpx
import pytest
from tests.support.gateway_setup import ACCEPT, GatewaySetup, open_session, served

from steward.contract.deciding import Role
from steward.servers.gateway.guard import GatewayGuard, GatewayRefusal, OpenDoor, RateLimit
from steward.servers.gateway.ports import Member


class Keys:
    async def admit(self, key: str | None, scope: MutableMapping[str, Any]) -> Member | None:
        return {"reader": Member("reader", role=Role.READ), "worker": Member("w"), "other": Member("o")}.get(
            key or ""
        )


def call(tool: str = "echo", number: Any = 1, **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "evil.example:8700"}, 421),
        ({"host": ""}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://[::1"}, 403),
        ({"origin": "http://localhost.evil.example"}, 403),
    ],
)
async def test_a_web_page_cannot_reach_the_gateway_through_a_name_of_its_own(
    headers: dict[str, str], status: int
):
    async with served() as house, httpx.AsyncClient() as http:
        answer = await http.post(house.url, json=call(), headers={**ACCEPT, **headers})
        assert answer.status_code == status
        assert house.log.lines == []


async def test_a_local_page_may_reach_the_gateway():
    async with served() as house, httpx.AsyncClient() as http:
        session = await open_session(http, house.url, origin="http://localhost:8700")
        answer = await http.post(house.url, json=call(text="hi"), headers=session)
        assert answer.json()["result"]["structuredContent"] == {"text": "hi"}


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer wrong"}, {"x-api-key": "wrong"}])
async def test_without_a_known_key_nothing_is_served(headers: dict[str, str]):
    async with served(doorkeeper=Keys()) as house, httpx.AsyncClient() as http:
        answer = await http.post(house.url, json=call(), headers={**ACCEPT, **headers})
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("header", [{"authorization": "Bearer worker"}, {"x-api-key": "worker"}])
async def test_a_call_carries_the_name_of_its_key(header: dict[str, str]):
    async with served(doorkeeper=Keys()) as house, httpx.AsyncClient() as http:
        session = await open_session(http, house.url, **header)
        answer = await http.post(house.url, json=call(text="x"), headers=session)
        assert answer.status_code == 200
        assert house.log.lines[0].call.caller.id == "w"


async def test_a_key_that_may_only_look_cannot_call():
    async with served(doorkeeper=Keys()) as house, httpx.AsyncClient() as http:
        session = await open_session(http, house.url, authorization="Bearer reader")
        listed = await http.post(
            house.url, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, headers=session
        )
        answer = await http.post(house.url, json=call(), headers=session)
        assert (listed.status_code, answer.status_code, house.log.lines) == (200, 403, [])


async def test_a_session_belongs_to_the_key_that_opened_it():
    async with served(doorkeeper=Keys()) as house, httpx.AsyncClient() as http:
        session = await open_session(http, house.url, authorization="Bearer worker")
        stolen = {**session, "authorization": "Bearer other"}
        answer = await http.post(house.url, json=call(text="x"), headers=stolen)
        assert (answer.status_code, house.log.lines) == (404, [])


async def test_a_key_that_asks_too_often_waits_and_others_do_not():
    slow = RateLimit(per_minute=6, burst=3)
    async with served(doorkeeper=Keys(), limit=slow) as house, httpx.AsyncClient() as http:
        session = await open_session(http, house.url, authorization="Bearer worker")
        first = await http.post(house.url, json=call(text="x"), headers=session)
        second = await http.post(house.url, json=call(text="x"), headers=session)
        other = await open_session(http, house.url, authorization="Bearer other")
        third = await http.post(house.url, json=call(text="x"), headers=other)
        assert [first.status_code, second.status_code, third.status_code] == [200, 429, 200]
        assert 1 <= int(second.headers["retry-after"]) <= 10


async def test_allowance_comes_back_with_time_and_old_keys_are_forgotten(monkeypatch: pytest.MonkeyPatch):
    now = [0.0]
    limit = RateLimit(per_minute=60, burst=1, clock=lambda: now[0])
    assert limit.wait("a") == 0
    assert limit.wait("a") == pytest.approx(1)
    now[0] = 1.0
    assert limit.wait("a") == 0
    monkeypatch.setattr("steward.servers.gateway.guard.FORGET_AFTER", 1)
    assert limit.wait("b") == 0
    assert limit.wait("a") == 0


async def test_a_server_on_another_address_answers_to_its_name_too():
    guard = GatewayGuard(OpenDoor(), hosts=("steward.home",))
    assert await guard.admit({b"host": b"steward.home:8700"}, {}) == Member("local", role=Role.ADMIN)
    assert isinstance(await guard.admit({b"host": b"steward.work"}, {}), GatewayRefusal)
    assert await guard.admit({b"host": b"[::1]:8700"}, {}) == Member("local", role=Role.ADMIN)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"not json", 400),
        (b"[]", 400),
        (json.dumps({**call(), "id": True}).encode(), 202),  # the SDK takes it for a notification
        (json.dumps({**call(), "id": None}).encode(), 202),
        (json.dumps({**call(), "jsonrpc": "1.0"}).encode(), 400),
    ],
)
async def test_a_malformed_request_is_refused_and_runs_nothing(body: bytes, status: int):
    async with served() as house, httpx.AsyncClient() as http:
        session = await open_session(http, house.url)
        headers = {**session, "content-type": "application/json"}
        answer = await http.post(house.url, content=body, headers=headers)
        assert (answer.status_code, house.log.lines) == (status, [])


@pytest.mark.parametrize(
    "params", [{}, {"name": 1}, {"name": "echo", "arguments": []}, {"name": "echo", "arguments": "x"}, []]
)
async def test_wrong_parameters_are_the_protocols_error(params: Any):
    async with served() as house, httpx.AsyncClient() as http:
        session = await open_session(http, house.url)
        answer = await http.post(house.url, json={**call(), "params": params}, headers=session)
        assert "error" in answer.text
        assert house.log.lines == []


async def test_a_request_that_is_too_large_is_not_read_to_the_end():
    async with served() as house, httpx.AsyncClient() as http:
        session = await open_session(http, house.url)
        answer = await http.post(house.url, json=call(text="x" * 5_000_000), headers=session)
        assert (answer.status_code, house.log.lines) == (413, [])


async def test_a_closed_session_is_gone():
    async with served() as house, httpx.AsyncClient() as http:
        session = await open_session(http, house.url)
        await http.delete(house.url, headers=session)
        answer = await http.post(house.url, json=call(text="x"), headers=session)
        assert (answer.status_code, house.log.lines) == (404, [])
        assert answer.json()["error"]["data"]["code"] == "SESSION_UNKNOWN"


async def test_without_a_session_there_is_no_call():
    async with served() as house, httpx.AsyncClient() as http:
        answer = await http.post(house.url, json=call(text="x"), headers=ACCEPT)
        assert answer.status_code == 400
        unacceptable = await http.post(house.url, json=call(text="x"), headers={"accept": "text/html"})
        assert unacceptable.status_code >= 400
        assert house.log.lines == []


async def test_a_call_is_cancelled_by_the_notification_and_answered():
    async with served() as house, httpx.AsyncClient() as http:
        session = await open_session(http, house.url)
        calling = asyncio.create_task(http.post(house.url, json=call("wait", 7), headers=session))
        async with asyncio.timeout(10):
            await house.started.wait()
            stop = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
            await http.post(house.url, json=stop, headers=session)
            answer = await calling
            await house.stopped.wait()
        assert answer.json()["error"]["message"] == "Request cancelled"


async def test_a_session_that_ends_gives_up_its_calls_and_nobody_elses():
    async with served() as house, httpx.AsyncClient() as http:
        session = await open_session(http, house.url)
        other = await open_session(http, house.url)
        calling = asyncio.create_task(http.post(house.url, json=call("wait", 7), headers=session))
        async with asyncio.timeout(10):
            await house.started.wait()
            await http.delete(house.url, headers=other)
            assert not house.stopped.is_set()
            await http.delete(house.url, headers=session)
            await house.stopped.wait()
            await calling


async def test_cancelling_somebody_elses_number_does_nothing():
    async with served() as house, httpx.AsyncClient() as http:
        session = await open_session(http, house.url)
        other = await open_session(http, house.url)
        calling = asyncio.create_task(http.post(house.url, json=call("wait", 7), headers=session))
        async with asyncio.timeout(10):
            await house.started.wait()
            for headers, params in (
                (other, {"requestId": 7}),
                (session, {"requestId": 8}),
                (session, {}),
                (session, []),
            ):
                stop = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
                await http.post(house.url, json=stop, headers=headers)
            assert not house.stopped.is_set()
            stop = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
            await http.post(house.url, json=stop, headers=session)
            await calling


def modern(house: GatewaySetup, tool: str, **more: Any) -> tuple[dict[str, Any], dict[str, str]]:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    message = call(tool, text="x")
    message["params"]["_meta"] = meta
    headers = {
        **ACCEPT,
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": tool,
        **more,
    }
    return message, headers


async def test_a_sessions_id_in_another_keys_hands_cancels_nothing():
    """The newer protocol has no sessions, so the SDK does not look whose the one in the header is."""
    async with served(doorkeeper=Keys()) as house, httpx.AsyncClient() as http:
        session = await open_session(http, house.url, **{"x-api-key": "worker"})
        calling = asyncio.create_task(http.post(house.url, json=call("wait", 7), headers=session))
        stop = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
        newer = {**session, "mcp-protocol-version": "2026-07-28", "mcp-method": "notifications/cancelled"}
        async with asyncio.timeout(10):
            await house.started.wait()
            await http.post(house.url, json=stop, headers={**newer, "x-api-key": "other"})
            await http.delete(house.url, headers={**newer, "x-api-key": "other"})
            # The session's next exchange is answered after both: had one counted, the call would be over.
            await http.post(house.url, json=call(text="x"), headers=session)
            assert not house.stopped.is_set()
            await http.post(house.url, json=stop, headers=session)
            await calling


async def test_a_modern_answer_says_that_it_is_complete_and_whose_it_is():
    async with served() as house, httpx.AsyncClient() as http:
        message, headers = modern(house, "echo")
        result = (await http.post(house.url, json=message, headers=headers)).json()["result"]
        assert (result["resultType"], result["structuredContent"]) == ("complete", {"text": "x"})
        assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "steward"


@pytest.mark.parametrize(
    ("header", "value"),
    [("mcp-name", "other"), ("mcp-method", "tools/list"), ("mcp-protocol-version", "2099-01-01")],
)
async def test_headers_that_contradict_the_body_are_refused(header: str, value: str):
    async with served() as house, httpx.AsyncClient() as http:
        message, headers = modern(house, "echo", **{header: value})
        answer = await http.post(house.url, json=message, headers=headers)
        assert (answer.status_code, house.log.lines) == (400, [])


async def test_a_modern_client_that_closes_the_connection_stops_its_call():
    async with served() as house:
        async with httpx.AsyncClient() as http:
            message, headers = modern(house, "wait")
            del message["params"]["arguments"]
            calling = asyncio.create_task(http.post(house.url, json=message, headers=headers))
            async with asyncio.timeout(10):
                await house.started.wait()
            calling.cancel()
            await asyncio.gather(calling, return_exceptions=True)
        async with asyncio.timeout(10):
            await house.stopped.wait()
