"""One tool call of a client, from its first request to its last answer.

Owns approvals asked for in the client: yes runs exactly the proposed call, no rejects it, silence leaves it
waiting. Only somebody who may decide is asked, and looked at again when the answer comes; everybody else
hears that the call waits. Does not own whether a call needs a yes: that is the door's.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from steward.contract.call import (
    Caller,
    CallerKind,
    Done,
    Failed,
    PendingApproval,
    ToolCall,
    ToolResult,
    new_id,
)
from steward.contract.deciding import Decider, Role, Way
from steward.contract.errors import ErrorCode, NotFoundError, StewardError
from steward.contract.federation import decides, question_key
from steward.contract.runs import RunRecord
from steward.contract.showing import show
from steward.contract.tool import RiskLevel
from steward.contract.trace_context import arrived_with
from steward.orchestrator.orchestrator import Orchestrator
from steward.orchestrator.proposals import Proposal
from steward.policy.access import LOCAL_USER
from steward.servers.gateway import answers, federation
from steward.servers.gateway.callers import (
    SessionKey,
    caller_of,
    member_of,
    owner_of,
    principal,
    program_of,
    session_key,
    session_of,
    trace_in,
    user_of,
)
from steward.servers.gateway.conversation import Conversations, Retry, input_required, responses_of, retry_of
from steward.servers.gateway.link import ELICIT, Context, Link, RunningWork, can, modern
from steward.servers.gateway.views import SEARCH, Target, View, ViewCatalogue

MOST_RUNS = 1_000
HANDOVER = "steward.handover"  # where the thin path leaves a call for the SDK's handler to finish
MOST_ASKED = 4_000  # characters that a client's dialogue shows and a person reads there
_APPROVAL_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "approve": {"type": "boolean", "title": "Approve", "description": "Run exactly this call."},
    },
    "required": ["approve"],
}


@dataclass(slots=True)
class Handover:
    """A call that the thin path began and that now needs a conversation."""

    running: RunningWork
    link: Link
    attached: asyncio.Event


class SessionRuns:
    """What each session has read so far. Who sends no session along cannot be known from one to the next.

    Whoever opens many sessions loses their own oldest, never another's.
    """

    def __init__(self) -> None:
        self._runs: dict[str, dict[str, RunRecord]] = {}  # of each holder, the quietest session first

    def of(self, key: SessionKey) -> RunRecord | None:
        if not key.session:
            return None
        own = self._runs.setdefault(key.holder, {})
        run = own.pop(key.session, None)
        if run is None:
            run = RunRecord()
            while sum(map(len, self._runs.values())) >= MOST_RUNS:
                crowd = max(self._runs.values(), key=len)
                del crowd[next(iter(crowd))]
        own[key.session] = run
        return run

    def forget(self, session: str) -> None:
        for holder in [each for each, own in self._runs.items() if own.pop(session, None) and not own]:
            del self._runs[holder]


class Calls:
    def __init__(
        self,
        door: Orchestrator,
        view: View,
        *,
        catalogue: ViewCatalogue,
        conversations: Conversations,
        piped: Role,
    ) -> None:
        """`piped`: the role of whoever is at the other end of a pipe, which carries no key."""
        self._door = door
        self._view = view
        self._piped = piped
        self._catalogue = catalogue
        self._conversations = conversations
        self.runs = SessionRuns()

    async def handle(self, context: Context, params: types.CallToolRequestParams) -> dict[str, Any]:
        try:
            if params.name == SEARCH and self._catalogue.is_search(SEARCH):
                # In a thread: what was asked for is embedded, and other calls are waiting.
                found = await asyncio.to_thread(self._catalogue.search, params.arguments or {})
                return answers.from_data(found)
            target = self._catalogue.target(params.name, params.arguments or {})
            finish = partial(self._finish, target)
            if (handover := _handover(context)) is not None:
                handover.attached.set()
                return await self._conversations.carry_on(context, handover.running, handover.link, finish)
            return await self.through(context, params, target)
        except StewardError as error:
            if error.code == ErrorCode.TOOL_NOT_FOUND:
                raise answers.unknown_tool(error.message) from error
            return answers.answer(Failed.from_error(error))

    def require_use(self, context: Context) -> None:
        """Asked where a method is handled, so that it holds however its request was written."""
        if self._role(context) < Role.USE:
            raise MCPError(INVALID_PARAMS, "This role may look but not call.", {"code": ErrorCode.FORBIDDEN})

    def acts_for(self, target: Target, user: str | None) -> str | None:
        """A call's user: its session's own, or this machine's person.

        Where the user's argument is shown each call names its user: one that does not acts for nobody, and
        its tool says what is missing.
        """
        known = self._door.registry.find(target.tool)
        argument = None if known is None else known.spec.user_argument
        if argument is None or not self._view.shows_user:
            return user or LOCAL_USER
        return None if target.arguments.get(argument) is None else user

    def answer(self, tool: str, result: ToolResult) -> dict[str, Any]:
        """What a client reads of a call that is over."""
        if isinstance(result, Done):
            return answers.answer(result)
        known = self._door.registry.find(tool)
        return answers.answer(
            result,
            as_error=tool in self._view.failures_as_errors,
            as_task=tool in self._view.task_envelopes,
            output=None if known is None else known.output,
        )

    async def through(
        self, context: Context, params: types.InputResponseRequestParams, target: Target
    ) -> dict[str, Any]:
        """Take this call through the door, or go on with it where it waits for the client's answers."""
        with arrived_with(trace_in(context)):
            return await self._through(context, params, target)

    async def _through(
        self, context: Context, params: types.InputResponseRequestParams, target: Target
    ) -> dict[str, Any]:
        if (retry := retry_of(params)) is not None:
            return await self._again(context, target, retry)
        if (proposal := decides(context.meta)) is not None:
            return await self._finish(target, context, await self._standing(context, target, proposal))
        link = self._conversations.link(context, responses_of(params))
        work = self._door.execute(replace(self._call(context, target), channel=link))
        return await self._conversations.hold(context, link, work, partial(self._finish, target))

    async def by_the_way(self, context: Context, target: Target) -> dict[str, Any]:
        """What a client asks while somebody types: through the door, but nobody is asked about it."""
        with arrived_with(trace_in(context)):
            result = await self._door.execute(replace(self._call(context, target), incidental=True))
        return answers.contents(self.answer(target.tool, result))

    def _call(self, context: Context, target: Target) -> ToolCall:
        trace = trace_in(context)
        return ToolCall(
            tool=target.tool,
            arguments=target.arguments,
            caller=caller_of(context),
            user=self.acts_for(target, user_of(context)),
            run=self.runs.of(session_key(context)),
            session=session_of(session_key(context).session, principal(context)),
            correlation_id=new_id() if trace is None else trace.trace_id,
        )

    async def _finish(self, target: Target, context: Context, result: ToolResult) -> dict[str, Any]:
        if not isinstance(result, PendingApproval):
            return self.answer(target.tool, result)
        if context.request is None and target.tool in self._view.client_confirms:
            return await self._confirmed(context, target, result)
        person = self._person(context)
        may = await self._door.approvals.may_decide(result.proposal_id, by=person)
        only_shown = federation.is_steward(context.meta) and decides(context.meta) is None
        if only_shown or not may or not can(context, ELICIT):
            proposal = await self._door.approvals.get(result.proposal_id)
            waits = self._waits(target, result)
            return federation.shown(waits, proposal, may_decide=may) if only_shown else waits
        question = await self._question(context, result)
        if question is None:
            return self._waits(target, result, too_long=True)
        if modern(context):
            return _approval_required(question, result)
        raw = await self._conversations.legacy(context).ask(ELICIT, question)
        return await self._decide(context, target, result, raw)

    async def _standing(self, context: Context, target: Target, proposal_id: str) -> PendingApproval:
        """The proposal that another Steward made with this call before, and comes back to decide."""
        proposal = await self._door.approvals.waiting(proposal_id)
        if proposal.caller != caller_of(context) or proposal.tool != target.tool:
            raise NotFoundError(
                f"There is no proposal '{proposal_id}' of yours.", code=ErrorCode.PROPOSAL_NOT_FOUND
            )
        return PendingApproval(proposal_id=proposal.id, reason=proposal.reason, risk=proposal.risk)

    async def _question(self, context: Context, waiting: PendingApproval) -> dict[str, Any] | None:
        """What the person in the client is asked; None where that is more than can be shown there."""
        proposal = await self._door.approvals.get(waiting.proposal_id)
        return approval_question(proposal, brief=decides(context.meta) is not None)

    async def _again(self, context: Context, target: Target, retry: Retry) -> dict[str, Any]:
        if "proposal" not in retry.state:
            return await self._conversations.resume(context, retry)
        waiting = PendingApproval(
            proposal_id=retry.state["proposal"],
            reason=retry.state["reason"],
            risk=RiskLevel(retry.state["risk"]),
        )
        question = await self._question(context, waiting)
        if question is None:
            return answers.pending(waiting, too_long=True)
        raw = retry.responses.get(question_key(waiting.proposal_id))
        if raw is None or raw.get("action") not in ("accept", "decline", "cancel"):
            return _approval_required(question, waiting)
        return await self._decide(context, target, waiting, raw)

    async def _decide(
        self, context: Context, target: Target, waiting: PendingApproval, raw: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        person = self._person(context)
        if raw is None or raw.get("action") == "cancel":
            return self._waits(target, waiting)  # nobody decided: it goes on waiting
        if not await self._door.approvals.may_decide(waiting.proposal_id, by=person):
            return self._waits(target, waiting)  # not an answer of somebody who may give one
        content: Any = raw.get("content") or {}
        person = federation.on_behalf(person, content) if decides(context.meta) is not None else person
        if raw.get("action") == "accept" and content.get("approve") is True:
            link = self._conversations.link(context)
            run = self.runs.of(session_key(context))
            work = self._door.approvals.approve(waiting.proposal_id, by=person, channel=link, run=run)
            finish = partial(self._finish_decided, target, waiting.proposal_id)
            return await self._conversations.hold(context, link, work, finish)
        await self._door.approvals.reject(waiting.proposal_id, by=person, why="declined in the client")
        return answers.declined(waiting, as_task=target.tool in self._view.task_envelopes)

    async def _finish_decided(
        self, target: Target, proposal_id: str, context: Context, result: ToolResult
    ) -> dict[str, Any]:
        shape = await self._finish(target, context, result)
        if not federation.is_steward(context.meta):
            return shape
        return federation.with_receipt(shape, await self._door.approvals.get(proposal_id))

    async def _confirmed(self, context: Context, target: Target, waiting: PendingApproval) -> dict[str, Any]:
        """The owner of the pipe leaves this to the client's own agent; no person is claimed."""
        client = Decider(
            caller=caller_of(context),
            role=self._role(context),
            user=LOCAL_USER,
            way=Way.CLIENT,
            client=program_of(context),
        )
        link = self._conversations.link(context)
        run = self.runs.of(session_key(context))
        work = self._door.approvals.confirmed_by_client(waiting.proposal_id, by=client, channel=link, run=run)
        return await self._conversations.hold(context, link, work, partial(self._finish, target))

    def _waits(self, target: Target, waiting: PendingApproval, *, too_long: bool = False) -> dict[str, Any]:
        as_task = target.tool in self._view.task_envelopes
        return answers.pending(waiting, as_task=as_task, too_long=too_long)

    def _role(self, context: Context) -> Role:
        member = member_of(context)
        return self._piped if member is None else member.role

    def _person(self, context: Context) -> Decider:
        """Whoever answers in the client, with the right of its key, or of the pipe's owner."""
        member = member_of(context)
        name = LOCAL_USER if member is None else member.id
        return Decider(
            caller=Caller(CallerKind.PERSON, name),
            role=self._role(context),
            user=owner_of(context),
            way=Way.ELICITATION,
            client=program_of(context),
        )


def approval_question(proposal: Proposal, *, brief: bool = False) -> dict[str, Any] | None:
    """The whole call as it would run; None where it is longer than a person reads in a client's box.

    `brief`: whoever is asked has been shown it.
    """
    message = (
        f"Run `{proposal.tool}`? This is the whole call (proposal {proposal.id}, risk {proposal.risk.value}):"
        f"\n\n{show(proposal.shown())}"
    )
    if len(message) > MOST_ASKED and not brief:
        return None
    form = {"mode": "form", "message": message, "requestedSchema": _APPROVAL_SCHEMA}
    return federation.question(federation.brief(proposal) if brief else form, proposal.id)


def _approval_required(question: Mapping[str, Any], waiting: PendingApproval) -> dict[str, Any]:
    return input_required(
        {question_key(waiting.proposal_id): {"method": ELICIT, "params": question}},
        proposal=waiting.proposal_id,
        reason=waiting.reason,
        risk=waiting.risk.value,
    )


def _handover(context: Context) -> Handover | None:
    return None if context.request is None else context.request.scope.pop(HANDOVER, None)
