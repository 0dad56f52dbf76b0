"""Every call passes the same stages, whatever becomes of it."""

import asyncio
import threading
import time
from typing import Any

import pytest
from tests.support.door import MODEL, Door, tool

from steward.contract.agent import AgentManifest
from steward.contract.call import Done, Failed, PendingApproval, ToolCall, current_call, envelope
from steward.contract.errors import ErrorCode, ToolError, UnavailableError
from steward.contract.tool import Effect, Origin, RiskLevel, ToolHints
from steward.orchestrator.lifecycle import LifecycleLimits
from steward.orchestrator.orchestrator import Orchestrator
from steward.orchestrator.ports import Intent
from steward.policy.rules import parse_rules
from steward.providers.functions import LegacyToolAgent
from steward.testing import MemoryExecutionLog, MemoryTracer

ADD = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
    "additionalProperties": False,
}


def add(a: int, b: int) -> int:
    return a + b


@pytest.mark.req("ORC-US1-IT", "ORC-ENT-Orchestrator")
@pytest.mark.req("ORC-US1.1", "ORC-FR-007", "ORC-FR-008", "ORC-FR-002")
async def test_a_tool_is_routed_to_its_agent_and_its_result_comes_back() -> None:
    door = await Door().with_tools(tool(add, input_schema=ADD))
    result = await door.call("add", a=2, b=3)
    assert result == Done(
        data=5, call_id=result.call_id, correlation_id=result.correlation_id, duration_ms=result.duration_ms
    )


@pytest.mark.req("ORC-US1.2")
async def test_a_tool_that_nobody_provides_is_said_to_be_missing_with_the_nearest_names() -> None:
    door = await Door().with_tools(tool(add, input_schema=ADD))
    result = await door.call("ad")
    assert isinstance(result, Failed)
    assert (result.code, "add" in result.error) == ("TOOL_NOT_FOUND", True)


@pytest.mark.req("ORC-US1.3", "ORC-FR-002", "ORC-Q11", "ORC-EDGE-04", "ORC-Q34")
async def test_a_slow_call_does_not_hold_up_another_whether_sync_or_async() -> None:
    release = asyncio.Event()
    released = threading.Event()

    async def wait() -> str:
        await release.wait()
        return "async"

    def block() -> str:
        released.wait(30)
        return "sync"

    door = await Door().with_tools(tool(wait), tool(block), tool(add, input_schema=ADD))
    slow = [asyncio.create_task(door.call(name)) for name in ("wait", "block", "wait")]
    quick = await door.call("add", a=1, b=1)
    assert (isinstance(quick, Done), [task.done() for task in slow]) == (True, [False, False, False])
    release.set()
    released.set()
    assert [getattr(result, "data", None) for result in await asyncio.gather(*slow)] == [
        "async",
        "sync",
        "async",
    ]


@pytest.mark.req("SKL-FR-005", "SKL-SC-004", "ORC-Q17")
async def test_wrong_arguments_never_reach_the_tool_and_the_wrong_field_is_named() -> None:
    seen: list[Any] = []
    door = await Door().with_tools(tool(lambda **given: seen.append(given), name="spy", input_schema=ADD))
    result = await door.call("spy", a="two")
    assert isinstance(result, Failed)
    assert (result.code, "a: expected integer" in result.error, "'b' is required" in result.error, seen) == (
        "INVALID_ARGUMENTS",
        True,
        True,
        [],
    )


@pytest.mark.req("SKL-FR-005", "SKL-SC-004")
async def test_what_a_tools_own_schema_forbids_reaches_nobody() -> None:
    door = await Door().with_tools(tool(lambda: "text", name="liar", output_schema={"type": "integer"}))
    result = await door.call("liar")
    assert isinstance(result, Failed)
    assert (result.code, result.data) == ("INVALID_OUTPUT", None)


