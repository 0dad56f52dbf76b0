"""A proposal: one call that waits for a person, what was decided, and what came of it.

Owns the record and its states. Does not own where it is kept (storage) or who runs it (approvals.py).
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from steward.contract.call import Caller, CallerKind
from steward.contract.showing import ShownCall
from steward.contract.tool import RiskLevel


def argument_digest(tool: str, arguments: Mapping[str, Any]) -> str:
    """What a person says yes to: this tool with exactly these arguments."""
    packed = orjson.dumps([tool, arguments], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(packed).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """A yes: who, with which role, through what, when, and to exactly which arguments."""

    approver: str  # the name of the key, or of the client where no person answered
    approved_at: datetime
    via: str  # a `Way`
    arguments: Mapping[str, Any]
    digest: str
    definition_hash: str  # the definition of the tool that was agreed to, with what it runs
    edited: bool = False
    answered_by: CallerKind = CallerKind.PERSON  # a client only where the owner lets it confirm
    role: str | None = None  # None on receipts from before roles were kept
    client: str | None = None  # the program that the answer came through


@dataclass(frozen=True, slots=True)
class Waiting:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    by: str
    at: datetime
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Expired:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    receipt: Receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    receipt: Receipt
    result: Mapping[str, Any]  # the result's envelope
    finished_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeUnknown:
    """Approved and started, but whoever ran it died before writing the outcome. Never repeated."""

    receipt: Receipt


ProposalState = Waiting | Rejected | Expired | Running | Finished | OutcomeUnknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    id: str
    tool: str
    arguments: Mapping[str, Any]
    digest: str
    definition_hash: str
    risk: RiskLevel
    confidence: float
    reason: str
    caller: Caller
    user: str | None
    utterance: str | None
    call_id: str
    correlation_id: str
    created_at: datetime
    expires_at: datetime | None = None
    effect: str | None = None  # what it would do, as things stood when it was made
    elsewhere: str | None = None  # the proposal that it stands for, at the Steward behind its tool
    state: ProposalState = Waiting()

    def shown(self) -> ShownCall:
        """What a person sees of it, on every surface."""
        return ShownCall(tool=self.tool, arguments=self.arguments, effect=self.effect, reason=self.reason)


def state_name(state: ProposalState) -> str:
    match state:
        case Waiting():
            return "waiting"
        case Rejected():
            return "rejected"
        case Expired():
            return "expired"
        case Running():
            return "running"
        case Finished():
            return "finished"
        case OutcomeUnknown():
            return "unknown"
