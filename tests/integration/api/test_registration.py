"""Python tools through the API: registered, called, changed, removed."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from steward.bootstrap import Platform, open_platform
from steward.contract.errors import ConfigError
from steward.settings import Settings
from steward.surfaces.api.serve import serve

HELLO: dict[str, Any] = {
    "name": "hello_world",
    "description": "Greet somebody by name.",
    "input_schema": {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]},
    "output_schema": {"type": "object", "required": ["greeting"]},
    "script": "hello_world.py",
    "risk": "reversible",
}
SOURCE = "def run(who):\n    return {'greeting': f'Hello, {who}!'}\n"


def entries(tools_json: Path) -> list[dict[str, Any]]:
    return json.loads(tools_json.read_text())["tools"]


@pytest.fixture
def tools_json(platform: Platform) -> Path:
    return platform.settings.tools_file


@pytest.mark.req("SKL-SC-002", "SKL-FR-010", "SKL-US3.1", "SKL-Q02")
async def test_a_tool_registered_through_the_api_can_be_called_at_once(
    api: httpx.AsyncClient, tools_json: Path
) -> None:
    made = await api.post("/v1/tools", json=HELLO | {"source": SOURCE})
    assert (made.status_code, made.json()["warnings"]) == (201, [])
    assert made.json()["tool"] == (await api.get("/v1/tools/hello_world")).json()
    assert entries(tools_json) == [HELLO]
    called = await api.post("/v1/tools/hello_world/call", json={"arguments": {"who": "Ada"}})
    assert (called.status_code, called.json()["status"]) == (200, "done")
    assert called.json()["data"] == {"greeting": "Hello, Ada!"}


@pytest.mark.req("SKL-FR-010", "SKL-US3.2")
async def test_a_tool_is_updated_and_removed(api: httpx.AsyncClient, tools_json: Path) -> None:
    await api.post("/v1/tools", json=HELLO | {"source": SOURCE})
    change = HELLO | {"description": "Greet.", "source": SOURCE.replace("Hello", "Goodbye")}
    change.pop("name")
    updated = await api.put("/v1/tools/hello_world", json=change)
    assert (updated.status_code, updated.json()["tool"]["description"]) == (200, "Greet.")
    called = await api.post("/v1/tools/hello_world/call", json={"arguments": {"who": "Ada"}})
    assert called.json()["data"] == {"greeting": "Goodbye, Ada!"}

    removed = await api.delete("/v1/tools/hello_world")
    assert (removed.status_code, removed.content) == (204, b"")
    assert (await api.get("/v1/tools/hello_world")).status_code == 404
    assert entries(tools_json) == []
    gone = await api.post("/v1/tools/hello_world/call", json={"arguments": {"who": "Ada"}})
    assert (gone.status_code, gone.json()["code"]) == (404, "TOOL_NOT_FOUND")


@pytest.mark.req("SKL-FR-005", "SKL-SC-004")
async def test_arguments_and_results_are_held_against_the_schemas(api: httpx.AsyncClient) -> None:
    await api.post("/v1/tools", json=HELLO | {"source": "def run(who): return {'other': who}"})
    wrong = await api.post("/v1/tools/hello_world/call", json={"arguments": {"who": 3}})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "INVALID_ARGUMENTS")
    result = (await api.post("/v1/tools/hello_world/call", json={"arguments": {"who": "x"}})).json()
    assert (result["success"], result["error_code"]) == (False, "INVALID_OUTPUT")


@pytest.mark.req("SKL-EDGE-05", "SKL-FR-008")
async def test_a_tool_without_its_script_is_registered_with_a_warning_and_fails_as_one(
    api: httpx.AsyncClient,
) -> None:
    made = await api.post("/v1/tools", json=HELLO)
    assert made.status_code == 201
    assert "hello_world.py" in made.json()["warnings"][0]
    called = await api.post("/v1/tools/hello_world/call", json={"arguments": {"who": "Ada"}})
    assert called.status_code == 200
    shape = called.json()
    assert (shape["status"], shape["success"], shape["error_code"]) == (
        "failed",
        False,
        "TOOL_EXECUTION_ERROR",
    )
    assert "hello_world.py" in shape["error"]


@pytest.mark.req("ORC-Q10")
@pytest.mark.req("SKL-EDGE-01", "SKL-FR-014", "SKL-Q06")
async def test_a_tool_that_outlasts_its_own_timeout_is_stopped_with_the_standard_error(
    api: httpx.AsyncClient,
) -> None:
    source = "import time\ndef run(who):\n    time.sleep(600)"
    await api.post("/v1/tools", json=HELLO | {"timeout": 0.5, "source": source})
    shape = (await api.post("/v1/tools/hello_world/call", json={"arguments": {"who": "x"}})).json()
    assert (shape["success"], shape["error_code"]) == (False, "TOOL_EXECUTION_TIMEOUT")


@pytest.mark.req("SKL-FR-012", "SKL-Q04")
@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"name": "a b"}, 422),
        ({"timeout": -1}, 422),
        ({"risk": "low"}, 422),
        ({"colour": "red"}, 422),
        ({"script": "../x.py"}, 422),
        ({"input_schema": {"type": "nonsense"}}, 422),
        ({"source": "def run(:"}, 400),
        ({"source": 3}, 422),
        ({"name": "save_fact"}, 409),
    ],
)
async def test_what_cannot_work_is_refused_and_nothing_is_written(
    api: httpx.AsyncClient, tools_json: Path, change: dict[str, Any], status: int
) -> None:
    before = entries(tools_json)
    refused = await api.post("/v1/tools", json=HELLO | {"source": SOURCE} | change)
    assert (refused.status_code, refused.headers["content-type"]) == (status, "application/problem+json")
    assert refused.json()["detail"]
    assert entries(tools_json) == before
    assert not (tools_json.parent / "hello_world.py").exists()


async def test_the_name_in_the_body_must_be_the_one_in_the_address(api: httpx.AsyncClient) -> None:
    await api.post("/v1/tools", json=HELLO | {"source": SOURCE})
    refused = await api.put("/v1/tools/hello_world", json=HELLO | {"name": "other"})
    assert (refused.status_code, refused.json()["code"]) == (400, "INVALID_INPUT")
    unknown = await api.put("/v1/tools/other", json=HELLO | {"name": "other"})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "TOOL_NOT_FOUND")
    built_in = await api.delete("/v1/tools/save_fact")
    assert (built_in.status_code, built_in.json()["code"]) == (404, "TOOL_NOT_FOUND")


@pytest.mark.req("SKL-FR-015", "SKL-EDGE-06", "SKL-Q08")
async def test_a_hundred_clients_registering_at_once_lose_nothing(
    api: httpx.AsyncClient, tools_json: Path
) -> None:
    bodies = [HELLO | {"name": f"hello_{n}", "script": f"hello_{n}.py", "source": SOURCE} for n in range(100)]
    answers = await asyncio.gather(*(api.post("/v1/tools", json=body) for body in bodies))
    assert {answer.status_code for answer in answers} == {201}
    written = {tool["name"] for tool in entries(tools_json)}
    listed = {tool["name"] for tool in (await api.get("/v1/tools?agent=tools")).json()["items"]}
    assert written == listed == {body["name"] for body in bodies}


async def test_a_tool_without_a_rating_waits_for_a_person_who_may_edit_the_call(
    api: httpx.AsyncClient,
) -> None:
    entry = {name: value for name, value in HELLO.items() if name != "risk"}
    await api.post("/v1/tools", json=entry | {"source": SOURCE})
    waiting = await api.post("/v1/tools/hello_world/call", json={"arguments": {"who": "Ada"}})
    assert (waiting.status_code, waiting.json()["status"]) == (202, "pending_approval")
    proposal = waiting.json()["proposal_id"]
    run = await api.post(f"/v1/proposals/{proposal}/approve", json={"arguments": {"who": "Eve"}})
    assert run.json()["data"] == {"greeting": "Hello, Eve!"}
    again = await api.post(f"/v1/proposals/{proposal}/approve", json={})
    assert (again.status_code, again.json()["code"]) == (409, "PROPOSAL_ALREADY_DECIDED")
    kept = (await api.get(f"/v1/proposals/{proposal}")).json()
    assert (kept["arguments"], kept["receipt"]["arguments"]) == ({"who": "Ada"}, {"who": "Eve"})


@pytest.mark.req("SKL-FR-007", "SKL-US2.1")
async def test_code_execution_always_asks_and_runs_once_approved(api: httpx.AsyncClient) -> None:
    waiting = await api.post("/v1/tools/code_execution/call", json={"arguments": {"code": "print(6 * 7)"}})
    assert waiting.status_code == 202
    run = await api.post(f"/v1/proposals/{waiting.json()['proposal_id']}/approve", json={})
    assert run.json()["data"]["stdout"] == "42\n"


@pytest.mark.req("SKL-FR-006", "SKL-FR-007")
async def test_a_question_nobody_could_be_asked_waits_and_its_answer_comes_back(
    api: httpx.AsyncClient,
) -> None:
    call = {"arguments": {"question": "Which town?", "choices": ["Rome", "Oslo"]}}
    asked = (await api.post("/v1/tools/request_human_input/call", json=call)).json()
    assert (asked["success"], asked["error_code"]) == (False, "HUMAN_INPUT_PENDING")
    (question,) = (await api.get("/v1/questions")).json()["items"]
    assert (question["id"], question["text"]) == (asked["data"]["question_id"], "Which town?")
    address = f"/v1/questions/{question['id']}/answer"
    assert (await api.post(address, json={"answer": "Paris"})).status_code == 400
    assert (await api.post(address, json={"answer": "Rome"})).json()["answered_by"] == "local"
    assert (await api.post(address, json={"answer": "Oslo"})).status_code == 409
    assert (await api.post("/v1/questions/none/answer", json={"answer": "x"})).status_code == 404
    answered = (await api.post("/v1/tools/request_human_input/call", json=call)).json()
    assert answered["data"] == {"answer": "Rome", "asked_before": True}
    assert (await api.get("/v1/questions")).json()["items"] == []


OVERLAP = """
import pathlib, time
def run(folder):
    place = pathlib.Path(folder) / "occupied"
    place.mkdir()
    time.sleep(0.05)
    place.rmdir()
    return "alone"
