"""Routes on proposals: look, approve, reject. Only a key whose role may approve decides."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query

from steward.contract.showing import show
from steward.surfaces.api.identity import Approver, Reader
from steward.surfaces.api.paging import After, Limit
from steward.surfaces.api.shapes import ApproveBody, ProposalList, ProposalShape, RejectBody, ToolResultShape
from steward.surfaces.api.state import Here

router = APIRouter(prefix="/v1/proposals", tags=["proposals"])


@router.get("")
async def list_proposals(
    platform: Here,
    _: Reader,
    state: Annotated[list[str] | None, Query(description="waiting, running, finished, rejected, ...")] = None,
    limit: Limit = 50,
    after: After = None,
) -> ProposalList:
    """Newest first."""
    page = await platform.orchestrator.approvals.list(states=state or (), limit=limit, after=after)
    return ProposalList(items=[ProposalShape.of(proposal) for proposal in page.items], next=page.next)


@router.get("/{proposal_id}")
async def get_proposal(platform: Here, proposal_id: str, _: Reader) -> ProposalShape:
    proposal = await platform.orchestrator.approvals.get(proposal_id)
    # In a thread: arguments may be megabytes, and every character of them is looked at.
    return ProposalShape.of(proposal, shown=await asyncio.to_thread(show, proposal.shown()))


@router.post("/{proposal_id}/approve")
async def approve_proposal(
    platform: Here, proposal_id: str, body: ApproveBody, identity: Approver
) -> ToolResultShape:
    """Run exactly the proposed call, once."""
    result = await platform.orchestrator.approvals.approve(
        proposal_id, approver=identity.caller, via=body.via, edited=body.arguments
    )
    return ToolResultShape.of(result)


@router.post("/{proposal_id}/reject")
async def reject_proposal(
    platform: Here, proposal_id: str, body: RejectBody, identity: Approver
) -> ProposalShape:
    proposal = await platform.orchestrator.approvals.reject(proposal_id, by=identity.caller, why=body.why)
    return ProposalShape.of(proposal)
