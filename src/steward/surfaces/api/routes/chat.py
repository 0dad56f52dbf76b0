"""Routes to talk with agents: a turn as JSON or as a stream of events, conversations, and stopping.

Whose conversation it is follows from the key; a yes counts with the role that may approve. A client that
goes away in the middle of a stream and does not come back stops its turn.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import orjson
from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, Field

from steward.bootstrap import Platform
from steward.bootstrap.jobs import queue_turn
from steward.bootstrap.tools.conversation_tools import DELETE_CONVERSATION
from steward.contract.call import PendingApproval, ToolCall
from steward.contract.deciding import Way
from steward.contract.errors import ForbiddenError
from steward.conversations.model import (
    Answer,
    AnswerStatus,
    Conversation,
    Speaker,
    Turn,
    TurnEvent,
    TurnFinished,
)
from steward.conversations.shapes import answer_shape, event_shape, pending_shape
from steward.conversations.turns import read_message, title_of, unknown
from steward.policy.access import Role
from steward.surfaces.api.decider import decider
from steward.surfaces.api.events import EVENT_STREAM, EVENTS
from steward.surfaces.api.events import event as sse
from steward.surfaces.api.identity import Identity, Reader, Worker
from steward.surfaces.api.routes.jobs import QueuedJob
from steward.surfaces.api.shapes import Strict, ToolResultShape
from steward.surfaces.api.state import Here
from steward.surfaces.api.turn_feeds import TurnFeed, TurnFeeds

if TYPE_CHECKING:  # talking imports Pydantic AI, which takes seconds
    from steward.agents.chat import StartedTurn

router = APIRouter(prefix="/v1", tags=["chat"])

SECONDS_BETWEEN_SIGNS = 15.0  # of life, while nothing else is sent
CONVERSATION = "X-Conversation-ID"
MOST_WAITING = 1_000  # events for a client that reads slowly


class ChatBody(Strict):
    message: str = Field(examples=["Add buy milk to my tasks."])
    agent: str | None = Field(
        default=None, description="assistant, tasks or researcher; a conversation keeps its own."
    )
    conversation: str | None = Field(default=None, description="To go on with one; otherwise a new one.")
    user: str | None = Field(default=None, description="Act for this user; only an administrator may.")
    background: bool = Field(
        default=False,
        description="Do not wait: a worker takes the turn. 202 with the job's id. Nothing said so is a yes.",
    )


class CallShape(BaseModel):
    tool: str
    arguments: dict[str, Any]
    status: str = Field(description="done, failed, pending_approval, rejected or refused")
    data: Any = None
    error: str | None = None
    error_code: str | None = None
    outcome_unknown: bool = False
    risk: str | None = None
    proposal_id: str | None = None
    call_id: str = ""
    duration_ms: float = 0.0


class SourceShape(BaseModel):
    title: str
    location: str
    kind: str
    date: str | None = None
    detail: str | None = None


class AnswerShape(BaseModel):
    status: AnswerStatus
    agent: str
    conversation: str
    answer: str
    reasoning: str
    confidence: float
    tool_calls: list[CallShape]
    sources: list[SourceShape]
    proposal_id: str | None = None
    missing_tools: list[str] = []

    @classmethod
    def of(cls, answer: Answer) -> "AnswerShape":
        return cls.model_validate(answer_shape(answer))


class TurnShape(BaseModel):
    number: int
    said: str
    speaker: str
    answer: AnswerShape
    at: datetime

    @classmethod
    def of(cls, turn: Turn) -> "TurnShape":
        return cls(
            number=turn.number,
            said=turn.said,
            speaker=turn.speaker,
            answer=AnswerShape.of(turn.answer),
            at=turn.at,
        )


class ConversationShape(BaseModel):
    id: str
    agent: str
    title: str
    created_at: datetime
    updated_at: datetime
    pending: list[dict[str, Any]] = Field(description="Calls that wait for a yes or no in the next turn.")
    running: bool = Field(description="Whether a turn is under way.")

    @classmethod
    def of(cls, conversation: Conversation) -> "ConversationShape":
        return cls(**_summary(conversation))


class WholeConversation(ConversationShape):
    turns: list[TurnShape]

    @classmethod
    def of(cls, conversation: Conversation) -> "WholeConversation":
        turns = [TurnShape.of(turn) for turn in conversation.turns]
        return cls(**_summary(conversation), turns=turns)


class ConversationList(BaseModel):
    items: list[ConversationShape]
    next: str | None = None


class ConversationChangeBody(Strict):
    title: str = Field(min_length=1, max_length=200, examples=["The move to Porto"])


class StopShape(BaseModel):
    stopped: bool = Field(description="False when no turn of it runs.")


def _summary(conversation: Conversation) -> dict[str, Any]:
    return {
        "id": conversation.id,
        "agent": conversation.agent,
        "title": conversation.title,
        "created_at": conversation.created_at,
        "updated_at": conversation.updated_at,
        "pending": [pending_shape(call) for call in conversation.pending],
        "running": conversation.running,
    }


def whose(identity: Identity, user: str | None) -> str:
    """For whom a request acts: the key's own user, or another one where an administrator says so."""
    if user is not None and user != identity.user and identity.role < Role.ADMIN:
        raise ForbiddenError(
            f"This key belongs to '{identity.user}' and may not act for '{user[:80]}'.",
            fix="Leave the user out, or use an admin key.",
        )
    return user or identity.user


