"""Turns that somebody follows: leaving stops them, stopping ends them, and what was done stays."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from tests.support.owner import owner_headers
from tests.support.scripted_model import CallTools, Hang, Say, ScriptedModel, scripted_model
from tests.support.serving import served
from tests.support.waiting import until

from steward.bootstrap import open_platform
from steward.settings import load_settings
from steward.surfaces.api.app import create_app
from steward.surfaces.api.routes import chat

NOTE = CallTools(("save_fact", {"text": "The key is at Ana's."}))
EVENTS = {"Accept": "text/event-stream"}


@pytest.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as model:
        yield model


@pytest.fixture
async def client(tmp_path: Path, database_url: str, model: ScriptedModel) -> AsyncIterator[httpx.AsyncClient]:
    settings = load_settings(
        STEWARD_HOME=tmp_path / "home",
        DATABASE_URL=database_url,
        OTEL_EXPORTER_OTLP_ENDPOINT="none",
        STEWARD_MODEL="openai:m",
        OPENAI_BASE_URL=model.address,
        OPENAI_API_KEY="k",
    )
    async with open_platform(settings) as platform:
        await platform.agents.warm()
        async with (
            served(create_app(platform)) as address,
            httpx.AsyncClient(base_url=address, timeout=60, headers=owner_headers(platform)) as client,
        ):
            yield client


async def latest(client: httpx.AsyncClient) -> dict[str, object]:
    [conversation] = (await client.get("/v1/conversations")).json()["items"]
    return (await client.get(f"/v1/conversations/{conversation['id']}")).json()


async def test_a_client_that_leaves_stops_its_turn(client: httpx.AsyncClient, model: ScriptedModel) -> None:
    model.answer(NOTE, Hang(), Say("unused"))
    seen: list[str] = []
    async with client.stream("POST", "/v1/chat", json={"message": "note it"}, headers=EVENTS) as response:
        lines = response.aiter_lines()  # held, because letting go of it is leaving
        async for line in lines:
            seen.append(line)
            if line == "event: tool_result":
                break
        await model.hanging.wait()

    async def ended() -> bool:
        return bool((await latest(client))["turns"])

    await until(ended)
    [turn] = (await latest(client))["turns"]
    assert "event: tool_call" in seen
    assert (turn["answer"]["status"], [call["tool"] for call in turn["answer"]["tool_calls"]]) == (
        "failed",
        ["save_fact"],
    )


async def test_a_turn_is_stopped_from_elsewhere(client: httpx.AsyncClient, model: ScriptedModel) -> None:
    model.answer(Hang(), Say("Going on."))
    asking = asyncio.create_task(client.post("/v1/chat", json={"message": "hang"}))
    await model.hanging.wait()
    here = (await latest(client))["id"]
    busy = await client.post("/v1/chat", json={"message": "and now", "conversation": here})
    stopped = await client.post(f"/v1/conversations/{here}/stop")
    answer = (await asking).json()
    again = await client.post("/v1/chat", json={"message": "go on", "conversation": here})
    assert (busy.status_code, busy.json()["code"], stopped.json()) == (409, "CONFLICT", {"stopped": True})
    assert (answer["status"], answer["answer"], again.json()["answer"]) == (
        "failed",
        "The run was stopped.",
        "Going on.",
    )


async def test_a_stream_names_a_new_conversation_so_that_it_can_be_stopped(
    client: httpx.AsyncClient, model: ScriptedModel
) -> None:
    model.answer(Hang())
    async with client.stream("POST", "/v1/chat", json={"message": "hang"}, headers=EVENTS) as response:
        await model.hanging.wait()
        here = response.headers["x-conversation-id"]
        stopped = await client.post(f"/v1/conversations/{here}/stop")
        names = [line async for line in response.aiter_lines() if line.startswith("event: ")]
    assert (stopped.json(), names[-1]) == ({"stopped": True}, "event: done")


async def test_a_silent_model_is_bridged_with_signs_of_life(
    client: httpx.AsyncClient, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat, "SECONDS_BETWEEN_SIGNS", 0.05)
    model.answer(Hang())
    lines: list[str] = []
    async with client.stream("POST", "/v1/chat", json={"message": "hang"}, headers=EVENTS) as response:
        async for line in response.aiter_lines():
            lines.append(line)
            if len(lines) > 3:
                break
    body = {"model": "assistant", "messages": [{"role": "user", "content": "hang"}], "stream": True}
    async with client.stream("POST", "/v1/chat/completions", json=body) as response:
        async for line in response.aiter_lines():
            lines.append(line)
            if line.startswith(":"):
                break
    assert (lines[0], lines[-1]) == (": waiting", ": waiting")
