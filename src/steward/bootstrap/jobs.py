"""What the jobs of a platform do: turns, calls and renewals that outlive their request.

Owns the kinds and what an interruption means for each. Everything a job does goes through the orchestrator,
or through an agent that does; nothing here calls a tool by itself.
"""

import time
from collections.abc import Mapping
from typing import Any

from steward.bootstrap.agents import TalkingAgents
from steward.bootstrap.knowledge import Library
from steward.contract.call import (
    Caller,
    CallerKind,
    ElicitAnswer,
    Failed,
    PendingApproval,
    ToolCall,
    envelope,
)
from steward.contract.errors import ErrorCode, ToolError, UnavailableError
from steward.contract.jobs import JobState
from steward.contract.tool import Effect, Origin, ToolSpec
from steward.conversations.model import Answer, Progress, TurnEvent
from steward.orchestrator.orchestrator import Orchestrator
from steward.policy.access import LOCAL_USER
from steward.work.kinds import JobKind, JobRun, Lookout, Retries
from steward.work.queue import WorkQueue

TURN, CALL, RENEWAL = "turn", "call", "renew_vectors"
SECONDS_BETWEEN_NOTES = 0.5
MOST_TURNS = 1_000
SHOWN = 80  # characters of a title


def add_jobs(work: WorkQueue, orchestrator: Orchestrator, *, agents: TalkingAgents, library: Library) -> None:
    work.add(
        JobKind(
            name=TURN,
            queue="turns",
            run=lambda run: _turn(agents, run),
            # Another worker may have the turn still: then this one waits until it is free or done.
            retries=Retries(most=30, first_wait=2.0, longest_wait=15.0),
        )
    )
    # Tried again for a minute: a server that went away is looked for every thirty seconds.
    work.add(
        JobKind(name=CALL, queue="calls", run=lambda run: _call(orchestrator, run), retries=Retries(most=6))
    )
    work.add(JobKind(name=RENEWAL, queue="ingest", run=lambda run: _renew(library, run)))
    work.watch(Lookout(name="turns left behind", look=lambda: _find_left_turns(work, agents)))
    library.base.hand_over_renewal(lambda: _hand_over_renewal(work, library))


# --- turns ---


async def queue_turn(work: WorkQueue, *, user: str, conversation: str, lease: int, title: str) -> int:
    """For a worker, any of them: what was said is kept already (`Chat.queue`)."""
    given = {"conversation": conversation, "lease": lease}
    job = await work.defer(TURN, given, user=user, title=title[:SHOWN])
    if job is None:
        raise UnavailableError("The turn could not be queued.")
    return job


async def _find_left_turns(work: WorkQueue, agents: TalkingAgents) -> None:
    """A program was killed in the middle of a turn: somebody goes on with it, or says what became of it."""
    left = await agents.conversations.left()
    if not left:
        return
    under_way = await work.store.list(
        user=None, kind=TURN, states=[JobState.WAITING, JobState.RUNNING], limit=MOST_TURNS
    )
    taken = {job.given.get("conversation") for job in under_way.items}
    for conversation, user, title in left:
        if conversation not in taken:
            word = f"{TURN}:{conversation}"  # instances that look at the same time put in one
            given, told = {"conversation": conversation}, f"Go on: {title}"[:SHOWN]
            await work.defer(TURN, given, user=user, title=told, once=word, alone=word)


async def _turn(agents: TalkingAgents, run: JobRun) -> Mapping[str, Any]:
    user, conversation = run.user or LOCAL_USER, str(run.given["conversation"])
    chat = await agents.chat()
    started = await chat.resume(conversation, user=user, queued=run.given.get("lease"))
    if started is None:
        known = await agents.conversations.load(conversation, user=user, turns=1)
        if known.running:
            raise UnavailableError("Somebody else has this turn now.")
        return _told(known.turns[-1].answer) if known.turns else {"conversation": conversation}
    notes = _Notes(run)

    async def tell(event: TurnEvent) -> None:
        if isinstance(event, Progress):
            await notes.progress(0, None, event.text)

    answer = await started.run(tell, to_be_left=lambda: not run.cancelled())
    return _told(answer)


