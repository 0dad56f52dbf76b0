"""One tool call of a client, from its first request to its last answer.

Owns the conversation around a call: a person's approval asked for in the client, questions of the tool
passed on, a call parked between two requests of a 2026-07-28 client. The state that such a client carries
back is sealed and bound to the call, its arguments and its key by the SDK's `RequestStateBoundary`.
Does not own whether a call may run: that is the door's.
"""

import asyncio
import secrets
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

import mcp_types as types
import orjson
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from steward.contract.call import Caller, CallerKind, PendingApproval, ToolCall, ToolResult
from steward.contract.errors import StewardError
from steward.contract.tool import RiskLevel
from steward.orchestrator.orchestrator import Orchestrator
from steward.servers.gateway import answers
from steward.servers.gateway.link import ELICIT, Context, LegacyLine, Link, ModernLine, Running, can, modern
from steward.servers.gateway.views import SEARCH, Catalogue, Target, View

PARKED_AT_MOST = 1_000
PARKED_SECONDS = 600.0
HANDOVER = "steward.handover"  # where the thin path leaves a call for the SDK's handler to finish
APPROVAL = "approval"
_APPROVAL_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "approve": {"type": "boolean", "title": "Approve", "description": "Run exactly this call."}
    },
    "required": ["approve"],
}


@dataclass(slots=True)
class Handover:
    """A call that the thin path began and that now needs a conversation."""

    running: Running
    link: Link
    attached: asyncio.Event


@dataclass(frozen=True, slots=True)
class _Retry:
    """What a 2026-07-28 client brought back."""

    state: Mapping[str, str]
    responses: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Conversation:
    """Who asks for what, over which request."""

    context: Context
    target: Target
    caller: Caller

    @property
    def person(self) -> Caller:
        """Whoever answers in the client; the client's name is the only one there is."""
        return Caller(CallerKind.PERSON, self.caller.id)


