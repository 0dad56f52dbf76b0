"""What the planner does with tools it has never seen. Every run makes up new ones."""

import socket
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic_ai import Agent, AgentStreamEvent, PartStartEvent, ToolDefinition
from pydantic_ai.messages import ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models import ModelRequestParameters
from tests.support.door import Door, tool
from tests.support.invented_tools import STRING, Invented, text
from tests.support.planner_talk import NOW, Talk

from steward.agents.turn.results import ResultBounds
from steward.agents.turn.toolset import ToolOffer
from steward.contract.errors import ToolError
from steward.contract.tool import RiskLevel
from steward.language.reading import ReadCall
from steward.models.planner.model import PlannerModel
from steward.models.planner.readers import InterpretedCall
from steward.models.runs import Answered, run_agent

SEEDS = st.sampled_from(range(3))
few = settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])


@few
@given(SEEDS)
async def test_it_chooses_the_tool_that_is_meant_and_fills_it_from_what_was_said(seed: int) -> None:
    world = Invented(seed)
    talk = Talk(await world.door())
    answer = await talk.say(f"Please create a {world.noun} to feed the cat")
    assert world.calls == [(f"create_{world.noun}", {"title": "feed the cat"})]
    assert "feed the cat" in answer
    assert f"Source: `create_{world.noun}`" in answer


@few
@given(SEEDS)
async def test_it_shows_what_came_back_and_nothing_else(seed: int) -> None:
    world = Invented(seed)
    things = [world.thing(title) for title in ("oat milk", "rye bread")]
    answer = await Talk(await world.door()).say(f"show me all {world.noun}s")
    lines = [f"{n}. {thing['title']} (id: {thing['id']})" for n, thing in enumerate(things, 1)]
    assert answer == "\n".join([f"{world.noun.capitalize()}s:", *lines, "", f"Source: `list_{world.noun}s`"])


@few
@given(SEEDS)
async def test_it_lists_before_it_touches_and_takes_the_id_from_the_list(seed: int) -> None:
    world = Invented(seed)
    milk, _ = world.thing("oat milk"), world.thing("rye bread")
    await Talk(await world.door()).say(f"{world.verb} the oat milk {world.noun}")
    assert world.calls == [
        (f"list_{world.noun}s", {}),
        (f"{world.verb}_{world.noun}", {f"{world.noun}_id": milk["id"]}),
    ]


@few
@given(SEEDS)
async def test_a_thing_and_its_new_text_are_told_apart(seed: int) -> None:
    world = Invented(seed)
    milk = world.thing("oat milk")
    await Talk(await world.door()).say(f"rename the oat milk {world.noun} to soy milk")
    assert world.calls[-1] == (
        f"rename_{world.noun}",
        {f"{world.noun}_id": milk["id"], "title": "soy milk"},
    )


@few
@given(SEEDS)
async def test_a_short_number_that_no_tool_returned_is_never_an_identifier(seed: int) -> None:
    world = Invented(seed)
    world.thing("oat milk")
    answer = await Talk(await world.door()).say(f"{world.verb} {world.noun} 12")
    assert world.calls == [(f"list_{world.noun}s", {})]
    assert "nothing that matches" in answer


@few
@given(SEEDS)
async def test_an_identifier_that_the_person_said_is_used_as_said(seed: int) -> None:
    world = Invented(seed)
    world.thing("oat milk")
    await Talk(await world.door()).say(f"{world.verb} {world.noun} 123456")
    assert world.calls == [(f"{world.verb}_{world.noun}", {f"{world.noun}_id": "123456"})]


@few
@given(SEEDS, st.sampled_from(["the second one", "2", "summer camp", "the camp one", "the last one"]))
async def test_several_matches_are_asked_about_and_the_answer_picks_one(seed: int, answer: str) -> None:
    world = Invented(seed)
    _, camp = world.thing("summer sale"), world.thing("summer camp")
    talk = Talk(await world.door())
    question = await talk.say(f"delete the summer {world.noun}")
    assert question.endswith("1. summer sale\n2. summer camp")
    await talk.say(answer)
    assert world.calls[-1] == (f"delete_{world.noun}", {f"{world.noun}_id": camp["id"]})
    assert [each["title"] for each in world.things] == ["summer sale"]


@few
@given(SEEDS)
async def test_nothing_found_is_said_with_what_comes_near(seed: int) -> None:
    world = Invented(seed)
    world.thing("oat milk")
    answer = await Talk(await world.door()).say(f"delete the oat bran {world.noun}")
    assert (world.calls, "oat milk" in answer) == ([(f"list_{world.noun}s", {})], True)


