"""The way of one call, stage by stage.

    record -> resolve -> act for -> validate input -> assess risk -> approve -> limit -> validate output
    -> run

Each stage is a small wrapper around the next one: it answers itself or passes the call on. `record`
stands outermost, so that every call leaves a line whatever happened to it; before anything but a declared
read of our own runs, `run` leaves another that says what is about to happen. A stage that fails closes
the door: its exception becomes a failed result and nothing behind it runs. The stages around the run
itself stand in running.py.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, assert_never, cast

from steward.contract.call import (
    Done,
    Failed,
    PendingApproval,
    ToolCall,
    ToolResult,
    current_call,
    new_id,
)
from steward.contract.errors import ConfigError, ErrorCode, StewardError
from steward.contract.federation import Elsewhere
from steward.contract.runs import RunRecord
from steward.contract.schema import without_nulls
from steward.contract.tool import Effect, Origin, RiskLevel, ToolSpec
from steward.orchestrator.call_in_progress import CallInProgress, Stage
from steward.orchestrator.metrics import Metrics
from steward.orchestrator.ports import Clock, Execution, ExecutionLog, Notifier, ProposalStore, Tracer
from steward.orchestrator.proposals import Proposal, argument_digest
from steward.orchestrator.registry import RegisteredTool, Registry
from steward.orchestrator.standing_proposals import StandingProposals
from steward.policy.approval import Assessment, Rules, assess, needs_person
from steward.policy.leaks import note_answer

logger = logging.getLogger(__name__)

UNKNOWN_AGENT = "-"


class Record:
    """Spans, metrics and the execution log; turns what no stage caught into a failed result."""

    def __init__(
        self, inner: Stage, *, log: ExecutionLog, tracer: Tracer, metrics: Metrics, clock: Clock
    ) -> None:
        self._inner = inner
        self._log = log
        self._tracer = tracer
        self._metrics = metrics
        self._clock = clock

    async def __call__(self, current: CallInProgress) -> ToolResult:
        call = current.call
        with self._tracer.tool_call(call) as span:
            try:
                result = await self._answer(current)
            except asyncio.CancelledError:
                self._keep(
                    current,
                    Failed(
                        error="The caller gave up.",
                        code=ErrorCode.CANCELLED,
                        outcome_unknown=current.begun,
                    ),
                )
                raise
            result = self._keep(current, result)
            span.finish(result, risk=_risk(current))
        return result

    async def _answer(self, current: CallInProgress) -> ToolResult:
        try:
            if not self._log.accepting():
                return Failed(
                    error="Nothing was run: the execution log cannot be written. "
                    "Free disk space; 'steward doctor' says where.",
                    code=ErrorCode.RECORD_FAILED,
                    retryable=True,
                )
            return await self._inner(current)
        except StewardError as error:
            return Failed.from_error(error)
        except Exception:
            logger.exception("call_failed_unexpectedly", extra={"call_id": current.call.call_id})
            return Failed(
                error="Something went wrong inside Steward. "
                f"Details are in the log under call {current.call.call_id}.",
                code=ErrorCode.INTERNAL,
            )

    def _keep(self, current: CallInProgress, result: ToolResult) -> ToolResult:
        call, tool = current.call, current.tool
        seconds = time.perf_counter() - current.started
        result = replace(
            result, call_id=call.call_id, correlation_id=call.correlation_id, duration_ms=seconds * 1000
        )
        agent = None if tool is None else tool.agent_id
        # Names that no tool has share one series, so that a caller cannot grow the metrics without bound.
        name = call.tool if tool is None else tool.spec.name
        self._metrics.observe(
            agent or UNKNOWN_AGENT, name if tool else UNKNOWN_AGENT, result=result, seconds=seconds
        )
        self._log.append(
            Execution(
                at=self._clock.now(),
                tool=name,
                agent=agent,
                call=call,
                result=result,
                risk=_risk(current),
                only_read=current.only_reads,
                user=current.owner,
                receipt=current.receipt,
                begun=current.begun,
            )
        )
        return result


def _risk(current: CallInProgress) -> RiskLevel | None:
    return None if current.assessment is None else current.assessment.level


class Resolve:
    """Name to tool; a tool whose agent is away or whose definition waits for a person goes no further."""

    def __init__(self, inner: Stage, *, registry: Registry) -> None:
        self._inner = inner
        self._registry = registry

    async def __call__(self, current: CallInProgress) -> ToolResult:
        tool = current.tool = self._registry.current(current.call.tool)
        if tool.renewing is not None:  # what runs must be what was judged here
            current.call = replace(current.call, definition=tool.spec.definition_hash)
        if tool.spec.blocked is not None:
            return Failed(error=tool.spec.blocked, code=ErrorCode.TOOL_QUARANTINED)
        if not tool.reachable:
            return Failed(
                error=f"'{tool.spec.name}' is unavailable: '{tool.agent_id}' cannot be reached now. "
                f"It is being reconnected; 'steward agents health {tool.agent_id}' says why.",
                code=ErrorCode.AGENT_UNAVAILABLE,
                retryable=True,
            )
        return await self._inner(current)


class ActFor:
    """A call of somebody's session acts for that person only, whatever its arguments say."""

    def __init__(self, inner: Stage) -> None:
        self._inner = inner

    async def __call__(self, current: CallInProgress) -> ToolResult:
        call, argument = current.call, current.resolved().spec.user_argument
        if argument is not None and call.user is not None:
            named = call.arguments.get(argument)
            if named is None:
                current.call = replace(call, arguments={**call.arguments, argument: call.user})
            elif named != call.user:
                return Failed(
                    error=f"Nothing was run: this session belongs to '{call.user}' "
                    "and may not act for somebody else.",
                    code=ErrorCode.FORBIDDEN,
                )
        return await self._inner(current)


