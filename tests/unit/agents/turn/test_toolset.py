"""What a model may do with the orchestrator's tools, over the real wire to a scripted model."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ToolApproved
from pydantic_ai.messages import ModelMessagesTypeAdapter
from tests.support.deciders import deciding
from tests.support.door import Door, tool
from tests.support.scripted_model import CallTools, Say, ScriptedModel, scripted_model

from steward.agents.session import AgentSession
from steward.agents.turn.confidence import grounded_confidence
from steward.agents.turn.results import ResultBounds
from steward.agents.turn.toolset import OrchestratorToolset, Shortlist, ToolOffer
from steward.contract.call import Caller, CallerKind, Done
from steward.contract.errors import ToolError
from steward.contract.ports import RankedTool
from steward.contract.tool import Origin, RiskLevel, ToolSpec
from steward.models.catalog import Catalog, ModelConfig
from steward.models.runs import Answered, Broken, run_agent
from steward.providers.functions import FunctionTool

ANA = Caller(CallerKind.PERSON, "ana")
SESSION = AgentSession(agent="assistant", user="ana", utterance="note the milk", correlation_id="c" * 32)
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


@pytest.fixture
async def server() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as server:
        yield server


async def talk(
    server: ScriptedModel,
    door: Door,
    *script: Any,
    offer: ToolOffer | None = None,
    session: AgentSession = SESSION,
    **run: Any,
) -> Answered[Any] | Broken:
    server.answer(*script)
    config = ModelConfig(choice="openai:m", openai_base_url=server.address)
    model = Catalog(config, planner=lambda: pytest.fail("no planner here")).model()
    agent = Agent(output_type=[str, DeferredToolRequests], deps_type=AgentSession)
    toolset = OrchestratorToolset(door.orchestrator, offer)
    return await run_agent(
        agent, run.pop("prompt", "go"), deps=session, model=model, toolsets=[toolset], **run
    )


def seen(server: ScriptedModel) -> list[dict[str, Any]]:
    """What the model was told about its calls in the last request."""
    return [json.loads(m["content"]) for m in server.requests[-1]["messages"] if m["role"] == "tool"]


def note(text: str) -> dict[str, str]:
    """Note it."""
    return {"noted": text}


@pytest.mark.req("ORC-FR-014", "ORC-Q23")
async def test_the_model_gets_the_manifest_and_the_orchestrator_executes_what_it_asks_for(
    server: ScriptedModel,
) -> None:
    door = await Door().with_tools(tool(note, input_schema=TEXT))
    outcome = await talk(server, door, CallTools(("note", {"text": "milk"})), Say("Noted."))
    offered = {each["function"]["name"]: each["function"] for each in server.requests[0]["tools"]}
    call = door.log.executions[0].call
    assert isinstance(outcome, Answered)
    assert (sorted(offered), offered["note"]["description"], offered["note"]["parameters"]["required"]) == (
        ["note", "read_result"],
        "Note it.",
        ["text"],
    )
    assert seen(server) == [{"status": "done", "data": {"noted": "milk"}}]
    assert (call.tool, call.arguments, call.caller, call.user, call.utterance, call.correlation_id) == (
        "note",
        {"text": "milk"},
        Caller(CallerKind.AGENT, "assistant"),
        "ana",
        "note the milk",
        "c" * 32,
    )


async def test_a_tool_that_became_unavailable_or_is_not_offered_is_not_shown(server: ScriptedModel) -> None:
    door = await Door().with_tools(
        tool(lambda: 1, name="one"), tool(lambda: 2, name="two", blocked="changed")
    )
    await talk(server, door, Say("hm"), offer=ToolOffer(includes=lambda tool: tool.spec.name != "one"))
    assert [each["function"]["name"] for each in server.requests[0]["tools"]] == ["read_result"]


def fails() -> None:
    raise ToolError("The shelf is empty.", code="SHELF_EMPTY")


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (("fails", {}), "SHELF_EMPTY"),
        (("note", {"text": 7}), "INVALID_ARGUMENTS"),
        (("note", {}), "INVALID_ARGUMENTS"),
    ],
)
async def test_a_failure_comes_back_to_the_model_with_code_and_words(
    server: ScriptedModel, call: tuple[str, dict[str, Any]], code: str
) -> None:
    door = await Door().with_tools(tool(fails), tool(lambda text: text, name="note", input_schema=TEXT))
    outcome = await talk(server, door, CallTools(call), Say("Sorry."))
    assert isinstance(outcome, Answered)
    assert [(shown["status"], shown["code"], bool(shown["error"])) for shown in seen(server)] == [
        ("failed", code, True)
    ]


async def test_a_model_that_calls_what_is_not_there_or_sends_garbage_hears_so(server: ScriptedModel) -> None:
    door = await Door().with_tools(tool(lambda text: text, name="note", input_schema=TEXT))
    outcome = await talk(
        server, door, CallTools(("nothing", {})), CallTools(("note", "{not json")), Say("I give up.")
    )
    assert (isinstance(outcome, Answered), door.log.executions) == (True, [])


@pytest.mark.req("ORC-Q23")
async def test_a_call_that_needs_a_person_is_deferred_with_its_proposal(server: ScriptedModel) -> None:
    door = await Door().with_tools(tool(lambda: "gone", name="burn", risk=RiskLevel.IRREVERSIBLE))
    outcome = await talk(server, door, CallTools(("burn", {})))
    assert isinstance(outcome, Answered)
    assert isinstance(outcome.output, DeferredToolRequests)
    [request] = outcome.output.approvals
    waiting = (await door.store.list(states=["waiting"])).items
    assert (request.tool_name, outcome.output.metadata[request.tool_call_id]["proposal_id"]) == (
        "burn",
        waiting[0].id,
    )


async def resume(
    server: ScriptedModel, door: Door, first: Answered[Any], **answer: Any
) -> Answered[Any] | Broken:
    """The next turn, from the stored history as another process would read it."""
    requests = first.output
    history = ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(list(first.messages)))
    deferred = DeferredToolResults(
        approvals={call.tool_call_id: ToolApproved() for call in requests.approvals},
        metadata=requests.metadata,
    )
    return await talk(server, door, Say("ok"), prompt=None, history=history, deferred=deferred, **answer)


async def test_an_approved_call_ran_once_and_the_model_reads_its_result(server: ScriptedModel) -> None:
    burned: list[int] = []
    door = await Door().with_tools(
        tool(lambda: burned.append(1) or "gone", name="burn", risk=RiskLevel.IRREVERSIBLE)
    )
    first = await talk(server, door, CallTools(("burn", {})))
    assert isinstance(first, Answered)
    proposal = (await door.store.list()).items[0]
    await door.orchestrator.approvals.approve(proposal.id, by=deciding(ANA.id))
    await resume(server, door, first)
    assert (burned, seen(server)) == ([1], [{"status": "done", "data": "gone"}])


async def test_a_yes_in_the_history_without_a_persons_approval_runs_nothing(server: ScriptedModel) -> None:
    burned: list[int] = []
    door = await Door().with_tools(tool(lambda: burned.append(1), name="burn", risk=RiskLevel.IRREVERSIBLE))
    first = await talk(server, door, CallTools(("burn", {})))
    assert isinstance(first, Answered)
    second = await resume(server, door, first)
    assert isinstance(second, Answered)
    assert (burned, isinstance(second.output, DeferredToolRequests)) == ([], True)


async def test_a_rejected_call_is_told_to_the_model(server: ScriptedModel) -> None:
    door = await Door().with_tools(tool(lambda: "gone", name="burn", risk=RiskLevel.IRREVERSIBLE))
    first = await talk(server, door, CallTools(("burn", {})))
    assert isinstance(first, Answered)
    await door.orchestrator.approvals.reject(
        (await door.store.list()).items[0].id, by=deciding(ANA.id), why="Keep it."
    )
    await resume(server, door, first)
    assert seen(server) == [
        {
            "status": "failed",
            "code": "PROPOSAL_REJECTED",
            "error": "The person said no. Keep it.",
            "retryable": False,
        }
    ]


@pytest.mark.parametrize("metadata", [{}, {"proposal_id": "f" * 32}])
async def test_an_approval_of_something_else_opens_nothing(
    server: ScriptedModel, metadata: dict[str, str]
) -> None:
    door = await Door().with_tools(tool(lambda: "gone", name="burn", risk=RiskLevel.IRREVERSIBLE))
    first = await talk(server, door, CallTools(("burn", {})))
    assert isinstance(first, Answered)
    for call_id in first.output.metadata:
        first.output.metadata[call_id] = metadata
    await resume(server, door, first)
    assert [shown["code"] for shown in seen(server)] == ["PROPOSAL_NOT_FOUND"]


async def test_another_users_approval_opens_nothing(server: ScriptedModel) -> None:
    door = await Door().with_tools(tool(lambda: "gone", name="burn", risk=RiskLevel.IRREVERSIBLE))
    first = await talk(server, door, CallTools(("burn", {})))
    assert isinstance(first, Answered)
    await resume(server, door, first, session=AgentSession(agent="assistant", user="eve"))
    assert [shown["code"] for shown in seen(server)] == ["FORBIDDEN"]


USER_SCHEMA = {
    "type": "object",
    "properties": {"user_id": {"type": "string"}, "text": {"type": "string"}},
    "required": ["user_id", "text"],
}


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ({"text": "x"}, {"status": "done", "data": "ana"}),
        ({"text": "x", "user_id": "ana"}, {"status": "done", "data": "ana"}),
        (
            {"text": "x", "user_id": "eve"},
            {
                "status": "failed",
                "code": "FORBIDDEN",
                "error": "Nothing was run: this session belongs to 'ana' and may not act for somebody else.",
                "retryable": False,
            },
        ),
    ],
)
async def test_the_user_comes_from_the_session(
    server: ScriptedModel, arguments: dict[str, str], shown: dict[str, Any]
) -> None:
    door = await Door().with_tools(
        tool(lambda user_id, text: user_id, name="mine", input_schema=USER_SCHEMA, user_argument="user_id")
    )
    await talk(server, door, CallTools(("mine", arguments)), Say("ok"))
    parameters = server.requests[0]["tools"][0]["function"]["parameters"]
    assert (list(parameters["properties"]), parameters["required"], seen(server)) == (
        ["text"],
        ["text"],
        [shown],
    )


async def test_calls_that_may_overlap_do_and_calls_that_may_not_wait_for_each_other(
    server: ScriptedModel,
) -> None:
    both = asyncio.Barrier(2)
    running: list[int] = []
    most: list[int] = []

    async def together() -> str:
        async with asyncio.timeout(20):
            await both.wait()
        return "met"

    async def alone() -> str:
        running.append(1)
        most.append(len(running))
        await asyncio.sleep(0)
        running.pop()
        return "alone"

    door = await Door().with_tools(tool(together), tool(alone, parallel=False))
    await talk(
        server,
        door,
        CallTools(("together", {}), ("together", {})),
        CallTools(("alone", {}), ("alone", {})),
        Say("ok"),
    )
    assert ([shown["data"] for shown in seen(server)], max(most)) == (["met", "met", "alone", "alone"], 1)


async def test_a_large_result_is_trimmed_and_can_be_read_on_to_its_end(server: ScriptedModel) -> None:
    rows = [{"n": n, "text": "x" * 50} for n in range(40)]
    door = await Door().with_tools(tool(lambda: {"rows": rows, "total": 40}, name="many"))
    whole = json.dumps({"rows": rows, "total": 40}, separators=(",", ":"))
    reads = [
        CallTools(("read_result", {"handle": "result-1", "offset": at})) for at in range(0, len(whole), 1000)
    ]
    await talk(
        server,
        door,
        CallTools(("many", {})),
        *reads,
        CallTools(("read_result", {"handle": "result-1", "offset": 10**9})),
        CallTools(("read_result", {"handle": "other", "offset": 0})),
        Say("ok"),
        offer=ToolOffer(bounds=ResultBounds(shown=1000, kept=100_000)),
    )
    first, *parts, beyond, unknown = seen(server)
    assert (first["data"]["total"], first["data"]["rows"], first["trimmed"]["handle"]) == (
        40,
        rows[: len(first["data"]["rows"])],
        "result-1",
    )
    assert 0 < len(first["data"]["rows"]) < 40
    assert "".join(part["data"] for part in parts) == whole
    assert (beyond["code"], unknown["code"]) == ("INVALID_ARGUMENTS", "NOT_FOUND")


async def test_kept_results_are_bounded_and_belong_to_one_run(server: ScriptedModel) -> None:
    door = await Door().with_tools(tool(lambda: "y" * 900, name="long"))
    offer = ToolOffer(bounds=ResultBounds(shown=100, kept=1000))
    read = CallTools(("read_result", {"handle": "result-1", "offset": 0}))
    await talk(server, door, CallTools(("long", {})), CallTools(("long", {})), read, Say("ok"), offer=offer)
    assert [shown.get("code") for shown in seen(server)] == [None, None, "NOT_FOUND"]


class ByName:
    """A ranker that likes tools whose name was said."""

    def rank(self, query: str, tools: Sequence[ToolSpec], *, limit: int) -> tuple[RankedTool, ...]:
        ranked = [RankedTool(tool, 0.9 if tool.name in query else 0.1) for tool in tools]
        return tuple(sorted(ranked, key=lambda each: -each.score)[:limit])


def brought(count: int) -> list[FunctionTool]:
    """Tools of a server that somebody connected."""
    return [tool(lambda: 1, name=f"tool{number}", origin=Origin.SERVER) for number in range(count)]


async def test_the_houses_own_tools_are_shown_beside_a_shortlist(server: ScriptedModel) -> None:
    door = await Door().with_tools(*brought(9), tool(lambda: 1, name="ask"), tool(lambda: 1, name="search"))
    offer = ToolOffer(shortlist=Shortlist(ranker=ByName(), limit=1))
    session = AgentSession(agent="a", utterance="tool7")
    await talk(server, door, Say("ok"), offer=offer, session=session)
    [request] = server.requests
    assert {each["function"]["name"] for each in request["tools"]} == {
        "tool7",
        "ask",
        "search",
        "read_result",
    }
    shown = session.ledger.shown
    assert shown is not None
    assert (shown.tools, shown.of) == (3, 11)


async def test_a_shortlist_shows_what_fits_and_what_was_already_called(server: ScriptedModel) -> None:
    door = await Door().with_tools(*brought(9))
    offer = ToolOffer(shortlist=Shortlist(ranker=ByName(), limit=1))
    session = AgentSession(agent="a", utterance="tool7")
    await talk(server, door, CallTools(("tool7", {})), Say("ok"), offer=offer, session=session)
    names = [[each["function"]["name"] for each in request["tools"]] for request in server.requests]
    assert names == [["tool7", "read_result"]] * 2
    shown = session.ledger.shown
    assert shown is not None
    assert (shown.tools, shown.of, shown.tokens_saved > 0) == (1, 9, True)


@pytest.mark.parametrize(
    ("text", "confidence"), [("milk", 0.9), ("eve's password", 0.0)], ids=["said", "invented"]
)
async def test_confidence_is_our_own_and_falls_with_what_nobody_said(
    server: ScriptedModel, text: str, confidence: float
) -> None:
    door = await Door().with_tools(tool(lambda text: text, name="note", input_schema=TEXT))
    offer = ToolOffer(confidence=grounded_confidence(ByName()))
    await talk(server, door, CallTools(("note", {"text": text})), Say("ok"), offer=offer)
    assert door.log.executions[0].call.confidence == confidence


async def test_what_a_tool_returned_counts_as_evidence(server: ScriptedModel) -> None:
    door = await Door().with_tools(
        tool(lambda: {"id": "k77"}, name="note"), tool(lambda text: text, name="use", input_schema=TEXT)
    )
    offer = ToolOffer(confidence=grounded_confidence(ByName()))
    await talk(
        server, door, CallTools(("note", {})), CallTools(("use", {"text": "k77"})), Say("ok"), offer=offer
    )
    assert [each.call.confidence for each in door.log.executions] == [0.9, 0.1]


async def test_a_confidence_that_cannot_be_computed_is_none(server: ScriptedModel) -> None:
    door = await Door().with_tools(tool(lambda: Done(data=1), name="one"))
    offer = ToolOffer(confidence=lambda _: 1 / 0)
    await talk(server, door, CallTools(("one", {})), Say("ok"), offer=offer)
    assert door.log.executions[0].call.confidence == 0.0


class ByFirstWords(ByName):
    """A ranker that hears no more than the beginning."""

    def rank(self, query: str, tools: Sequence[ToolSpec], *, limit: int) -> tuple[RankedTool, ...]:
        return super().rank(query[:12], tools, limit=limit)


async def test_every_command_of_a_request_has_its_tools_on_the_shortlist(server: ScriptedModel) -> None:
    door = await Door().with_tools(*brought(9))
    offer = ToolOffer(shortlist=Shortlist(ranker=ByFirstWords(), limit=2))
    session = AgentSession(agent="a", utterance="run tool3, then run tool7")
    await talk(server, door, Say("ok"), offer=offer, session=session)
    [request] = server.requests
    names = {each["function"]["name"] for each in request["tools"]}
    assert names == {"tool3", "tool7", "read_result"}
