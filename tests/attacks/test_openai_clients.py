"""OpenAI's own client at a real `steward up`: whatever it asks for is done, or refused by its name."""

from collections.abc import Iterator
from typing import Any

import openai
import pytest
from tests.attacks.conftest import Victim

pytestmark = pytest.mark.slow

WEATHER = {
    "name": "get_weather",
    "description": "Get the weather of a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
TOOLS: Any = [{"type": "function", "function": WEATHER}]
HELLO: Any = [{"role": "user", "content": "what time is it in Tokyo?"}]
PICTURE: Any = [
    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}]}
]
SOUND: Any = [
    {"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "", "format": "wav"}}]}
]


@pytest.fixture(scope="module")
def client(victim: Victim) -> Iterator[openai.OpenAI]:
    key = victim.key("use")
    with openai.OpenAI(base_url=f"{victim.url}/v1", api_key=key, max_retries=0) as client:
        yield client


@pytest.mark.parametrize(
    ("asked", "param"),
    [
        ({"n": 2}, "n"),
        ({"logprobs": True}, "logprobs"),
        ({"logit_bias": {"1": 5}}, "logit_bias"),
        ({"modalities": ["audio"]}, "modalities"),
        ({"functions": [WEATHER]}, "functions"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"response_format": {"type": "grammar"}}, "response_format"),
        ({"tools": [{"type": "custom"}]}, "tools[0]"),
        ({"tools": TOOLS, "tool_choice": {"type": "function", "function": {"name": "other"}}}, "tool_choice"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"stop": ["a", "b", "c", "d", "e"]}, "stop"),
        ({"messages": PICTURE}, "messages"),
        ({"messages": SOUND}, "messages[0].content[0]"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"extra_body": {"grammar": "x"}}, "grammar"),
    ],
)
def test_what_cannot_be_done_is_refused_by_its_name(client: openai.OpenAI, asked: Any, param: str) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(**{"model": "assistant", "messages": HELLO, **asked})
    assert (refused.value.param, len(refused.value.message) > 30) == (param, True)


def test_a_programs_own_tools_come_back_as_calls_and_their_results_are_read(client: openai.OpenAI) -> None:
    said: list[Any] = [{"role": "user", "content": "What is the weather in Paris?"}]
    first = client.chat.completions.create(model="assistant", messages=said, tools=TOOLS).choices[0]
    assert first.message.tool_calls is not None
    call: Any = first.message.tool_calls[0]
    assert (first.finish_reason, call.function.name, call.function.arguments) == (
        "tool_calls",
        "get_weather",
        '{"city":"Paris"}',
    )
    said += [first.message, {"role": "tool", "tool_call_id": call.id, "content": "Sunny, 21 degrees"}]
    last = client.chat.completions.create(model="assistant", messages=said, tools=TOOLS).choices[0]
    assert (last.finish_reason, "Sunny, 21 degrees" in str(last.message.content)) == ("stop", True)


def test_a_form_is_filled_from_what_was_said(client: openai.OpenAI) -> None:
    form: Any = {"type": "json_schema", "json_schema": {"name": "weather", "schema": WEATHER["parameters"]}}
    asked: Any = [{"role": "user", "content": "Get the weather of the city Paris"}]
    answer = client.chat.completions.create(model="assistant", messages=asked, response_format=form)
    assert answer.choices[0].message.content == '{"city":"Paris"}'


def test_an_answer_ends_where_it_is_to_end(client: openai.OpenAI) -> None:
    asked: Any = [{"role": "user", "content": "what can you do?"}]
    short = client.chat.completions.create(model="assistant", messages=asked, max_tokens=5)
    stopped = client.chat.completions.create(model="assistant", messages=asked, stop="tasks").choices[0]
    assert short.usage is not None
    assert (short.choices[0].finish_reason, short.usage.completion_tokens) == ("length", 5)
    assert (stopped.finish_reason, "tasks" in str(stopped.message.content)) == ("stop", False)


def test_a_stream_tells_what_is_done_and_then_the_answer_whole(client: openai.OpenAI) -> None:
    chunks = list(
        client.chat.completions.create(
            model="assistant", messages=HELLO, stream=True, stream_options={"include_usage": True}
        )
    )
    deltas = [chunk.choices[0].delta.model_dump() for chunk in chunks if chunk.choices]
    assert [delta["reasoning_content"] for delta in deltas if "reasoning_content" in delta] == [
        "Calling get_current_time.\n"
    ]
    assert len([delta for delta in deltas if delta.get("content")]) == 1
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens > 0


