"""One tool call of a client, from its first request to its last answer.

Owns approvals asked for in the client: yes runs exactly the proposed call, no rejects it, silence leaves it
waiting. Only somebody who may decide is asked, and looked at again when the answer comes; everybody else
hears that the call waits. Does not own whether a call needs a yes: that is the door's.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from steward.contract.call import Caller, CallerKind, PendingApproval, ToolCall, ToolResult
from steward.contract.deciding import Decider, Role, Way, client_name
from steward.contract.errors import ErrorCode, StewardError
from steward.contract.runs import RunRecord
from steward.contract.showing import show
from steward.contract.tool import RiskLevel
from steward.orchestrator.orchestrator import Orchestrator
from steward.orchestrator.proposals import Proposal
from steward.policy.access import LOCAL_USER
from steward.servers.gateway import answers
from steward.servers.gateway.conversation import Conversations, Retry, input_required, responses_of, retry_of
from steward.servers.gateway.link import ELICIT, Context, Link, Running, can, modern
from steward.servers.gateway.ports import Member
from steward.servers.gateway.views import SEARCH, Catalogue, Target, View, acts_for

MOST_RUNS = 1_000
HANDOVER = "steward.handover"  # where the thin path leaves a call for the SDK's handler to finish
APPROVAL = "approval"
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

    running: Running
    link: Link
    attached: asyncio.Event


class SessionRuns:
    """What each session has read so far. Who sends no session along cannot be known from one to the next."""

    def __init__(self) -> None:
        self._runs: dict[str, RunRecord] = {}

    def of(self, session: str) -> RunRecord | None:
        if not session:
            return None
        run = self._runs.pop(session, None) or RunRecord()
        while len(self._runs) >= MOST_RUNS:
            self._runs.pop(next(iter(self._runs)))  # the one that was quiet for longest
        self._runs[session] = run
        return run

    def forget(self, session: str) -> None:
        self._runs.pop(session, None)


def session_key(context: Context) -> str:
    """The HTTP session that a request belongs to; a pipe carries only one."""
    request = context.request
    return "pipe" if request is None else request.headers.get("mcp-session-id", "")


class Calls:
    def __init__(
        self,
        door: Orchestrator,
        view: View,
        *,
        catalogue: Catalogue,
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
        if self._role(context) < Role.USE:
            raise MCPError(INVALID_PARAMS, "This role may look but not call.", {"code": ErrorCode.FORBIDDEN})
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
            raise MCPError(INVALID_PARAMS, error.explain(), {"code": error.code}) from error

    async def through(
        self, context: Context, params: types.InputResponseRequestParams, target: Target
    ) -> dict[str, Any]:
        """Take this call through the door, or go on with it where it waits for the client's answers."""
        if (retry := retry_of(params)) is not None:
            return await self._again(context, target, retry)
        link = self._conversations.link(context, responses_of(params))
        call = ToolCall(
            tool=target.tool,
            arguments=target.arguments,
            caller=caller_of(context),
            user=acts_for(self._door, target, user_of(context)),
            channel=link,
            run=self.runs.of(session_key(context)),
        )
        work = self._door.execute(call)
        return await self._conversations.hold(context, link, work, partial(self._finish, target))

    async def _finish(self, target: Target, context: Context, result: ToolResult) -> dict[str, Any]:
        if not isinstance(result, PendingApproval):
            return answers.answer(result, as_error=target.tool in self._view.failures_as_errors)
        if context.request is None and target.tool in self._view.client_confirms:
            return await self._confirmed(context, target, result)
        person = self._person(context)
        may = await self._door.approvals.may_decide(result.proposal_id, by=person)
        if not may or not can(context, ELICIT):
            return self._waits(target, result)
        question = await self._question(result)
        if question is None:
            return self._waits(target, result, too_long=True)
        if modern(context):
            return _approval_required(question, result)
        raw = await self._conversations.legacy(context).ask(ELICIT, question)
        return await self._decide(context, target, result, raw)

    async def _question(self, waiting: PendingApproval) -> dict[str, Any] | None:
        """What the person in the client is asked; None where that is more than can be shown there."""
        return approval_question(await self._door.approvals.get(waiting.proposal_id))

    async def _again(self, context: Context, target: Target, retry: Retry) -> dict[str, Any]:
        if "proposal" not in retry.state:
            return await self._conversations.resume(context, retry)
        waiting = PendingApproval(
            proposal_id=retry.state["proposal"],
            reason=retry.state["reason"],
            risk=RiskLevel(retry.state["risk"]),
        )
        question = await self._question(waiting)
        if question is None:
            return answers.pending(waiting, too_long=True)
        raw = retry.responses.get(APPROVAL)
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
        if raw.get("action") == "accept" and content.get("approve") is True:
            link = self._conversations.link(context)
            work = self._door.approvals.approve(waiting.proposal_id, by=person, channel=link)
            return await self._conversations.hold(context, link, work, partial(self._finish, target))
        await self._door.approvals.reject(waiting.proposal_id, by=person, why="declined in the client")
        return answers.declined(waiting, as_task=target.tool in self._view.task_envelopes)

    async def _confirmed(self, context: Context, target: Target, waiting: PendingApproval) -> dict[str, Any]:
        """The owner of the pipe leaves this to the client's own agent; no person is claimed."""
        client = Decider(
            caller=caller_of(context),
            role=self._role(context),
            user=LOCAL_USER,
            way=Way.CLIENT,
            client=_client(context),
        )
        link = self._conversations.link(context)
        work = self._door.approvals.confirmed_by_client(waiting.proposal_id, by=client, channel=link)
        return await self._conversations.hold(context, link, work, partial(self._finish, target))

    def _waits(self, target: Target, waiting: PendingApproval, *, too_long: bool = False) -> dict[str, Any]:
        as_task = target.tool in self._view.task_envelopes
        return answers.pending(waiting, as_task=as_task, too_long=too_long)

    def _role(self, context: Context) -> Role:
        member = _member(context)
        return self._piped if member is None else member.role

    def _person(self, context: Context) -> Decider:
        """Whoever answers in the client, with the right of its key, or of the pipe's owner."""
        member = _member(context)
        name = LOCAL_USER if member is None else member.id
        return Decider(
            caller=Caller(CallerKind.PERSON, name),
            role=self._role(context),
            user=user_of(context) or LOCAL_USER,
            way=Way.ELICITATION,
            client=_client(context),
        )


