"""Agents come, go and fail without taking anyone along."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest
from tests.support.door import Door, tool

from steward.contract.agent import AgentManifest, Health, LifecycleState
from steward.contract.call import Done, ToolResult
from steward.contract.errors import AgentError, ErrorCode, NotFoundError, StewardError
from steward.orchestrator.lifecycle import LifecycleLimits
from steward.providers.functions import LegacyToolAgent


def echo(text: str = "") -> str:
    return text


class Scripted:
    """An agent whose behaviour a test writes down."""

    def __init__(self, agent_id: str = "scripted", *tools: str) -> None:
        self.id = agent_id
        self.names = list(tools or (f"{agent_id}_echo",))
        self.reachable = True
        self.on_start: Any = None
        self.on_stop: Any = None
        self.on_health: Any = None
        self.stopped = False
        self.listener: Callable[[], None] | None = None

    async def initialize(self) -> None:
        await _play(self.on_start)

    async def shutdown(self) -> None:
        self.stopped = True
        await _play(self.on_stop)

    async def health(self) -> Health:
        await _play(self.on_health)
        return Health(healthy=True, detail="fine")

    async def execute(self, tool: str, params: Any) -> ToolResult:
        return Done(data=tool)

    def manifest(self) -> AgentManifest:
        tools = tuple(tool(echo, name=name).spec for name in self.names)
        return AgentManifest(id=self.id, name=self.id, tools=tools)

    def subscribe(self, listener: Callable[[], None]) -> None:
        self.listener = listener

    def available(self) -> bool:
        return self.reachable


async def _play(script: Any) -> None:
    if isinstance(script, BaseException):
        raise script
    if script == "hang":
        await asyncio.Event().wait()
    while isinstance(script, asyncio.Event) and not script.is_set():
        try:
            await script.wait()
        except asyncio.CancelledError:
            continue  # deaf until the test says so


def names(door: Door) -> list[str]:
    return sorted(tool.spec.name for tool in door.orchestrator.registry)


@pytest.mark.req("ORC-US4.1", "ORC-FR-009", "ORC-SC-005", "ORC-FR-001")
async def test_health_is_reported_and_a_silent_agent_is_not_waited_for() -> None:
    door = Door(limits=LifecycleLimits(health=0.05))
    healthy, silent = Scripted("healthy"), Scripted("silent")
    silent.on_health = "hang"
    for agent in (healthy, silent):
        door.orchestrator.register_agent(agent)
    await door.orchestrator.lifecycle.start_all()
    answers = [await door.orchestrator.lifecycle.health(name) for name in ("healthy", "silent")]
    assert [(answer.healthy, answer.detail) for answer in answers] == [
        (True, "fine"),
        (False, "it did not answer within 0.05 s."),
    ]
    assert LifecycleLimits().health == 1.0


@pytest.mark.req("ORC-US4-IT")
@pytest.mark.req("ORC-US4.2", "ORC-US4.3", "ORC-FR-009", "ORC-Q13", "ORC-Q27")
async def test_a_stopped_agent_loses_its_tools_and_a_started_one_is_made_anew() -> None:
    made: list[Scripted] = []

    def factory() -> Scripted:
        made.append(Scripted("notes"))
        return made[-1]

    door = Door()
    door.orchestrator.register_agent_factory("notes", factory)
    lifecycle = door.orchestrator.lifecycle
    await lifecycle.start_all()
    before = await door.call("notes_echo")
    await lifecycle.stop("notes")
    stopped = await door.call("notes_echo")
    state = lifecycle.statuses()[0].state
    await lifecycle.start("notes")
    await lifecycle.start("notes")
    after = await door.call("notes_echo")
    assert (type(before), getattr(stopped, "code", None), state, type(after)) == (
        Done,
        "TOOL_NOT_FOUND",
        LifecycleState.STOPPED,
        Done,
    )
    assert ([agent.stopped for agent in made], lifecycle.statuses()[0].state) == ([True, False], "running")


@pytest.mark.req("ORC-Q10")
@pytest.mark.req("ORC-Q31", "ORC-Q09")
async def test_agents_that_fail_to_start_are_skipped_and_shown() -> None:
    door = Door(limits=LifecycleLimits(start=0.05))
    good, broken, hanging = Scripted("good"), Scripted("broken"), Scripted("hanging")
    broken.on_start = AgentError(
        "No such command: npx.", code=ErrorCode.AGENT_INIT_FAILED, fix="Install Node."
    )
    hanging.on_start = "hang"
    for agent in (broken, hanging, good):
        door.orchestrator.register_agent(agent)
    statuses = await door.orchestrator.lifecycle.start_all()
    health = await door.orchestrator.lifecycle.health("broken")
    assert [(s.id, s.state, s.problem) for s in statuses] == [
        ("broken", LifecycleState.FAILED, "No such command: npx. Install Node."),
        ("hanging", LifecycleState.FAILED, "'hanging' did not start within 0.05 s."),
        ("good", LifecycleState.RUNNING, None),
    ]
    assert (names(door), health.healthy, broken.stopped) == (["good_echo"], False, True)
    with pytest.raises(AgentError) as caught:
        await door.orchestrator.lifecycle.start("broken")
    assert caught.value.code == "AGENT_INIT_FAILED"
    broken.on_start = None
    await door.orchestrator.lifecycle.start("broken")
    assert names(door) == ["broken_echo", "good_echo"]


@pytest.mark.req("ORC-Q30", "ORC-Q09")
async def test_shutdown_is_parallel_and_bounded_and_failures_do_not_block_it() -> None:
    door = Door(limits=LifecycleLimits(shutdown=0.2))
    agents = [Scripted(f"a{number}") for number in range(6)]
    for agent in agents[:3]:
        agent.on_stop = "hang"
    agents[3].on_stop = RuntimeError("will not")
    for agent in agents:
        door.orchestrator.register_agent(agent)
    await door.orchestrator.lifecycle.start_all()
    started = asyncio.get_running_loop().time()
    await door.orchestrator.lifecycle.stop_all()
    assert (all(agent.stopped for agent in agents), names(door)) == (True, [])
    assert asyncio.get_running_loop().time() - started < 0.2 * 3
    assert LifecycleLimits().shutdown == 5.0


@pytest.mark.req("ORC-Q10")
async def test_stopping_an_agent_that_will_not_says_so_with_its_code() -> None:
    door = Door()
    agent = Scripted("rude")
    agent.on_stop = RuntimeError("no")
    door.orchestrator.register_agent(agent)
    await door.orchestrator.lifecycle.start_all()
    with pytest.raises(AgentError) as caught:
        await door.orchestrator.lifecycle.stop("rude")
    assert (caught.value.code, names(door)) == ("AGENT_SHUTDOWN_FAILED", [])


@pytest.mark.req("ORC-Q10")
async def test_an_agent_nobody_registered_is_not_found() -> None:
    with pytest.raises(NotFoundError) as caught:
        await Door().orchestrator.lifecycle.health("nobody")
    assert caught.value.code == "AGENT_NOT_FOUND"


@pytest.mark.req("ORC-ENT-Registry")
@pytest.mark.req("ORC-EDGE-03", "ORC-Q07")
async def test_a_tool_name_that_is_taken_is_rejected_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    door = Door()
    for agent in (Scripted("first", "echo"), Scripted("second", "echo", "own")):
        door.orchestrator.register_agent(agent)
    with caplog.at_level(logging.WARNING):
        await door.orchestrator.lifecycle.start("first")
        await door.orchestrator.lifecycle.start("second")
    owner = door.orchestrator.registry.get("echo").agent_id
    warned = [(record.message, getattr(record, "tool", None)) for record in caplog.records]
    assert (owner, names(door), warned) == ("first", ["echo", "own"], [("tool_duplicate", "echo")])


async def test_two_agents_of_one_name_are_refused() -> None:
    door = Door()
    door.orchestrator.register_agent(Scripted("twin"))
    with pytest.raises(AgentError) as caught:
        door.orchestrator.register_agent(Scripted("twin"))
    door.orchestrator.register_agent_factory("other", lambda: Scripted("twin"))
    statuses = await door.orchestrator.lifecycle.start_all()
    assert caught.value.code == "AGENT_DUPLICATE"
    assert sorted(s.state.value for s in statuses) == ["failed", "running"]


async def test_an_agent_whose_id_is_taken_is_shut_down_and_leaves_the_others_tools_alone() -> None:
    door = Door()
    first, second = Scripted("twin", "echo"), Scripted("twin", "other")
    door.orchestrator.register_agent_factory("first", lambda: first)
    door.orchestrator.register_agent_factory("second", lambda: second)
    lifecycle = door.orchestrator.lifecycle
    await lifecycle.start("first")
    with pytest.raises(AgentError):
        await lifecycle.start("second")
    statuses = lifecycle.statuses()
    await lifecycle.stop("second")
    assert [(status.id, status.state.value, status.tools) for status in statuses] == [
        ("first", "running", ("echo",)),
        ("second", "failed", ()),
    ]
    assert (names(door), first.stopped, second.stopped) == (["echo"], False, True)


@pytest.mark.req("ORC-SC-005", "ORC-Q30", "ORC-Q31")
async def test_an_agent_that_ignores_its_deadlines_is_left_behind_and_the_others_go_on() -> None:
    door = Door(limits=LifecycleLimits(start=0.02, health=0.02, shutdown=0.02, grace=0.01))
    stubborn, late, good = Scripted("stubborn"), Scripted("late"), Scripted("good")
    stubborn.on_health = stubborn.on_stop = late.on_start = late.on_stop = enough = asyncio.Event()
    for agent in (stubborn, late, good):
        door.orchestrator.register_agent(agent)
    try:
        async with asyncio.timeout(10):
            statuses = await door.orchestrator.lifecycle.start_all()
            health = await door.orchestrator.lifecycle.health("stubborn")
            await door.orchestrator.lifecycle.stop_all()
    finally:
        enough.set()  # else they outlast the test, whatever became of it
    assert [(status.id, status.state.value) for status in statuses] == [
        ("stubborn", "running"),
        ("late", "failed"),
        ("good", "running"),
    ]
    assert (health.healthy, good.stopped, names(door)) == (False, True, [])


async def test_an_agent_that_cancels_itself_is_a_failed_agent() -> None:
    door = Door()
    odd, good = Scripted("odd"), Scripted("good")
    odd.on_start = asyncio.CancelledError()
    for agent in (odd, good):
        door.orchestrator.register_agent(agent)
    statuses = await door.orchestrator.lifecycle.start_all()
    assert [status.state.value for status in statuses] == ["failed", "running"]


async def test_a_manifest_that_fails_to_be_read_again_takes_no_tools_away() -> None:
    door = Door()
    agent = Scripted("server", "one")
    door.orchestrator.register_agent(agent)
    await door.orchestrator.lifecycle.start_all()
    agent.names = ["not a name!"]
    assert agent.listener is not None
    with pytest.raises(StewardError):
        agent.listener()
    assert names(door) == ["one"]


@pytest.mark.req("ORC-Q10")
async def test_an_agent_that_changes_is_read_again_and_one_that_is_away_says_so() -> None:
    door = Door()
    agent = Scripted("server", "one")
    door.orchestrator.register_agent(agent)
    await door.orchestrator.lifecycle.start_all()
    assert agent.listener is not None
    agent.names = ["one", "two"]
    agent.listener()
    grown = names(door)
    agent.reachable = False
    away = await door.call("one")
    assert (grown, getattr(away, "code", None), door.orchestrator.lifecycle.statuses()[0].state) == (
        ["one", "two"],
        "AGENT_UNAVAILABLE",
        LifecycleState.UNAVAILABLE,
    )
    await door.orchestrator.lifecycle.stop("server")
    agent.listener()
    assert names(door) == []


@pytest.mark.req("ORC-SC-004", "ORC-Q33")
async def test_twelve_agents_with_sixty_tools_all_answer() -> None:
    door = Door()
    for number in range(12):
        await door.with_tools(
            *(tool(echo, name=f"a{number}_t{index}") for index in range(5)), agent=f"agent{number}"
        )
    results = await asyncio.gather(*(door.call(name, text="x") for name in names(door)))
    assert (len(results), {getattr(result, "data", None) for result in results}) == (60, {"x"})


@pytest.mark.req("ORC-FR-015", "ORC-Q05")
async def test_starts_stops_and_health_leave_structured_logs(caplog: pytest.LogCaptureFixture) -> None:
    door = Door()
    door.orchestrator.register_agent(Scripted("notes"))
    with caplog.at_level(logging.INFO):
        await door.orchestrator.lifecycle.start_all()
        await door.orchestrator.lifecycle.health("notes")
        await door.orchestrator.lifecycle.stop("notes")
    assert [(record.message, getattr(record, "agent", None)) for record in caplog.records] == [
        ("agent_started", "notes"),
        ("agent_health", "notes"),
        ("agent_stopped", "notes"),
    ]


async def test_tools_are_found_by_alias_namespace_category_and_agent() -> None:
    door = Door()
    door.orchestrator.register_agent(
        LegacyToolAgent(
            "mixed",
            [
                tool(echo, name="web_search", aliases=("search_web", "git__log"), category="web"),
                tool(echo, name="git__log", category="code"),
                tool(echo, name="git__diff", category="code"),
            ],
        )
    )
    await door.orchestrator.lifecycle.start_all()
    registry = door.orchestrator.registry
    assert (
        registry.get("search_web").spec.name,
        registry.get("git__log").spec.name,
        [t.spec.name for t in registry.select(namespace="git")],
        [t.spec.name for t in registry.select(category="web")],
        len(registry.select(agent="mixed")),
        len(registry),
    ) == ("web_search", "git__log", ["git__log", "git__diff"], ["web_search"], 3, 3)


async def test_a_tool_with_a_broken_schema_is_left_out_and_the_others_stay() -> None:
    door = Door()
    broken = tool(echo, name="broken", input_schema={"type": "nonsense"})
    await door.with_tools(broken, tool(echo, name="fine"))
    assert names(door) == ["fine"]


async def test_an_asynchronous_factory_works_as_well() -> None:
    async def factory() -> Scripted:
        return Scripted("slowly")

    door = Door()
    door.orchestrator.register_agent_factory("slowly", factory)
    await door.orchestrator.lifecycle.start_all()
    await door.orchestrator.lifecycle.unregister("slowly")
    assert door.orchestrator.lifecycle.statuses() == ()


@pytest.mark.req("ORC-Q15")
async def test_an_agent_goes_through_three_states_and_there_is_room_for_more() -> None:
    door = Door()
    door.orchestrator.register_agent(Scripted("notes"))
    lifecycle = door.orchestrator.lifecycle
    seen = [lifecycle.statuses()[0].state.value]
    await lifecycle.start("notes")
    seen.append(lifecycle.statuses()[0].state.value)
    await lifecycle.stop("notes")
    seen.append(lifecycle.statuses()[0].state.value)
    assert seen == ["initialized", "running", "stopped"]
    assert set(seen) < {state.value for state in LifecycleState}


@pytest.mark.req("ORC-ENT-Agent", "ORC-ENT-Tool")
async def test_an_agent_is_shown_with_its_id_state_and_tools_and_a_tool_with_its_schema() -> None:
    given = {"type": "object", "properties": {"text": {"type": "string"}}}
    door = await Door().with_tools(
        tool(echo, input_schema=given, output_schema={"type": "string"}),
        agent="notes",
    )
    [status] = door.orchestrator.lifecycle.statuses()
    shown = door.orchestrator.registry.get("echo").spec
    assert (status.id, status.state, status.tools) == ("notes", LifecycleState.RUNNING, ("echo",))
    assert (shown.name, shown.description, shown.input_schema, shown.output_schema) == (
        "echo",
        "A function.",
        given,
        {"type": "string"},
    )


@pytest.mark.req("ORC-Q16", "ORC-FR-001")
def test_the_stable_surface_is_the_agent_and_its_result() -> None:
    manifest = LegacyToolAgent("a", [tool(echo)], name="A", capabilities=("echo",)).manifest()
    assert manifest == AgentManifest(
        id="a",
        name="A",
        tools=(tool(echo).spec,),
        capabilities=("echo",),
        requires_approval=False,
    )


async def test_what_making_agents_takes_is_nobodys_time_to_start() -> None:
    """They are made one after the other in one thread: the first must not pay for the last."""

    class Stepwise(Scripted):
        async def initialize(self) -> None:
            for _ in range(20):
                await asyncio.sleep(0)

    def slowly_made(name: str) -> Stepwise:
        time.sleep(0.6)  # as an import takes; blocks the loop like one
        return Stepwise(name)

    door = Door(limits=LifecycleLimits(start=1.0))
    for name in ("one", "two", "three"):
        door.orchestrator.register_agent_factory(name, partial(slowly_made, name))
    statuses = await door.orchestrator.lifecycle.start_all()
    assert {status.state for status in statuses} == {LifecycleState.RUNNING}


@pytest.mark.req("ORC-Q18", "ORC-FR-001")
async def test_an_agent_that_knows_the_stable_surface_alone_is_used() -> None:
    """No base class and nothing of the orchestrator: the protocol's methods, and a result."""

    class Stranger:
        async def initialize(self) -> None: ...

        async def shutdown(self) -> None: ...

        async def health(self) -> Health:
            return Health(healthy=True)

        def manifest(self) -> AgentManifest:
            return AgentManifest(id="stranger", name="Stranger", tools=(tool(echo).spec,))

        async def execute(self, tool: str, params: Mapping[str, Any]) -> ToolResult:
            return Done(data=[tool, dict(params)])

    door = Door()
    door.orchestrator.register_agent(Stranger())
    await door.orchestrator.lifecycle.start_all()
    result = await door.call("echo", text="hi")
    assert isinstance(result, Done)
    assert result.data == ["echo", {"text": "hi"}]