def speaker(request: Request, identity: Identity, *, user: str | None = None) -> Speaker:
    return Speaker(
        user=whose(identity, user),
        caller=identity.caller,
        decider=decider(request, identity, way=Way.CHAT),
    )


@router.post(
    "/chat",
    response_model=AnswerShape,
    responses={
        200: {"content": EVENTS},
        202: {"model": AnswerShape | QueuedJob, "description": "A call waits for a yes, or it is a job."},
    },
)
async def chat(
    platform: Here, body: ChatBody, identity: Worker, *, request: Request, response: Response
) -> Any:
    """Say something to an agent. With `Accept: text/event-stream` the answer comes as events."""
    who = speaker(request, identity, user=body.user)
    talking = await platform.agents.chat()
    if body.background:
        return await _queued(platform, body, who)
    started = await talking.begin(body.message, speaker=who, agent=body.agent, conversation=body.conversation)
    if EVENT_STREAM in request.headers.get("accept", ""):
        # Named before the first event, so that whoever follows a new conversation can stop it.
        feed = feeds_of(request).begin(started, user=who.user)
        return stream(_events(feed), {CONVERSATION: started.conversation})
    answer = await asyncio.shield(asyncio.create_task(started.run()))
    if answer.status is AnswerStatus.PENDING_APPROVAL:
        response.status_code = 202
    return AnswerShape.of(answer)


async def _queued(platform: Platform, body: ChatBody, who: Speaker) -> JSONResponse:
    talking = await platform.agents.chat()
    held = await talking.queue(body.message, speaker=who, agent=body.agent, conversation=body.conversation)
    job = await queue_turn(
        platform.work, user=who.user, conversation=held.id, lease=held.lease, title=body.message
    )
    queued = QueuedJob(job=str(job), conversation=held.id)
    return JSONResponse(queued.model_dump(), status_code=202, headers={CONVERSATION: held.id})


def feeds_of(request: Request) -> TurnFeeds:
    return request.app.state.feeds


async def _events(feed: TurnFeed, after: int = 0) -> AsyncGenerator[bytes]:
    async for step in feed.follow(after, signs=SECONDS_BETWEEN_SIGNS):
        if step is None:
            yield b": waiting\n\n"
            continue
        number, event = step
        name, data = event_shape(event)
        yield sse(name, data, identity=feed.name_of(number))


async def follow(started: "StartedTurn") -> AsyncGenerator[TurnEvent | None]:
    """The events of a turn as they happen; None as a sign of life. Leaving early stops the turn."""
    waiting: asyncio.Queue[TurnEvent] = asyncio.Queue(MOST_WAITING)
    turn = asyncio.create_task(started.run(waiting.put))
    _kept.add(turn)
    turn.add_done_callback(_kept.discard)
    try:
        while True:
            try:
                async with asyncio.timeout(SECONDS_BETWEEN_SIGNS):
                    event = await _next(waiting, turn)
            except TimeoutError:
                yield None
                continue
            if event is None:
                await turn  # ended without a last word: it raises why
                return
            yield event
            if isinstance(event, TurnFinished):
                return
    finally:
        if not turn.done():
            started.stop()
            while not waiting.empty():  # room for its last events, which nobody reads
                waiting.get_nowait()


_kept: set["asyncio.Task[Any]"] = set()  # turns whose reader is gone still end and are stored


async def _next(waiting: "asyncio.Queue[TurnEvent]", turn: "asyncio.Task[Any]") -> TurnEvent | None:
    """The next event; None when the turn ended without one more."""
    getting = asyncio.ensure_future(waiting.get())
    try:
        await asyncio.wait({getting, turn}, return_when=asyncio.FIRST_COMPLETED)
        if getting.done():
            return getting.result()
        return None if waiting.empty() else waiting.get_nowait()
    finally:
        getting.cancel()


