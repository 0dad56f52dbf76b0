"""A person's decisions on proposals: approve, reject, look.

Owns the rule that an approved call runs exactly once, with exactly the arguments agreed to, and that every
decision passes the policy's rule on who may decide. Does not own how somebody came to their role.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, assert_never

from steward.contract.call import CallerKind, Channel, ToolCall, ToolResult, envelope
from steward.contract.deciding import Decider, Way
from steward.contract.errors import (
    ConflictError,
    ErrorCode,
    ForbiddenError,
    InputError,
    NotFoundError,
    StewardError,
)
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
from steward.policy.deciding import may_not_decide

Runner = Callable[[ToolCall, Receipt], Awaitable[ToolResult]]


class Approvals:
    def __init__(self, *, store: ProposalStore, registry: Registry, clock: Clock, run: Runner) -> None:
        self._store = store
        self._registry = registry
        self._clock = clock
        self._run = run

    async def get(self, proposal_id: str) -> Proposal:
        proposal = await self._store.get(proposal_id)
        if proposal is None:
            raise NotFoundError(
                f"There is no proposal '{proposal_id}'.",
                code=ErrorCode.PROPOSAL_NOT_FOUND,
                fix="See 'steward proposals'.",
            )
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

    async def approve(
        self,
        proposal_id: str,
        *,
        by: Decider,
        edited: Mapping[str, Any] | None = None,
        channel: Channel | None = None,
    ) -> ToolResult:
        """Run the proposed call, once. Whoever comes second is told what became of it.

        `channel` is the way back to whoever waits for the outcome now.
        """
        proposal = await self.get(proposal_id)
        _require_right(by, proposal)
        return await self._run_once(proposal, by, edited=edited, channel=channel)

    async def confirmed_by_client(
        self, proposal_id: str, *, by: Decider, channel: Channel | None = None
    ) -> ToolResult:
        """Run it on the word of the client that made the call, where the owner of a pipe lets it confirm.

        The receipt says that no person answered.
        """
        proposal = await self.get(proposal_id)
        is_client = by.way is Way.CLIENT and by.caller.kind is CallerKind.CLIENT
        if not is_client or by.caller != proposal.caller:
            raise ForbiddenError("A client confirms only what it called itself.", fix="Ask a person.")
        return await self._run_once(proposal, by, channel=channel)

    async def _run_once(
        self,
        proposal: Proposal,
        by: Decider,
        *,
        edited: Mapping[str, Any] | None = None,
        channel: Channel | None = None,
    ) -> ToolResult:
        _require_waiting(proposal)
        tool = self._same_tool(proposal)
        arguments = proposal.arguments if edited is None else edited
        if edited is None:
            await _require_same_effect(tool, proposal)
        else:
            tool.input.check(edited, what=f"Wrong arguments for '{proposal.tool}'")
        receipt = Receipt(
            approver=by.caller.id,
            approved_at=self._clock.now(),
            via=by.way.value,
            arguments=arguments,
            digest=argument_digest(proposal.tool, arguments),
            edited=edited is not None and edited != proposal.arguments,
            answered_by=by.caller.kind,
            role=by.role.word,
            client=by.client or None,
            definition_hash=proposal.definition_hash,
        )
        if not await self._store.claim(proposal.id, receipt):
            _require_waiting(await self.get(proposal.id))
            raise ConflictError("This proposal changed meanwhile.", fix="Look at it again and retry.")
        result = await self._run(_call(proposal, arguments, channel), receipt)
        await self._finish(proposal.id, result)
        return result

    async def reject(self, proposal_id: str, *, by: Decider, why: str | None = None) -> Proposal:
        proposal = await self.get(proposal_id)
        _require_right(by, proposal)
        _require_waiting(proposal)
        if not await self._store.reject(proposal_id, by=by.caller.id, at=self._clock.now(), why=why):
            _require_waiting(await self.get(proposal_id))
        return await self.get(proposal_id)

    async def _finish(self, proposal_id: str, result: ToolResult) -> None:
        shape = envelope(result)
        try:
            await self._store.finish(proposal_id, shape, at=self._clock.now())
        except StewardError as error:
            # The call ran; only its outcome could not be written. Say so instead of inviting a repetition.
            raise ConflictError(
                f"The call ran ({shape['status']}), but its outcome could not be stored: {error.message}",
                fix="It will show as 'unknown' and is not repeated. 'steward log' has the result.",
            ) from error

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
    except InputError:
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
