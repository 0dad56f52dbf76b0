"""Who may do what, and what every request passes first."""

import resource
from collections.abc import AsyncIterator

import httpx
import pytest
from pydantic import SecretStr
from tests.integration.api.conftest import Connect

from steward.bootstrap import Platform, open_platform
from steward.settings import Settings
from steward.surfaces.api.app import create_app
from steward.surfaces.instance import OF_A_COMMAND, proof

ROLES = ("read", "use", "approve", "admin")
ROUTES = [
    ("GET", "/v1/tools", "read"),
    ("GET", "/v1/tools/save_fact", "read"),
    ("GET", "/v1/tools/search?q=x", "read"),
    ("GET", "/v1/agents", "read"),
    ("GET", "/v1/agents/core/health", "read"),
    ("GET", "/v1/proposals", "read"),
    ("GET", "/v1/proposals/none", "read"),
    ("GET", "/v1/questions", "read"),
    ("GET", "/v1/executions", "read"),
    ("GET", "/v1/executions/verify", "admin"),
    ("GET", "/v1/executions/x/receipt", "read"),
    ("GET", "/v1/traces/none", "read"),
    ("GET", "/metrics", "read"),
    ("POST", "/v1/tools/none/call", "use"),
    ("POST", "/v1/proposals/none/approve", "approve"),
    ("POST", "/v1/proposals/none/reject", "approve"),
    ("POST", "/v1/questions/none/answer", "approve"),
    ("POST", "/v1/tools/none/accept", "admin"),
    ("GET", "/v1/me", "read"),
    ("GET", "/v1/schedules", "read"),
    ("POST", "/v1/schedules/none/pause", "use"),
    ("PATCH", "/v1/schedules/none", "use"),
    ("DELETE", "/v1/schedules/none", "use"),
    ("GET", "/v1/notices", "read"),
    ("PUT", "/v1/users/local/addresses/desktop", "admin"),
    ("GET", "/v1/knowledge/projects", "read"),
    ("PUT", "/v1/knowledge/collections/none/files/a.md", "use"),
    ("POST", "/v1/tools/none/trust", "admin"),
    ("GET", "/v1/policy", "read"),
    ("PUT", "/v1/policy", "admin"),
    ("POST", "/v1/policy/replay", "admin"),
    ("DELETE", "/v1/policy/rules/none", "approve"),
    ("POST", "/v1/tools", "admin"),
    ("PUT", "/v1/tools/none", "admin"),
    ("DELETE", "/v1/tools/none", "admin"),
    ("POST", "/v1/agents/none/start", "admin"),
    ("POST", "/v1/agents/none/stop", "admin"),
    ("GET", "/v1/keys", "admin"),
    ("POST", "/v1/keys", "admin"),
    ("DELETE", "/v1/keys/none", "admin"),
]


async def make_key(api: httpx.AsyncClient, name: str, role: str) -> str:
    made = await api.post("/v1/keys", json={"name": name, "role": role})
    assert made.status_code == 201
    return made.json()["token"]


async def refusals(client: httpx.AsyncClient) -> set[tuple[str, str]]:
    """Routes that refuse this client, whatever else they would say to it."""
    answers = [(method, path, await client.request(method, path, json={})) for method, path, _ in ROUTES]
    return {(method, path) for method, path, answer in answers if answer.status_code in (401, 403)}


@pytest.mark.req("SKL-Q11")
async def test_each_role_may_do_what_it_says_and_nothing_more(
    api: httpx.AsyncClient, connect: Connect
) -> None:
    for position, role in enumerate(ROLES):
        client = connect(key=await make_key(api, f"a-{role}", role))
        beyond = {(method, path) for method, path, needed in ROUTES if ROLES.index(needed) > position}
        assert await refusals(client) == beyond


