"""Agents' lives: made by factories, started in parallel, checked, stopped in time.

Owns states and deadlines. A failing agent is skipped and shown; it never stops the others.
"""

import asyncio
import inspect
import logging
import time
from collections.abc import Awaitable, Collection
from dataclasses import dataclass
from typing import Any, TypeVar

from steward.contract.agent import (
    Agent,
    AgentFactory,
    ChangingAgent,
    ExplainingAgent,
    Health,
    LifecycleState,
)
from steward.contract.errors import AgentError, ErrorCode, NotFoundError, StewardError
from steward.orchestrator.registry import Registry

logger = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleLimits:
    """Seconds; injectable, so that tests need not wait."""

    tool: float = 30.0
    routing: float = 5.0
    health: float = 1.0
    shutdown: float = 5.0
    start: float = 30.0
    news: float = 5.0  # for notifications under way when the program ends
    store_again: float = 0.5  # before an outcome that was not stored is tried again; then twice as long
    grace: float = 0.5  # for a cancelled call to wind up before it is abandoned


@dataclass(slots=True)
class _Member:
    name: str
    factory: AgentFactory
    state: LifecycleState = LifecycleState.INITIALIZED
    agent: Agent | None = None
    agent_id: str | None = None
    problem: str | None = None
    changing: asyncio.Lock | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStatus:
    id: str
    state: LifecycleState
    tools: tuple[str, ...]
    problem: str | None = None