def _told(answer: Answer) -> Mapping[str, Any]:
    return {
        "conversation": answer.conversation,
        "status": answer.status.value,
        "answer": answer.answer,
        "proposal_id": answer.proposal_id,
    }


# --- calls ---


async def queue_call(work: WorkQueue, orchestrator: Orchestrator, call: ToolCall) -> int:
    """A tool call for a worker. `NotFoundError` when there is no such tool."""
    spec = orchestrator.registry.get(call.tool).spec
    given = {
        "tool": spec.name,
        "arguments": dict(call.arguments),
        "caller": {"kind": call.caller.kind.value, "id": call.caller.id},
        "timeout": call.timeout,
        "correlation_id": call.correlation_id,
    }
    job = await work.defer(CALL, given, user=call.user, title=_title(spec, call.arguments))
    if job is None:
        raise UnavailableError("The call could not be queued.")
    return job


async def _call(orchestrator: Orchestrator, run: JobRun) -> Mapping[str, Any]:
    name = str(run.given["tool"])
    known = orchestrator.registry.find(name)
    if known is None:
        # It was there when the job was put in: its server starts here, or comes back.
        raise ToolError(
            f"There is no tool '{name}' where this job was taken.",
            code=ErrorCode.TOOL_NOT_FOUND,
            fix="See 'steward agents list' for its server; 'steward jobs retry' tries again.",
            retryable=True,
        )
    if run.interrupted and not _repeatable(known.spec):
        raise ToolError(
            f"'{name}' was interrupted. Whether it took effect is not known, and it was not run again.",
            code=ErrorCode.INTERRUPTED,
            fix="Look at what it should have done, then call it again if it did not.",
        )
    await run.check()
    caller = run.given["caller"]
    result = await orchestrator.execute(
        ToolCall(
            tool=name,
            arguments=run.given["arguments"],
            caller=Caller(CallerKind(caller["kind"]), caller["id"]),
            user=run.user,
            timeout=run.given.get("timeout"),
            correlation_id=run.given["correlation_id"],
            channel=_Notes(run),
        )
    )
    if isinstance(result, Failed):
        # An outcome that is unknown is retryable only where the call is safe twice.
        raise ToolError(result.error, code=result.code, retryable=result.retryable)
    if isinstance(result, PendingApproval):
        await run.progress(0, None, f"Waits for a yes: steward approve {result.proposal_id}")
    return envelope(result)


def _repeatable(spec: ToolSpec) -> bool:
    """Only by our own word: whether a call that may have run may run again."""
    return spec.origin is Origin.BUILTIN and (spec.effect is Effect.READS or spec.hints.idempotent is True)


def _title(spec: ToolSpec, arguments: Mapping[str, Any]) -> str:
    told = ", ".join(f"{name}={value}" for name, value in arguments.items() if isinstance(value, str))
    return f"{spec.name}({told})"[:SHOWN]


# --- vectors ---


async def _hand_over_renewal(work: WorkQueue, library: Library) -> bool:
    if not work.working:
        return False
    title = f"Make vectors with {library.base.embedder}"[:SHOWN]
    await work.defer(RENEWAL, {}, user=None, title=title, once=RENEWAL, alone=RENEWAL)
    return True


async def _renew(library: Library, run: JobRun) -> Mapping[str, Any]:
    return {"passages": await library.base.renew(_Notes(run).progress)}


class _Notes:
    """Progress of a job, as a channel that goes one way; not more often than people look."""

    def __init__(self, run: JobRun) -> None:
        self._run = run
        self._last = 0.0

    async def progress(self, done: float, total: float | None, message: str | None) -> None:
        now = time.monotonic()
        if now - self._last < SECONDS_BETWEEN_NOTES and done != total:
            return
        self._last = now
        await self._run.progress(int(done), None if total is None else int(total), message or "")

    async def elicit(self, message: str, schema: Mapping[str, Any]) -> ElicitAnswer | None:
        del message, schema
        return None  # nobody is there to be asked
