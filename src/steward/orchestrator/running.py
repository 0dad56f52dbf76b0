"""The stages around the run itself: one at a time where needed, under a deadline, output checked.

Owns what happens between a call that may run and its agent's answer. See stages.py for the whole way.
"""

import asyncio
import logging
from dataclasses import replace

from steward.contract.agent import ends_when_cancelled
from steward.contract.call import Done, Failed, PendingApproval, ToolCall, ToolResult, current_call
from steward.contract.errors import ErrorCode, StewardError
from steward.orchestrator.call_in_progress import CallInProgress, Stage
from steward.orchestrator.metrics import Metrics
from steward.orchestrator.ports import Clock, ExecutionLog, Intent
from steward.orchestrator.registry import RegisteredTool

logger = logging.getLogger(__name__)


class Limit:
    """One at a time for tools that cannot run in parallel. Waiting is bounded like running."""

    def __init__(self, inner: Stage, *, default_timeout: float) -> None:
        self._inner = inner
        self._default_timeout = default_timeout

    async def __call__(self, current: CallInProgress) -> ToolResult:
        tool = current.resolved()
        if tool.turn is None:
            return await self._inner(current)
        patience = time_allowed(current, self._default_timeout)
        try:
            async with asyncio.timeout(patience):
                await tool.turn.acquire()
        except TimeoutError:
            return Failed(
                error=f"Nothing was run: '{tool.spec.name}' runs one call at a time "
                f"and stayed busy for {patience:g} s.",
                code=ErrorCode.AGENT_UNAVAILABLE,
                retryable=True,
            )
        try:
            return await self._inner(current)
        finally:
            tool.turn.release()


class ValidateOutput:
    """What a tool returns reaches nobody unless its own schema allows it."""

    def __init__(self, inner: Stage) -> None:
        self._inner = inner

    async def __call__(self, current: CallInProgress) -> ToolResult:
        result = await self._inner(current)
        tool = current.resolved()
        if tool.output is None or not isinstance(result, Done):
            return result
        problems = tool.output.problems(result.data)
        if not problems:
            return result
        return Failed(
            error=f"'{tool.spec.name}' ran, but returned what its schema forbids: "
            f"{'; '.join(map(str, problems))}.",
            code=ErrorCode.INVALID_OUTPUT,
        )


class Run:
    """Hands the call to its agent under a deadline, once the record says that it will.

    An exception fails this call only.
    """

    def __init__(
        self, *, log: ExecutionLog, clock: Clock, default_timeout: float, metrics: Metrics, grace: float
    ) -> None:
        self._log = log
        self._clock = clock
        self._default_timeout = default_timeout
        self._metrics = metrics
        self._grace = grace

    async def __call__(self, current: CallInProgress) -> ToolResult:
        tool, call = current.resolved(), current.call
        seconds = time_allowed(current, self._default_timeout)
        if not current.only_reads:
            await self._begin(current)
        if ends_when_cancelled(tool.agent):
            return _settled(current, await _run_here(tool, call, seconds))
        token = current_call.set(call)
        try:
            task = asyncio.create_task(_invoke(tool, call))
        finally:
            current_call.reset(token)
        try:
            done, _ = await asyncio.wait((task,), timeout=seconds)
        except asyncio.CancelledError:
            await self._stop(task)
            raise
        if not done:
            await self._stop(task)
            return _timed_out(tool, seconds)
        return _settled(current, _outcome(tool, task))

    async def _begin(self, current: CallInProgress) -> None:
        tool, assessment = current.resolved(), current.assessment
        await self._log.begin(
            Intent(
                at=self._clock.now(),
                tool=tool.spec.name,
                agent=tool.agent_id,
                call=current.call,
                risk=None if assessment is None else assessment.level,
                user=current.owner,
                receipt=current.receipt,
            )
        )
        current.begun = True

    async def _stop(self, task: asyncio.Task[ToolResult]) -> None:
        """Cancel, and walk away from what will not be cancelled: it is counted, never waited for."""
        task.cancel()
        done, _ = await asyncio.wait((task,), timeout=self._grace)
        if not done:
            self._metrics.abandoned += 1
            task.add_done_callback(_swallow)
        else:
            _swallow(task)


def time_allowed(current: CallInProgress, default: float) -> float:
    own = current.resolved().spec.timeout or default
    asked = current.call.timeout
    return own if asked is None else min(own, asked)


async def _run_here(tool: RegisteredTool, call: ToolCall, seconds: float) -> ToolResult:
    """Without a task of its own, which costs several turns of the loop: nothing could stay behind in it."""
    token = current_call.set(call)
    deadline = asyncio.timeout(seconds)
    try:
        async with deadline:
            return _checked(tool, await tool.agent.execute(tool.spec.name, call.arguments))
    except TimeoutError as error:
        return _timed_out(tool, seconds) if deadline.expired() else _raised(tool, error)
    except Exception as error:  # noqa: BLE001 - an agent is somebody else's code
        return _raised(tool, error)
    finally:
        current_call.reset(token)


async def _invoke(tool: RegisteredTool, call: ToolCall) -> ToolResult:
    return await tool.agent.execute(tool.spec.name, call.arguments)


def _swallow(task: asyncio.Task[ToolResult]) -> None:
    if not task.cancelled():
        task.exception()


def _checked(tool: RegisteredTool, answer: object) -> ToolResult:
    """An agent is somebody else's code: what it hands back is looked at before it is believed."""
    if isinstance(answer, Done | Failed | PendingApproval):
        return answer
    return Failed(
        error=f"'{tool.spec.name}' ran, but its agent answered with {type(answer).__name__}, not a result.",
        code=ErrorCode.INVALID_OUTPUT,
    )


def _settled(current: CallInProgress, result: ToolResult) -> ToolResult:
    """Nothing is unknown of what only read, and what is safe twice may be tried again."""
    if not isinstance(result, Failed) or not result.outcome_unknown:
        return result
    if current.only_reads:
        return replace(result, outcome_unknown=False, retryable=True)
    return replace(result, retryable=True) if current.resolved().spec.replayable else result


def _timed_out(tool: RegisteredTool, seconds: float) -> Failed:
    harmless = tool.spec.replayable
    return Failed(
        error=f"'{tool.spec.name}' did not answer within {seconds:g} s and was stopped."
        + ("" if harmless else " Whether it took effect is unknown; it was not repeated."),
        code=ErrorCode.TOOL_EXECUTION_TIMEOUT,
        retryable=harmless,
        outcome_unknown=not harmless,
    )


def _outcome(tool: RegisteredTool, task: asyncio.Task[ToolResult]) -> ToolResult:
    if task.cancelled():
        return Failed(
            error=f"'{tool.spec.name}' was stopped.", code=ErrorCode.CANCELLED, outcome_unknown=True
        )
    error = task.exception()
    return _checked(tool, task.result()) if error is None else _raised(tool, error)


def _raised(tool: RegisteredTool, error: BaseException) -> Failed:
    if isinstance(error, StewardError):
        return Failed.from_error(error)
    logger.error("tool_raised", exc_info=error, extra={"tool": tool.spec.name, "agent": tool.agent_id})
    return Failed(
        error=f"'{tool.spec.name}' failed: {type(error).__name__}: {str(error)[:500]}",
        code=ErrorCode.TOOL_EXECUTION_ERROR,
    )
