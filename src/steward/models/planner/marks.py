"""What the planner marked its latest answer with, for whoever shows it: a question, a gap, how sure it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pydantic_ai.messages import ModelMessage, ModelResponse

from steward.models.planner.dialogue import PLANNER


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerMarks:
    asked: bool = False
    about: str = ""  # the tool whose value was asked for
    gap: bool = False
    confidence: float = 0.0
    looked: str = ""  # what was looked through before a gap was said


def read_marks(messages: Sequence[ModelMessage]) -> AnswerMarks | None:
    """None when the latest answer is not the planner's."""
    latest = next((each for each in reversed(messages) if isinstance(each, ModelResponse)), None)
    if latest is None or latest.model_name != PLANNER:
        return None
    found = (latest.provider_details or {}).get(PLANNER)
    details = cast("Mapping[str, Any]", found if isinstance(found, Mapping) else {})
    confidence = details.get("confidence")
    asked = cast("Mapping[str, Any]", details.get("asked") or {})
    return AnswerMarks(
        asked="asked" in details,
        about=str(asked.get("tool") or ""),
        gap=bool(details.get("gap")),
        looked=str(details.get("looked") or ""),
        confidence=float(confidence) if isinstance(confidence, int | float) else 0.0,
    )
