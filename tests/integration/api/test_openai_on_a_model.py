"""OpenAI's protocol in front of a language model: what a program sends reaches it on a real wire."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from tests.support.scripted_model import RATE_LIMIT, CallTools, Say, ScriptedModel, scripted_model

from steward.bootstrap import open_platform
from steward.settings import load_settings
from steward.surfaces.api.app import create_app

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS: Any = [{"type": "function", "function": {"name": "weather", "description": "x", "parameters": SCHEMA}}]
FORM: Any = {"type": "json_schema", "json_schema": {"name": "place", "schema": SCHEMA, "strict": True}}
HELLO: Any = [{"role": "system", "content": "You are a pirate."}, {"role": "user", "content": "Hello"}]


@pytest.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as model:
        yield model


@pytest.fixture
async def client(
    model: ScriptedModel, tmp_path: Path, database_url: str
) -> AsyncIterator[openai.AsyncOpenAI]:
    settings = load_settings(
        STEWARD_HOME=tmp_path / "home",
        DATABASE_URL=database_url,
        OTEL_EXPORTER_OTLP_ENDPOINT="none",
        STEWARD_MODEL="openai:scripted",
        OPENAI_BASE_URL=model.address,
    )
    async with open_platform(settings) as platform:
        transport = httpx.ASGITransport(app=create_app(platform))
        async with openai.AsyncOpenAI(
            base_url="http://localhost:8700/v1",
            api_key=platform.owner_token,
            http_client=httpx.AsyncClient(transport=transport),
            max_retries=0,
        ) as client:
            yield client


def roles(model: ScriptedModel) -> list[str]:
    return [message["role"] for message in model.requests[-1]["messages"]]


async def test_tools_settings_and_system_prompt_reach_the_model(
    client: openai.AsyncOpenAI, model: ScriptedModel
) -> None:
    model.answer(CallTools(("weather", {"city": "Rome"})))
    answer = await client.chat.completions.create(
        model="assistant", messages=HELLO, tools=TOOLS, tool_choice="required", temperature=0.5, seed=7,
        max_tokens=50, stop=["x"],
    )  # fmt: skip
    sent = model.requests[-1]
    assert answer.choices[0].finish_reason == "tool_calls"
    assert (roles(model), sent["messages"][0]["content"]) == (["system", "user"], "You are a pirate.")
    assert (sent["tools"][0]["function"]["name"], sent["tool_choice"]) == ("weather", "required")
    assert (sent["temperature"], sent["seed"], sent["stop"]) == (0.5, 7, ["x"])
    assert 50 in (sent.get("max_tokens"), sent.get("max_completion_tokens"))


async def test_results_of_a_programs_tools_reach_the_model(
    client: openai.AsyncOpenAI, model: ScriptedModel
) -> None:
    model.answer(Say("It is sunny."))
    called = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Rome"}'}}
    said: Any = [
        *HELLO,
        {"role": "assistant", "content": None, "tool_calls": [called]},
        {"role": "tool", "tool_call_id": "c1", "content": "sunny"},
    ]
    answer = await client.chat.completions.create(model="assistant", messages=said, tools=TOOLS)
    assert (answer.choices[0].message.content, roles(model)) == (
        "It is sunny.",
        ["system", "user", "assistant", "tool"],
    )
    assert answer.usage is not None
    assert answer.usage.total_tokens == 18


async def test_a_form_goes_to_the_model_and_what_does_not_fit_is_an_error(
    client: openai.AsyncOpenAI, model: ScriptedModel
) -> None:
    model.answer(Say('{"city": "Rome"}'), Say("Rome."))
    fits = await client.chat.completions.create(model="assistant", messages=HELLO, response_format=FORM)
    assert fits.choices[0].message.content == '{"city": "Rome"}'
    assert model.requests[-1]["response_format"]["type"] == "json_schema"
    with pytest.raises(openai.InternalServerError) as misfit:
        await client.chat.completions.create(model="assistant", messages=HELLO, response_format=FORM)
    assert (misfit.value.status_code, misfit.value.code) == (502, "MODEL_ANSWER_INVALID")


async def test_plain_json_is_asked_of_the_model(client: openai.AsyncOpenAI, model: ScriptedModel) -> None:
    model.answer(Say('{"a": 1}'))
    answer = await client.chat.completions.create(
        model="assistant", messages=HELLO, response_format={"type": "json_object"}
    )
    assert answer.choices[0].message.content == '{"a": 1}'
    assert model.requests[-1]["response_format"] == {"type": "json_object"}


async def test_words_are_streamed_as_the_model_writes_them(
    client: openai.AsyncOpenAI, model: ScriptedModel
) -> None:
    model.answer(Say("It is very sunny in Rome today."))
    stream = await client.chat.completions.create(model="assistant", messages=HELLO, tools=TOOLS, stream=True)
    words = [chunk.choices[0].delta.content async for chunk in stream if chunk.choices[0].delta.content]
    assert ("".join(words), len(words) > 1) == ("It is very sunny in Rome today.", True)


@pytest.mark.parametrize("before", ["", "Let me see. "])
@pytest.mark.parametrize("stream", [False, True])
async def test_a_model_hands_what_no_brought_tool_is_made_for_to_the_agent(
    client: openai.AsyncOpenAI, model: ScriptedModel, stream: bool, before: str
) -> None:
    model.answer(CallTools(("ask_steward", {}), before=before), Say("Nothing is due today."))
    asked: Any = [{"role": "user", "content": "What is due today?"}]
    if stream:
        parts = await client.chat.completions.create(
            model="assistant", messages=asked, tools=TOOLS, stream=True
        )
        answer = "".join([part.choices[0].delta.content or "" async for part in parts])
    else:
        made = await client.chat.completions.create(model="assistant", messages=asked, tools=TOOLS)
        answer = made.choices[0].message.content or ""
    offered = [{tool["function"]["name"] for tool in request["tools"]} for request in model.requests]
    assert (answer, offered[0]) == (before * stream + "Nothing is due today.", {"weather", "ask_steward"})
    assert "list_tasks" in offered[1]


async def test_a_picture_reaches_the_model(client: openai.AsyncOpenAI, model: ScriptedModel) -> None:
    model.answer(Say("A cat."))
    picture = {"type": "image_url", "image_url": {"url": "http://example.org/cat.png"}}
    said: Any = [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, picture]}]
    await client.chat.completions.create(model="assistant", messages=said)
    assert "http://example.org/cat.png" in str(model.requests[-1]["messages"])


async def test_a_system_prompt_holds_for_a_whole_conversation_with_an_agent(
    client: openai.AsyncOpenAI, model: ScriptedModel
) -> None:
    model.answer(Say("Ahoy."), Say("Aye."))
    first = await client.chat.completions.create(model="assistant", messages=HELLO)
    said: Any = [
        *HELLO,
        {"role": "assistant", "content": first.choices[0].message.content},
        {"role": "user", "content": "And now?"},
    ]
    await client.chat.completions.create(model="assistant", messages=said)
    told = [str(request["messages"]).count("You are a pirate.") for request in model.requests]
    assert told == [1, 1]


async def test_a_model_that_is_busy_is_an_error_of_the_protocol(
    client: openai.AsyncOpenAI, model: ScriptedModel
) -> None:
    model.answer(RATE_LIMIT)
    with pytest.raises(openai.RateLimitError) as busy:
        await client.chat.completions.create(model="assistant", messages=HELLO, tools=TOOLS)
    assert busy.value.code == "MODEL_RATE_LIMITED"
