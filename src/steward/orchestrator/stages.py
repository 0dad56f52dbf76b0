"""The way of one call, stage by stage.

    record -> resolve -> act for -> validate input -> assess risk -> approve -> limit -> validate output
    -> run

Each stage is a small wrapper around the next one: it answers itself or passes the call on. `record`
stands outermost, so that every call leaves a line whatever happened to it. A stage that fails closes
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
from steward.contract.errors import ConfigError, ErrorCode, InputError, StewardError
from steward.contract.runs import RunRecord
from steward.contract.tool import Effect, Origin, RiskLevel, ToolSpec
from steward.orchestrator.metrics import Metrics
from steward.orchestrator.passage import Passage, Stage
from steward.orchestrator.ports import Clock, Execution, ExecutionLog, Notifier, ProposalStore, Tracer
from steward.orchestrator.proposals import Proposal, argument_digest
from steward.orchestrator.registry import RegisteredTool, Registry
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

    async def __call__(self, passage: Passage) -> ToolResult:
        call = passage.call
        with self._tracer.tool_call(call) as span:
            try:
                result = await self._answer(passage)
            except asyncio.CancelledError:
                self._keep(
                    passage,
                    Failed(error="The caller gave up.", code=ErrorCode.CANCELLED, outcome_unknown=True),
                )
                raise
            result = self._keep(passage, result)
            span.finish(result, risk=_risk(passage))
        return result

    async def _answer(self, passage: Passage) -> ToolResult:
        try:
            if not self._log.accepting():
                return Failed(
                    error="Nothing was run: the execution log cannot be written. "
                    "Free disk space; 'steward doctor' says where.",
                    code=ErrorCode.RECORD_FAILED,
                    retryable=True,
                )
            return await self._inner(passage)
        except StewardError as error:
            return Failed.from_error(error)
        except Exception:
            logger.exception("call_failed_unexpectedly", extra={"call_id": passage.call.call_id})
            return Failed(
                error="Something went wrong inside Steward. "
                f"Details are in the log under call {passage.call.call_id}.",
                code=ErrorCode.INTERNAL,
            )

    def _keep(self, passage: Passage, result: ToolResult) -> ToolResult:
        call, tool = passage.call, passage.tool
        seconds = time.perf_counter() - passage.started
        result = replace(
            result, call_id=call.call_id, correlation_id=call.correlation_id, duration_ms=seconds * 1000
        )
        agent = None if tool is None else tool.agent_id
        # Names that no tool has share one series, so that a caller cannot grow the metrics without bound.
        name = call.tool if tool is None else tool.spec.name
        self._metrics.observe(
            agent or UNKNOWN_AGENT, name if tool else UNKNOWN_AGENT, result=result, seconds=seconds
        )
        assessment = passage.assessment
        self._log.append(
            Execution(
                at=self._clock.now(),
                tool=name,
                agent=agent,
                call=call,
                result=result,
                risk=_risk(passage),
                only_read=assessment is not None and assessment.effect is Effect.READS,
            )
        )
        return result


def _risk(passage: Passage) -> RiskLevel | None:
    return None if passage.assessment is None else passage.assessment.level


class Resolve:
    """Name to tool; a tool whose agent is away or whose definition waits for a person goes no further."""

    def __init__(self, inner: Stage, *, registry: Registry) -> None:
        self._inner = inner
        self._registry = registry

    async def __call__(self, passage: Passage) -> ToolResult:
        tool = passage.tool = self._registry.current(passage.call.tool)
        if tool.renewing is not None:  # what runs must be what was judged here
            passage.call = replace(passage.call, definition=tool.spec.definition_hash)
        if tool.spec.blocked is not None:
            return Failed(error=tool.spec.blocked, code=ErrorCode.TOOL_QUARANTINED)
        if not tool.reachable:
            return Failed(
                error=f"'{tool.spec.name}' is unavailable: '{tool.agent_id}' cannot be reached now. "
                f"It is being reconnected; 'steward agents health {tool.agent_id}' says why.",
                code=ErrorCode.AGENT_UNAVAILABLE,
                retryable=True,
            )
        return await self._inner(passage)


class ActFor:
    """A call of somebody's session acts for that person only, whatever its arguments say."""

    def __init__(self, inner: Stage) -> None:
        self._inner = inner

    async def __call__(self, passage: Passage) -> ToolResult:
        call, argument = passage.call, passage.resolved().spec.user_argument
        if argument is not None and call.user is not None:
            named = call.arguments.get(argument)
            if named is None:
                passage.call = replace(call, arguments={**call.arguments, argument: call.user})
            elif named != call.user:
                return Failed(
                    error=f"Nothing was run: this session belongs to '{call.user}' "
                    "and may not act for somebody else.",
                    code=ErrorCode.FORBIDDEN,
                )
        return await self._inner(passage)