def approval_question(proposal: Proposal) -> dict[str, Any] | None:
    """The whole call as it would run; None where it is longer than a person reads in a client's box."""
    message = (
        f"Run `{proposal.tool}`? This is the whole call (proposal {proposal.id}, risk {proposal.risk.value}):"
        f"\n\n{show(proposal.shown())}"
    )
    if len(message) > MOST_ASKED:
        return None
    return {"mode": "form", "message": message, "requestedSchema": _APPROVAL_SCHEMA}


def _approval_required(question: Mapping[str, Any], waiting: PendingApproval) -> dict[str, Any]:
    return input_required(
        {APPROVAL: {"method": ELICIT, "params": question}},
        proposal=waiting.proposal_id,
        reason=waiting.reason,
        risk=waiting.risk.value,
    )


def caller_of(context: Context) -> Caller:
    return Caller(CallerKind.CLIENT, principal(context))


def _client(context: Context) -> str:
    """What the program calls itself; a claim, kept for the receipt."""
    params = context.session.client_params
    return client_name(None if params is None else params.client_info.name)


def _member(context: Context) -> Member | None:
    return None if context.request is None else context.request.scope.get("steward.member")


def user_of(context: Context) -> str | None:
    """For whom a client's calls act; None where the call itself may say: on a pipe, and at this machine."""
    member = _member(context)
    return None if member is None else member.user


def principal(context: Context) -> str:
    member = _member(context)
    if member is not None:
        return member.id
    params = context.session.client_params
    return "mcp-client" if params is None else params.client_info.name[:64]


def _handover(context: Context) -> Handover | None:
    return None if context.request is None else context.request.scope.pop(HANDOVER, None)
