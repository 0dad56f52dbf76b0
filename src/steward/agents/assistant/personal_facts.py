"""What people say and ask about themselves, without a language model.

Owns telling such a question or statement from others. A question about oneself can only be answered from what
was told before; a statement asks for nothing, so whether to keep it is the person's to say. Pure.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from steward.contract import linear_re as re
from steward.language.reply import Cancel, No, Yes, read_answer
from steward.models.planner.readers import InterpretedCall, ReaderQuestion
from steward.models.planner.words import bare

FACT = "fact"
_I = re.IGNORECASE
_QUESTION = re.compile(r"^(?:what|who|whom|whose|which|where|why|how|do|does|did|is|are|was|were|am)\b", _I)
_ASKED_OF_US = re.compile(rf"{_QUESTION.pattern}|^(?:can|could|may|should) (?:i|we)\b", _I)
_US = re.compile(r"\b(?:you|your|yourself)\b(?! (?:know|tell|remember|recall|think)\b)", _I)
_SELF = re.compile(
    r"\b(?:my|mine|our|ours|about (?:me|us))\b|"
    r"\b(?:was|were|am|did|have|had) (?:i|we)\b(?! (?:need|to|get|do)\b)|"
    r"\bdo (?:i|we) (?:like|live|own|prefer|love|hate)\b",
    _I,
)
_STATEMENT = re.compile(
    r"^(?:i|we)(?:'m|'ve|(?:\s+(?:don'?t|do not|never|always|only|usually|mostly))?"
    r"\s+(?:am|was|were|have|had|live|lived|work|worked|like|love|prefer|hate|dislike|speak|grew|study|studied|"
    r"moved|own|drive|play|eat|drink|use|wear))\s+(?!(?:to|done|finished|this|that|it|you)\b)\S|"
    r"^(?:my|our)\s+[\w' -]{1,60}?\s(?:is|are|was|were|has|likes|lives|works|hates|prefers|loves)\s+\S",
    _I,
)

_NAMES = re.compile(
    r"^(?:please )?call me (?!(?:an?|the|on|at|in|when|if|back|later|tomorrow|today)\b)\w+$", _I
)


def asks_about_self(text: str) -> bool:
    """Whether a question is about whoever asks it. When something is, their tasks may know."""
    said = bare(text)
    return _QUESTION.match(said) is not None and _SELF.search(said) is not None


def asks_about_us(text: str) -> bool:
    """Whether a question is about whoever is asked."""
    said = bare(text)
    return _ASKED_OF_US.match(said) is not None and _US.search(said) is not None


def is_statement(text: str) -> bool:
    """Whether somebody says something of themselves and asks for nothing."""
    said = bare(text).rstrip(" .!")
    stated = _STATEMENT.match(said) or _NAMES.match(said)
    return stated is not None and not text.rstrip().endswith("?") and _US.search(said) is None


def worth_keeping(said: str, certainty: float) -> InterpretedCall:
    """The question whether something that was only said is to be kept."""
    fact = said.strip(" .!")
    asked = ReaderQuestion(f"Should I remember this: “{fact}”?", {FACT: fact})
    return InterpretedCall(tool="store_memory", certainty=certainty, question=asked)


def answered(memo: Mapping[str, Any], utterance: str) -> Sequence[InterpretedCall] | str | None:
    """What the answer to that question asks for."""
    fact = memo.get(FACT)
    match read_answer(utterance):
        case Yes():
            return [InterpretedCall(tool="store_memory", arguments={"content": fact})]
        case No() | Cancel():
            return "Okay, I won't remember it."
        case _:
            return None
