"""The remaining routes: agents, metrics, traces, documentation, and what goes wrong."""

import asyncio
from collections.abc import Callable

import httpx
import pytest
from tests.integration.api.conftest import Connect
from tests.support.owner import owner_headers

from steward.bootstrap import Platform, open_platform
from steward.contract.agent import AgentManifest
from steward.contract.tool import ToolSpec
from steward.providers.functions import LegacyToolAgent
from steward.settings import Settings
from steward.surfaces.api.app import create_app
from steward.surfaces.api.routes.chat import AnswerShape
from steward.surfaces.api.routes.tasks import TaskShape
from steward.surfaces.api.shapes import ProposalShape, ToolResultShape


@pytest.mark.req("ORC-Q10")
async def test_agents_are_listed_stopped_and_started(api: httpx.AsyncClient) -> None:
    listed = (await api.get("/v1/agents")).json()["items"]
    assert {"core", "tools", "workbench"} <= {agent["id"] for agent in listed}
    stopped = await api.post("/v1/agents/core/stop")
    assert (stopped.status_code, stopped.json()["state"]) == (200, "stopped")
    assert (await api.get("/v1/tools/save_fact")).status_code == 404
    assert not (await api.get("/v1/agents/core/health")).json()["healthy"]
    started = await api.post("/v1/agents/core/start")
    assert (started.json()["state"], started.json()["tools"]) == (
        "running",
        ["save_fact", "log_to_obsidian", "calculate"],
    )
    unknown = await api.post("/v1/agents/none/start")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "AGENT_NOT_FOUND")


@pytest.mark.req("ORC-Q10")
async def test_the_agent_of_python_tools_starts_again_after_a_stop(api: httpx.AsyncClient) -> None:
    entry = {"name": "one", "description": "One.", "script": "one.py", "risk": "reversible"}
    await api.post("/v1/tools", json=entry | {"source": "def run(): return 1"})
    for _ in range(2):
        await api.post("/v1/agents/tools/stop")
        assert (await api.post("/v1/tools/one/call", json={})).status_code == 404
        refused = await api.delete("/v1/tools/one")
        assert (refused.status_code, refused.json()["code"]) == (503, "AGENT_UNAVAILABLE")
        await api.post("/v1/agents/tools/start")
        assert (await api.post("/v1/tools/one/call", json={})).json()["data"] == 1
    added = await api.post(
        "/v1/tools", json=entry | {"name": "two", "script": "two.py", "source": "def run(): return 2"}
    )
    assert added.status_code == 201
    assert (await api.post("/v1/tools/two/call", json={})).json()["data"] == 2


async def test_calls_are_counted_for_prometheus(api: httpx.AsyncClient) -> None:
    await api.post("/v1/tools/save_fact/call", json={"arguments": {"text": "Ana likes tea."}})
    answer = await api.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'tool="save_fact"' in answer.text


async def test_a_trace_is_found_by_its_calls_correlation_id(settings: Settings) -> None:
    traced = settings.model_copy(update={"otlp_endpoint": "http://127.0.0.1:9"})
    async with open_platform(traced) as platform:
        transport = httpx.ASGITransport(app=create_app(platform))
        async with httpx.AsyncClient(
            transport=transport, base_url="http://localhost", headers=owner_headers(platform)
        ) as client:
            body = {"arguments": {"text": "Ana likes tea."}, "correlation_id": "c" * 32}
            await client.post("/v1/tools/save_fact/call", json=body)
            await asyncio.to_thread(platform.tracer.flush)
            answer = await client.get(f"/v1/traces/{'c' * 32}")
            assert [span["name"] for span in answer.json()["items"]] == ["mcp_tool_call:save_fact"]
            missing = await client.get("/v1/traces/none")
            assert (missing.status_code, missing.json()["code"]) == (404, "NOT_FOUND")


async def test_the_documentation_describes_problems_and_examples(api: httpx.AsyncClient) -> None:
    document = (await api.get("/openapi.json")).json()
    operations = [op for path in document["paths"].values() for op in path.values()]
    for operation in operations:
        form = "application/json" if "openai" in operation["tags"] else "application/problem+json"
        assert "422" not in operation["responses"]
        assert list(operation["responses"]["4XX"]["content"]) == [form]
    assert document["components"]["schemas"]["NewTool"]["examples"][0]["name"] == "hello_world"
    assert set(document["components"]["securitySchemes"]) == {"APIKeyHeader", "HTTPBearer"}
    assert (await api.get("/docs")).status_code == 200