@few
@given(SEEDS)
async def test_an_empty_list_is_not_something_to_touch(seed: int) -> None:
    world = Invented(seed)
    answer = await Talk(await world.door()).say(f"delete the oat {world.noun}")
    assert (world.calls, "found nothing" in answer) == ([(f"list_{world.noun}s", {})], True)


@few
@given(SEEDS)
async def test_it_means_what_the_latest_result_was_about(seed: int) -> None:
    world = Invented(seed)
    talk = Talk(await world.door())
    world.thing("first")
    await talk.say(f"create a {world.noun} called second")
    await talk.say(f"{world.verb} it")
    assert world.calls[-1] == (f"{world.verb}_{world.noun}", {f"{world.noun}_id": world.things[1]["id"]})


@few
@given(SEEDS)
async def test_a_missing_argument_is_asked_for_and_the_answer_completes_the_call(seed: int) -> None:
    world = Invented(seed)
    talk = Talk(await world.door())
    question = await talk.say(f"create a {world.noun}")
    assert (world.calls, question) == ([], f"Which title should I use for `create_{world.noun}`?")
    await talk.say("water the plants")
    assert world.calls == [(f"create_{world.noun}", {"title": "water the plants"})]


@few
@given(SEEDS, st.sampled_from(["never mind", "cancel", "no, forget it."]))
async def test_a_question_can_be_declined(seed: int, words: str) -> None:
    world = Invented(seed)
    talk = Talk(await world.door())
    await talk.say(f"create a {world.noun}")
    assert (await talk.say(words), world.calls) == ("All right, I did nothing.", [])


@few
@given(SEEDS)
async def test_instead_of_an_answer_a_new_command_may_come(seed: int) -> None:
    world = Invented(seed)
    world.thing("summer sale")
    world.thing("summer camp")
    talk = Talk(await world.door())
    await talk.say(f"delete the summer {world.noun}")
    await talk.say("hm, purple")
    await talk.say(f"list the {world.noun}s")
    assert [name for name, _ in world.calls] == [f"list_{world.noun}s"] * 2
    assert len(world.things) == 2


@few
@given(SEEDS)
async def test_several_commands_run_in_their_order(seed: int) -> None:
    world = Invented(seed)
    talk = Talk(await world.door())
    await talk.say(f"create a {world.noun} called alpha and a {world.noun} called beta")
    assert [title for _, given in world.calls for title in given.values()] == ["alpha", "beta"]


async def test_an_identifier_that_nobody_said_is_fetched_first() -> None:
    world = Invented(1)
    door = await Door().with_tools(
        world.recorded(
            "next_free_van",
            lambda: {"van_id": "van 7"},
            reads=True,
            description="The van that is free next.",
            input_schema=text(),
            output_schema={"type": "object", "properties": {"van_id": STRING}},
        ),
        world.recorded(
            "deliver_parcel",
            lambda **given: given,
            description="Deliver a parcel with a van.",
            input_schema=text(van_id=STRING),
        ),
    )
    await Talk(door).say("deliver the parcel")
    assert [name for name, _ in world.calls] == ["next_free_van"]


@few
@given(SEEDS)
async def test_a_failure_is_told_as_it_is_and_not_tried_again(seed: int) -> None:
    world = Invented(seed)

    def fail() -> None:
        raise ToolError("The cellar is flooded.", code="FLOOD")

    door = await Door().with_tools(
        world.recorded(f"{world.verb}_{world.noun}", fail, description=f"{world.verb} the {world.noun}.")
    )
    answer = await Talk(door).say(f"{world.verb} the {world.noun}")
    assert (len(world.calls), "failed: The cellar is flooded." in answer) == (1, True)


@few
@given(SEEDS)
async def test_what_no_tool_can_do_is_said_plainly(seed: int) -> None:
    world = Invented(seed)
    answer = await Talk(await world.door()).say("What is the capital of France?")
    assert (world.calls, "I have no tool for that" in answer, "not a language model" in answer) == (
        [],
        True,
        True,
    )


async def test_without_tools_it_says_so() -> None:
    talk = Talk(await Door().with_tools())
    assert "I have no tool for that" in await talk.say("do something")
    assert "I have no tools here" in await talk.say("what can you do?")


async def test_it_says_what_it_can_do_by_the_tools_it_has() -> None:
    world = Invented(1)
    assert f"- `delete_{world.noun}`: Delete a {world.noun} for good." in await Talk(await world.door()).say(
        "help"
    )