def stream(events: AsyncGenerator[bytes], more: Mapping[str, str] | None = None) -> StreamingResponse:
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no", **(more or {})}
    return StreamingResponse(events, media_type=EVENT_STREAM, headers=headers)


def dumped(data: Any) -> bytes:
    return orjson.dumps(data, default=str, option=orjson.OPT_NON_STR_KEYS)


ForUser = Annotated[str | None, Query(description="Somebody else's; only an administrator may.")]


@router.get("/conversations")
async def list_conversations(
    platform: Here,
    identity: Reader,
    *,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    after: Annotated[str | None, Query(description="The previous page's `next`.")] = None,
    q: Annotated[
        str | None, Query(max_length=200, description="Words in the title, or in what was said.")
    ] = None,
    user: ForUser = None,
) -> ConversationList:
    """Yours, the latest first."""
    store = platform.agents.conversations
    page = await store.list(whose(identity, user), limit=limit, after=after, containing=q)
    return ConversationList(items=[ConversationShape.of(each) for each in page.items], next=page.next)


@router.get("/conversations/{conversation_id}")
async def get_conversation(
    platform: Here,
    conversation_id: str,
    identity: Reader,
    *,
    turns: Annotated[int, Query(ge=1, le=1000, description="How many of the latest.")] = 200,
    user: ForUser = None,
) -> WholeConversation:
    """With its turns, oldest first."""
    store, owner = platform.agents.conversations, whose(identity, user)
    return WholeConversation.of(await store.load(conversation_id, user=owner, turns=turns))


@router.delete(
    "/conversations/{conversation_id}",
    responses={202: {"model": ToolResultShape, "description": "Waits for approval."}},
)
async def delete_conversation(
    platform: Here, conversation_id: str, identity: Worker, *, response: Response, user: ForUser = None
) -> ToolResultShape:
    """It can be restored for 30 days. What was done in it stays done."""
    owner = whose(identity, user)
    # Nobody is asked about what is not there.
    await platform.agents.conversations.load(conversation_id, user=owner, turns=0)
    result = await platform.orchestrator.execute(
        ToolCall(
            tool=DELETE_CONVERSATION,
            arguments={"conversation_id": conversation_id},
            caller=identity.caller,
            user=owner,
        )
    )
    if isinstance(result, PendingApproval):
        response.status_code = 202
    return ToolResultShape.of(result)


@router.get(
    "/conversations/{conversation_id}/events",
    response_model=None,
    responses={200: {"content": EVENTS}},
)
async def follow_turn(
    conversation_id: str,
    identity: Worker,
    *,
    request: Request,
    last_event_id: Annotated[str | None, Header(description="The last event that was seen.")] = None,
    user: ForUser = None,
) -> StreamingResponse:
    """Follow a turn whose stream broke off: the events after `Last-Event-ID`, then those to come."""
    owner = whose(identity, user)
    feed, after = feeds_of(request).resume(conversation_id, user=owner, last=last_event_id)
    return stream(_events(feed, after), {CONVERSATION: conversation_id})


@router.patch("/conversations/{conversation_id}")
async def change_conversation(
    platform: Here,
    conversation_id: str,
    identity: Worker,
    *,
    body: ConversationChangeBody,
    user: ForUser = None,
) -> ConversationShape:
    """Give it another title."""
    store, owner = platform.agents.conversations, whose(identity, user)
    title = title_of(read_message(body.title))
    if not await store.rename(conversation_id, user=owner, title=title):
        raise unknown(conversation_id)
    return ConversationShape.of(await store.load(conversation_id, user=owner, turns=0))


@router.post("/conversations/{conversation_id}/restore")
async def restore_conversation(
    platform: Here, conversation_id: str, identity: Worker, *, user: ForUser = None
) -> ConversationShape:
    """Take a deletion back, within 30 days of it."""
    store, owner = platform.agents.conversations, whose(identity, user)
    if not await store.restore(conversation_id, user=owner):
        raise unknown(conversation_id)
    return ConversationShape.of(await store.load(conversation_id, user=owner, turns=0))


@router.post("/conversations/{conversation_id}/stop")
async def stop_turn(
    platform: Here, conversation_id: str, identity: Worker, *, user: ForUser = None
) -> StopShape:
    """End the turn that runs now, in whichever program. What it did until then stays, on the record."""
    owner = whose(identity, user)
    await platform.agents.conversations.load(conversation_id, user=owner, turns=0)
    return StopShape(stopped=await platform.agents.stop(conversation_id, user=owner))
