"""Talking with an agent: what it says, what it does meanwhile, and what it needs a yes for.

Owns how a conversation is put on the page. A turn runs beside the request (turns.py), drawn as it comes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request, Response

from steward.contract.errors import InputError, NotFoundError
from steward.surfaces.api.identity import Identity
from steward.surfaces.api.routes import chat as routes
from steward.surfaces.api.routes.chat import AnswerShape, SourceShape, WholeConversation
from steward.surfaces.api.state import platform_of
from steward.surfaces.web.cards import Card, card_of
from steward.surfaces.web.display.look import place
from steward.surfaces.web.doing import require
from steward.surfaces.web.rendering import nothing, page, part, told
from steward.surfaces.web.turns import SECONDS_BEFORE_THE_FIRST, LiveTurn, LiveTurns
from steward.surfaces.web.visitor import Reading, Sent, Using

router = APIRouter()

AGENTS = {
    "assistant": "tasks, documents, web, files",
    "tasks": "your task list",
    "researcher": "finds out, with sources",
}
EXAMPLES = (
    ("What is due this week?", "assistant"),
    ("Add water the plants tomorrow 9am", "assistant"),
    ("Where are my documents kept?", "researcher"),
)
LISTED = 40
MOST_LISTED = 480  # older ones are found by their words
MOST_TURNS = 200  # of a conversation, the latest
LINKS = ("http://", "https://")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """A source of an answer, and where on the page or elsewhere it is read."""

    source: SourceShape
    href: str | None
    outside: bool


def cited(source: SourceShape) -> Cited:
    if source.location.startswith(LINKS):
        return Cited(source=source, href=source.location, outside=True)
    if source.kind == "document":
        where = urlencode({"source": source.location, "at": source.detail or ""})
        return Cited(source=source, href=f"/documents/read?{where}", outside=False)
    return Cited(source=source, href="/memory" if source.kind == "memory" else None, outside=False)


def words_of(answer: AnswerShape, *, waits: bool) -> str:
    """The answer, with uploaded documents by their names; a call that waits is shown by its card instead."""
    text = answer.answer.partition("\n\n```")[0] if waits else answer.answer
    for source in answer.sources:
        text = text.replace(source.location, place(source.location))
    return text


def _turns(request: Request) -> LiveTurns:
    return request.app.state.turns


@router.get("/chat")
async def show_new(request: Request, identity: Reading, q: str = "") -> Response:
    return await page(
        request, identity, "chat.html", title="Chat", here="chat", q=q, **await _new(request, identity, q)
    )


@router.get("/chat/list")
async def conversation_list(
    request: Request, identity: Reading, q: str = "", current: str = "", shown: int = LISTED
) -> Response:
    where = f"/chat/{quote(current)}" if current else "/chat"
    # The search has an address; the list is drawn again without one whenever something changes.
    searched = "hx-trigger-name" in request.headers
    headers = {"HX-Replace-Url": where + (f"?{urlencode({'q': q})}" if q else "")} if searched else None
    listed = await _listed(request, identity, q, shown)
    return part("conversations.html", me=identity, headers=headers, current=current, q=q, **listed)


@router.get("/chat/{conversation_id}")
async def show_conversation(
    request: Request, identity: Reading, conversation_id: str, q: str = ""
) -> Response:
    thread = await _thread(request, identity, conversation_id)
    conversation: WholeConversation = thread["conversation"]
    return await page(
        request,
        identity,
        "chat.html",
        title=conversation.title or "Chat",
        here="chat",
        q=q,
        current=conversation_id,
        **await _listed(request, identity, q),
        **thread,
        **_constants(),
    )


@router.get("/chat/{conversation_id}/live")
async def live(
    request: Request, identity: Reading, conversation_id: str, drawn: int = -1, works: bool = False
) -> Response:
    """What has come of the running turn; once it has ended, what it adds to the conversation.

    `drawn` is the latest turn that the page shows, `works` whether it shows one that was begun elsewhere.
    """
    turn = _turns(request).of(conversation_id, user=identity.user)
    if turn is None or not turn.running:
        try:
            return await _ended(request, identity, conversation_id, drawn, works=works)
        except NotFoundError:  # deleted while it was looked at
            return part("gone.html", words="This conversation was deleted.")
    return _live(identity, conversation_id, drawn, turn=turn)


def _live(
    identity: Identity, conversation_id: str, drawn: int, *, turn: LiveTurn | None = None, works: bool = False
) -> Response:
    return part(
        "live.html", me=identity, turn=turn, works=works, conversation_id=conversation_id, drawn=drawn
    )


async def _ended(
    request: Request,
    identity: Identity,
    conversation_id: str,
    drawn: int,
    *,
    is_new: bool = False,
    works: bool = False,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """What the page lacks: nothing, one turn, or where more has changed all of it.

    One is drawn alone, so that a turn costs a long conversation no more than a short one.
    """
    latest = await _thread(request, identity, conversation_id, turns=2)
    turns: Sequence[Mapping[str, Any]] = latest["turns"]
    missing = turns[-1]["turn"].number - drawn if turns and latest["turn"] is None else -1
    if missing == 0 and latest["works"] != works:
        return _live(identity, conversation_id, drawn, works=latest["works"])
    if missing == 0 and not _any_waits(turns):
        return nothing(headers)
    if missing == 1 and not _any_waits(turns[:-1]):
        latest["turns"] = turns[-1:]
        return part(
            "added.html",
            me=identity,
            headers={"HX-Reswap": "outerHTML"} | dict(headers or {}),
            conversation_id=conversation_id,
            is_new=is_new,
            **latest,
        )
    return part(
        "thread.html",
        me=identity,
        headers={"HX-Retarget": "#thread", "HX-Reswap": "morph:outerHTML"} | dict(headers or {}),
        **await _thread(request, identity, conversation_id),
    )


def _any_waits(turns: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a card is drawn in one of them, which a decision elsewhere changes."""
    return any(each["answer"].status == "pending_approval" for each in turns)


