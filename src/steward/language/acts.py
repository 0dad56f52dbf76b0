"""What somebody does by saying something: talks, wishes for something to be done, or asks to be told.

No list of phrases knows all the ways to make conversation: a taught reader says it (models/acts.py). Owns the
shares and the port. Knows no tool.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from steward.language.thresholds import DEFAULT


class SpeechAct(StrEnum):
    TALK = "only_talk"
    WISH = "do_something"
    ASK = "answer_question"


@dataclass(frozen=True, slots=True)
class ActShares:
    """How surely each is meant; together one."""

    talk: float
    wish: float
    ask: float

    @property
    def only_talks(self) -> bool:
        return self.talk >= DEFAULT.act

    @property
    def wishes(self) -> bool:
        return self.wish >= DEFAULT.act

    @property
    def asks(self) -> bool:
        return self.ask >= DEFAULT.act


ReadActs = Callable[[str], ActShares]
"""Says it of a text. CPU-bound: async callers run it in a thread."""
