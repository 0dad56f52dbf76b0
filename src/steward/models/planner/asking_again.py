"""A question is asked at most twice: what answers nothing asks it once more, then it is left and told.

Owns what counts as the same question. Which words answer none at all is said in `language`. Pure.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from steward.language.hesitation import answers_nothing, asks_back
from steward.models.planner.decisions import Ask, Tell

AT_MOST = 2
LEFT = "All right, I leave it: to go on I would need an answer to “{}”. Say it again once you know."
BECAUSE = "I ask because what was said leaves it open, and I do not guess."
_ABOUT_ASKING = ("question", "times")  # of a question's state, what is not about the thing asked for


def asked_again(asked: Mapping[str, Any] | None, utterance: str) -> Ask | None:
    """The open question once more, to words that answer none."""
    question = (asked or {}).get("question")
    if asked is None or not isinstance(question, str):
        return None
    if asks_back(utterance):
        return Ask(question=f"{BECAUSE}\n\n{question}", state=asked)
    if not answers_nothing(utterance):
        return None
    return Ask(question=question, state=asked)


def counted(decision: Ask, asked: Mapping[str, Any] | None) -> Ask | Tell:
    """The question with how often it was asked by now; what is said instead where that is enough."""
    state = {"question": decision.question, **decision.state}
    before = (asked or {}).get("times", 1) if asked is not None and _same(asked, state) else 0
    if before >= AT_MOST:
        return Tell(text=LEFT.format(_asked_for(str(state["question"]))), confidence=1.0)
    return Ask(question=decision.question, state={**state, "times": before + 1})


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether both ask for the same thing, however it was stored and worded."""
    return _thing(one) == _thing(other)


def _thing(state: Mapping[str, Any]) -> bytes:
    about = {name: value for name, value in state.items() if name not in _ABOUT_ASKING}
    return orjson.dumps(about, default=str, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)


def _asked_for(question: str) -> str:
    """The line that asks, without the options below it."""
    lines = [line.strip() for line in question.splitlines() if line.strip()]
    return next((line for line in lines if line.endswith("?")), lines[0] if lines else "")