@router.post("/chat")
async def say(request: Request, identity: Using, form: Sent) -> Response:
    message = form["message"].strip()
    if not message:
        raise InputError("There is nothing to say yet.", fix="Write a message.")
    conversation = form["conversation"] or None
    talking = await platform_of(request).agents.chat()
    started = await talking.begin(
        message,
        speaker=routes.speaker(request, identity),
        agent=None if conversation else form["agent"] or None,
        conversation=conversation,
    )
    turn = _turns(request).begin(started, said=message, user=identity.user)
    here, is_new = started.conversation, conversation is None
    headers = {"HX-Push-Url": f"/chat/{quote(here)}"} if is_new else {}
    drawn = int(form["drawn"]) if form["drawn"].isdecimal() else -1
    # A quick turn is drawn with the answer to this; the page shows the words meanwhile.
    if await turn.ends_within(SECONDS_BEFORE_THE_FIRST):
        return await _ended(request, identity, here, drawn, is_new=is_new, headers=headers)
    named = None
    if is_new:
        named = await routes.get_conversation(platform_of(request), here, identity, turns=1)
    return part(
        "said.html",
        me=identity,
        headers=headers,
        turn=turn,
        works=False,
        conversation_id=here,
        drawn=drawn,
        is_new=is_new,
        conversation=named,
    )


@router.post("/chat/{conversation_id}/stop")
async def stop(request: Request, identity: Using, conversation_id: str) -> Response:
    stopped = await routes.stop_turn(platform_of(request), conversation_id, identity)
    words = "Stopped. What was done until then stays done." if stopped.stopped else "It had ended already."
    return Response(status_code=204, headers=told(words))


@router.post("/chat/{conversation_id}/rename")
async def rename(request: Request, identity: Using, form: Sent, conversation_id: str) -> Response:
    body = routes.ConversationChangeBody(title=form["title"])
    renamed = await routes.change_conversation(platform_of(request), conversation_id, identity, body=body)
    return part("heading.html", me=identity, conversation=renamed)


@router.post("/chat/{conversation_id}/delete")
async def delete(request: Request, identity: Using, conversation_id: str) -> Response:
    """Put away: the toast takes it back."""
    result = await routes.delete_conversation(
        platform_of(request), conversation_id, identity, response=Response()
    )
    require(result)
    where = f"/chat/{quote(conversation_id)}/restore"
    return Response(
        status_code=204, headers=told("The conversation is gone.", undo=where) | {"HX-Location": "/chat"}
    )


@router.post("/chat/{conversation_id}/restore")
async def restore(request: Request, identity: Using, conversation_id: str) -> Response:
    await routes.restore_conversation(platform_of(request), conversation_id, identity)
    return Response(
        status_code=204, headers=told("It is back.") | {"HX-Location": f"/chat/{quote(conversation_id)}"}
    )


def _constants() -> dict[str, Any]:
    return {"agents": AGENTS, "examples": EXAMPLES}


async def _new(request: Request, identity: Identity, q: str) -> dict[str, Any]:
    return {
        "conversation": None,
        "turns": [],
        "drawn": 0,
        "turn": None,
        "works": False,
        "current": "",
        **await _listed(request, identity, q),
        **_constants(),
    }


async def _listed(request: Request, identity: Identity, q: str, shown: int = LISTED) -> dict[str, Any]:
    shown = min(max(shown, LISTED), MOST_LISTED)
    found = await routes.list_conversations(
        platform_of(request), identity, limit=shown, q=q.strip()[:200] or None
    )
    more = shown + LISTED if found.next and shown < MOST_LISTED else None
    return {"conversations": found.items, "shown": shown, "more": more}


async def _thread(
    request: Request, identity: Identity, conversation_id: str, *, turns: int = MOST_TURNS
) -> dict[str, Any]:
    conversation = await routes.get_conversation(platform_of(request), conversation_id, identity, turns=turns)
    turn = _turns(request).of(conversation_id, user=identity.user)
    shown_turns: list[dict[str, Any]] = []
    for number, each in enumerate(conversation.turns, 1):
        last = number == len(conversation.turns)
        answer = each.answer
        card = await _waiting_card(request, identity, answer) if last else None
        shown = [cited(source) for source in answer.sources]
        shown_turns.append(
            {
                "turn": each,
                "answer": answer,
                "words": words_of(answer, waits=card is not None),
                "sources": shown,
                "card": card,
            }
        )
    return {
        "conversation": conversation,
        "turns": shown_turns,
        "drawn": conversation.turns[-1].number if conversation.turns else 0,
        "turn": turn,
        "works": conversation.running and turn is None,  # begun by another program, or by a job
    }


async def _waiting_card(request: Request, identity: Identity, answer: AnswerShape) -> Card | None:
    if answer.status != "pending_approval" or answer.proposal_id is None:
        return None
    return await card_of(request, identity, answer.proposal_id)
