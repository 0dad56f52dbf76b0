"""A person's decisions on proposals: approve, reject, look.

Owns the rule that an approved call runs exactly once, with exactly the arguments agreed to, and that every
decision passes the policy's rule on who may decide. Does not own how somebody came to their role.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, assert_never

from steward.contract.agent import DecliningAgent
from steward.contract.call import CallerKind, Channel, Failed, ToolCall, ToolResult, current_call, envelope
from steward.contract.deciding import Decider, Way
from steward.contract.errors import (
    ConflictError,
    ErrorCode,
    ForbiddenError,
    InputError,
    NotFoundError,
    StewardError,
)
from steward.contract.federation import Decision
from steward.contract.runs import RunRecord
from steward.orchestrator.lasting_answers import LastingAnswers, LastingOffer, Reach
from steward.orchestrator.ports import Clock, Page, ProposalStore
from steward.orchestrator.proposals import (
    Expired,
    Finished,
    OutcomeUnknown,
    Proposal,
    Receipt,
    Rejected,
    Running,
    Waiting,
    argument_digest,
)
from steward.orchestrator.registry import RegisteredTool, Registry
from steward.orchestrator.stages import effect_of
from steward.policy.who_decides import may_not_decide

logger = logging.getLogger(__name__)

LONGEST_PAUSE = 30.0  # seconds between tries to store an outcome

Runner = Callable[[ToolCall, Receipt], Awaitable[ToolResult]]


class Approvals:
    def __init__(
        self,
        *,
        store: ProposalStore,
        registry: Registry,
        clock: Clock,
        run: Runner,
        pause: float,
        lasting: LastingAnswers,
    ) -> None:
        self._store = store
        self._registry = registry
        self._clock = clock
        self._run = run
        self._pause = pause
        self._lasting = lasting
        self._storing: set[asyncio.Task[None]] = set()

    async def get(self, proposal_id: str) -> Proposal:
        proposal = await self._store.get(proposal_id)
        if proposal is None:
            raise NotFoundError(
                f"There is no proposal '{proposal_id}'.",
                code=ErrorCode.PROPOSAL_NOT_FOUND,
                fix="See 'steward proposals'.",
            )
        return proposal

    async def waiting(self, proposal_id: str) -> Proposal:
        """One that can still be decided. Raises `ConflictError` that says what became of it."""
        proposal = await self.get(proposal_id)
        _require_waiting(proposal)
        return proposal

    async def list(
        self,
        *,
        states: Sequence[str] = (),
        user: str | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> Page:
        return await self._store.list(states=states, user=user, limit=limit, after=after)

    async def may_decide(self, proposal_id: str, *, by: Decider) -> bool:
        """Whether there is any point in asking them."""
        return may_not_decide(by, owner=(await self.get(proposal_id)).user) is None

    def offer(self, proposal: Proposal) -> LastingOffer:
        """Whether a yes to it could be for always. Looks at every character of its arguments."""
        try:
            return self._lasting.offer(self._same_tool(proposal), proposal)
        except StewardError as error:  # the tool or the rules are away
            return LastingOffer(why_not=error.message)

    async def approve(
        self,
        proposal_id: str,
        *,
        by: Decider,
        edited: Mapping[str, Any] | None = None,
        channel: Channel | None = None,
        run: RunRecord | None = None,
        reach: Reach | None = None,
    ) -> ToolResult:
        """Run the proposed call, once. Whoever comes second is told what became of it.

        `channel` is the way back to whoever waits for the outcome now, and `run` what they have read before.
        `reach` makes it a yes that lasts.
        """
        proposal = await self.get(proposal_id)
        _require_right(by, proposal)
        return await self._run_once(proposal, by, edited=edited, channel=channel, run=run, reach=reach)

    async def confirmed_by_client(
        self, proposal_id: str, *, by: Decider, channel: Channel | None = None, run: RunRecord | None = None
    ) -> ToolResult:
        """Run it on the word of the client that made the call, where the owner of a pipe lets it confirm.

        The receipt says that no person answered.
        """
        proposal = await self.get(proposal_id)
        is_client = by.way is Way.CLIENT and by.caller.kind is CallerKind.CLIENT
        if not is_client or by.caller != proposal.caller:
            raise ForbiddenError("A client confirms only what it called itself.", fix="Ask a person.")
        return await self._run_once(proposal, by, channel=channel, run=run)

    async def _run_once(
        self,
        proposal: Proposal,
        by: Decider,
        *,
        edited: Mapping[str, Any] | None = None,
        channel: Channel | None = None,
        run: RunRecord | None = None,
        reach: Reach | None = None,
    ) -> ToolResult:
        _require_waiting(proposal)
        tool = self._same_tool(proposal)
        arguments = proposal.arguments if edited is None else edited
        if edited is not None and proposal.elsewhere is not None:
            raise InputError(
                f"Another Steward asks about this call ({proposal.elsewhere} there): it cannot be edited.",
                fix="Approve it as it is, or reject it and make the call again.",
            )
        if edited is None:
            await _require_same_effect(tool, proposal)
        else:
            tool.input.check(edited, what=f"Wrong arguments for '{proposal.tool}'")
        receipt = self._receipt(proposal, by, arguments)
        async with self._lasting.yes(tool, proposal, reach, by=by, arguments=arguments):
            if not await self._store.claim(proposal.id, receipt):
                _require_waiting(await self.get(proposal.id))
                raise ConflictError("This proposal changed meanwhile.", fix="Look at it again and retry.")
        try:
            decision = _decision(proposal, by, approved=True)
            call = replace(_call(proposal, arguments, channel), decision=decision, run=run)
            result = await self._run(call, receipt)
        except asyncio.CancelledError:
            given_up = Failed(
                error="Whoever waited for it gave up; it may have run.",
                code=ErrorCode.CANCELLED,
                outcome_unknown=True,
                call_id=proposal.call_id,
                correlation_id=proposal.correlation_id,
            )
            self._store_later(proposal.id, envelope(given_up))
            raise
        await self._finish(proposal.id, result)
        return result

    def _receipt(self, proposal: Proposal, by: Decider, arguments: Mapping[str, Any]) -> Receipt:
        return Receipt(
            approver=by.caller.id,
            approved_at=self._clock.now(),
            via=by.way.value,
            arguments=arguments,
            digest=argument_digest(proposal.tool, arguments),
            edited=arguments != proposal.arguments,
            answered_by=by.caller.kind,
            role=by.role.word,
            client=by.client or None,
            definition_hash=proposal.definition_hash,
        )

    async def reject(
        self, proposal_id: str, *, by: Decider, why: str | None = None, reach: Reach | None = None
    ) -> Proposal:
        """Nothing runs. `reach` makes it a no that lasts."""
        proposal = await self.get(proposal_id)
        _require_right(by, proposal)
        _require_waiting(proposal)
        async with self._lasting.no(proposal, reach, by=by):
            if not await self._store.reject(proposal_id, by=by.caller.id, at=self._clock.now(), why=why):
                _require_waiting(await self.get(proposal_id))
        if (no := _decision(proposal, by, approved=False)) is not None:
            await self._decline_there(proposal, no)
        return await self.get(proposal_id)

    async def _decline_there(self, proposal: Proposal, no: Decision) -> None:
        """What was turned down here never runs there; where it cannot be told so, it goes on waiting."""
        tool = self._registry.find(proposal.tool)
        if tool is None or not isinstance(tool.agent, DecliningAgent):
            return
        token = current_call.set(replace(_call(proposal, proposal.arguments, None), decision=no))
        try:
            await tool.agent.decline(proposal.tool, proposal.arguments)
        except StewardError as error:
            logger.warning("not_declined_there", extra={"proposal": proposal.id, "problem": error.message})
        finally:
            current_call.reset(token)

    async def settle(self, seconds: float) -> None:
        """Let outcomes that are being stored get in, for this long at most; the record has them anyway."""
        if self._storing:
            await asyncio.wait(self._storing, timeout=seconds)

    async def _finish(self, proposal_id: str, result: ToolResult) -> None:
        """The call ran and the record says how it ended: storing it here keeps nobody waiting."""
        shape = envelope(result)
        try:
            await self._store.finish(proposal_id, shape, at=self._clock.now())
        except StewardError as error:
            logger.warning("outcome_stored_later", extra={"proposal": proposal_id, "problem": error.message})
            self._store_later(proposal_id, shape)

    def _store_later(self, proposal_id: str, shape: Mapping[str, Any]) -> None:
        task = asyncio.create_task(self._store_until_in(proposal_id, shape, at=self._clock.now()))
        self._storing.add(task)
        task.add_done_callback(self._storing.discard)

    async def _store_until_in(self, proposal_id: str, shape: Mapping[str, Any], *, at: datetime) -> None:
        """A database that is away comes back, a full disk gets space again."""
        pause = self._pause
        while True:
            try:
                await self._store.finish(proposal_id, shape, at=at)
            except StewardError:
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
            else:
                return

    def _same_tool(self, proposal: Proposal) -> RegisteredTool:
        tool = self._registry.current(proposal.tool)
        if tool.spec.definition_hash != proposal.definition_hash:
            raise _outdated(
                f"'{proposal.tool}' is no longer what was proposed: its definition changed, or what it runs."
            )
        return tool


async def _require_same_effect(tool: RegisteredTool, proposal: Proposal) -> None:
    """A person agreed to "deletes the task 'milk'", not to whatever the task has become."""
    try:
        now = await effect_of(tool, _call(proposal, proposal.arguments, None))
    except StewardError:
        now = None
    if now != proposal.effect:
        instead = "what it was about is gone or cannot be told" if now is None else f"now it {now}"
        raise _outdated(f"This would no longer do what was asked about: {instead}.")


def _outdated(message: str) -> ConflictError:
    return ConflictError(
        f"Nothing was run. {message}",
        code=ErrorCode.PROPOSAL_OUTDATED,
        fix="Reject this proposal and make the call again.",
    )


def _call(proposal: Proposal, arguments: Mapping[str, Any], channel: Channel | None) -> ToolCall:
    return ToolCall(
        tool=proposal.tool,
        arguments=arguments,
        caller=proposal.caller,
        user=proposal.user,
        utterance=proposal.utterance,
        confidence=proposal.confidence,
        call_id=proposal.call_id,
        correlation_id=proposal.correlation_id,
        channel=channel,
    )


def _decision(proposal: Proposal, by: Decider, *, approved: bool) -> Decision | None:
    if proposal.elsewhere is None:
        return None
    return Decision(proposal_id=proposal.elsewhere, approved=approved, by=by.caller.id, via=by.way.value)


def _require_right(by: Decider, proposal: Proposal) -> None:
    refusal = may_not_decide(by, owner=proposal.user)
    if refusal is not None:
        raise ForbiddenError(
            refusal, fix=f"Its user or an admin decides: 'steward approve {proposal.id}', or the page."
        )


def _require_waiting(proposal: Proposal) -> None:
    def decided(message: str, code: ErrorCode = ErrorCode.PROPOSAL_ALREADY_DECIDED) -> ConflictError:
        return ConflictError(f"Proposal {proposal.id} {message}", code=code)

    match proposal.state:
        case Waiting():
            return
        case Rejected(by=by, at=at):
            raise decided(f"was rejected by {by} on {_day(at)}; nothing was run.")
        case Expired():
            raise decided("expired; nothing was run. Make the call again.", ErrorCode.PROPOSAL_EXPIRED)
        case Running(receipt=receipt):
            raise decided(f"was approved by {receipt.approver} and is running now.")
        case Finished(receipt=receipt, result=result, finished_at=at):
            raise decided(
                f"was already run: approved by {receipt.approver}, {result.get('status')} on {_day(at)}."
            )
        case OutcomeUnknown(receipt=receipt):
            raise decided(
                f"was approved by {receipt.approver} and started, but its outcome is unknown. "
                "It was not repeated. Check what it touched, then make the call again if it is needed."
            )
        case _:
            assert_never(proposal.state)


def _day(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M %Z").strip()
