"""How what the house's own tools returned is said."""

from typing import Any

import pytest

from steward.agents.assistant.builtin_telling import NOT_REMEMBERED, abilities, tell
from steward.models.planner.dialogue import Step


def told(tool: str, data: Any, arguments: dict[str, Any] | None = None, **more: Any) -> str:
    return tell([Step(tool=tool, arguments=arguments or {}, data=data, **more)])


HIT = {"content": "Open the\nvalve.", "source_document": "boiler.md", "header_path": "Boiler > Faults"}

DOCUMENTS = (
    "This is in your documents:\n1. Open the valve.\n   (boiler.md > Boiler > Faults)\n2. x\n   (y > A > B)"
)


@pytest.mark.parametrize(
    ("tool", "arguments", "data", "said"),
    [
        ("store_memory", {"content": "Ana likes tea."}, {"id": "1"}, "I'll remember that: Ana likes tea."),
        ("save_fact", {"text": "Ana likes tea"}, {"id": "1"}, "I'll remember that: Ana likes tea."),
        (
            "search_memory",
            {"query": "what does Ana like"},
            {
                "items": [
                    {"content": "Ana likes tea", "metadata": {"timestamp": "2026-11-15T10:00:00+00:00"}},
                    {"content": "The boiler is new", "metadata": {}},
                ]
            },
            "This is what I remember:\n- Ana likes tea (since 2026-11-15)",
        ),
        ("search_memory", {"query": "my bike"}, {"items": [{"content": "The boiler"}]}, NOT_REMEMBERED),
        (
            "query_knowledge_base",
            {"query": "valve"},
            {"results": [HIT, {"content": "x", "source_document": "y", "header_path": ["A", "B"]}]},
            DOCUMENTS,
        ),
        (
            "query_knowledge_base",
            {},
            {"results": [], "query_refinement": {"message": "Ingest documents first."}},
            "Your documents say nothing about that. Ingest documents first.",
        ),
        (
            "web_search",
            {},
            {"result": [{"title": "T", "url": "https://t", "snippet": "s" * 700}]},
            f"The web search found:\n1. T: {'s' * 600} …\n   https://t",
        ),
        ("web_search", {}, [], "The web search found nothing."),
        (
            "get_current_time",
            {},
            {"timestamp": "2026-11-15T22:05:00+09:00", "timezone": "Asia/Tokyo"},
            "It is 22:05 on Sunday, 15 November 2026 (Asia/Tokyo).",
        ),
        (
            "manage_collections",
            {"action": "create"},
            {"collection": {"name": "moon"}},
            "I've created the collection 'moon'. Say “ingest PATH into moon” to fill it.",
        ),
        (
            "manage_collections",
            {"action": "delete"},
            {"collection": {"name": "moon"}},
            "I've deleted the collection 'moon' with its documents.",
        ),
        (
            "manage_collections",
            {"action": "list"},
            {"collections": [{"name": "moon", "documents": 2}]},
            "You have these collections:\n- moon: 2 documents",
        ),
        ("manage_collections", {"action": "list"}, {"collections": []}, "There are no collections."),
        ("read_file", {"path": "a.md"}, "# A\n", "a.md:\n\n# A"),
        ("read_file", {"path": "a.md"}, {"result": "text"}, "a.md:\n\ntext"),
        (
            "ingest_documents",
            {},
            {"collection": "moon", "added": 2, "failed": [{"path": "x.pdf", "reason": "It is broken."}]},
            "Collection 'moon': 2 added.\nThese could not be read:\n- x.pdf: It is broken.",
        ),
        ("ingest_documents", {}, {"collection": "moon"}, "Collection 'moon': nothing new."),
    ],
)
def test_results_are_said_in_words(tool: str, arguments: dict[str, Any], data: Any, said: str) -> None:
    assert told(tool, data, arguments) == said


@pytest.mark.parametrize(
    ("tool", "arguments", "data", "more"),
    [
        ("brew", {}, {"cups": 2}, {}),
        ("get_current_time", {}, {"timestamp": "odd"}, {}),
        ("manage_collections", {"action": "info"}, {"collection": {"name": "moon"}}, {}),
        ("store_memory", {"content": "x"}, None, {"failure": "The memory is full."}),
    ],
)
def test_the_rest_is_told_in_the_planners_words(tool: str, arguments: Any, data: Any, more: Any) -> None:
    assert f"`{tool}`" in told(tool, data, arguments, **more)


def test_what_was_cut_off_is_said_to_be() -> None:
    assert told("read_file", "text", {"path": "a"}, trimmed=True).endswith("only the beginning.")


def test_abilities_follow_from_the_tools() -> None:
    said = abilities(["add_task", "garden__water", *(f"many__{n}" for n in range(30))])
    few = abilities(["web_search"])
    assert ("keep your tasks" in said, "search the web" in said, "garden__water" in said, "…." in said) == (
        True,
        False,
        True,
        True,
    )
    assert ("search the web" in few, "servers" in few) == (True, False)
