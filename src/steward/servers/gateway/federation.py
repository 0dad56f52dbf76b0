"""A client that is itself a Steward: the proposal it is shown, and the receipts that go either way.

Such a client shows what waits here to its own people and comes back with what they decided, under a key whose
role says whether it may. Owns the server's half of `contract.federation`.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from steward.contract.deciding import Decider, client_name
from steward.contract.federation import CALL, PROPOSAL, RECEIPT, WAITING, part
from steward.orchestrator.proposals import Finished, Proposal, Running


def is_steward(meta: Any) -> bool:
    """Whether a request says that it comes from a Steward. Nothing is granted for it."""
    return part(meta, CALL) is not None


def shown(answer: dict[str, Any], proposal: Proposal, *, may_decide: bool) -> dict[str, Any]:
    """The answer that a call waits, with what the other Steward's people need to decide it."""
    waiting = {
        "proposal_id": proposal.id,
        "risk": proposal.risk.value,
        "reason": proposal.reason,
        "effect": proposal.effect,
        "may_decide": may_decide,
    }
    return _with(answer, WAITING, waiting)


def question(form: Mapping[str, Any], proposal_id: str) -> dict[str, Any]:
    """An approval's question says what it is, so that no Steward passes it on as any other question."""
    return {**form, "_meta": {PROPOSAL: proposal_id}}


def brief(proposal: Proposal) -> dict[str, Any]:
    """For a Steward that has shown the proposal to its people already, however long it is."""
    return {
        "mode": "form",
        "message": f"Run `{proposal.tool}` as proposal {proposal.id} says?",
        "requestedSchema": {
            "type": "object",
            "properties": {
                "approve": {"type": "boolean"},
                "approver": {"type": "string", "description": "Who said yes there."},
                "via": {"type": "string", "description": "How they said it."},
            },
            "required": ["approve", "approver", "via"],
        },
    }


def on_behalf(person: Decider, content: Mapping[str, Any]) -> Decider:
    """The decider with the person that the other Steward names, kept as the claim of a program."""
    said = f"{person.client}: {content.get('approver')} by {content.get('via')}"
    return replace(person, client=client_name(said))


def with_receipt(answer: dict[str, Any], proposal: Proposal) -> dict[str, Any]:
    """What came of it, with the receipt that is on record here."""
    if not isinstance(proposal.state, Running | Finished):
        return answer
    receipt = proposal.state.receipt
    told = {
        "proposal_id": proposal.id,
        "call_id": proposal.call_id,
        "approver": receipt.approver,
        "approved_at": receipt.approved_at.isoformat(),
        "via": receipt.via,
        "client": receipt.client,
        "digest": receipt.digest,
    }
    return _with(answer, RECEIPT, told)


def _with(answer: dict[str, Any], name: str, value: Mapping[str, Any]) -> dict[str, Any]:
    return {**answer, "_meta": {**(answer.get("_meta") or {}), name: value}}