class Calls:
    def __init__(
        self, door: Orchestrator, view: View, catalogue: Catalogue, *, log_level: Callable[[Context], str]
    ) -> None:
        self._door = door
        self._view = view
        self._catalogue = catalogue
        self._log_level = log_level
        self._parked: dict[str, tuple[Running, Link, asyncio.TimerHandle]] = {}

    async def handle(self, context: Context, params: types.CallToolRequestParams) -> dict[str, Any]:
        try:
            if params.name == SEARCH and self._catalogue.is_search(SEARCH):
                return answers.from_data(self._catalogue.search(params.arguments or {}))
            target = self._catalogue.target(params.name, params.arguments or {})
            conversation = _Conversation(context, target, caller_of(context))
            if (handover := _handover(context)) is not None:
                return await self._converse(conversation, handover.running, handover.link, handover.attached)
            if (retry := _retry(params)) is not None:
                return await self._again(conversation, retry)
            link = Link()
            call = ToolCall(
                tool=target.tool, arguments=target.arguments, caller=conversation.caller, channel=link
            )
            return await self._converse(conversation, _start(self._door.execute(call)), link)
        except StewardError as error:
            raise MCPError(INVALID_PARAMS, error.explain(), {"code": error.code}) from error

    async def _converse(
        self, talk: _Conversation, running: Running, link: Link, attached: asyncio.Event | None = None
    ) -> dict[str, Any]:
        """Wait for the call; pass its questions on; ask the person where it waits for one."""
        link.line = ModernLine(talk.context, running) if modern(talk.context) else self._legacy(talk.context)
        if attached is not None:
            attached.set()
        try:
            await _outcome_or_question(running)
        except asyncio.CancelledError:
            running.cancel()
            raise
        if not running.outcome.done():
            return self._park(running, link)
        result: ToolResult = running.outcome.result()
        if isinstance(result, PendingApproval):
            return await self._ask_person(talk, result)
        return answers.answer(result)

    def _legacy(self, context: Context) -> LegacyLine:
        return LegacyLine(context, self._log_level(context))

    # --- approval ---

    async def _ask_person(self, talk: _Conversation, waiting: PendingApproval) -> dict[str, Any]:
        if not can(talk.context, ELICIT):
            if talk.target.tool in self._view.client_confirms:
                return await self._approved(talk, waiting, via="client")
            return answers.pending(waiting)
        if modern(talk.context):
            return _approval_required(talk.target, waiting)
        raw = await self._legacy(talk.context).request(ELICIT, approval_question(talk.target, waiting))
        return await self._decide(talk, waiting, raw)

    async def _decide(
        self, talk: _Conversation, waiting: PendingApproval, raw: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        if raw is None or raw.get("action") == "cancel":
            return answers.pending(waiting)  # nobody decided: it goes on waiting
        content: Any = raw.get("content") or {}
        if raw.get("action") == "accept" and content.get("approve") is True:
            return await self._approved(talk, waiting, via="elicitation")
        await self._door.approvals.reject(waiting.proposal_id, by=talk.person, why="declined in the client")
        return answers.declined(waiting)

    async def _approved(self, talk: _Conversation, waiting: PendingApproval, *, via: str) -> dict[str, Any]:
        link = Link()
        approved = self._door.approvals.approve(
            waiting.proposal_id, approver=talk.person, via=via, channel=link
        )
        return await self._converse(talk, _start(approved), link)

    # --- a 2026-07-28 client that comes back ---

    async def _again(self, talk: _Conversation, retry: _Retry) -> dict[str, Any]:
        if "proposal" in retry.state:
            waiting = PendingApproval(
                proposal_id=retry.state["proposal"],
                reason=retry.state["reason"],
                risk=RiskLevel(retry.state["risk"]),
            )
            raw = retry.responses.get(APPROVAL)
            if raw is None or raw.get("action") not in ("accept", "decline", "cancel"):
                return _approval_required(talk.target, waiting)
            return await self._decide(talk, waiting, raw)
        parked = self._parked.pop(retry.state.get("call", ""), None)
        if parked is None:
            raise MCPError(INVALID_PARAMS, "This call is no longer waiting; make it again.")
        running, link, expiry = parked
        expiry.cancel()
        for key, question in tuple(running.questions.items()):
            raw = retry.responses.get(key)
            if raw is not None and question.accepts(raw):
                del running.questions[key]
                question.answer.set_result(raw)
        if running.questions:
            return self._park(running, link)  # what is still open is asked again
        running.asked.clear()
        return await self._converse(talk, running, link)

    def _park(self, running: Running, link: Link) -> dict[str, Any]:
        while len(self._parked) >= PARKED_AT_MOST:
            self._drop(next(iter(self._parked)))
        token = secrets.token_hex(16)
        expiry = asyncio.get_running_loop().call_later(PARKED_SECONDS, self._drop, token)
        self._parked[token] = (running, link, expiry)
        return _input_required(
            {key: question.wire() for key, question in running.questions.items()}, call=token
        )

    def _drop(self, token: str) -> None:
        running, _, expiry = self._parked.pop(token)
        expiry.cancel()
        running.cancel()

    def close(self) -> None:
        for token in tuple(self._parked):
            self._drop(token)


def approval_question(target: Target, waiting: PendingApproval) -> dict[str, Any]:
    return {
        "mode": "form",
        "message": f"Run {target.tool} with {shown(target.arguments)}? It asks because {waiting.reason}. "
        f"(Proposal {waiting.proposal_id}, risk {waiting.risk.value}.)",
        "requestedSchema": _APPROVAL_SCHEMA,
    }


def _approval_required(target: Target, waiting: PendingApproval) -> dict[str, Any]:
    return _input_required(
        {APPROVAL: {"method": ELICIT, "params": approval_question(target, waiting)}},
        proposal=waiting.proposal_id,
        reason=waiting.reason,
        risk=waiting.risk.value,
    )


def shown(arguments: Mapping[str, Any], limit: int = 1_000) -> str:
    text = orjson.dumps(arguments, default=str, option=orjson.OPT_SORT_KEYS).decode()
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text):,} characters)"


def caller_of(context: Context) -> Caller:
    return Caller(CallerKind.CLIENT, principal(context))


def principal(context: Context) -> str:
    member = None if context.request is None else context.request.scope.get("steward.member")
    if member is not None:
        return member.id
    params = context.session.client_params
    return "mcp-client" if params is None else params.client_info.name[:64]


def _handover(context: Context) -> Handover | None:
    return None if context.request is None else context.request.scope.pop(HANDOVER, None)


def _retry(params: types.CallToolRequestParams) -> _Retry | None:
    if params.request_state is None:
        return None
    responses = params.input_responses or {}
    return _Retry(
        orjson.loads(params.request_state),
        {
            key: value.model_dump(by_alias=True, mode="json", exclude_none=True)
            for key, value in responses.items()
        },
    )


def _start(work: Coroutine[Any, Any, ToolResult]) -> Running:
    task = asyncio.create_task(work)
    return Running(outcome=task, cancel=task.cancel)


async def _outcome_or_question(running: Running) -> None:
    asked = asyncio.ensure_future(running.asked.wait())
    try:
        await asyncio.wait((running.outcome, asked), return_when=asyncio.FIRST_COMPLETED)
    finally:
        asked.cancel()
    if not running.outcome.done():
        # A server may put several questions at once; they go out together.
        for _ in range(5):
            await asyncio.sleep(0)


def _input_required(requests: Mapping[str, Any], **state: str) -> dict[str, Any]:
    return {
        "resultType": "input_required",
        "inputRequests": requests,
        "requestState": orjson.dumps(state).decode(),
    }
