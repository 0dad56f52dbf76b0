"""Routes on proposals: look, approve, reject. Only a key whose role may approve decides."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request

from steward.bootstrap import Platform
from steward.contract.deciding import Way
from steward.contract.errors import ErrorCode, NotFoundError
from steward.contract.showing import show
from steward.orchestrator.proposals import Proposal, Waiting
from steward.surfaces.api.decider import decider
from steward.surfaces.api.identity import Approver, Identity, Reader
from steward.surfaces.api.paging import After, Limit
from steward.surfaces.api.shapes import ApproveBody, ProposalList, ProposalShape, RejectBody, ToolResultShape
from steward.surfaces.api.state import Here

router = APIRouter(prefix="/v1/proposals", tags=["proposals"])


@router.get("")
async def list_proposals(
    platform: Here,
    identity: Reader,
    state: Annotated[list[str] | None, Query(description="waiting, running, finished, rejected, ...")] = None,
    limit: Limit = 50,
    after: After = None,
) -> ProposalList:
    """Yours, newest first; an administrator sees everybody's."""
    page = await platform.orchestrator.approvals.list(
        states=state or (), user=identity.only, limit=limit, after=after
    )
    # In a thread: arguments may be megabytes, and every character of those that wait is looked at.
    items = await asyncio.to_thread(lambda: [_with_offer(platform, each) for each in page.items])
    return ProposalList(items=items, next=page.next)


@router.get("/{proposal_id}")
async def get_proposal(platform: Here, proposal_id: str, identity: Reader) -> ProposalShape:
    proposal = _own(await platform.orchestrator.approvals.get(proposal_id), identity)
    return await asyncio.to_thread(lambda: _with_offer(platform, proposal, shown=show(proposal.shown())))


def _with_offer(platform: Platform, proposal: Proposal, *, shown: str | None = None) -> ProposalShape:
    waits = isinstance(proposal.state, Waiting)
    offer = platform.orchestrator.approvals.offer(proposal) if waits else None
    return ProposalShape.of(proposal, shown=shown, offer=offer)


@router.post("/{proposal_id}/approve")
async def approve_proposal(
    platform: Here, proposal_id: str, identity: Approver, body: ApproveBody | None = None, *, request: Request
) -> ToolResultShape:
    """Run exactly the proposed call, once. Only its own user or an administrator may.

    With `always` it is a yes to later calls as well, as a rule that `/v1/policy` lists.
    """
    body = body or ApproveBody()
    result = await platform.orchestrator.approvals.approve(
        proposal_id, by=decider(request, identity, way=Way.API), edited=body.arguments, reach=body.reach
    )
    return ToolResultShape.of(result)


@router.post("/{proposal_id}/reject")
async def reject_proposal(
    platform: Here, proposal_id: str, identity: Approver, body: RejectBody | None = None, *, request: Request
) -> ProposalShape:
    """Turn it down; nothing runs. Only its own user or an administrator may.

    With `always` later calls are refused as well, and nobody is asked.
    """
    body = body or RejectBody()
    by = decider(request, identity, way=Way.API)
    proposal = await platform.orchestrator.approvals.reject(
        proposal_id, by=by, why=body.why, reach=body.reach
    )
    return ProposalShape.of(proposal)


def _own(proposal: Proposal, identity: Identity) -> Proposal:
    """What waits for somebody else is not there, as far as this key can see."""
    if identity.only in (None, proposal.user):
        return proposal
    raise NotFoundError(
        f"There is no proposal '{proposal.id}'.",
        code=ErrorCode.PROPOSAL_NOT_FOUND,
        fix="See 'steward proposals'.",
    )