@pytest.mark.req("SKL-Q11")
async def test_nobody_comes_in_without_a_key_that_is_known(api: httpx.AsyncClient, connect: Connect) -> None:
    everything = {(method, path) for method, path, _ in ROUTES}
    assert (await refusals(connect()), await refusals(api)) == (everything, set())
    token = await make_key(api, "laptop", "read")
    assert await refusals(connect()) == everything
    assert await refusals(connect(key="stw_000000000000_" + "x" * 43)) == everything
    assert await refusals(connect(key=token[:-1] + ("A" if token[-1] != "A" else "B"))) == everything

    assert [key["name"] for key in (await api.get("/v1/keys")).json()["items"]] == ["laptop"]
    assert token not in (await api.get("/v1/keys")).text
    assert (await api.delete("/v1/keys/laptop")).status_code == 204
    assert (await connect(key=token).get("/v1/tools")).status_code == 401
    assert (await connect().get("/v1/tools")).status_code == 401


@pytest.mark.parametrize("address", ["127.0.0.1", "192.0.2.7", "not-an-address"])
async def test_where_a_request_comes_from_makes_nobody_anybody(connect: Connect, address: str) -> None:
    answer = await connect(address=address).get("/v1/tools")
    assert (answer.status_code, answer.json()["code"]) == (401, "UNAUTHENTICATED")


@pytest.mark.parametrize("header", ["X-Forwarded-For", "X-Forwarded-Proto", "Forwarded", "Via", "X-Real-IP"])
async def test_what_came_through_a_proxy_needs_a_key_of_its_own(
    api: httpx.AsyncClient, connect: Connect, header: str
) -> None:
    passed_on = {header: "127.0.0.1"}
    refused = await api.get("/v1/tools", headers=passed_on)
    assert (refused.status_code, "proxy" in refused.json()["detail"]) == (401, True)
    key = await make_key(api, "desk", "read")
    assert (await connect(key=key).get("/v1/tools", headers=passed_on)).status_code == 200


async def test_whoever_watches_without_a_key_learns_the_status_only(
    api: httpx.AsyncClient, connect: Connect
) -> None:
    assert (await connect().get("/healthz")).json() == {"status": "ok"}
    assert (await connect().get("/readyz")).json() == {"status": "ready"}
    assert (await api.get("/readyz")).json() == {
        "status": "ready", "problems": {}, "agents": {}, "configuration": {},
    }  # fmt: skip


async def test_a_full_disk_is_named_to_whoever_watches(api: httpx.AsyncClient, connect: Connect) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (700, before[1]))  # as a disk with that much room
    try:
        told = await api.get("/readyz")
        stranger = await connect().get("/readyz")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (told.status_code, stranger.json()) == (503, {"status": "not ready"})
    assert "Free space" in told.json()["problems"]["disk"]
    assert (await api.get("/readyz")).status_code == 200


async def test_a_steward_proves_that_it_knows_the_token_without_showing_it(
    connect: Connect, platform: Platform
) -> None:
    told = [(await connect().get(f"/healthz?challenge={word * 32}")).json()["proof"] for word in "ab"]
    assert told == [proof(platform.owner_token, word * 32) for word in "ab"]
    assert (len(set(told)), platform.owner_token in told) == (2, False)
    assert (await connect().get("/healthz?challenge=short")).status_code == 422


async def test_the_key_of_the_settings_is_an_admin_and_may_come_as_a_bearer(settings: Settings) -> None:
    keyed = settings.model_copy(update={"api_key": SecretStr("root-key")})
    async with open_platform(keyed) as platform:
        transport = httpx.ASGITransport(app=create_app(platform))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            bearer = {"Authorization": "Bearer root-key"}
            assert (await client.get("/v1/keys", headers=bearer)).status_code == 200
            assert (await client.get("/v1/keys")).status_code == 401
            assert (await client.get("/v1/keys", headers={"Authorization": "Basic x"})).status_code == 401


