"""How risky an action is, by the name of a built-in tool and by what its arguments touch.

Owns the table of built-in ratings and the two functions that the specification names. The table speaks
for built-in tools only: what another tool of the same name may do is decided in `approval`.
"""

from collections.abc import Mapping
from typing import Any

from steward.contract.tool import RiskLevel
from steward.policy.sensitive import find_sensitive

CONFIDENCE_TO_ACT = 0.85
"""From here on an action that can be taken back with delay runs without asking."""

_REVERSIBLE, _DELAYED, _IRREVERSIBLE = RiskLevel

_REVERSIBLE_NAMES = (
    # reads
    "web_search",
    "search_web",
    "read_file",
    "get_current_time",
    "search_memory",
    "memory_search",
    "list_tasks",
    "query_knowledge_base",
    "calculate",
    "list_memories",
    "list_documents",
    "read_document",
    "show_record",
    # writes to Steward's own store, which keeps the history
    "add_task",
    "update_task",
    "complete_task",
    "add_schedule",
    "change_schedule",
    "store_memory",
    "save_fact",
    "ingest_documents",
    "augment_knowledge",
    "manage_collections",
    "manage_projects",
    "delete_conversation",  # can be restored for 30 days
    "undo",  # can be taken back itself
    # asks a person, changes nothing
    "request_human_input",
)
_DELAYED_NAMES = (
    "log_to_obsidian",
    "remove_document",  # can be taken back for 30 days
    "send_email",
    "create_calendar_event",
    "schedule_task",
)
_IRREVERSIBLE_NAMES = (
    "delete_task",
    "remove_schedule",
    "forget",
    "forget_memory",
    "code_execution",
    "delete_file",
    "make_purchase",
    "send_money",
    "modify_production",
)

RATINGS: Mapping[str, RiskLevel] = {
    **dict.fromkeys(_REVERSIBLE_NAMES, _REVERSIBLE),
    **dict.fromkeys(_DELAYED_NAMES, _DELAYED),
    **dict.fromkeys(_IRREVERSIBLE_NAMES, _IRREVERSIBLE),
}
"""Ratings of built-in names, exactly as spelled: 'Read_File' is an unknown tool."""

_SAFE_COLLECTION_ACTIONS = frozenset({"create", "list", "info"})


def rate_by_name(tool_name: str, parameters: Mapping[str, Any]) -> RiskLevel | None:
    """The built-in rating, or None for a name that the table does not hold."""
    action = parameters.get("action")
    if tool_name == "manage_collections" and action not in _SAFE_COLLECTION_ACTIONS:
        return _IRREVERSIBLE
    if tool_name == "ingest_documents" and parameters.get("remove_missing", False) is not False:
        return _IRREVERSIBLE
    return RATINGS.get(tool_name)


def categorize_action_risk(tool_name: str, parameters: dict[str, Any]) -> RiskLevel:
    """The risk of a built-in action. Unknown names and sensitive reads are irreversible."""
    try:
        rating = rate_by_name(tool_name, parameters)
        return _IRREVERSIBLE if rating is None or find_sensitive(parameters) else rating
    except Exception:  # noqa: BLE001 - what cannot be judged is irreversible
        return _IRREVERSIBLE


def requires_approval(action: RiskLevel, confidence: float) -> bool:
    """Whether a person must agree first. A confidence that is no number from 0 to 1 counts as none."""
    if action is RiskLevel.REVERSIBLE:
        return False
    if action is RiskLevel.REVERSIBLE_WITH_DELAY:
        return _sound(confidence) < CONFIDENCE_TO_ACT
    return True


def _sound(confidence: object) -> float:
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        return 0.0
    return confidence if 0 <= confidence <= 1 else 0.0  # NaN fails every comparison