class ValidateInput:
    def __init__(self, inner: Stage) -> None:
        self._inner = inner

    async def __call__(self, passage: Passage) -> ToolResult:
        tool = passage.resolved()
        if tool.spec.checks_itself and tool.spec.origin is Origin.BUILTIN:
            return await self._inner(passage)
        tool.input.check(passage.call.arguments, what=f"Wrong arguments for '{tool.spec.name}'")
        return await self._inner(passage)


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

    async def __call__(self, passage: Passage) -> ToolResult:
        tool = passage.resolved()
        try:
            passage.assessment = await self._assessed(tool.spec, passage.call)
        except ConfigError:
            raise  # without rules nothing runs, whoever says yes
        except Exception:
            logger.exception("policy_failed", extra={"tool": tool.spec.name})
            passage.assessment = Assessment(
                level=RiskLevel.IRREVERSIBLE,
                effect=Effect.WRITES_OUTSIDE,
                reasons=("the policy could not rate this call",),
                trusted=False,
            )
        result = await self._inner(passage)
        if passage.call.run is not None:
            note_result(passage.call.run, tool.spec, result)
        return result

    async def _assessed(self, spec: ToolSpec, call: ToolCall) -> Assessment:
        judge = partial(assess, spec, call.arguments, self._rules(), resolve=self._resolve_path, run=call.run)
        return await asyncio.to_thread(judge) if _is_heavy(call.arguments) else judge()


def note_result(run: RunRecord, spec: ToolSpec, result: ToolResult) -> None:
    """What a caller gets to read of a result, in the record of its run."""
    match result:
        case Done():
            note_answer(run, spec, result.data)
        case Failed():
            note_answer(run, spec, [result.error, result.data])
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

    async def __call__(self, passage: Passage) -> ToolResult:
        tool, call, assessment = passage.resolved(), passage.call, passage.assessment
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
            return await self._inner(passage)
        if self._said_yes(passage):
            return await self._inner(passage) if self._same_tool(passage) else _another_tool(passage)
        try:
            async with asyncio.timeout(self._routing_limit):
                proposal = self._proposal(passage, reason, await effect_of(tool, call))
                await self._store.add(proposal)
        except TimeoutError:
            return Failed(
                error="Nothing was run: the proposal could not be stored in time. "
                "'steward doctor' checks the database.",
                code=ErrorCode.STORAGE_UNAVAILABLE,
                retryable=True,
            )
        self._tell(proposal)
        return PendingApproval(proposal_id=proposal.id, reason=proposal.reason, risk=proposal.risk)

    @staticmethod
    def _said_yes(passage: Passage) -> bool:
        """Whether a person agreed to exactly this tool with exactly these arguments."""
        receipt = passage.receipt
        return receipt is not None and receipt.digest == argument_digest(
            passage.resolved().spec.name, passage.call.arguments
        )

    @staticmethod
    def _same_tool(passage: Passage) -> bool:
        receipt = passage.receipt
        return receipt is not None and receipt.definition_hash == passage.resolved().spec.definition_hash

    def _proposal(self, passage: Passage, reason: str, effect: str | None) -> Proposal:
        call, spec, now = passage.call, passage.resolved().spec, self._clock.now()
        risk = RiskLevel.IRREVERSIBLE if passage.assessment is None else passage.assessment.level
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
            user=_owner(passage),
            utterance=call.utterance,
            call_id=call.call_id,
            correlation_id=call.correlation_id,
            created_at=now,
            expires_at=None if self._expiry is None else now + self._expiry,
            effect=effect,
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


def _owner(passage: Passage) -> str | None:
    """Whose proposal it is: the session's user, or where it has none the one that the call names."""
    call, argument = passage.call, passage.resolved().spec.user_argument
    named = None if argument is None else call.arguments.get(argument)
    return call.user or (named if isinstance(named, str) else None)


def _another_tool(passage: Passage) -> Failed:
    return Failed(
        error=f"Nothing was run: '{passage.resolved().spec.name}' changed after it was approved. "
        "Look at it, and make the call again.",
        code=ErrorCode.PROPOSAL_OUTDATED,
    )


async def effect_of(tool: RegisteredTool, call: ToolCall) -> str | None:
    """What the call would do, in its agent's words; None where it has none.

    Raises InputError for a call that could do nothing at all: nobody need be asked about it.
    """
    if tool.telling is None:
        return None
    token = current_call.set(call)
    try:
        return await tool.telling.tell(tool.spec.name, call.arguments)
    except InputError:
        raise
    except StewardError:
        return None  # it cannot be looked up now: the call itself is shown
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
