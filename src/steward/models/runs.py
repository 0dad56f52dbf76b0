"""One run of an agent: bounded, stoppable, counted, and never an exception.

Owns limits, the handle that stops a run, and what a run cost. Every face runs agents through
`run_agent`, so that a limit or a stop means the same everywhere.
"""

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Generic, TypeVar

from pydantic_ai import (
    Agent,
    AgentStreamEvent,
    CancellationToken,
    DeferredToolResults,
    RunContext,
    capture_run_messages,
)
from pydantic_ai import exceptions as theirs
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelMessage, PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta
from pydantic_ai.models import Model
from pydantic_ai.toolsets import AbstractToolset
from pydantic_ai.usage import RunUsage, UsageLimits

from steward.contract.errors import StewardError
from steward.models.catalog import PLANNER
from steward.models.failures import RunStoppedError, RunTimeoutError, explain

D = TypeVar("D")
O = TypeVar("O")  # noqa: E741 - the output
W = TypeVar("W")

Listener = Callable[[AgentStreamEvent], Awaitable[None]]
Writing = Callable[[str], None]  # hears all that the model has written so far, before anybody checked it


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """What one run may use up. A limit that is None is none."""

    steps: int | None = 25  # answers of the model
    tool_calls: int | None = 100
    cost_usd: Decimal | None = None
    tokens: int | None = None
    seconds: float | None = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCost:
    """What a run used up. A cost of None means that nobody knows the model's price."""

    steps: int = 0
    tool_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: Decimal | None = None

    @classmethod
    def of(cls, usage: RunUsage) -> "RunCost":
        return cls(
            steps=usage.requests,
            tool_calls=usage.tool_calls,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cost_usd=usage.cost,
        )


class Stop:
    """A handle that ends a run from anywhere: another task, a signal handler, another thread."""

    def __init__(self) -> None:
        self.token = CancellationToken()
        self._then: list[Callable[[], object]] = []

    def __call__(self) -> None:
        """End every run that holds this handle, now and later. Calling it twice is fine."""
        self.token.cancel()
        for callback in tuple(self._then):
            callback()

    def then(self, callback: Callable[[], object]) -> None:
        """Call this as well, from whichever thread stops; twice is possible."""
        self._then.append(callback)

    @property
    def requested(self) -> bool:
        return self.token.cancelled


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered(Generic[O]):
    output: O
    messages: Sequence[ModelMessage]  # the whole history, this run included
    new_messages: Sequence[ModelMessage]
    cost: RunCost


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A run that ended early, with everything it did until then: tools that ran have run."""

    error: StewardError
    messages: Sequence[ModelMessage] = ()
    cost: RunCost = field(default_factory=RunCost)


class _Limits(UsageLimits):
    def check_cost(self, usage: RunUsage, *, warn_if_cost_unavailable: bool = True) -> None:  # noqa: ARG002
        """A price nobody knows is said in the run's cost, not on the terminal."""
        super().check_cost(usage, warn_if_cost_unavailable=False)


async def run_agent(
    agent: Agent[D, O],
    prompt: str | None,
    *,
    deps: D,
    model: Model,
    limits: RunLimits | None = None,
    stop: Stop | None = None,
    history: Sequence[ModelMessage] | None = None,
    deferred: DeferredToolResults | None = None,
    toolsets: Sequence[AbstractToolset[D]] | None = None,
    instrumentation: AbstractCapability[Any] | None = None,
    on_event: Listener | None = None,
) -> Answered[O] | Broken:
    """Run to an answer, a limit, a stop or a failure. Cancelling the task from outside still cancels."""
    limits = limits or RunLimits()
    stop = stop or Stop()
    usage = RunUsage()
    if stop.requested:
        return Broken(
            error=RunStoppedError("The run was stopped before it began."), messages=tuple(history or ())
        )
    with capture_run_messages() as seen:
        try:
            result = await agent.run(
                prompt,
                deps=deps,
                model=model,
                message_history=history,
                deferred_tool_results=deferred,
                toolsets=toolsets,
                usage=usage,
                usage_limits=_usage_limits(limits),
                cancellation_token=stop.token,
                timeout=limits.seconds,
                capabilities=[instrumentation] if instrumentation else None,
                event_stream_handler=_handler(on_event),
            )
        except (theirs.AgentRunError, theirs.FallbackExceptionGroup, StewardError) as error:
            done = error.all_messages() if isinstance(error, theirs.RunCancelled) else seen
            messages = tuple(done or history or ())
            explained = explain(error, model=model.model_name)
            return Broken(error=explained, messages=messages, cost=RunCost.of(usage))
    return Answered(
        output=result.output,
        messages=tuple(result.all_messages()),
        new_messages=tuple(result.new_messages()),
        cost=RunCost.of(usage),
    )


async def run_work(work: Coroutine[Any, Any, W], *, limits: RunLimits, stop: Stop) -> W | Broken:
    """A piece of our own work under a run's time limit and its handle."""
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work)
    stop.then(lambda: loop.call_soon_threadsafe(task.cancel))
    if stop.requested:
        task.cancel()
    try:
        async with asyncio.timeout(limits.seconds):
            return await task
    except TimeoutError:
        return Broken(
            error=RunTimeoutError("The run took longer than it may.", fix="Raise STEWARD_RUN_SECONDS.")
        )
    except StewardError as error:
        return Broken(error=error)
    except asyncio.CancelledError:
        ours = asyncio.current_task()
        if stop.requested and not (ours and ours.cancelling()):
            return Broken(error=RunStoppedError("The run was stopped."))
        raise


def _usage_limits(limits: RunLimits) -> UsageLimits:
    return _Limits(
        request_limit=limits.steps,
        tool_calls_limit=limits.tool_calls,
        total_tokens_limit=limits.tokens,
        cost_limit=limits.cost_usd,
    )


def reading_along(tell: Writing | None, model: Model) -> Listener | None:
    """Nobody where nobody wants to, and with the planner, whose words come at once."""
    return None if tell is None or model.model_name == PLANNER else as_written(tell)


def as_written(tell: Writing) -> Listener:
    """Tells an answer's words as they are made. Where a call follows them, they were no answer."""
    text = ""

    async def hear(event: AgentStreamEvent) -> None:
        nonlocal text
        match event:
            case PartStartEvent(part=TextPart(content=words)):
                text = words
            case PartDeltaEvent(delta=TextPartDelta(content_delta=words)):
                text += words
            case PartStartEvent():
                text = ""
            case _:
                return
        tell(text)

    return hear


def _handler(
    listener: Listener | None,
) -> Callable[[RunContext[Any], AsyncIterable[AgentStreamEvent]], Awaitable[None]] | None:
    if listener is None:
        return None

    async def handle(_: RunContext[Any], events: AsyncIterable[AgentStreamEvent]) -> None:
        async for event in events:
            await listener(event)

    return handle
