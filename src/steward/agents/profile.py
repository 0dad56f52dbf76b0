"""What makes one agent different from another: its words, its tools, its rules.

Owns the description of an agent that talks. Running a turn is the same for all of them (chat).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from steward.agents.ledger import Ledger
from steward.agents.session import Session
from steward.agents.toolset import Offer
from steward.contract.tool import ToolSpec
from steward.conversations.model import AnswerStatus, Source


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a call was kept from the door, in words that tell a model what to do instead."""

    code: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An answer before the person sees it."""

    text: str
    status: AnswerStatus = AnswerStatus.DONE
    reasoning: str = ""
    confidence: float = 0.0
    sources: tuple[Source, ...] = ()
    missing_tools: tuple[str, ...] = ()


class Rule(Protocol):
    """Holds whatever the model says. Pure: looks at the call or draft and at the account, and answers."""

    def admit(
        self, spec: ToolSpec, arguments: Mapping[str, Any], *, ledger: Ledger, session: Session
    ) -> Refusal | None:
        """None lets the call go on to the door, which has rules of its own."""
        ...

    def review(self, draft: Draft, *, ledger: Ledger, session: Session) -> Draft:
        """The draft as it may be said: as it is, corrected, or replaced."""
        ...

    def confirm(self, spec: ToolSpec, arguments: Mapping[str, Any], *, ledger: Ledger) -> str | None:
        """The question to ask before this call, where the rule knows better words than the general ones."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    name: str  # what `--agent` takes
    description: str
    instructions: str
    offer: Offer = field(default_factory=Offer)
    rules: Sequence[Rule] = ()
