"""The structured answer of the researcher."""

from typing import Any

from pydantic import BaseModel, Field


class AgentResponse(BaseModel):
    """What the model fills in and, with the record's facts in place of its own, what the caller gets."""

    answer: str = Field(description="The answer, with [1], [2] after what a source says.")
    reasoning: str = Field(default="", description="Which tools were used and why the answer follows.")
    tool_calls: list[dict[str, Any]] = Field(
        default_factory=list[dict[str, Any]], description="Leave it empty: it is taken from the record."
    )
    confidence: float = Field(default=0.0, ge=0.0, le=1.0, description="Leave it: it is computed.")
