"""From what a model ended with to the draft of an answer: its words, its standing, its sources.

Reads the record of the turn's calls; judges nothing (the profile's rules do) and keeps nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from steward.agents.profile import Draft
from steward.agents.turn import sources as evidence
from steward.contract.errors import ErrorCode
from steward.conversations.model import AnswerStatus, CallRecord
from steward.models.planner.marks import read_marks
from steward.models.runs import Answered

WORDLESS = "I have no words for this. What was done is listed with the answer."


def draft_of(outcome: Answered[Any], calls: Sequence[CallRecord]) -> Draft:
    output = outcome.output
    text = (output if isinstance(output, str) else str(getattr(output, "answer", output))).strip()
    why = str(getattr(output, "reasoning", "") or evidence.reasoning(calls))
    draft = Draft(text=text or WORDLESS, reasoning=why, sources=evidence.sources(calls))
    if asked := _tools_question(calls):
        return replace(draft, text=asked, status=AnswerStatus.QUESTION)
    marks = read_marks(outcome.messages)
    if marks is None:
        asks = text.endswith("?")
        status = AnswerStatus.QUESTION if asks else AnswerStatus.DONE
        return replace(draft, status=status, confidence=evidence.share_done(calls))
    status = AnswerStatus.GAP if marks.gap else AnswerStatus.DONE
    status = AnswerStatus.QUESTION if marks.asked else status
    return replace(draft, status=status, confidence=round(marks.confidence, 4), looked=marks.looked)


def asking(calls: Sequence[CallRecord]) -> CallRecord | None:
    """The last call, where it left a question for the person."""
    last = calls[-1] if calls else None
    if last is None or last.error_code != ErrorCode.HUMAN_INPUT_PENDING:
        return None
    return last if isinstance(last.data, Mapping) else None


def _tools_question(calls: Sequence[CallRecord]) -> str | None:
    record = asking(calls)
    if record is None:
        return None
    choices = cast("Sequence[str]", record.arguments.get("choices") or ())
    listed = "".join(f"\n{number}. {choice}" for number, choice in enumerate(choices, 1))
    return f"{record.data.get('question')}{listed}"
