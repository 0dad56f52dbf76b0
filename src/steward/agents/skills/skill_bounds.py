"""A skill that names its tools is kept to them, whatever the model makes of its instructions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from steward.agents.guards.base import Lenient
from steward.agents.profile import Refusal
from steward.agents.session import AgentSession
from steward.agents.skills.tools import FIND, USE, mapping
from steward.agents.turn.ledger import Ledger
from steward.contract.tool import ToolSpec
from steward.conversations.model import CallStatus

ALWAYS = frozenset({FIND, USE, "request_human_input", "read_result"})
FORBIDDEN_BY_SKILL = "SKILL_FORBIDS_TOOL"


@dataclass(frozen=True, slots=True)
class SkillBounds(Lenient):
    """Implements `Rule`. Holds for the rest of the request that opened a skill, over every yes on its way.

    The skill that was opened last counts.
    """

    def admit(
        self,
        spec: ToolSpec,
        arguments: Mapping[str, Any],  # noqa: ARG002 - the interface's
        *,
        ledger: Ledger,
        session: AgentSession,  # noqa: ARG002
    ) -> Refusal | None:
        so_far = (*ledger.going_on, *ledger.calls)
        used = [record for record in so_far if record.tool == USE and record.status is CallStatus.DONE]
        if not used or spec.name in ALWAYS:
            return None
        skill = mapping(used[-1].data)
        allowed = [str(name) for name in cast("list[Any]", skill.get("allowed_tools") or [])]
        if not allowed or spec.name in allowed:
            return None
        return Refusal(
            FORBIDDEN_BY_SKILL,
            f"The skill '{skill.get('name')}' uses {', '.join(allowed)} and nothing else. "
            "Go on with those, or tell the person what is missing.",
        )
