"""What somebody does by saying something: talks, wishes for something to be done, or asks to be told.

The taught reader says it, beside three descriptions as if they were tools: no list of phrases knows all the
ways to make conversation. Owns the descriptions, which teaching uses too, and the shares. Knows no tool.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from steward.language.reading import RequestReader
from steward.language.thresholds import DEFAULT


class SpeechAct(StrEnum):
    TALK = "only_talk"
    WISH = "do_something"
    ASK = "answer_question"


ACTS = {
    SpeechAct.TALK: (
        "The person only talks: greets, thanks, moans, jokes, remarks, gives an opinion, tells news or "
        "takes something back. Nothing is to be done, kept or looked up."
    ),
    SpeechAct.WISH: "The person wants something to be done, changed, added, sent, started or kept in mind.",
    SpeechAct.ASK: "The person wants to know something and waits for an answer.",
}


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


ReadActs = Callable[[str], ActShares]


def acts_in(said: str, reader: RequestReader) -> ActShares:
    """CPU-bound: async callers run it in a thread."""
    texts = [reader.tool(act, about, {}) for act, about in ACTS.items()]
    fits = [max(marks.fit, 1e-6) for _, marks in reader.mark(said, texts)]
    return ActShares(*(fit / sum(fits) for fit in fits))
