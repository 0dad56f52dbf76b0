"""What people and agents said to each other, and what was done about it.

Owns the shapes of a turn, its answer and the events on the way to it. Does not own how an answer is
found (agents) nor where it is kept (storage).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from steward.contract.call import Caller
from steward.contract.deciding import Decider


class AnswerStatus(StrEnum):
    DONE = "done"
    QUESTION = "question"  # something is missing or unclear; the next turn answers it
    PENDING_APPROVAL = "pending_approval"  # a call waits for a person's yes
    GAP = "gap"  # no tool can do it
    FAILED = "failed"


class CallStatus(StrEnum):
    DONE = "done"
    FAILED = "failed"
    PENDING_APPROVAL = "pending_approval"
    REJECTED = "rejected"  # the person said no to it; nothing ran
    REFUSED = "refused"  # a rule of the agent kept the call from the door; nothing ran


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """One call as the door answered it. Written by our code from the door's answer, never by a model."""

    tool: str
    arguments: Mapping[str, Any]
    status: CallStatus
    data: Any = None
    error: str | None = None
    error_code: str | None = None
    outcome_unknown: bool = False
    risk: str | None = None
    proposal_id: str | None = None
    call_id: str = ""
    duration_ms: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where something in an answer comes from."""

    title: str
    location: str  # an address, a document's path, a memory's id
    kind: str = "web"  # web, document or memory
    date: str | None = None  # ISO 8601, where the source has one
    detail: str | None = None  # header path, page


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What `ask` and `/v1/chat` answer."""

    status: AnswerStatus
    agent: str
    conversation: str
    answer: str
    reasoning: str = ""
    confidence: float = 0.0
    tool_calls: tuple[CallRecord, ...] = ()
    sources: tuple[Source, ...] = ()
    proposal_id: str | None = None
    missing_tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TextWritten:
    """A piece of the answer. Pieces are sent after the rules have looked at the whole."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStarted:
    call_id: str
    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class CallEnded:
    record: CallRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalWanted:
    proposal_id: str
    tool: str
    arguments: Mapping[str, Any]
    risk: str
    reason: str
    question: str  # in the agent's words: "Are you sure you want to delete 'milk'? …"


@dataclass(frozen=True, slots=True)
class Progress:
    """A line for people who wait: "searching the web for …", "reading …", "3 sources"."""

    text: str


@dataclass(frozen=True, slots=True)
class TurnFinished:
    answer: Answer


TurnEvent = TextWritten | CallStarted | CallEnded | ApprovalWanted | Progress | TurnFinished


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaker:
    """Whoever takes a turn, as the surface that took it knows them."""

    user: str  # whose tasks, memories and conversations these are
    caller: Caller  # a person, or an agent that asks another one
    decider: Decider | None = None  # with what right they say yes; None for another agent


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingCall:
    """A call of the latest turn that waits for a person, and how it was asked about."""

    tool_call_id: str  # what the model called it
    proposal_id: str
    tool: str
    arguments: Mapping[str, Any]
    risk: str
    reason: str
    question: str
    hint: str = ""  # what else may be answered; no part of what an answer may repeat

    @property
    def asked(self) -> str:
        return f"{self.question}\n\n{self.hint}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    number: int
    said: str
    speaker: str
    answer: Answer
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What is kept of a turn when it arrives."""

    said: str
    caller: Caller
    history: str = "[]"  # what a client says was said before, for a new conversation


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCall:
    """A call of a turn that has not ended."""

    call_id: str
    tool: str
    arguments: Mapping[str, Any]
    within: str | None = None  # the call that made this one, where an agent asked another one
    record: CallRecord | None = None  # None: begun, and nobody knows more


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftTurn:
    """A turn that somebody began and nobody ended, or one that waits for a worker."""

    said: str
    caller: Caller
    at: datetime
    resumed: int = 0  # how often somebody went on with it
    calls: Sequence[OpenCall] = ()


@dataclass(frozen=True, slots=True)
class Beat:
    """What a sign of life brought back."""

    stops: frozenset[str] = frozenset()  # somebody wants these stopped
    lost: frozenset[str] = frozenset()  # somebody else has these by now


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    id: str
    user: str
    agent: str
    title: str
    created_at: datetime
    updated_at: datetime
    history: str = "[]"  # the model's messages as JSON, opaque here
    pending: Sequence[PendingCall] = ()
    turns: Sequence[Turn] = ()  # the latest ones, oldest first
    running: bool = False  # whether a turn is under way, here or in another program
    lease: int = 0  # the number under which it is held; whoever holds it next has a higher one
    left: LeftTurn | None = None  # what whoever claims it finds unfinished


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTurn:
    """What a turn leaves behind."""

    said: str
    speaker: str
    answer: Answer
    history: str
    pending: Sequence[PendingCall] = ()
    thread: str | None = None  # the fingerprint by which a client that keeps no id comes back


@dataclass(frozen=True, slots=True)
class ConversationPage:
    """Without histories and turns."""

    items: Sequence[Conversation]
    next: str | None = None
