"""OpenAI's own client against our agents, and what Open WebUI sends."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import openai
import pytest
from tests.integration.api.conftest import Connect

from steward.bootstrap import Platform
from steward.surfaces.api.openai.chores import chore_answer

TITLE_PROMPT = """### Task:
Generate a concise, 3-5 word title with an emoji summarizing the chat history.
### Guidelines:
- The title should clearly represent the main theme or subject of the conversation.
### Output:
JSON format: { "title": "your concise title here" }
### Examples:
- { "title": "📉 Stock Market Trends" }
### Chat History:
<chat_history>
USER: delete the task old reminder
ASSISTANT: Are you sure?
</chat_history>"""


def brought(name: str, description: str, **properties: str) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {key: {"type": "string", "description": said} for key, said in properties.items()},
        "required": list(properties),
    }
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


BROUGHT = [
    brought("get_weather", "Get the weather of a city.", city="The city"),
    brought("get_current_timestamp", "Get the current Unix timestamp in seconds."),
    brought("search_chats", "Search what was said in earlier chats of this program.", query="Words"),
    brought("write_note", "Write a note with this title and content.", title="Its title", content="The text"),
    brought("book_table", "Book a table at a restaurant.", restaurant="Its name", time="When"),
]


@pytest.fixture
async def client(connect: Connect, platform: Platform) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(
        base_url="http://localhost:8700/v1",
        api_key=platform.owner_token,
        http_client=connect(),
        max_retries=0,
    ) as client:
        yield client


async def tasks(api: httpx.AsyncClient) -> list[str]:
    return [task["title"] for task in (await api.get("/v1/tasks")).json()["items"]]


class Talk:
    """A chat program: keeps the words, sends all of them every time."""

    def __init__(
        self, client: openai.AsyncOpenAI, *, stream: bool = False, tools: Any = None, model: str = "tasks"
    ) -> None:
        self._client, self._model = client, model
        self._stream = stream
        self._more = {"tools": tools} if tools else {}
        self.messages: list[Any] = [{"role": "system", "content": "You are a pirate."}]

    async def say(self, text: str) -> str:
        self.messages.append({"role": "user", "content": text})
        made: Any = await self._client.chat.completions.create(
            model=self._model, messages=self.messages, stream=self._stream, temperature=0.2, **self._more
        )
        if self._stream:
            parts = [chunk.choices[0].delta.content or "" async for chunk in made]
            answer = "".join(parts)
        else:
            answer = made.choices[0].message.content
        self.messages.append({"role": "assistant", "content": f"{answer}\n"})  # programs tidy up
        return answer


async def test_each_agent_is_a_model(client: openai.AsyncOpenAI) -> None:
    names = [model.id async for model in client.models.list()]
    assert {"assistant", "tasks", "researcher"} <= set(names)
    assert (await client.models.retrieve("tasks")).owned_by == "steward"
    with pytest.raises(openai.NotFoundError):
        await client.models.retrieve("gpt-9")


@pytest.mark.parametrize("tools", [None, BROUGHT])
@pytest.mark.parametrize("stream", [False, True])
async def test_a_conversation_with_an_approval_through_openais_client(
    client: openai.AsyncOpenAI, api: httpx.AsyncClient, stream: bool, tools: Any
) -> None:
    """Also where a program offers tools of its own with every message, as Open WebUI does."""
    await api.post("/v1/tasks", json={"title": "old reminder"})
    talk = Talk(client, stream=stream, tools=tools)
    listed = await talk.say("list my tasks")
    asked = await talk.say("delete the task old reminder")
    before = await tasks(api)
    await talk.say("Yes, delete it")
    assert ("old reminder" in listed, "?" in asked, before, await tasks(api)) == (
        True,
        True,
        ["old reminder"],
        [],
    )
    assert len((await api.get("/v1/conversations")).json()["items"]) == 1


async def test_a_programs_tool_that_is_made_for_it_comes_before_a_search_of_ours(
    client: openai.AsyncOpenAI,
) -> None:
    weather = brought("get_weather", "The weather of a city.", city="")
    said: Any = [{"role": "user", "content": "What is the weather in Paris?"}]
    made = await client.chat.completions.create(model="assistant", messages=said, tools=[weather])  # type: ignore[list-item]
    (call,) = made.choices[0].message.tool_calls or ()
    assert call.function.name == "get_weather"  # type: ignore[union-attr]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_programs_tool_is_called_where_it_is_meant_and_the_agent_answers_the_rest(
    client: openai.AsyncOpenAI, api: httpx.AsyncClient, stream: bool
) -> None:
    talk = Talk(client, stream=stream, tools=BROUGHT, model="assistant")
    assert "Tokyo" in await talk.say("what time is it in Tokyo?")
    said: Any = [*talk.messages, {"role": "user", "content": "What is the weather in Paris?"}]
    made = await client.chat.completions.create(model="assistant", messages=said, tools=BROUGHT)
    (call,) = made.choices[0].message.tool_calls or ()
    assert (call.function.name, json.loads(call.function.arguments)) == ("get_weather", {"city": "Paris"})  # type: ignore[union-attr]
    found = {"role": "tool", "tool_call_id": call.id, "content": "It rains in Paris."}
    talk.messages = [*said, made.choices[0].message.model_dump(exclude_none=True), found]
    told = await client.chat.completions.create(model="assistant", messages=talk.messages, tools=BROUGHT)
    assert "rains" in (told.choices[0].message.content or "")
    talk.messages.append({"role": "assistant", "content": told.choices[0].message.content or ""})
    await talk.say("Add buy rope to my tasks")
    assert await tasks(api) == ["buy rope"]


async def test_what_a_programs_tool_still_needs_is_asked(client: openai.AsyncOpenAI) -> None:
    said: Any = [{"role": "user", "content": "Book a table at the restaurant"}]
    made = await client.chat.completions.create(model="assistant", messages=said, tools=BROUGHT)
    answer = made.choices[0].message
    assert (answer.tool_calls, (answer.content or "").rstrip().endswith("?")) == (None, True)


async def test_an_edited_history_starts_anew_and_its_yes_reaches_nothing(
    client: openai.AsyncOpenAI, api: httpx.AsyncClient
) -> None:
    await api.post("/v1/tasks", json={"title": "old reminder"})
    talk = Talk(client)
    await talk.say("delete the task old reminder")
    talk.messages[1]["content"] = "delete the task old reminder please"
    await talk.say("yes")
    assert (await tasks(api), len((await api.get("/v1/conversations")).json()["items"])) == (
        ["old reminder"],
        2,
    )


async def test_usage_is_counted_and_streamed_when_asked_for(client: openai.AsyncOpenAI) -> None:
    chunks = [
        chunk
        async for chunk in await client.chat.completions.create(
            model="tasks",
            messages=[{"role": "user", "content": [{"type": "text", "text": "list my tasks"}]}],
            stream=True,
            stream_options={"include_usage": True},
        )
    ]
    assert (chunks[-1].choices, chunks[-1].usage is not None, chunks[-2].choices[0].finish_reason) == (
        [],
        True,
        "stop",
    )


@pytest.mark.parametrize("stream", [False, True])
async def test_what_open_webui_asks_in_the_background_runs_no_agent(
    client: openai.AsyncOpenAI, api: httpx.AsyncClient, stream: bool
) -> None:
    await api.post("/v1/tasks", json={"title": "old reminder"})
    talk = Talk(client, stream=stream)
    answer = json.loads(await talk.say(TITLE_PROMPT))
    conversations = (await api.get("/v1/conversations")).json()["items"]
    executions = (await api.get("/v1/executions?tool=delete_task")).json()["items"]
    assert (answer, conversations, executions) == ({"title": "delete the task old reminder"}, [], [])


@pytest.mark.parametrize(
    ("wanted", "answer"),
    [
        ('{ "tags": ["tag1"] }', {"tags": ["General"]}),
        ('{ "follow_ups": ["Question 1?"] }', {"follow_ups": []}),
        ('{"queries": ["query1"]}', {"queries": []}),
    ],
)
def test_other_chores_get_the_json_they_name(wanted: str, answer: Any) -> None:
    prompt = TITLE_PROMPT.replace('{ "title": "your concise title here" }', wanted).replace(
        '- { "title": "📉 Stock Market Trends" }', ""
    )
    assert json.loads(chore_answer(prompt) or "") == answer
    assert chore_answer("### Heading\nadd task") is None
    assert chore_answer("add task 'x'") is None


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"model": "gpt-9", "messages": [{"role": "user", "content": "hi"}]}, 404),
        ({"model": "tasks", "messages": [{"role": "assistant", "content": "hi"}]}, 400),
        ({"model": "tasks", "messages": [{"role": "user", "content": None}]}, 400),
    ],
)
async def test_mistakes_are_answered_in_openais_form(
    api: httpx.AsyncClient, body: dict[str, Any], status: int
) -> None:
    answer = await api.post("/v1/chat/completions", json=body)
    assert (answer.status_code, set(answer.json()["error"])) == (status, {"message", "type", "param", "code"})