async def test_words_that_the_schema_forbids_are_not_sent() -> None:
    world = Invented(3)
    door = await Door().with_tools(
        world.recorded(
            f"{world.verb}_{world.noun}",
            lambda **given: given,
            description=f"{world.verb} a {world.noun} by its label.",
            input_schema=text(label={**STRING, "pattern": "^[0-9]+$"}),
        )
    )
    answer = await Talk(door).say(f"{world.verb} the {world.noun} called abc")
    assert (world.calls, "label" in answer) == ([], True)


async def test_a_call_that_needs_a_person_ends_the_turn_with_a_request() -> None:
    world = Invented(4)
    door = await Door().with_tools(
        tool(lambda: "gone", name=f"purge_{world.noun}", risk=RiskLevel.IRREVERSIBLE)
    )
    requests = await Talk(door).say(f"purge the {world.noun}")
    assert [call.tool_name for call in requests.approvals] == [f"purge_{world.noun}"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (None, "Done."),
        ("plain words", "plain words"),
        ("x" * 3000, "x" * 2000 + " …"),
        (42, "42"),
        ([], "Nothing found."),
        (list(range(25)), "\n".join(f"{n}. {n - 1}" for n in range(1, 21)) + "\n… and 5 more."),
        (
            {
                "answer": "Yes.",
                "of": {"name": "Bo", "age": 7},
                "empty": None,
                "success": True,
                "timestamp": "now",
            },
            "Yes.\nof: Bo (age: 7)",
        ),
        ([{"n": 1}, {}], "1. n 1 (n: 1)\n2. {}"),
    ],
)
async def test_any_kind_of_result_is_shown_as_it_is(data: Any, said: str) -> None:
    world = Invented(14)
    door = await Door().with_tools(tool(lambda: data, name=f"{world.verb}_{world.noun}"))
    answer = await Talk(door).say(f"{world.verb} {world.noun}")
    assert answer == f"{said}\n\nSource: `{world.verb}_{world.noun}`"


async def test_a_result_that_was_trimmed_is_said_to_be_only_the_beginning() -> None:
    world = Invented(15)
    door = await Door().with_tools(tool(lambda: ["y" * 50] * 50, name=f"{world.verb}_{world.noun}"))
    talk = Talk(door, offer=ToolOffer(bounds=ResultBounds(shown=500)))
    assert "only the beginning" in await talk.say(f"{world.verb} {world.noun}")


async def test_a_choice_that_is_missing_is_offered_and_picked() -> None:
    world = Invented(16)
    door = await Door().with_tools(
        world.recorded(
            f"{world.verb}_{world.noun}",
            lambda size: size,
            description=f"{world.verb} a {world.noun}.",
            input_schema=text(size={"enum": ["small", "large"], "description": "How big it gets."}),
        )
    )
    talk = Talk(door)
    question = await talk.say(f"{world.verb} a {world.noun}")
    assert question == (
        f"Which size should I use for `{world.verb}_{world.noun}` (How big it gets)?\n1. small\n2. large"
    )
    assert (await talk.say("purple"), await talk.say("large please")) == (
        question,
        f"large\n\nSource: `{world.verb}_{world.noun}`",
    )


async def test_a_question_whose_tool_is_gone_is_forgotten() -> None:
    world = Invented(17)
    talk = Talk(await world.door())
    await talk.say(f"create a {world.noun}")
    talk.offer = ToolOffer(includes=lambda each: each.spec.name.startswith("list"))
    await talk.say(f"list the {world.noun}s")
    assert world.calls == [(f"list_{world.noun}s", {})]


async def test_commands_after_a_question_are_not_lost() -> None:
    world = Invented(18)
    talk = Talk(await world.door())
    await talk.say(f"create a {world.noun}, then list the {world.noun}s")
    await talk.say("tea")
    assert [name for name, _ in world.calls] == [f"create_{world.noun}", f"list_{world.noun}s"]


async def test_sources_are_cited() -> None:
    world = Invented(5)
    found = [{"title": "A", "url": "https://a.example"}, {"title": "B", "url": "https://b.example"}]
    door = await Door().with_tools(
        world.recorded(
            f"search_{world.noun}s",
            lambda query: {"results": found},
            reads=True,
            description=f"Search {world.noun}s.",
            input_schema=text(query=STRING),
        )
    )
    answer = await Talk(door).say(f"search the {world.noun}s for old maps")
    assert world.calls == [(f"search_{world.noun}s", {"query": "old maps"})]
    assert answer.endswith("[1] A, https://a.example\n[2] B, https://b.example")


class Shape(BaseModel):
    answer: str
    reasoning: str
    tool_calls: list[dict[str, Any]]
    confidence: float


