"""What really happened in a conversation: the calls that went through the door and their answers.

Owns the account that rules and answers are checked against. A run appends to it as the door answers;
nothing a model says gets in.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from steward.conversations.model import CallRecord, CallStatus


@dataclass(frozen=True, slots=True)
class Shown:
    """Which part of the tools a run's model was shown, and what that spared it."""

    tools: int
    of: int
    tokens_saved: int


@dataclass(slots=True, kw_only=True)
class Ledger:
    """One turn's account, with what earlier turns of the same conversation did before it."""

    earlier: Sequence[CallRecord] = ()
    going_on: Sequence[CallRecord] = ()  # of `earlier`: the same request's, before it waited for a person
    calls: list[CallRecord] = field(default_factory=list[CallRecord])  # this turn's, in order
    shown: Shown | None = None  # None: every tool, since there are few

    def note(self, record: CallRecord) -> None:
        self.calls.append(record)

    @property
    def everything(self) -> tuple[CallRecord, ...]:
        return (*self.earlier, *self.calls)

    def succeeded(self) -> tuple[CallRecord, ...]:
        """What was done this turn."""
        return tuple(record for record in self.calls if record.status is CallStatus.DONE)

    def knows_decision(self, proposal_id: str) -> bool:
        """Whether what became of this proposal is in the account already."""
        return any(
            record.proposal_id == proposal_id and record.status is not CallStatus.PENDING_APPROVAL
            for record in self.everything
        )