class ValidateInput:
    """Checks arguments by the tool's schema; a null for an optional one that takes none was never said."""

    def __init__(self, inner: Stage) -> None:
        self._inner = inner

    async def __call__(self, current: CallInProgress) -> ToolResult:
        tool, call = current.resolved(), current.call
        if tool.input.accepts(call.arguments):
            return await self._inner(current)
        current.call = replace(call, arguments=without_nulls(tool.spec.input_schema, call.arguments))
        if tool.spec.checks_itself and tool.spec.origin is Origin.BUILTIN:
            return await self._inner(current)
        tool.input.check(current.call.arguments, what=f"Wrong arguments for '{tool.spec.name}'")
        return await self._inner(current)


PathResolver = Callable[[str], str]

MOST_VALUES_AT_ONCE = 200  # arguments with more in them are looked through beside the event loop
CHARACTERS_A_VALUE = 100


class AssessRisk:
    """Rates exactly this call. A policy that fails rates it as high as can be."""

    def __init__(
        self, inner: Stage, *, rules: Callable[[], Rules], resolve_path: PathResolver | None
    ) -> None:
        self._inner = inner
        self._rules = rules
        self._resolve_path = resolve_path

    async def __call__(self, current: CallInProgress) -> ToolResult:
        tool = current.resolved()
        try:
            current.assessment = await self._assessed(tool.spec, current)
        except ConfigError:
            raise  # without rules nothing runs, whoever says yes
        except Exception:
            logger.exception("policy_failed", extra={"tool": tool.spec.name})
            current.assessment = Assessment(
                level=RiskLevel.IRREVERSIBLE,
                effect=Effect.WRITES_OUTSIDE,
                reasons=("the policy could not rate this call",),
                trusted=False,
            )
        result = await self._inner(current)
        if current.call.run is not None:
            note_result(current.call.run, tool.spec, result, given=current.call.arguments)
        return result

    async def _assessed(self, spec: ToolSpec, current: CallInProgress) -> Assessment:
        call = current.call
        judge = partial(
            assess,
            spec,
            call.arguments,
            self._rules(),
            user=current.owner,
            resolve=self._resolve_path,
            run=call.run,
        )
        return await asyncio.to_thread(judge) if _is_heavy(call.arguments) else judge()