@pytest.mark.req("RES-ENT-AgentResponse")
@pytest.mark.req("RES-FR-003")
async def test_a_structured_answer_carries_answer_reasoning_calls_and_confidence() -> None:
    world = Invented(6)
    world.thing("oat milk")
    talk = Talk(await world.door(), output_type=Shape)
    shape = await talk.say(f"list the {world.noun}s")
    assert isinstance(shape, Shape)
    assert ("oat milk" in shape.answer, shape.reasoning, shape.tool_calls, 0.5 < shape.confidence <= 1) == (
        True,
        f"Called list_{world.noun}s: worked.",
        [{"tool": f"list_{world.noun}s", "arguments": {}}],
        True,
    )


class Odd(BaseModel):
    flag: bool
    kind: str
    count: int


async def test_any_output_shape_gets_the_answer_somewhere() -> None:
    talk = Talk(await Door().with_tools(), output_type=Odd)
    assert (await talk.say("what can you do?")).kind.startswith("I have no tools")


async def test_the_same_conversation_gives_the_same_steps() -> None:
    async def transcript() -> list[Any]:
        world = Invented(8)
        world.thing("call mum")
        world.thing("call dad")
        talk = Talk(await world.door())
        said = [
            await talk.say(words)
            for words in (f"delete the summer {world.noun}", "the first", f"list {world.noun}s")
        ]
        return [said, world.calls]

    assert await transcript() == await transcript()


@pytest.mark.req("ORC-FR-012")
async def test_it_needs_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("the planner opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    world = Invented(9)
    assert "oat" in await Talk(await world.door()).say(f"create a {world.noun} called oat")


async def test_it_streams() -> None:
    events: list[AgentStreamEvent] = []

    async def listen(event: AgentStreamEvent) -> None:
        events.append(event)

    outcome = await run_agent(
        Agent(output_type=str), "help", deps=None, model=PlannerModel(), on_event=listen
    )
    assert isinstance(outcome, Answered)
    assert [event.part.content for event in events if isinstance(event, PartStartEvent)] == [outcome.output]
    assert outcome.cost.cost_usd == 0


async def test_it_goes_on_where_another_model_stopped() -> None:
    """In a chain the planner may take over in the middle of a turn that a language model began."""
    world = Invented(10)
    tools = [
        ToolDefinition(name=f"list_{world.noun}s", description=f"List {world.noun}s."),
    ]
    history = [
        ModelRequest(parts=[UserPromptPart(f"list the {world.noun}s")]),
        ModelResponse(parts=[ToolCallPart(f"list_{world.noun}s", {}, tool_call_id="x1")]),
        ModelRequest(parts=[ToolReturnPart(f"list_{world.noun}s", ["oat milk"], tool_call_id="x1")]),
    ]
    response = await PlannerModel().request(history, None, ModelRequestParameters(function_tools=tools))
    assert response.text == f"1. oat milk\n\nSource: `list_{world.noun}s`"


# --- the hook for a domain's own language ---


class Loud:
    """Implements `Interpreter`: what is deleted is meant by the last word alone."""

    def __init__(self, question: str | None = None) -> None:
        self.question = question

    def interpret(
        self, calls: Sequence[ReadCall], utterance: str, *, unasked: bool, now: datetime
    ) -> Sequence[InterpretedCall]:
        remove = calls[0].tool
        mentions = {f"{remove.removeprefix('delete_')}_id": utterance.rsplit(maxsplit=1)[-1].lower()}
        return [InterpretedCall(tool=remove, mentions=mentions, question=self.question)]


def with_reader(world: Invented, door: Door, reader: Loud) -> Talk:
    model = PlannerModel(now=lambda: NOW, readers={"loud": reader})
    return Talk(
        door, model=model, offer=ToolOffer(reader_of=lambda spec: "loud" if world.noun in spec.name else None)
    )


async def test_a_reader_that_tools_bring_along_says_what_their_calls_mean() -> None:
    world = Invented(11)
    world.thing("bread")
    milk = world.thing("milk")
    talk = with_reader(world, await world.door(), Loud())
    await talk.say(f"delete the {world.noun} MILK")
    assert world.calls == [
        (f"list_{world.noun}s", {}),
        (f"delete_{world.noun}", {f"{world.noun}_id": milk["id"]}),
    ]


async def test_a_reader_may_ask() -> None:
    world = Invented(12)
    talk = with_reader(world, await world.door(), Loud(question="All of it?"))
    assert (await talk.say(f"delete the {world.noun} MILK"), world.calls) == ("All of it?", [])
