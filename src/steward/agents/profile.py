"""What makes one agent different from another: its words, its tools, its rules.

Owns the description of an agent that talks. Running a turn is the same for all of them (chat).
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic_ai import Agent

from steward.agents.session import AgentSession
from steward.agents.turn.ledger import Ledger
from steward.agents.turn.toolset import ToolOffer
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
    looked: str = ""  # what was looked through before it was said that nothing can do it: told first


class Guard(Protocol):
    """Holds whatever the model says. Pure: looks at the call or draft and at the account, and answers."""

    def admit(
        self, spec: ToolSpec, arguments: Mapping[str, Any], *, ledger: Ledger, session: AgentSession
    ) -> Refusal | None:
        """None lets the call go on to the door, which has rules of its own."""
        ...

    def review(self, draft: Draft, *, ledger: Ledger, session: AgentSession) -> Draft:
        """The draft as it may be said: as it is, corrected, or replaced."""
        ...

    def confirm(self, spec: ToolSpec, arguments: Mapping[str, Any], *, ledger: Ledger) -> str | None:
        """The question to ask before this call, where the rule knows better words than the general ones."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnView:
    """One turn, as what surrounds the model's run sees it."""

    text: str  # what was said
    session: AgentSession
    ledger: Ledger
    tell: Callable[[TurnEvent], Awaitable[None]]
    answering: bool = False  # whether the turn before ended with a question


class Conduct(Protocol):
    """What an agent does around the model's run. Unlike a rule it may wait, and call tools."""

    async def before(self, turn: TurnView) -> Draft | None:
        """A draft ends the turn here and the model is not asked: a gap, or nothing to work with."""
        ...

    async def after(self, turn: TurnView, draft: Draft) -> Draft:
        """Before the rules review it: what was found is kept."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    name: str  # what `--agent` takes
    description: str
    instructions: str
    offer: ToolOffer = field(default_factory=ToolOffer)
    rules: Sequence[Guard] = ()
    conduct: Conduct | None = None
    make_agent: Callable[[], Agent[Any, Any]] | None = None
    """An agent with tools of its own (the orchestrator's come beside them). Its output is text, an
    `AgentResponse` or deferred requests. Without one, an agent is made of the instructions."""
    away: str | None = None
    """What is said where none of the tools it works with is there; without it the model says so itself."""
    equip: Callable[[AgentSession], AgentSession] | None = None
    """What its tools depend on beside the session, made anew for every turn."""
