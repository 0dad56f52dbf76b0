"""Pages of other sites, busy callers, and the page about the API: what the outside may have."""

import re
from collections.abc import AsyncIterator

import httpx
import pytest
from tests.support.owner import owner_headers

from steward.bootstrap import Platform
from steward.policy.access import Role
from steward.servers.gateway.guard import RateLimit
from steward.surfaces.api.app import create_app

DESK = "https://desk.example.org"


@pytest.fixture
async def guested(platform: Platform) -> AsyncIterator[httpx.AsyncClient]:
    """The API of a workspace that lets one other site's pages in."""
    app = create_app(platform, origins=frozenset({DESK}))
    transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 50_000))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8700") as client:
        yield client


async def test_a_page_that_was_named_may_call_with_a_key(
    guested: httpx.AsyncClient, platform: Platform
) -> None:
    asked = {"Origin": DESK, "Access-Control-Request-Method": "POST"}
    headers = {**asked, "Access-Control-Request-Headers": "X-API-Key, Content-Type"}
    preflight = await guested.options("/v1/tools/save_fact/call", headers=headers)
    assert (preflight.status_code, preflight.headers["access-control-allow-origin"]) == (200, DESK)
    headers = {"Origin": DESK, "Authorization": f"Bearer {platform.owner_token}"}
    answer = await guested.get("/v1/tools", headers=headers)
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, DESK)
    assert "access-control-allow-credentials" not in answer.headers


async def test_a_page_that_was_named_does_not_act_as_the_person_of_this_machine(
    guested: httpx.AsyncClient,
) -> None:
    answer = await guested.get("/v1/tools", headers={"Origin": DESK})
    assert (answer.status_code, answer.json()["code"]) == (401, "UNAUTHENTICATED")


async def test_any_other_page_stays_out(guested: httpx.AsyncClient) -> None:
    for origin in ("https://evil.example", "https://desk.example.org.evil.example", "null"):
        answer = await guested.get("/v1/tools", headers={"Origin": origin})
        assert (answer.status_code, "access-control-allow-origin" in answer.headers) == (403, False)


async def test_a_caller_that_sends_too_much_is_told_when_to_come_back(platform: Platform) -> None:
    now = [0.0]
    limit = RateLimit(per_minute=60, burst=2, clock=lambda: now[0])
    app = create_app(platform, limit=limit)
    transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 50_000))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8700") as client:
        _, key = await platform.keys.add("busy", Role.READ)
        busy = {"X-API-Key": key}
        answers = [await client.get("/v1/agents", headers=busy) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        refused = answers[2]
        assert (refused.json()["code"], refused.headers["retry-after"]) == ("RATE_LIMITED", "1")
        own = await client.get("/v1/agents", headers=owner_headers(platform))
        assert own.status_code == 200  # the home's own command line is never kept waiting
        now[0] += 1
        assert (await client.get("/v1/agents", headers=busy)).status_code == 200


def test_no_limit_is_no_limit() -> None:
    limit = RateLimit.of(0)
    assert {limit.wait("x") for _ in range(1_000)} == {0.0}


async def test_the_page_about_the_api_needs_nothing_from_outside(api: httpx.AsyncClient) -> None:
    page = await api.get("/docs")
    parts = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert (page.status_code, set(parts)) == (200, {"/docs/style", "/docs/script", "/openapi.json"})
    for part in parts:
        answer = await api.get(part)
        assert (answer.status_code, "http://" in answer.text or "https://" in answer.text) == (200, False)
    policy = page.headers["content-security-policy"]
    assert ("default-src 'none'" in policy, "unsafe" in policy) == (True, False)


async def test_every_body_has_an_example_that_it_takes(api: httpx.AsyncClient) -> None:
    document = (await api.get("/openapi.json")).json()
    schemas = document["components"]["schemas"]
    bare: list[str] = []
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            for media in operation.get("requestBody", {}).get("content", {}).values():
                name = media["schema"].get("$ref", "").rpartition("/")[2]
                schema = schemas.get(name, media["schema"])
                given = schema.get("examples") or [
                    one for one in schema.get("properties", {}).values() if one.get("examples")
                ]
                if not given and schema.get("properties"):
                    bare.append(f"{method} {path}")
    assert bare == []