class Lifecycle:
    def __init__(self, registry: Registry, limits: LifecycleLimits) -> None:
        self._registry = registry
        self._limits = limits
        self._members: dict[str, _Member] = {}

    def register(self, name: str, factory: AgentFactory, *, auto_start: bool = True) -> None:
        if name in self._members:
            raise AgentError(
                f"An agent named '{name}' is registered already.",
                code=ErrorCode.AGENT_DUPLICATE,
                fix="Give it another name.",
            )
        state = LifecycleState.INITIALIZED if auto_start else LifecycleState.STOPPED
        self._members[name] = _Member(name=name, factory=factory, state=state)

    async def unregister(self, name: str) -> None:
        """Stop an agent and forget its factory."""
        await self.stop(name)
        del self._members[name]

    async def start_all(self, only: Collection[str] | None = None) -> tuple[AgentStatus, ...]:
        """Start everything in parallel, or `only` these; whatever fails is skipped and shown."""
        waiting = [
            name
            for name, member in self._members.items()
            if member.state is LifecycleState.INITIALIZED and (only is None or name in only)
        ]
        await asyncio.gather(*(self._start_quietly(name) for name in waiting))
        return self.statuses()

    async def _start_quietly(self, name: str) -> None:
        try:
            await self.start(name)
        except AgentError as error:
            logger.warning(
                "agent_skipped", extra={"agent": name, "code": error.code, "problem": error.message}
            )

    async def start(self, name: str) -> None:
        member = self._member(name)
        async with _lock(member):
            if member.state in (LifecycleState.RUNNING, LifecycleState.UNAVAILABLE):
                return
            try:
                # Making one may import for a while: nobody's deadline begins before all are made.
                made = member.factory()
                await asyncio.sleep(0)
                agent = await self._within(self._limits.start, _ready(made), what=f"'{name}' did not start")
                await self._admit(agent)
            except Exception as error:
                member.state, member.problem = LifecycleState.FAILED, _words(error)
                logger.warning("agent_start_failed", extra={"agent": name, "problem": member.problem})
                raise AgentError(
                    f"'{name}' could not be started: {member.problem}", code=ErrorCode.AGENT_INIT_FAILED
                ) from error
            member.agent, member.agent_id = agent, agent.manifest().id
            member.state, member.problem = LifecycleState.RUNNING, None
            if isinstance(agent, ChangingAgent):
                agent.subscribe(lambda: self._changed(member))
        logger.info("agent_started", extra={"agent": name, "tools": len(agent.manifest().tools)})

    async def _admit(self, agent: Agent) -> None:
        """Into the registry, or shut down again: an agent that nobody can reach must hold nothing."""
        try:
            self._registry.add(agent)
        except Exception:
            await self._within(
                self._limits.shutdown,
                asyncio.gather(agent.shutdown(), return_exceptions=True),
                what="it ended",
            )
            raise

    async def stop(self, name: str) -> None:
        """Take its tools away first, so that nothing new is routed to it, then let it shut down."""
        member = self._member(name)
        async with _lock(member):
            agent, member.agent = member.agent, None
            member.state = LifecycleState.STOPPED
            if agent is None or member.agent_id is None:
                return
            self._registry.remove(member.agent_id)
            try:
                await self._within(self._limits.shutdown, agent.shutdown(), what=f"'{name}' did not stop")
            except Exception as error:
                member.problem = _words(error)
                logger.warning("agent_stop_failed", extra={"agent": name, "problem": member.problem})
                raise AgentError(
                    f"'{name}' did not shut down cleanly: {member.problem}",
                    code=ErrorCode.AGENT_SHUTDOWN_FAILED,
                ) from error
        logger.info("agent_stopped", extra={"agent": name})

    async def stop_all(self) -> None:
        """Best effort, in parallel; a failure is logged and does not hold the others up."""
        await asyncio.gather(*(self.stop(name) for name in self._members), return_exceptions=True)

    async def health(self, name: str) -> Health:
        member = self._member(name)
        if member.agent is None:
            return Health(healthy=False, detail=member.problem or f"The agent is {member.state.value}.")
        started = time.perf_counter()
        try:
            health = await self._within(self._limits.health, member.agent.health(), what="it did not answer")
        except Exception as error:  # noqa: BLE001 - an agent's own code; whatever it raises is its health
            health = Health(healthy=False, detail=_words(error))
        logger.info(
            "agent_health",
            extra={
                "agent": name,
                "healthy": health.healthy,
                "seconds": round(time.perf_counter() - started, 4),
            },
        )
        return health

    def absences(self) -> list[str]:
        """Who should be here and is not, in words for whoever looks among the tools."""
        return [
            f"'{status.id}' is not reachable; its tools may be missing."
            for status in self.statuses()
            if status.state in (LifecycleState.FAILED, LifecycleState.UNAVAILABLE)
        ]

    def statuses(self) -> tuple[AgentStatus, ...]:
        return tuple(
            AgentStatus(
                id=member.name,
                state=_seen_state(member),
                tools=tuple(tool.spec.name for tool in self._registry.select(agent=member.agent_id))
                if member.agent is not None
                else (),
                problem=member.problem or _problem_of(member.agent),
            )
            for member in self._members.values()
        )

    async def _within(self, seconds: float, work: Awaitable[T], *, what: str) -> T:
        """Agents are other people's code: one that ignores its deadline is left behind, not waited for."""
        task = asyncio.ensure_future(work)
        try:
            done, _ = await asyncio.wait((task,), timeout=seconds)
            if task.cancelled():
                raise AgentError("it cancelled itself.")
            if done:
                return task.result()
            raise AgentError(f"{what} within {seconds:g} s.")
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait((task,), timeout=self._limits.grace)
                task.add_done_callback(_swallow)

    def _member(self, name: str) -> _Member:
        member = self._members.get(name)
        if member is None:
            raise NotFoundError(
                f"There is no agent named '{name}'.",
                code=ErrorCode.AGENT_NOT_FOUND,
                fix="See 'steward agents list'.",
            )
        return member

    def _changed(self, member: _Member) -> None:
        if member.agent is not None and member.agent_id is not None:
            self._registry.refresh(member.agent_id)
            logger.info("agent_changed", extra={"agent": member.name})


def _seen_state(member: _Member) -> LifecycleState:
    agent = member.agent
    if member.state is LifecycleState.RUNNING and isinstance(agent, ChangingAgent) and not agent.available():
        return LifecycleState.UNAVAILABLE
    return member.state


def _problem_of(agent: Agent | None) -> str | None:
    return agent.problem() if isinstance(agent, ExplainingAgent) else None


def _lock(member: _Member) -> asyncio.Lock:
    if member.changing is None:
        member.changing = asyncio.Lock()
    return member.changing


async def _ready(made: Agent | Awaitable[Agent]) -> Agent:
    agent = await made if inspect.isawaitable(made) else made
    try:
        await agent.initialize()
    except BaseException:
        # Half an agent may hold processes; whatever it says to that no longer matters.
        await asyncio.gather(agent.shutdown(), return_exceptions=True)
        raise
    return agent


def _swallow(task: "asyncio.Future[Any]") -> None:
    if not task.cancelled():
        task.exception()


def _words(error: Exception) -> str:
    return error.explain() if isinstance(error, StewardError) else f"{type(error).__name__}: {error}"
