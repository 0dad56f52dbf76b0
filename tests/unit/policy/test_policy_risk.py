"""The two functions that the researcher's specification names, and the table of built-in ratings."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.policy import RiskLevel, categorize_action_risk, requires_approval
from steward.policy.risk import RATINGS

REVERSIBLE, DELAYED, IRREVERSIBLE = RiskLevel


@pytest.mark.req("RES-US3-IT", "RES-ENT-RiskLevel")
@pytest.mark.req("RES-SC-004", "RES-SC-005")
def test_the_three_risks_as_the_document_tries_them() -> None:
    asked = {
        tool: [requires_approval(categorize_action_risk(tool, {}), sure) for sure in (0.5, 0.8, 0.9, 1.0)]
        for tool in ("web_search", "send_email", "delete_file")
    }
    assert asked == {
        "web_search": [False, False, False, False],
        "send_email": [True, True, False, False],
        "delete_file": [True, True, True, True],
    }
    assert [level.name for level in RiskLevel] == ["REVERSIBLE", "REVERSIBLE_WITH_DELAY", "IRREVERSIBLE"]


REVERSIBLE_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("web_search", {"query": "python async", "max_results": 10}),
    ("search_web", {"query": "python async"}),
    ("read_file", {"path": "README.md"}),
    ("get_current_time", {"timezone": "UTC"}),
    ("search_memory", {"query": "deadline"}),
    ("memory_search", {"query": "deadline"}),
    ("store_memory", {"content": "The deadline is in March."}),
    ("save_fact", {"text": "x"}),
    ("add_task", {"title": "Buy milk"}),
    ("list_tasks", {}),
    ("update_task", {"task_id": 1, "title": "Buy oat milk"}),
    ("complete_task", {"task_id": 1}),
    ("query_knowledge_base", {"query": "attention"}),
    ("ingest_documents", {"path": "papers/", "collection": "ml", "recursive": True}),
    ("augment_knowledge", {"content": "text", "source": "https://example.org/a", "collection": "ml"}),
    ("manage_collections", {"action": "list"}),
    ("manage_collections", {"action": "info", "collection_name": "ml"}),
    ("manage_collections", {"action": "create", "collection_name": "ml"}),
    ("manage_projects", {"action": "link", "project_name": "thesis"}),
    ("request_human_input", {"question": "Which one?"}),
]


@pytest.mark.req("RES-FR-015", "RES-FR-016", "RES-SC-004")
@pytest.mark.parametrize(("tool", "arguments"), REVERSIBLE_CALLS)
def test_reads_and_writes_to_our_own_store_are_reversible(tool: str, arguments: dict[str, Any]) -> None:
    assert categorize_action_risk(tool, arguments) is REVERSIBLE


@pytest.mark.req("RES-FR-017", "RES-SC-004")
@pytest.mark.parametrize("tool", ["send_email", "create_calendar_event", "schedule_task", "log_to_obsidian"])
def test_what_can_be_called_back_for_a_while_is_reversible_with_delay(tool: str) -> None:
    assert categorize_action_risk(tool, {}) is DELAYED


@pytest.mark.req("RES-FR-018", "RES-SC-004")
@pytest.mark.parametrize(
    "tool",
    [
        "delete_file",
        "make_purchase",
        "send_money",
        "modify_production",
        "delete_task",
        "forget",
        "code_execution",
    ],
)
def test_what_cannot_be_taken_back_is_irreversible(tool: str) -> None:
    assert categorize_action_risk(tool, {}) is IRREVERSIBLE


@pytest.mark.parametrize("action", ["delete", "Delete", "LIST", "", None, 1, ["list"], "list "])
def test_any_collection_action_that_is_not_known_to_be_safe_is_irreversible(action: object) -> None:
    assert categorize_action_risk("manage_collections", {"action": action}) is IRREVERSIBLE


def test_a_collection_call_without_an_action_is_irreversible() -> None:
    assert categorize_action_risk("manage_collections", {}) is IRREVERSIBLE


@pytest.mark.parametrize("wanted", [True, 1, "no", None, [], {}])
def test_an_ingest_that_may_remove_text_is_irreversible(wanted: object) -> None:
    call = {"path": "papers/", "collection": "ml", "remove_missing": wanted}
    assert categorize_action_risk("ingest_documents", call) is IRREVERSIBLE


def test_an_ingest_that_removes_nothing_is_reversible() -> None:
    call = {"path": "papers/", "collection": "ml", "remove_missing": False}
    assert categorize_action_risk("ingest_documents", call) is REVERSIBLE


def test_deleting_a_conversation_can_be_taken_back() -> None:
    assert categorize_action_risk("delete_conversation", {"conversation_id": "c1"}) is REVERSIBLE


@pytest.mark.req("RES-FR-019", "RES-SC-004")
@pytest.mark.parametrize(
    "tool",
    ["unknown_tool", "", "Web_Search", "web_search ", "files__read_file", "READ_FILE", "read\u200b_file"],
)
def test_a_name_that_is_not_exactly_known_is_irreversible(tool: str) -> None:
    assert categorize_action_risk(tool, {}) is IRREVERSIBLE


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (None, {}),
        (["web_search"], {}),
        ("web_search", "query"),
        ("manage_collections", None),
        ("web_search", object()),
    ],
)
def test_what_is_no_name_or_no_arguments_is_irreversible(tool: Any, arguments: Any) -> None:
    assert categorize_action_risk(tool, arguments) is IRREVERSIBLE


@pytest.mark.req("RES-EDGE-04")
@pytest.mark.parametrize("path", ["/etc/shadow", "~/.ssh/id_rsa", "app/.env", "config/api_keys.json"])
def test_reading_a_sensitive_file_is_escalated(path: str) -> None:
    assert categorize_action_risk("read_file", {"path": path}) is IRREVERSIBLE


@pytest.mark.req("RES-FR-020", "RES-FR-021", "RES-SC-005")
@given(st.floats() | st.integers() | st.none() | st.text())
def test_an_irreversible_action_asks_whatever_the_confidence(confidence: Any) -> None:
    assert requires_approval(IRREVERSIBLE, confidence) is True


@pytest.mark.req("RES-FR-022", "RES-SC-005")
@pytest.mark.parametrize(
    ("confidence", "asks"),
    [
        (0, True),
        (0.5, True),
        (0.8, True),
        (0.8499999, True),
        (0.85, False),
        (0.95, False),
        (1, False),
        (1.0, False),
    ],
)
def test_an_action_with_delay_asks_below_the_threshold(confidence: float, asks: bool) -> None:
    assert requires_approval(DELAYED, confidence) is asks


@pytest.mark.parametrize(
    "confidence", [math.nan, math.inf, -math.inf, 1.01, 85, -0.9, True, None, "0.99", [1]]
)
def test_a_confidence_that_is_no_probability_counts_as_none(confidence: Any) -> None:
    assert requires_approval(DELAYED, confidence) is True


@pytest.mark.req("RES-FR-023", "RES-SC-005")
@given(st.floats() | st.none())
def test_a_reversible_action_never_asks(confidence: Any) -> None:
    assert requires_approval(REVERSIBLE, confidence) is False


@pytest.mark.parametrize("action", ["reversible", "REVERSIBLE", None, 0, object(), True])
def test_what_is_no_risk_level_asks(action: Any) -> None:
    assert requires_approval(action, 1.0) is True


@pytest.mark.req("RES-US3.1")
def test_a_search_runs_at_confidence_of_seventy_percent() -> None:
    risk = categorize_action_risk("web_search", {"query": "python"})
    assert (risk, requires_approval(risk, 0.7)) == (REVERSIBLE, False)


@pytest.mark.req("RES-US3.2")
def test_mail_at_confidence_of_eighty_percent_asks() -> None:
    risk = categorize_action_risk("send_email", {"to": "a@example.org", "body": "hello"})
    assert (risk, requires_approval(risk, 0.80)) == (DELAYED, True)


@pytest.mark.req("RES-US3.3")
def test_deleting_a_file_asks_at_confidence_of_ninety_five_percent() -> None:
    risk = categorize_action_risk("delete_file", {"path": "a.txt"})
    assert (risk, requires_approval(risk, 0.95)) == (IRREVERSIBLE, True)


@pytest.mark.req("RES-US3.4")
def test_an_unknown_tool_asks() -> None:
    risk = categorize_action_risk("unknown_tool", {"anything": 1})
    assert (risk, requires_approval(risk, 1.0)) == (IRREVERSIBLE, True)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)


@given(st.sampled_from(sorted(RATINGS)), st.dictionaries(st.text(max_size=10), json_values, max_size=5))
def test_inspecting_arguments_never_lowers_a_rating(tool: str, arguments: dict[str, Any]) -> None:
    assert categorize_action_risk(tool, arguments).rank >= RATINGS[tool].rank