def note_result(run: RunRecord, spec: ToolSpec, result: ToolResult, *, given: Mapping[str, Any]) -> None:
    """What a caller gets to read of a result, in the record of its run."""
    match result:
        case Done():
            note_answer(run, spec, result.data, given=given)
        case Failed():
            note_answer(run, spec, [result.error, result.data], given=given)
        case PendingApproval():
            return
        case _:
            assert_never(result)


def _is_heavy(arguments: Mapping[str, Any]) -> bool:
    """Whether there is so much in the arguments that looking through them would hold everybody up."""
    left, stack = MOST_VALUES_AT_ONCE, [cast("object", arguments)]
    while stack and left > 0:
        value = stack.pop()
        left -= 1
        if isinstance(value, str):
            left -= len(value) // CHARACTERS_A_VALUE
        elif isinstance(value, Mapping):
            stack.extend(cast("Mapping[object, object]", value).values())
        elif isinstance(value, list | tuple):
            stack.extend(cast("Sequence[object]", value))
    return left <= 0


class Approve:
    """Lets a call pass, or turns it into a proposal that waits for a person."""

    def __init__(
        self,
        inner: Stage,
        *,
        store: ProposalStore,
        notifier: Notifier | None,
        clock: Clock,
        expiry: timedelta | None,
        routing_limit: float,
    ) -> None:
        self._inner = inner
        self._store = store
        self._notifier = notifier
        self._clock = clock
        self._expiry = expiry
        self._routing_limit = routing_limit
        self._background: set[asyncio.Task[None]] = set()
        self._standing = StandingProposals(store)

    async def __call__(self, current: CallInProgress) -> ToolResult:
        tool, call, assessment = current.resolved(), current.call, current.assessment
        if assessment is not None and assessment.refused is not None:
            return Failed(error=f"Nothing was run. {assessment.refused}", code=ErrorCode.FORBIDDEN)
        reason = (
            "its risk was not assessed"
            if assessment is None
            else needs_person(
                assessment, confidence=call.confidence, agent_requires_approval=tool.agent_requires_approval
            )
        )
        if reason is None:
            return await self._run(current)
        if self._said_yes(current):
            return await self._run(current) if self._same_tool(current) else _another_tool(current)
        if call.incidental:
            return Failed(
                error=f"Nothing was run: a mere look asks nobody. {reason}", code=ErrorCode.FORBIDDEN
            )
        risk = RiskLevel.IRREVERSIBLE if assessment is None else assessment.level
        return await self._propose(current, reason, risk)

    async def _run(self, current: CallInProgress) -> ToolResult:
        """What a Steward behind the tool asks a person waits here, where its key may decide there."""
        result = await self._inner(current)
        there = result.elsewhere if isinstance(result, PendingApproval) else None
        if there is None or not isinstance(result, PendingApproval):
            return result
        if not there.decidable or current.call.decision is not None:
            return _waits_elsewhere(result, there)
        level = result.risk if current.assessment is None else current.assessment.level
        return await self._propose(
            current, result.reason, level.at_least(result.risk), elsewhere=there.proposal_id
        )

    async def _propose(
        self, current: CallInProgress, reason: str, risk: RiskLevel, *, elsewhere: str | None = None
    ) -> ToolResult:
        tool, call = current.resolved(), current.call
        try:
            async with asyncio.timeout(self._routing_limit):
                effect = await effect_of(tool, call)
                made = self._proposal(current, reason, effect, risk=risk, elsewhere=elsewhere)
                proposal = await self._standing.keep(made, session=call.session)
        except TimeoutError:
            return Failed(
                error="Nothing was run: the proposal could not be stored in time. "
                "'steward doctor' checks the database.",
                code=ErrorCode.STORAGE_UNAVAILABLE,
                retryable=True,
            )
        if proposal is made:
            self._tell(proposal)
        return PendingApproval(proposal_id=proposal.id, reason=proposal.reason, risk=proposal.risk)

    @staticmethod
    def _said_yes(current: CallInProgress) -> bool:
        """Whether a person agreed to exactly this tool with exactly these arguments."""
        receipt = current.receipt
        return receipt is not None and receipt.digest == argument_digest(
            current.resolved().spec.name, current.call.arguments
        )

    @staticmethod
    def _same_tool(current: CallInProgress) -> bool:
        receipt = current.receipt
        return receipt is not None and receipt.definition_hash == current.resolved().spec.definition_hash

    def _proposal(
        self,
        current: CallInProgress,
        reason: str,
        effect: str | None,
        *,
        risk: RiskLevel,
        elsewhere: str | None,
    ) -> Proposal:
        call, spec, now = current.call, current.resolved().spec, self._clock.now()
        reason = reason if spec.caution is None else f"{reason.rstrip('.')}. {spec.caution}"
        return Proposal(
            id=new_id()[:12],
            tool=spec.name,
            arguments=call.arguments,
            digest=argument_digest(spec.name, call.arguments),
            definition_hash=spec.definition_hash,
            risk=risk,
            confidence=call.confidence,
            reason=reason,
            caller=call.caller,
            user=current.owner,
            utterance=call.utterance,
            call_id=call.call_id,
            correlation_id=call.correlation_id,
            created_at=now,
            expires_at=None if self._expiry is None else now + self._expiry,
            effect=effect,
            elsewhere=elsewhere,
        )

    async def settle(self, seconds: float) -> None:
        """Let news that is on its way get out, for this long at most."""
        if self._background:
            await asyncio.wait(self._background, timeout=seconds)

    def _tell(self, proposal: Proposal) -> None:
        if self._notifier is None:
            return
        task = asyncio.create_task(_notify(self._notifier, proposal))
        self._background.add(task)
        task.add_done_callback(self._background.discard)