async def test_the_examples_are_what_the_api_sends(api: httpx.AsyncClient) -> None:
    document = (await api.get("/openapi.json")).json()
    shapes = (TaskShape, ToolResultShape, AnswerShape, ProposalShape)
    for shape in shapes:
        (example,) = document["components"]["schemas"][shape.__name__]["examples"]
        assert shape.model_validate(example).model_dump(mode="json") == example
    kept = (await api.post("/v1/tools/add_task/call", json={"arguments": {"title": "Call Ana"}})).json()
    call = {"arguments": {"task_id": kept["data"]["task"]["id"], "user_id": "local"}}
    sent = (await api.post("/v1/tools/delete_task/call", json=call)).json()
    shown = document["components"]["schemas"]["ToolResultShape"]["examples"][0]
    assert {name for name in sent if sent[name] != shown[name]} == {
        "proposal_id",
        "call_id",
        "correlation_id",
        "duration_ms",
    }


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/nowhere", b"", 404),
        ("DELETE", "/v1/tools", b"", 405),
        ("POST", "/v1/tools/save_fact/call", b"{", 422),
        ("POST", "/v1/tools/save_fact/call", b'{"arguments": 3}', 422),
        ("POST", "/v1/tools/save_fact/call", b'{"arguments": {"text": NaN}}', 422),
        ("GET", "/v1/proposals?limit=0", b"", 422),
        ("GET", "/v1/proposals?after=%00", b"", 400),
    ],
)
async def test_whatever_goes_wrong_is_a_problem_with_a_code(
    api: httpx.AsyncClient, method: str, path: str, body: bytes, status: int
) -> None:
    answer = await api.request(method, path, content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    shape = answer.json()
    assert (shape["status"], bool(shape["code"]), bool(shape["detail"])) == (status, True, True)
    assert shape["request_id"] == answer.headers["x-request-id"]


async def test_a_mistake_of_ours_shows_no_trace_and_names_the_log(
    connect: Connect, platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(platform.orchestrator.lifecycle, "statuses", broken)
    answer = await connect(key=platform.owner_token).get("/v1/agents")
    assert (answer.status_code, answer.json()["code"]) == (500, "INTERNAL")
    assert "secret detail" not in answer.text
    assert answer.json()["request_id"]


async def test_tools_are_found_by_what_they_do(api: httpx.AsyncClient) -> None:
    found = (await api.get("/v1/tools/search", params={"q": "remember a fact"})).json()["items"]
    assert found[0]["name"] == "save_fact"
    assert 0 < found[0]["score"] <= 1
    assert (await api.get("/v1/tools/search")).status_code == 422


class Quarantined(LegacyToolAgent):
    """A server whose tool waits to be accepted."""

    accepted = False

    def manifest(self) -> AgentManifest:
        spec = ToolSpec(
            name="far__tool", description="Far.", blocked=None if self.accepted else "It changed."
        )
        return AgentManifest(id="far", name="far", tools=(spec,))

    def subscribe(self, listener: Callable[[], None]) -> None:
        self.listener = listener

    def available(self) -> bool:
        return True

    async def accept(self, tool: str, *, shown: str | None = None) -> None:
        assert shown is None
        assert tool == "far__tool"
        self.accepted = True
        self.listener()


async def test_a_quarantined_tool_is_accepted_by_a_person(api: httpx.AsyncClient, platform: Platform) -> None:
    platform.orchestrator.register_agent(Quarantined("far", []))
    await platform.orchestrator.lifecycle.start("far")
    assert not (await api.get("/v1/tools/far__tool")).json()["available"]
    accepted = await api.post("/v1/tools/far__tool/accept")
    assert (accepted.status_code, accepted.json()["available"]) == (200, True)
    ours = await api.post("/v1/tools/save_fact/accept")
    assert (ours.status_code, ours.json()["code"]) == (409, "CONFLICT")


async def test_a_body_that_is_no_json_says_where_it_breaks(api: httpx.AsyncClient) -> None:
    body = b'{"message": oops}'
    refused = await api.post("/v1/chat", content=body, headers={"content-type": "application/json"})
    assert (refused.status_code, refused.json()["code"]) == (422, "INVALID_INPUT")
    assert refused.json()["detail"] == "The body is not valid JSON: Expecting value, at character 12."
