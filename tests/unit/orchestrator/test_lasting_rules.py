"""A rule that comes with a decision stands exactly when the decision was made, and only by whoever may."""

from collections.abc import AsyncIterator
from datetime import datetime

import pytest
from tests.support.deciders import deciding
from tests.support.door import MODEL, Door, tool

from steward.contract.call import Done, Failed, PendingApproval, ToolCall, ToolResult
from steward.contract.deciding import Always, Role
from steward.contract.errors import ConflictError, ErrorCode, ForbiddenError
from steward.contract.tool import Origin
from steward.orchestrator.lasting_answers import Reach
from steward.orchestrator.proposals import Receipt
from steward.policy.rules import Rule
from steward.testing import MemoryProposalStore, MemoryRuleKeeper

TOOL = Reach(always=Always.TOOL)


class TooLate(MemoryProposalStore):
    """Somebody else decides between the look at a proposal and the decision on it."""

    async def claim(self, proposal_id: str, receipt: Receipt) -> bool:
        await super().reject(proposal_id, by="bob", at=receipt.approved_at, why=None)
        return await super().claim(proposal_id, receipt)

    async def reject(self, proposal_id: str, *, by: str, at: datetime, why: str | None) -> bool:
        await super().reject(proposal_id, by="bob", at=at, why=None)
        return await super().reject(proposal_id, by=by, at=at, why=why)


def show_status(repo: str) -> str:
    """Shows the status."""
    return f"{repo} is clean"


def wipe_disk(repo: str) -> str:
    """Erases a disk."""
    return f"wiped {repo}"


@pytest.fixture
async def door() -> AsyncIterator[Door]:
    door = await Door(keeper=MemoryRuleKeeper()).with_tools(
        tool(show_status, risk=None, origin=Origin.LOCAL), tool(wipe_disk, risk=None, origin=Origin.LOCAL)
    )
    yield door
    await door.orchestrator.lifecycle.stop_all()


async def call(door: Door, name: str = "show_status", *, user: str = "ana") -> ToolResult:
    return await door.orchestrator.execute(
        ToolCall(tool=name, arguments={"repo": "site"}, caller=MODEL, user=user)
    )


async def waiting(door: Door, name: str = "show_status", *, user: str = "ana") -> str:
    result = await call(door, name, user=user)
    assert isinstance(result, PendingApproval)
    return result.proposal_id


def kept(door: Door) -> tuple[Rule, ...]:
    assert door.keeper is not None
    return door.keeper.rules.rules


async def test_always_runs_this_call_and_the_next_of_the_same_user(door: Door) -> None:
    approvals = door.orchestrator.approvals
    assert isinstance(await approvals.approve(await waiting(door), by=deciding("ana"), reach=TOOL), Done)
    assert isinstance(await call(door), Done)
    assert isinstance(await call(door, user="bob"), PendingApproval)


async def test_what_seems_to_destroy_is_offered_once_only(door: Door) -> None:
    approvals, proposal = door.orchestrator.approvals, await waiting(door, "wipe_disk")
    assert approvals.offer(await approvals.get(proposal)).always == ()
    with pytest.raises(ConflictError) as refused:
        await approvals.approve(proposal, by=deciding("ana"), reach=TOOL)
    assert refused.value.code == ErrorCode.ALWAYS_REFUSED
    assert kept(door) == ()


@pytest.mark.parametrize("decision", ["approve", "reject"])
async def test_a_rule_goes_again_where_somebody_else_decided_first(decision: str) -> None:
    door = await Door(store=TooLate(), keeper=MemoryRuleKeeper()).with_tools(
        tool(show_status, risk=None, origin=Origin.LOCAL)
    )
    proposal, approvals = await waiting(door), door.orchestrator.approvals
    decide = approvals.approve if decision == "approve" else approvals.reject
    with pytest.raises(ConflictError) as refused:
        await decide(proposal, by=deciding("ana"), reach=TOOL)
    assert refused.value.code == ErrorCode.PROPOSAL_ALREADY_DECIDED
    assert kept(door) == ()
    await door.orchestrator.lifecycle.stop_all()


async def test_a_rule_for_everybody_takes_an_admin(door: Door) -> None:
    approvals, proposal = door.orchestrator.approvals, await waiting(door)
    everyone = Reach(always=Always.TOOL, everyone=True)
    with pytest.raises(ForbiddenError):
        await approvals.reject(proposal, by=deciding("ana", role=Role.APPROVE), reach=everyone)
    await approvals.reject(proposal, by=deciding("boss", role=Role.ADMIN), reach=everyone)
    refused = await call(door, user="bob")
    assert isinstance(refused, Failed)
    assert refused.code == ErrorCode.FORBIDDEN


async def test_where_no_rules_are_kept_nothing_lasts() -> None:
    door = await Door().with_tools(tool(show_status, risk=None, origin=Origin.LOCAL))
    approvals, proposal = door.orchestrator.approvals, await waiting(door)
    assert approvals.offer(await approvals.get(proposal)).always == ()
    with pytest.raises(ConflictError):
        await approvals.reject(proposal, by=deciding("ana"), reach=TOOL)
    await door.orchestrator.lifecycle.stop_all()
