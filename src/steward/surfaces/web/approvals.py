"""The inbox: who wants what and why, whole and readable, and a person's answer to it.

Owns which calls stand where; a single one's card is cards.py's. Decisions are the API's own functions: a
yes runs exactly what was shown, once.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from fastapi import APIRouter, Request, Response

from steward.contract.deciding import Always
from steward.contract.errors import InputError, NotFoundError
from steward.surfaces.api.identity import Identity
from steward.surfaces.api.routes import proposals as routes
from steward.surfaces.api.routes import questions as question_routes
from steward.surfaces.api.routes import tasks as task_routes
from steward.surfaces.api.routes.questions import AnswerBody, QuestionShape
from steward.surfaces.api.shapes import ApproveBody, ProposalShape, RejectBody
from steward.surfaces.api.state import Here, platform_of
from steward.surfaces.web.cards import (
    Card,
    alike,
    card_of,
    cards_of,
    difference,
    file_change,
    file_difference,
    schema_of,
)
from steward.surfaces.web.display.fields import fields_of_call, read_arguments
from steward.surfaces.web.rendering import page, part, told
from steward.surfaces.web.visitor import Approving, Reading, Sent

router = APIRouter()

DECIDED: tuple[str, ...] = ("finished", "rejected", "running", "unknown", "expired")
LINGERS = timedelta(
    minutes=5
)  # how long an outcome stays where the question was, and as long as it is looked at
MOST = 100
MOST_LOOKED_THROUGH = 1_000


@router.get("/approvals")
async def show_inbox(request: Request, identity: Reading) -> Response:
    return await page(
        request,
        identity,
        "approvals.html",
        title="Approvals",
        here="approvals",
        **await _inbox(request, identity),
    )


@router.get("/approvals/list")
async def inbox_list(request: Request, identity: Reading, since: datetime | None = None) -> Response:
    return part("approvals_list.html", me=identity, **await _inbox(request, identity, since))


async def _inbox(request: Request, identity: Identity, since: datetime | None = None) -> dict[str, Any]:
    """What waits, and what was decided lately or `since` then, each where it stood; new ones come below.

    So nothing moves under the pointer of somebody who is about to decide.
    """
    since = datetime.now(UTC) - LINGERS if since is None else since.astimezone(UTC)
    platform = platform_of(request)
    waiting = await routes.list_proposals(platform, identity, state=["waiting"], limit=MOST)
    recent = await routes.list_proposals(platform, identity, state=list(DECIDED), limit=MOST)
    fresh = [each for each in recent.items if _decided_at(each) > since]
    cards = await cards_of(request, identity, [*waiting.items, *fresh])
    questions = await question_routes.list_questions(platform, identity, limit=MOST)
    entries: list[tuple[datetime, str, Card | QuestionShape]] = [
        *((card.proposal.created_at, card.proposal.id, card) for card in cards),
        *((question.asked_at, question.id, question) for question in questions.items),
    ]
    shown = [entry for *_, entry in sorted(entries, key=lambda each: each[:2])]
    return {
        "entries": [(entry if isinstance(entry, Card) else None, entry) for entry in shown],
        "since": since.isoformat(),
        "more": waiting.next,
    }


def _decided_at(proposal: ProposalShape) -> datetime:
    receipt = proposal.receipt
    at = proposal.rejected_at or (receipt and receipt.approved_at)
    return at or datetime.min.replace(tzinfo=UTC)


@router.get("/approvals/decided")
async def show_decided(
    request: Request, identity: Reading, q: str = "", state: str = "", after: str | None = None
) -> Response:
    """Receipts, newest first; `q` is looked for in everything that a receipt holds."""
    states = [state] if state in DECIDED else list(DECIDED)
    limit = MOST_LOOKED_THROUGH if q.strip() else 30
    found = await routes.list_proposals(
        platform_of(request), identity, state=states, limit=limit, after=after
    )
    wanted = q.strip().casefold()
    items = [each for each in found.items if wanted in each.model_dump_json().casefold()][:MOST]
    return await page(
        request,
        identity,
        "decided.html",
        title="Decided",
        here="approvals",
        cards=await cards_of(request, identity, items),
        q=q,
        state=state,
        next=found.next,
    )


@router.get("/approvals/{proposal_id}")
async def show_one(request: Request, identity: Reading, proposal_id: str) -> Response:
    card = await card_of(request, identity, proposal_id)
    return await page(
        request, identity, "approval.html", title=card.proposal.tool, here="approvals", card=card
    )


@router.post("/approvals/{proposal_id}/approve")
async def approve(request: Request, identity: Approving, form: Sent, proposal_id: str) -> Response:
    """The result comes back where the question stood."""
    proposal = await routes.get_proposal(platform_of(request), proposal_id, identity)
    edited = _edited(request, form, proposal) if form["edited"] else None
    result = await routes.approve_proposal(
        platform_of(request),
        proposal_id,
        identity,
        ApproveBody(arguments=edited, **_reach(form)),
        request=request,
    )
    said = "Done." if result.success else f"It ran and failed: {result.error}"
    said += " It does not ask again; see Policy." if form["always"] else ""
    card = await card_of(request, identity, proposal_id)
    return part("card_part.html", me=identity, card=card, headers=told(said, bad=not result.success))


def _edited(request: Request, form: Sent, proposal: ProposalShape) -> dict[str, Any] | None:
    """What would run instead; None where nothing was changed."""
    fields = fields_of_call(schema_of(request, proposal.tool), proposal.arguments)
    edited = read_arguments(fields, form, proposal.arguments)
    return None if edited == proposal.arguments else edited


@router.post("/approvals/{proposal_id}/difference")
async def show_difference(request: Request, identity: Reading, form: Sent, proposal_id: str) -> Response:
    """How the arguments would differ from those proposed, while they are edited."""
    proposal = await routes.get_proposal(platform_of(request), proposal_id, identity)
    try:
        edited = _edited(request, form, proposal)
    except InputError as error:
        return part("difference.html", lines=[], problem=str(error), said="")
    lines = [] if edited is None else difference(proposal.arguments, edited)
    said = "This is what would run; both versions stay on the record."
    return part("difference.html", lines=lines, problem=None, said=said)


@router.get("/approvals/{proposal_id}/file")
async def show_file_change(request: Request, identity: Approving, proposal_id: str) -> Response:
    """What a call would make of a file, beside what the file holds now."""
    proposal = await routes.get_proposal(platform_of(request), proposal_id, identity)
    change = file_change(proposal.tool, proposal.arguments)
    lines = None if change is None else await file_difference(request, identity, change)
    return part("file_change.html", change=change, lines=lines)


@router.get("/approvals/{proposal_id}/task")
async def show_what_goes(request: Request, identity: Approving, proposal_id: str) -> Response:
    """The task that a call would delete, with its notes and what became of it so far."""
    card = await card_of(request, identity, proposal_id)
    if card.task is None:
        raise NotFoundError("This call deletes no task of yours.")
    platform = platform_of(request)
    task = await task_routes.get_task(platform, identity, card.task)
    log = await task_routes.task_log(platform, identity, card.task)
    return part("task_goes.html", task=task, events=log.items)


@router.post("/approvals/{proposal_id}/reject")
async def reject(request: Request, identity: Approving, form: Sent, proposal_id: str) -> Response:
    body = RejectBody(why=form["why"].strip()[:1000] or None, **_reach(form))
    await routes.reject_proposal(platform_of(request), proposal_id, identity, body, request=request)
    said = "Rejected. Nothing was run."
    said += " Later ones are refused; see Policy." if form["always"] else ""
    card = await card_of(request, identity, proposal_id)
    return part("card_part.html", me=identity, card=card, headers=told(said))


def _reach(form: Mapping[str, str]) -> dict[str, Any]:
    always = Always(form["always"]) if form["always"] in set(Always) else None
    return {"always": always, "everyone": bool(form["everyone"])}


@router.post("/approvals/{proposal_id}/reject-alike")
async def rejectalike(request: Request, identity: Approving, proposal_id: str) -> Response:
    """This one and every other that the same caller wants of the same tool."""
    platform = platform_of(request)
    first = await routes.get_proposal(platform, proposal_id, identity)
    waiting = await routes.list_proposals(platform, identity, state=["waiting"], limit=1_000)
    same = [each for each in waiting.items if alike(each, first)]
    for each in same:
        await routes.reject_proposal(
            platform, each.id, identity, RejectBody(why="rejected with all alike"), request=request
        )
    return part(
        "approvals_list.html",
        me=identity,
        headers=told(f"Rejected {len(same)}. Nothing was run."),
        **await _inbox(request, identity),
    )


@router.post("/questions/{question_id}/answer")
async def answer(platform: Here, identity: Approving, form: Sent, question_id: str) -> Response:
    body = AnswerBody(answer=form["answer"].strip() or form["choice"])
    question: QuestionShape = await question_routes.answer_question(platform, question_id, body, identity)
    return part(
        "question_part.html",
        me=identity,
        question=question,
        headers=told("Answered. Whoever asked gets it when it asks again."),
    )