@pytest.mark.req("ORC-Q17")
async def test_a_tool_may_refuse_by_its_own_rules_with_its_own_code() -> None:
    def refuse() -> None:
        raise ToolError("Not on a Sunday.", code="CLOSED", fix="Come back tomorrow.")

    door = await Door().with_tools(tool(refuse))
    result = await door.call("refuse")
    assert isinstance(result, Failed)
    assert (result.code, result.error) == ("CLOSED", "Not on a Sunday. Come back tomorrow.")


@pytest.mark.req("ORC-Q25", "ORC-Q26", "ORC-Q28")
async def test_a_crash_fails_that_call_only_and_the_agent_stays_available() -> None:
    fail = True

    def moody() -> str:
        if fail:
            raise ZeroDivisionError("oops")
        return "fine"

    door = await Door().with_tools(tool(moody))
    results = [await door.call("moody") for _ in range(20)]
    fail = False
    after = await door.call("moody")
    assert ({getattr(result, "code", None) for result in results}, getattr(after, "data", None)) == (
        {"TOOL_EXECUTION_ERROR"},
        "fine",
    )


@pytest.mark.parametrize("raised", [SystemExit(3), KeyboardInterrupt(), StopIteration()])
async def test_a_function_cannot_end_the_program(raised: BaseException) -> None:
    def leave() -> None:
        raise raised

    door = await Door().with_tools(tool(leave))
    assert getattr(await door.call("leave"), "code", None) == "TOOL_EXECUTION_ERROR"


@pytest.mark.req("ORC-EDGE-02", "SKL-FR-014", "SKL-Q06")
@pytest.mark.parametrize("asynchronous", [True, False])
async def test_a_hanging_tool_is_cut_off_by_its_own_timeout_with_outcome_unknown(asynchronous: bool) -> None:
    released = threading.Event()

    async def hang_async() -> None:
        await asyncio.Event().wait()

    def hang_sync() -> None:
        released.wait(60)

    door = await Door().with_tools(tool(hang_async if asynchronous else hang_sync, name="hang", timeout=0.05))
    result = await door.call("hang")
    released.set()
    assert isinstance(result, Failed)
    assert (result.code, result.outcome_unknown, result.retryable) == ("TOOL_EXECUTION_TIMEOUT", True, False)


async def test_a_tool_that_ignores_its_cancellation_is_abandoned_and_counted() -> None:
    release = asyncio.Event()

    async def stubborn() -> None:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    door = await Door(limits=LifecycleLimits(grace=0.02)).with_tools(tool(stubborn, timeout=0.02))
    result = await door.call("stubborn")
    release.set()
    assert (getattr(result, "code", None), door.orchestrator.metrics.abandoned) == (
        "TOOL_EXECUTION_TIMEOUT",
        1,
    )


async def test_a_timeout_of_a_read_only_tool_may_be_tried_again() -> None:
    async def look() -> None:
        await asyncio.Event().wait()

    door = await Door().with_tools(tool(look, timeout=0.02, hints=ToolHints(read_only=True)))
    result = await door.call("look")
    assert isinstance(result, Failed)
    assert (result.retryable, result.outcome_unknown) == (True, False)


class PromptToolAgent(LegacyToolAgent):
    """Of this one nothing goes on once a call is cancelled."""

    ends_when_cancelled = True


async def test_an_agent_that_ends_when_cancelled_keeps_its_deadline_and_its_failures() -> None:
    seen: list[str] = []

    async def answer() -> str:
        call = current_call.get()
        assert call is not None
        return call.tool

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            seen.append("ended")

    async def give_up() -> None:
        raise TimeoutError("its own")

    async def refuse() -> None:
        raise ToolError("Not today.")

    door = Door()
    tools = [tool(answer), tool(hang, timeout=0.02), tool(give_up), tool(refuse)]
    door.orchestrator.register_agent(PromptToolAgent("prompt", tools))
    await door.orchestrator.lifecycle.start_all()
    assert current_call.get() is None
    results = [await door.call(name) for name in ("answer", "hang", "give_up", "refuse")]
    assert [getattr(result, "code", "done") for result in results] == [
        "done",
        "TOOL_EXECUTION_TIMEOUT",
        "TOOL_EXECUTION_ERROR",
        "TOOL_EXECUTION_ERROR",
    ]
    assert (results[0], seen) == (
        Done(
            data="answer",
            call_id=results[0].call_id,
            correlation_id=results[0].correlation_id,
            duration_ms=results[0].duration_ms,
        ),
        ["ended"],
    )
    running = asyncio.create_task(door.call("hang"))
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert seen == ["ended", "ended"]


