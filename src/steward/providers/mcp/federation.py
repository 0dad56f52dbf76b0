"""A server that is itself a Steward: what is told it, and what it says of ratings and of calls that wait.

The owner of this home says in mcp.json which servers are. Such a server asks a person about its own tools;
the question is shown here and answered once, with what a person decided here about exactly its proposal.
Owns the client's half of `contract.federation`; the gateway has the other.
"""

from collections.abc import Iterable, Mapping
from typing import Any, cast

import mcp_types as types

from steward.contract.call import PendingApproval, ToolCall
from steward.contract.federation import CALL, RESULT, RISK, WAITING, Elsewhere, part
from steward.contract.tool import RiskLevel
from steward.providers.mcp.pinning import without_hidden

MOST_REASON = 2_000


def risk_of(tool: Mapping[str, Any]) -> RiskLevel:
    """What a Steward rates its tool; what it does not say is as high as can be."""
    meta: Any = tool.get("_meta")
    return _level(cast("Mapping[str, Any]", meta).get(RISK) if isinstance(meta, Mapping) else None)


def _level(said: Any) -> RiskLevel:
    try:
        return RiskLevel(said)
    except ValueError:
        return RiskLevel.IRREVERSIBLE


def call_meta(call: ToolCall | None) -> dict[str, Any]:
    """What a call to a Steward carries: that one calls, and which proposal a person decided here."""
    decision = None if call is None else call.decision
    return {CALL: {} if decision is None else {"proposal": decision.proposal_id}}


def waiting(agent: str, answer: Mapping[str, Any]) -> PendingApproval | None:
    """The proposal that a Steward answered with instead of a result."""
    said = part(answer.get("_meta"), WAITING)
    if said is None or not isinstance(said.get("proposal_id"), str):
        return None
    told = [str(said.get("reason") or "It does not say why.")]
    if said.get("effect"):
        told.append(f"There it {said['effect']}.")
    reason = f"The Steward '{agent}' asks a person. {' '.join(told)}"
    return PendingApproval(
        proposal_id=said["proposal_id"],
        reason=without_hidden(reason)[:MOST_REASON],
        risk=_level(said.get("risk")),
        elsewhere=Elsewhere(
            agent=agent, proposal_id=said["proposal_id"], decidable=said.get("may_decide") is True
        ),
    )


def failure_code(answer: Mapping[str, Any]) -> str | None:
    """A Steward's own code for what failed."""
    code: Any = (part(answer.get("_meta"), RESULT) or {}).get("error_code")
    return code if isinstance(code, str) and code else None


def answer(proposal: str, calls: Iterable[ToolCall]) -> types.ElicitResult:
    """What a person decided here about exactly this proposal. Nobody else's word counts: it goes on waiting.

    A client of ours is never asked: whether its key may decide is for our own door to say.
    """
    decisions = [call.decision for call in calls if call.decision is not None]
    found = next((each for each in decisions if each.proposal_id == proposal), None)
    if found is None:
        return types.ElicitResult(action="cancel")
    if not found.approved:
        return types.ElicitResult(action="decline")
    return types.ElicitResult(action="accept", content={**found.answer()})
