"""Phoenix, a viewer made for OpenTelemetry's conventions, shows our spans as what they are."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.attacks.conftest import ADMIN, running_victim
from tests.peers.setup import pypi
from tests.support.mcp_servers import free_port
from tests.support.postgres import TestServer
from tests.support.waiting import until

SECONDS_TO_START = 180


@pytest.fixture
def phoenix(tmp_path: Path) -> Iterator[tuple[httpx.Client, str]]:
    """Its API, and the address at which it takes spans."""
    page, otlp = free_port(), free_port()
    quiet = {
        "PHOENIX_HOST": "127.0.0.1", "PHOENIX_PORT": str(page), "PHOENIX_GRPC_PORT": str(otlp),
        "PHOENIX_WORKING_DIR": str(tmp_path / "phoenix"), "PHOENIX_TELEMETRY_ENABLED": "false",
        "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false",
    }  # fmt: skip
    process = subprocess.Popen(
        [*pypi("phoenix", "phoenix"), "serve"],
        env={**os.environ, **quiet}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{page}", timeout=30) as client:
            yield client, f"http://127.0.0.1:{otlp}"
    finally:
        process.terminate()
        process.wait(30)


def answers(client: httpx.Client) -> bool:
    try:
        return client.get("/healthz").is_success
    except httpx.TransportError:
        return False


@pytest.mark.req("RES-US5.1")
async def test_a_viewer_made_for_the_conventions_tells_runs_models_and_tools_apart(
    phoenix: tuple[httpx.Client, str], postgres: TestServer, tmp_path: Path
) -> None:
    viewer, otlp = phoenix
    await until(lambda: answers(viewer), seconds=SECONDS_TO_START)
    with running_victim(postgres, tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=otlp) as house:
        asked = house.client(ADMIN).post(
            "/v1/chat", json={"message": "what time is it in Tokyo?"}, timeout=90
        )
        conversation = asked.raise_for_status().json()["conversation"]
        found: dict[str, Any] = {}

        async def shown() -> bool:
            spans = viewer.get("/v1/projects/default/spans", params={"limit": 100}).json().get("data", [])
            found.update({each["name"]: each for each in spans})
            return {"agent_run", "chat planner", "mcp_tool_call:get_current_time"} <= set(found)

        await until(shown, seconds=60)
    kinds = {name: found[name]["span_kind"] for name in found}
    assert kinds["agent_run"] == kinds["invoke_agent assistant"] == "AGENT"
    assert (kinds["chat planner"], kinds["mcp_tool_call:get_current_time"]) == ("LLM", "TOOL")
    run, call = found["agent_run"], found["mcp_tool_call:get_current_time"]
    assert run["attributes"]["gen_ai.conversation.id"] == conversation
    assert call["attributes"]["tool.name"] == "get_current_time"  # Phoenix's own word for it
    assert call["context"]["trace_id"] == run["context"]["trace_id"]
