"""Helpers that the planner is given: who reads dates, and who speaks the language of certain tools.

A tool brings a reader along by naming it in its definition's metadata (`reader`); the planner is given
readers by name. Which tool is meant and what fills it says the taught reader; what that means for a domain
(a date, a thing on a list, a question) says the domain's own.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol, runtime_checkable

from pydantic_ai import ToolDefinition

from steward.contract import linear_re as re
from steward.language.reading import ReadCall
from steward.models.planner.dialogue import Step

READER = "reader"  # the metadata key
OURS = "ours"  # of a tool of the house that has no reader along
Record = Mapping[str, Any]  # a thing as a tool returned it


@dataclass(frozen=True, slots=True)
class DateFound:
    """A date in a text: where it stands and what it means."""

    start: int
    end: int
    value: datetime
    has_time: bool = False
    has_day: bool = True  # False where only a time of day was said


class DateReader(Protocol):
    def __call__(self, text: str, now: datetime) -> Sequence[DateFound]: ...


@dataclass(frozen=True, slots=True)
class Meant:
    """What a description fits: one thing, several to choose from, or several that are all meant."""

    records: Sequence[Record]
    every: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """How a person pointed at things that a tool lists, where the words are not simply their title.

    `places` count in what was last shown, -1 is the last one. `it` is what was last touched or shown.
    `among` is the reader's own way of telling which records are meant; without one, titles are matched.
    """

    text: str = ""
    places: tuple[int, ...] = ()
    it: bool = False
    count: int = 0  # of `it`, where several are meant: so many, -1 for all that there are
    among: Callable[[Sequence[Record]], Meant] | None = None


@dataclass(frozen=True, slots=True)
class ReaderQuestion:
    """Something to ask the person. `memo` (JSON) comes back to the reader with the person's answer."""

    text: str
    memo: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class InterpretedCall:
    """What a reader made of an utterance: one of its tools and what to call it with.

    `mentions` are arguments that the person only described ("the milk one"): the planner finds the value
    among the results of a tool that lists such things, listing them first with `listing` as arguments.
    `finish` gives the arguments that follow from the thing found, or a question about it. `certainty` is
    comparable with a tool's rank, 0 to 1. A `question` is asked instead of calling anything. `memo` (JSON)
    rides along with the call and is there again when its result is told.
    """

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    mentions: Mapping[str, Mention | str] = field(default_factory=dict[str, Mention | str])
    listing: Mapping[str, Any] = field(default_factory=dict[str, Any])
    finish: Callable[[Record], Mapping[str, Any] | ReaderQuestion] | None = None
    certainty: float = 1.0
    question: ReaderQuestion | str | None = None
    memo: Mapping[str, Any] = field(default_factory=dict[str, Any])


class Interpreter(Protocol):
    """A reader that says what calls of its tools mean, where the taught reader has filled them."""

    def interpret(
        self, calls: Sequence[ReadCall], utterance: str, *, unasked: bool, now: datetime
    ) -> Sequence[InterpretedCall]:
        """`unasked`: nothing in the utterance asks for these calls, it only names what would fill them."""
        ...


@runtime_checkable
class SpeakingReader(Protocol):
    """A reader that also speaks: it words its domain's questions and results, and reads the answers."""

    def answer(
        self, memo: Mapping[str, Any], utterance: str, tools: Sequence[ToolDefinition], now: datetime
    ) -> Sequence[InterpretedCall] | str | None:
        """What the answer to its own question asks for; words where nothing is left to do.

        None when the utterance answers something else, and is read as if nothing had been asked.
        """
        ...

    def abilities(self, unmet: str | None) -> str:
        """What can be asked for in its language; `unmet` is what was asked for and cannot be done."""
        ...

    def which(
        self, tool: str, mention: str, records: Sequence[Record], now: datetime
    ) -> tuple[str, list[str]]:
        """The question between several, and how each is called in it."""
        ...

    def nothing(self, tool: str, mention: str) -> ReaderQuestion:
        """What to say when a description fits nothing."""
        ...

    def shown(self, step: Step) -> Sequence[Record] | None:
        """The records of a result in the order in which `tell` shows them; None for what is not a list."""
        ...

    def tell(self, steps: Sequence[Step], known: Sequence[Step], now: datetime) -> str:
        """What came of these calls, in words; `known` are all calls of the conversation."""
        ...


@runtime_checkable
class SoleReader(Protocol):
    """A reader without whose word some tools are never meant: their arguments are no everyday words."""

    @property
    def sole(self) -> frozenset[str]: ...


@dataclass(frozen=True, slots=True)
class PutOffRequest:
    """A request that is not for now: the call that puts it off, and what is to be done at its times."""

    reading: InterpretedCall
    request: str
    for_us: bool | None  # whether Steward is to do it; None: as the tools say that serve the request


@runtime_checkable
class Deferring(Protocol):
    """A reader that parts the times of a request from the request."""

    @property
    def puts_off(self) -> str:
        """The tool that does so."""
        ...

    def put_off(self, utterance: str, now: datetime) -> PutOffRequest | None: ...


_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2}))?\b")
_NEAR = re.compile(r"\b(today|tonight|tomorrow|yesterday)\b", re.IGNORECASE)
_DAYS = {"today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1}


def plain_dates(text: str, now: datetime) -> Sequence[DateFound]:
    """The dates nobody can misread, for when no better reader is given."""
    found: list[DateFound] = []
    for match in _ISO.finditer(text):
        year, month, day, hour, minute = (int(part) if part else 0 for part in match.groups())
        try:
            value = datetime(year, month, day, hour, minute, tzinfo=now.tzinfo)
        except ValueError:
            continue
        found.append(DateFound(match.start(), match.end(), value, match[4] is not None))
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    for match in _NEAR.finditer(text):
        value = midnight + timedelta(days=_DAYS[match[1].lower()])
        found.append(DateFound(match.start(), match.end(), value))
    return sorted(found, key=lambda each: each.start)