@pytest.mark.req("SKL-FR-014", "ORC-Q01", "ORC-ASM-5")
async def test_the_platforms_timeout_holds_for_tools_that_name_none_and_a_caller_can_only_shorten_it() -> (
    None
):
    async def hang() -> None:
        await asyncio.Event().wait()

    door = await Door(limits=LifecycleLimits(tool=0.05)).with_tools(tool(hang))
    own = await door.call("hang")
    asked = await door.orchestrator.execute(ToolCall(tool="hang", arguments={}, caller=MODEL, timeout=3600))
    assert [getattr(result, "code", None) for result in (own, asked)] == ["TOOL_EXECUTION_TIMEOUT"] * 2
    assert (LifecycleLimits().tool, LifecycleLimits().routing) == (30.0, 5.0)


async def test_a_caller_that_gives_up_stops_the_tool_and_leaves_a_line() -> None:
    started, stopped = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    door = await Door().with_tools(tool(work))
    task = asyncio.create_task(door.call("work"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (stopped.is_set(), [getattr(e.result, "code", None) for e in door.log.executions]) == (
        True,
        ["CANCELLED"],
    )


@pytest.mark.req("SKL-FR-013", "SKL-EDGE-08", "SKL-Q05")
@pytest.mark.parametrize(("parallel", "most_at_once"), [(True, 5), (False, 1)])
async def test_a_tool_runs_in_parallel_only_when_it_says_it_can(parallel: bool, most_at_once: int) -> None:
    running, most = 0, 0

    async def busy() -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(3):
            await asyncio.sleep(0)
        running -= 1

    door = await Door().with_tools(tool(busy, parallel=parallel))
    results = await asyncio.gather(*(door.call("busy") for _ in range(5)))
    assert ({type(result) for result in results}, most) == ({Done}, most_at_once)


async def test_waiting_for_a_busy_tool_is_bounded_and_nothing_ran() -> None:
    release = asyncio.Event()
    runs = 0

    async def one_at_a_time() -> None:
        nonlocal runs
        runs += 1
        await release.wait()

    door = await Door().with_tools(tool(one_at_a_time, parallel=False, timeout=5))
    first = asyncio.create_task(door.call("one_at_a_time"))
    await asyncio.sleep(0)
    second = await door.orchestrator.execute(
        ToolCall(tool="one_at_a_time", arguments={}, caller=MODEL, timeout=0.02)
    )
    release.set()
    await first
    assert isinstance(second, Failed)
    assert (second.code, second.retryable, runs) == ("AGENT_UNAVAILABLE", True, 1)


@pytest.mark.req("SKL-FR-011", "SKL-SC-006", "SKL-EDGE-07", "ORC-FR-017", "SKL-Q03")
async def test_every_call_leaves_one_line_with_its_input_whatever_became_of_it() -> None:
    door = await Door().with_tools(
        tool(add, input_schema=ADD), tool(lambda: None, name="wipe", risk=RiskLevel.IRREVERSIBLE)
    )
    results = [
        await door.call("add", a=1, b=2),
        await door.call("add", a="x"),
        await door.call("missing", z=1),
        await door.call("wipe"),
    ]
    assert [
        (
            e.tool,
            dict(e.call.arguments),
            e.agent,
            e.result,
            e.risk,
            e.call.correlation_id == e.result.correlation_id,
        )
        for e in door.log.executions
    ] == [
        ("add", {"a": 1, "b": 2}, "functions", results[0], RiskLevel.REVERSIBLE, True),
        ("add", {"a": "x"}, "functions", results[1], None, True),
        ("missing", {"z": 1}, None, results[2], None, True),
        ("wipe", {}, "functions", results[3], RiskLevel.IRREVERSIBLE, True),
    ]
    assert [(name, result) for name, result in door.tracer.finished] == [
        ("add", results[0]),
        ("add", results[1]),
        ("missing", results[2]),
        ("wipe", results[3]),
    ]


async def test_nothing_runs_when_it_could_not_be_recorded() -> None:
    runs: list[int] = []
    door = await Door().with_tools(tool(lambda: runs.append(1), name="act"))
    door.log.full = True
    result = await door.call("act")
    assert (getattr(result, "code", None), runs) == ("RECORD_FAILED", [])


@pytest.mark.req("ORC-FR-016")
async def test_counts_and_latencies_are_kept_per_agent_and_tool() -> None:
    door = await Door().with_tools(
        tool(add, input_schema=ADD), tool(lambda: None, name="wipe", risk=RiskLevel.IRREVERSIBLE)
    )
    for arguments in ({"a": 1, "b": 1}, {"a": 2, "b": 2}, {"a": "x"}):
        await door.call("add", **arguments)
    await door.call("wipe")
    await door.call("nobody")
    await door.call("knows")
    rows = [(m.agent, m.tool, m.calls, m.failures, m.pending) for m in door.orchestrator.metrics.snapshot()]
    assert rows == [
        ("-", "-", 2, {"TOOL_NOT_FOUND": 2}, 0),
        ("functions", "add", 3, {"INVALID_ARGUMENTS": 1}, 0),
        ("functions", "wipe", 1, {}, 1),
    ]
    adding = door.orchestrator.metrics.snapshot()[1]
    assert 0 < adding.percentile(0.5) <= adding.percentile(0.99) < 30
    assert adding.buckets[-1] == (float("inf"), 3)


@pytest.mark.req("ORC-FR-014", "ORC-Q04")
async def test_a_model_gets_every_tool_that_can_be_called_and_the_orchestrator_runs_its_intent() -> None:
    door = await Door().with_tools(
        tool(add, input_schema=ADD, examples=("Two and two?",)), tool(add, name="held", blocked="It changed.")
    )
    manifest = door.orchestrator.manifest()
    intent = {"tool": manifest[0]["name"], "arguments": {"a": 2, "b": 2}}
    result = await door.orchestrator.execute(ToolCall(caller=MODEL, **intent))
    assert ([entry["name"] for entry in manifest], getattr(result, "data", None)) == (["add"], 4)


async def test_a_tool_whose_definition_waits_for_a_person_is_not_run() -> None:
    door = await Door().with_tools(tool(add, name="held", blocked="Its definition changed."))
    result = await door.call("held", a=1, b=1)
    assert (getattr(result, "code", None), getattr(result, "error", "")) == (
        "TOOL_QUARANTINED",
        "Its definition changed.",
    )


@pytest.mark.req("SKL-ENT-Context")
@pytest.mark.req("ORC-FR-003", "ORC-FR-017")
async def test_an_agent_knows_the_call_it_answers_and_reaches_another_through_the_door() -> None:
    door = Door()

    async def ask_other() -> Any:
        call = current_call.get()
        assert call is not None
        result = await door.orchestrator.execute(
            ToolCall(tool="add", arguments={"a": 1, "b": 1}, caller=MODEL, correlation_id=call.correlation_id)
        )
        return envelope(result)["data"]

    await door.with_tools(tool(ask_other), agent="first")
    await door.with_tools(tool(add, input_schema=ADD), agent="second")
    result = await door.call("ask_other")
    inner, outer = door.log.executions
    assert (getattr(result, "data", None), inner.agent, outer.agent) == (2, "second", "first")
    assert inner.call.correlation_id == outer.call.correlation_id == result.correlation_id
    assert current_call.get() is None


class BrokenLog(MemoryExecutionLog):
    def accepting(self) -> bool:
        raise RuntimeError("boom")


async def test_an_agent_that_answers_with_something_else_is_not_believed() -> None:
    class Odd:
        async def initialize(self) -> None: ...
        async def shutdown(self) -> None: ...
        async def execute(self, tool: str, params: Any) -> Any:
            return {"success": True}

        def manifest(self) -> Any:
            return AgentManifest(id="odd", name="odd", tools=(tool(add, name="odd").spec,))

        async def health(self) -> Any: ...

    door = Door()
    door.orchestrator.register_agent(Odd())
    await door.orchestrator.lifecycle.start_all()
    assert getattr(await door.call("odd"), "code", None) == "INVALID_OUTPUT"


async def test_a_stage_that_breaks_closes_the_door() -> None:
    runs: list[int] = []
    door = Door()

    def broken_rules() -> Any:
        raise RuntimeError("no rules today")

    orchestrator = Orchestrator(proposals=door.store, log=door.log, tracer=door.tracer, rules=broken_rules)
    door.orchestrator = orchestrator
    await door.with_tools(tool(lambda: runs.append(1), name="act"))
    result = await door.call("act")
    assert (type(result), runs) == (PendingApproval, [])


@pytest.mark.req("ORC-SC-001", "ORC-Q32", "ORC-Q01")
async def test_a_store_that_hangs_fails_the_call_within_the_routing_limit() -> None:
    class Hanging:
        async def add(self, proposal: Any) -> None:
            await asyncio.Event().wait()

    door = Door()
    door.orchestrator = Orchestrator(
        proposals=Hanging(),  # type: ignore[arg-type]
        log=door.log,
        tracer=MemoryTracer(),
        rules=lambda: door.rules,
        limits=LifecycleLimits(routing=0.02),
    )
    runs: list[int] = []
    await door.with_tools(tool(lambda: runs.append(1), name="wipe", risk=RiskLevel.IRREVERSIBLE))
    result = await door.call("wipe")
    assert (getattr(result, "code", None), runs) == ("STORAGE_UNAVAILABLE", [])


async def test_a_store_that_breaks_unexpectedly_is_explained_without_a_stack_trace() -> None:
    class Breaking:
        async def add(self, proposal: Any) -> None:
            raise RuntimeError("psycopg: password=hunter2")

    door = Door()
    door.orchestrator = Orchestrator(
        proposals=Breaking(),  # type: ignore[arg-type]
        log=door.log,
        tracer=MemoryTracer(),
        rules=lambda: door.rules,
    )
    await door.with_tools(tool(add, name="wipe", risk=RiskLevel.IRREVERSIBLE))
    result = await door.call("wipe", a=1, b=1)
    assert isinstance(result, Failed)
    assert (result.code, "hunter2" in result.error) == ("INTERNAL", False)


@pytest.mark.req("ORC-FR-011", "ORC-Q02")
@pytest.mark.parametrize(
    ("risk", "effect", "confidence", "waits"),
    [
        (RiskLevel.REVERSIBLE, Effect.READS, 0.0, False),
        (RiskLevel.REVERSIBLE, Effect.WRITES_STORE, 0.0, False),
        (RiskLevel.REVERSIBLE, Effect.WRITES_OUTSIDE, 1.0, True),
        (RiskLevel.REVERSIBLE_WITH_DELAY, Effect.WRITES_STORE, 0.84, True),
        (RiskLevel.REVERSIBLE_WITH_DELAY, Effect.WRITES_STORE, 0.85, False),
        (RiskLevel.IRREVERSIBLE, Effect.WRITES_STORE, 1.0, True),
    ],
)
async def test_what_is_irreversible_or_writes_outside_our_store_waits_for_a_person(
    risk: RiskLevel, effect: Effect, confidence: float, waits: bool
) -> None:
    runs: list[int] = []
    door = await Door().with_tools(tool(lambda: runs.append(1), name="act", risk=risk, effect=effect))
    result = await door.orchestrator.execute(
        ToolCall(tool="act", arguments={}, caller=MODEL, confidence=confidence)
    )
    assert (isinstance(result, PendingApproval), runs) == (waits, [] if waits else [1])


async def test_a_mere_look_asks_nobody_and_runs_nothing_that_would_have_to_be_asked_about() -> None:
    runs: list[int] = []
    door = await Door().with_tools(tool(lambda: runs.append(1), name="act", risk=RiskLevel.IRREVERSIBLE))
    look = ToolCall(tool="act", arguments={}, caller=MODEL, incidental=True)
    result = await door.orchestrator.execute(look)
    assert isinstance(result, Failed)
    assert (result.code, runs, (await door.store.list()).items) == (ErrorCode.FORBIDDEN, [], [])


@pytest.mark.req("ORC-Q16")
async def test_every_call_to_an_agent_that_requires_approval_waits() -> None:
    door = await Door().with_tools(tool(add, input_schema=ADD), requires_approval=True)
    assert isinstance(await door.call("add", a=1, b=1), PendingApproval)


async def test_a_workspace_may_trust_a_tool_but_never_an_irreversible_one() -> None:
    door = Door(rules=parse_rules('trust = ["notes", "wipe"]'))
    await door.with_tools(
        tool(add, name="notes", risk=RiskLevel.REVERSIBLE_WITH_DELAY, origin=Origin.LOCAL),
        tool(add, name="wipe", risk=RiskLevel.IRREVERSIBLE, origin=Origin.LOCAL),
    )
    results = [await door.call(name, a=1, b=1) for name in ("notes", "wipe")]
    assert [type(result) for result in results] == [Done, PendingApproval]


@pytest.mark.req("ORC-SC-001", "ORC-Q32")
async def test_routing_stays_far_inside_its_limit_beside_the_tools_own_time() -> None:
    door = await Door().with_tools(tool(add, input_schema=ADD))
    started = time.perf_counter()
    for _ in range(50):
        await door.call("add", a=1, b=1)
    assert (time.perf_counter() - started) / 50 < 0.2


async def test_a_log_that_breaks_closes_the_door() -> None:
    runs: list[int] = []
    door = await Door(log=BrokenLog()).with_tools(tool(lambda: runs.append(1), name="act"))
    assert (getattr(await door.call("act"), "code", None), runs) == ("INTERNAL", [])


@pytest.mark.req("ORC-FR-015", "SKL-SC-006")
async def test_a_call_that_may_change_something_is_on_record_before_it_runs() -> None:
    seen: list[str] = []
    door = Door()

    def act() -> None:
        seen.extend(intent.tool for intent in door.log.intents)

    await door.with_tools(tool(act, effect=Effect.WRITES_STORE), tool(add, input_schema=ADD))
    result = await door.call("act")
    await door.call("add", a=1, b=1)
    assert (seen, [intent.call.call_id for intent in door.log.intents]) == (["act"], [result.call_id])


@pytest.mark.parametrize("origin", [Origin.LOCAL, Origin.SERVER])
async def test_what_others_rate_as_harmless_is_on_record_before_it_runs(origin: Origin) -> None:
    door = await Door().with_tools(tool(add, input_schema=ADD, origin=origin, risk=RiskLevel.REVERSIBLE))
    await door.call("add", a=1, b=1)
    assert [(each.begun, each.only_read) for each in door.log.executions] == [(True, False)]


async def test_what_cannot_be_put_on_record_does_not_run() -> None:
    ran: list[str] = []

    def act() -> None:
        ran.append("act")

    door = await Door(log=Refusing()).with_tools(tool(act, effect=Effect.WRITES_STORE))
    result = await door.call("act")
    assert (ran, getattr(result, "code", None)) == ([], ErrorCode.RECORD_FAILED)


class Refusing(MemoryExecutionLog):
    async def begin(self, intent: Intent) -> None:
        raise UnavailableError("No.", code=ErrorCode.RECORD_FAILED)