def _waits_elsewhere(waiting: PendingApproval, there: Elsewhere) -> Failed:
    return Failed(
        error=f"Nothing was run yet: this call waits for a person at the Steward '{there.agent}', "
        f"as proposal {there.proposal_id} there. {waiting.reason} Decide it there: 'steward approve "
        f"{there.proposal_id}' or its page. The key that is used from here may not decide there.",
        code=ErrorCode.WAITS_ELSEWHERE,
    )


def _another_tool(current: CallInProgress) -> Failed:
    return Failed(
        error=f"Nothing was run: '{current.resolved().spec.name}' changed after it was approved. "
        "Look at it, and make the call again.",
        code=ErrorCode.PROPOSAL_OUTDATED,
    )


async def effect_of(tool: RegisteredTool, call: ToolCall) -> str | None:
    """What the call would do, in its agent's words; None where it has none.

    Raises its agent's error for a call that could do nothing at all: nobody need be asked about it.
    """
    if tool.telling is None:
        return None
    token = current_call.set(call)
    try:
        return await tool.telling.tell(tool.spec.name, call.arguments)
    except StewardError as error:
        if error.retryable:
            return None  # it cannot be looked up now: the call itself is shown
        raise
    except Exception:
        logger.exception("effect_not_told", extra={"tool": tool.spec.name})
        return None
    finally:
        current_call.reset(token)


async def _notify(notifier: Notifier, proposal: Proposal) -> None:
    try:
        await notifier.notify(proposal)
    except Exception as error:  # noqa: BLE001 - a hook of the user's must never reach a call
        logger.warning("notify_failed", extra={"proposal": proposal.id, "problem": str(error)})