"""

MEET = """
import pathlib, time, uuid
def run(folder):
    folder = pathlib.Path(folder)
    (folder / str(uuid.uuid4())).touch()
    while len(list(folder.iterdir())) < 2:
        time.sleep(0.01)
    return "met"
"""


@pytest.mark.req("SKL-FR-013", "SKL-Q05", "SKL-EDGE-08")
async def test_calls_overlap_only_where_a_tool_says_that_they_may(
    api: httpx.AsyncClient, tmp_path: Path
) -> None:
    entry = {"name": "serial", "description": "x", "script": "serial.py", "risk": "reversible"}
    both = entry | {"name": "both", "script": "both.py", "parallel_capable": True, "timeout": 60}
    await api.post("/v1/tools", json=entry | {"source": OVERLAP})
    await api.post("/v1/tools", json=both | {"source": MEET})
    body = {"arguments": {"folder": str(tmp_path)}}
    alone = await asyncio.gather(*(api.post("/v1/tools/serial/call", json=body) for _ in range(4)))
    assert [answer.json()["data"] for answer in alone] == ["alone"] * 4
    meeting = tmp_path / "meeting"
    meeting.mkdir()
    body = {"arguments": {"folder": str(meeting)}}
    met = await asyncio.gather(*(api.post("/v1/tools/both/call", json=body) for _ in range(2)))
    assert [answer.json()["data"] for answer in met] == ["met"] * 2


@pytest.mark.req("SKL-FR-001", "SKL-FR-012", "SKL-EDGE-04", "SKL-Q04")
async def test_the_platform_starts_with_the_tools_of_its_file_and_not_with_a_broken_one(
    settings: Settings,
) -> None:
    async with open_platform(settings):
        pass
    settings.tools_file.write_text(json.dumps({"tools": [HELLO]}))
    async with open_platform(settings) as platform:
        assert platform.orchestrator.registry.get("hello_world").agent_id == "tools"
    wrong = json.dumps({"tools": [HELLO | {"timeout": -1}]}, indent=1)
    for content, line in ((wrong, wrong.split("timeout")[0].count("\n") + 1), ("{", 1)):
        settings.tools_file.write_text(content)
        with pytest.raises(ConfigError) as caught:
            async with open_platform(settings):
                pass
        assert caught.value.message.startswith(f"{settings.tools_file}, line {line}")
        assert caught.value.fix
    settings.tools_file.unlink()
    with pytest.raises(ConfigError) as missing:
        async with open_platform(settings):
            pass
    assert missing.value.code == "CONFIG_MISSING"


@pytest.mark.req("SKL-EDGE-04", "SKL-Q04")
@pytest.mark.parametrize("content", ["{", '{"mcpServers": 3}', None])
async def test_the_platform_does_not_start_with_a_broken_or_missing_mcp_json(
    settings: Settings, content: str | None
) -> None:
    async with open_platform(settings):
        pass
    settings.mcp_file.unlink()
    if content is not None:
        settings.mcp_file.write_text(content)
    with pytest.raises(ConfigError) as caught:
        async with open_platform(settings):
            pass
    assert str(settings.mcp_file) in caught.value.message
    assert caught.value.fix


async def test_other_machines_are_served_only_once_there_is_a_key(settings: Settings) -> None:
    with pytest.raises(ConfigError) as caught:
        await serve(settings, host="0.0.0.0", port=0, ready=lambda *_: None)
    assert "keys add" in caught.value.explain()
