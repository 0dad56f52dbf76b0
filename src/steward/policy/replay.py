"""What the policy would say to a call that is on record, by these rules or by others. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from steward.contract.tool import ToolSpec
from steward.policy.approval import assess, needs_person
from steward.policy.rules import Rules
from steward.policy.sensitive import Resolve


class Ruling(StrEnum):
    RUNS = "runs"
    ASKS = "asks"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    spec: ToolSpec  # as the tool is now
    arguments: Mapping[str, Any]
    user: str | None
    confidence: float
    asks_always: bool = False

    def ruling(self, rules: Rules, *, resolve: Resolve | None = None) -> tuple[Ruling, str]:
        """The decision, and why. What was read before the call is not on record and plays no part."""
        found = assess(self.spec, self.arguments, rules, user=self.user, resolve=resolve)
        if found.refused is not None:
            return Ruling.REFUSED, found.refused
        why = needs_person(found, confidence=self.confidence, agent_requires_approval=self.asks_always)
        return (Ruling.RUNS, " ".join(found.reasons)) if why is None else (Ruling.ASKS, why)