def test_a_form_that_cannot_be_filled_is_refused_before_the_stream(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(
            model="assistant", messages=HELLO, tools=TOOLS, tool_choice="required", stream=True
        )
    assert refused.value.param == "tool_choice"


def test_an_unknown_key_and_model_are_errors_that_the_client_can_read(client: openai.OpenAI) -> None:
    stranger = client.with_options(api_key="wrong")
    with pytest.raises(openai.AuthenticationError, match="not known"):
        stranger.models.list()
    with pytest.raises(openai.NotFoundError) as unknown:
        client.chat.completions.create(model="gpt-9", messages=HELLO)
    assert (unknown.value.code, unknown.value.param) == ("model_not_found", "model")


def test_the_newer_protocol_goes_on_with_its_conversation(client: openai.OpenAI) -> None:
    first = client.responses.create(model="tasks", input="add a task to call Ana")
    asked = client.responses.create(
        model="tasks", input="delete the task call Ana", previous_response_id=first.id
    )
    assert first.usage is not None
    assert ("Are you sure" in asked.output_text, first.usage.total_tokens > 0) == (True, True)


def test_the_newer_protocol_streams_its_events_in_order(client: openai.OpenAI) -> None:
    with client.responses.stream(model="assistant", input="what time is it in Tokyo?") as events:
        kinds = [event.type for event in events]
        final = events.get_final_response()
    assert (kinds[0], kinds[-1], "Tokyo" in final.output_text) == (
        "response.created",
        "response.completed",
        True,
    )


def test_the_newer_protocol_hands_back_calls_and_reads_their_results(client: openai.OpenAI) -> None:
    tool: Any = {"type": "function", **WEATHER}
    said: list[Any] = [{"role": "user", "content": "What is the weather in Paris?"}]
    first = client.responses.create(model="assistant", input=said, tools=[tool])
    call: Any = first.output[0]
    said += [call.to_dict(), {"type": "function_call_output", "call_id": call.call_id, "output": "Sunny"}]
    last = client.responses.create(model="assistant", input=said, tools=[tool])
    assert (call.arguments, "Sunny" in last.output_text) == ('{"city":"Paris"}', True)


@pytest.mark.parametrize(
    ("asked", "param"),
    [
        ({"tools": [{"type": "web_search"}]}, "tools[0].type"),
        ({"background": True}, "background"),
        ({"previous_response_id": "resp_x"}, "previous_response_id"),
        ({"input": [{"type": "item_reference", "id": "x"}]}, "input[0]"),
        ({"input": [{"role": "user", "content": 7}]}, "input[0].content"),
        ({"text": {"format": {"type": "json_object"}}}, "response_format"),
    ],
)
def test_the_newer_protocol_refuses_by_name_too(client: openai.OpenAI, asked: Any, param: str) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        client.responses.create(**{"model": "assistant", "input": "hello", **asked})
    assert refused.value.param == param


def test_texts_become_vectors_of_one_length(client: openai.OpenAI) -> None:
    made = client.embeddings.create(model="all-MiniLM-L6-v2", input=["bread", "tea"])
    plain = client.embeddings.create(model="all-MiniLM-L6-v2", input="bread", encoding_format="float")
    assert [len(each.embedding) for each in made.data] == [384, 384]
    assert made.data[0].embedding == pytest.approx(plain.data[0].embedding, abs=1e-6)
    assert made.usage.total_tokens > 0


@pytest.mark.parametrize(
    ("asked", "param"),
    [({"input": [1, 2]}, "input"), ({"input": ""}, "input"), ({"dimensions": 7}, "dimensions")],
)
def test_what_is_no_text_is_refused_by_its_name(client: openai.OpenAI, asked: Any, param: str) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        client.embeddings.create(**{"model": "all-MiniLM-L6-v2", "input": "x", **asked})
    assert refused.value.param == param


def test_another_model_makes_no_vectors_here(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="all-MiniLM-L6-v2"):
        client.embeddings.create(model="text-embedding-3-small", input="x")
