"""What makes one agent different from another: its words, its tools, its rules.

Owns the description of an agent that talks. Running a turn is the same for all of them (chat).
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic_ai import Agent

from steward.agents.ledger import Ledger
from steward.agents.session import Session
from steward.agents.toolset import Offer
from steward.contract.tool import ToolSpec
from steward.conversations.model import AnswerStatus, Source, TurnEvent


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
class Turn:
    """One turn, as what surrounds the model's run sees it."""

    text: str  # what was said
    session: Session
    ledger: Ledger
    tell: Callable[[TurnEvent], Awaitable[None]]
    answering: bool = False  # whether the turn before ended with a question


class Conduct(Protocol):
    """What an agent does around the model's run. Unlike a rule it may wait, and call tools."""

    async def before(self, turn: Turn) -> Draft | None:
        """A draft ends the turn here and the model is not asked: a gap, or nothing to work with."""
        ...

    async def after(self, turn: Turn, draft: Draft) -> Draft:
        """Before the rules review it: what was found is kept."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    name: str  # what `--agent` takes
    description: str
    instructions: str
    offer: Offer = field(default_factory=Offer)
    rules: Sequence[Rule] = ()
    conduct: Conduct | None = None
    make_agent: Callable[[], Agent[Any, Any]] | None = None
    """An agent with tools of its own (the orchestrator's come beside them). Its output is text, an
    `AgentResponse` or deferred requests. Without one, an agent is made of the instructions."""
    equip: Callable[[Session], Session] | None = None
    """What its tools depend on beside the session, made anew for every turn."""