async def test_two_keys_of_one_name_and_odd_names_are_refused(api: httpx.AsyncClient) -> None:
    await make_key(api, "laptop", "admin")
    twice = await api.post("/v1/keys", json={"name": "laptop"})
    odd = await api.post("/v1/keys", json={"name": "a b"})
    role = await api.post("/v1/keys", json={"name": "x", "role": "king"})
    assert [answer.status_code for answer in (twice, odd, role)] == [409, 400, 422]
    assert (await api.delete("/v1/keys/none")).status_code == 404


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("127.0.0.1:8700", 200),
        ("[::1]:8700", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("192.0.2.7", 421),
    ],
)
async def test_a_name_that_somebody_else_controls_does_not_reach_us(
    connect: Connect, platform: Platform, host: str, status: int
) -> None:
    answer = await connect(key=platform.owner_token, host=host).get("/v1/tools")
    assert answer.status_code == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://localhost:8700"}, 200),
        ({"Origin": "http://localhost:3000"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://[bad"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "none"}, 200),
    ],
)
async def test_a_page_of_another_site_may_not_use_us(
    api: httpx.AsyncClient, headers: dict[str, str], status: int
) -> None:
    answer = await api.get("/v1/tools", headers=headers)
    assert answer.status_code == status
    assert "access-control-allow-origin" not in answer.headers


async def test_serving_other_machines_any_name_is_taken_but_never_without_a_key(platform: Platform) -> None:
    transport = httpx.ASGITransport(app=create_app(platform, any_host=True), client=("192.0.2.7", 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://steward.example") as client:
        assert (await client.get("/healthz")).status_code == 200
        assert (await client.get("/v1/tools")).status_code == 401


async def test_a_large_body_is_refused_whether_announced_or_not(api: httpx.AsyncClient) -> None:
    body = b'{"arguments": {"x": "' + b"x" * (8 * 2**20) + b'"}}'

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(body), 2**16):
            yield body[start : start + 2**16]

    headers = {"Content-Type": "application/json"}
    announced = await api.post("/v1/tools/save_fact/call", content=body, headers=headers)
    unannounced = await api.post("/v1/tools/save_fact/call", content=pieces(), headers=headers)
    for answer in (announced, unannounced):
        assert (answer.status_code, answer.headers["content-type"]) == (413, "application/problem+json")


async def test_requests_carry_an_id_that_calls_and_problems_repeat(api: httpx.AsyncClient) -> None:
    named = await api.get("/v1/tools/none", headers={"X-Request-ID": "abc-1"})
    assert (named.headers["x-request-id"], named.json()["request_id"]) == ("abc-1", "abc-1")
    odd = await api.get("/healthz", headers={"X-Request-ID": "a b\tc"})
    assert len(odd.headers["x-request-id"]) == 32
    call = {"arguments": {"text": "Ana likes tea."}}
    called = await api.post("/v1/tools/save_fact/call", json=call, headers={"X-Request-ID": "abc-2"})
    assert called.json()["correlation_id"] == "abc-2"
    (line,) = (await api.get("/v1/executions?tool=save_fact")).json()["items"]
    assert line["correlation_id"] == "abc-2"


@pytest.mark.parametrize(
    ("owner", "marked", "via"),
    [
        (True, False, "api"),  # a script of the owner's, with the token of the home
        (True, True, "cli"),
        (False, True, "api"),  # a key cannot say that it is the command line
    ],
)
async def test_a_receipt_says_by_which_way_the_yes_came(
    platform: Platform, connect: Connect, *, owner: bool, marked: bool, via: str
) -> None:
    root = connect(key=platform.owner_token)
    made = (await root.post("/v1/keys", json={"name": "ana", "role": "approve"})).json()
    asked = await root.post("/v1/tools/forget_memory/call", json={"arguments": {"everything": True}})
    path = f"/v1/proposals/{asked.json()['proposal_id']}"
    decider = root if owner else connect(key=made["token"])
    mark = dict([OF_A_COMMAND]) if marked else {}
    (await decider.post(f"{path}/approve", json={}, headers=mark)).raise_for_status()
    assert (await root.get(path)).json()["receipt"]["via"] == via
