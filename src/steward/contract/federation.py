"""What two Stewards say to each other beside the protocol: one of them is a server of the other.

Owns the names in `_meta` and the shape of what travels under them. All of it is a claim of the other side:
what a claim is worth is the policy's (ratings) and the key's (decisions).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

RESULT = "steward/result"  # the envelope of what was not done
RISK = "steward/risk"  # on a tool: what its own Steward rates it
CALL = "steward/call"  # on a call: it comes from a Steward, and which proposal it decides, if any
PROPOSAL = "steward/proposal"  # on a question: the proposal that it asks about
_QUESTION = "steward/proposal/"  # on 2026-07-28 a question has no `_meta`: its key says it
WAITING = "steward/waiting"  # on an answer: the proposal that a Steward may show and decide
RECEIPT = "steward/receipt"  # who said yes


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """A call that waits at another Steward, which the agent here stands for."""

    agent: str
    proposal_id: str
    decidable: bool  # whether the key that is used there may decide


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a person decided here about a proposal that waits at another Steward."""

    proposal_id: str
    approved: bool
    by: str
    via: str

    def answer(self) -> dict[str, str | bool]:
        """In the form of the question, which both eras carry."""
        return {"approve": self.approved, "approver": self.by, "via": self.via}


def part(meta: Any, name: str) -> Mapping[str, Any] | None:
    """What stands under this name in `_meta`, where it is an object."""
    found: Any = cast("Mapping[str, Any]", meta).get(name) if isinstance(meta, Mapping) else None
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else None


def question_key(proposal_id: str) -> str:
    return _QUESTION + proposal_id


def asked_about(key: object, meta: Any) -> str | None:
    """The proposal of another Steward that a question is about; None for every other question."""
    if isinstance(key, str) and key.startswith(_QUESTION):
        return key.removeprefix(_QUESTION)
    proposal: Any = cast("Mapping[str, Any]", meta).get(PROPOSAL) if isinstance(meta, Mapping) else None
    return proposal if isinstance(proposal, str) else None


def decides(meta: Any) -> str | None:
    """The proposal that a call of another Steward decides."""
    proposal: Any = (part(meta, CALL) or {}).get("proposal")
    return proposal if isinstance(proposal, str) else None
