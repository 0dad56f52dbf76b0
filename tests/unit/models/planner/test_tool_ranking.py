"""Choosing by meaning, with and without an embedder."""

from collections.abc import Sequence
from pathlib import Path
from unittest.mock import AsyncMock

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic_ai import ToolDefinition

import steward.models.planner
from steward.bootstrap.tools.core_tools import core_agent
from steward.models.planner.ranking import THRESHOLD, KnownTool, Ranking, wanted_intention
from steward.testing import MemoryFactStore


class Meanings:
    """An embedder that knows which of its words mean the same."""

    name = "meanings"
    dimensions = 3

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.embedded += texts
        groups = (("car", "automobile"), ("weather", "rain"), ("song", "tune"))
        rows = [[float(any(word in text.lower() for word in group)) for group in groups] for text in texts]
        vectors = np.array(rows, np.float32) + 1e-6
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def tools(*definitions: tuple[str, str]) -> list[KnownTool]:
    return [KnownTool(ToolDefinition(name=name, description=text)) for name, text in definitions]


OFFERED = tools(
    ("park_car", "Park a car."), ("get_weather", "The weather of today."), ("play_song", "Play a song.")
)


def test_with_an_embedder_other_words_for_the_same_thing_are_understood() -> None:
    ranked = Ranking(Meanings()).rank("where can the automobile stand", OFFERED)
    assert ranked[0].tool.name == "park_car"
    assert Ranking().rank("where can the automobile stand", OFFERED)[0].score == 0


def test_definitions_are_embedded_once() -> None:
    embedder = Meanings()
    ranking = Ranking(embedder)
    for _ in range(3):
        ranking.rank("rain", OFFERED)
    assert [text for text in embedder.embedded if text != "rain"] == [tool.text for tool in OFFERED]


def test_what_a_sentence_asks_for_counts_against_tools_that_do_something_else() -> None:
    offered = tools(
        ("create_box", "Create a box."), ("remove_box", "Remove a box."), ("list_boxes", "List boxes.")
    )
    ranking = Ranking()
    assert [
        ranking.rank(said, offered)[0].tool.name
        for said in ("make a box", "throw away: delete the box", "show the boxes", "which boxes are there")
    ] == ["create_box", "remove_box", "list_boxes", "list_boxes"]


def test_who_is_written_to_at_an_address_is_sent_something() -> None:
    recipient = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
    mail = ToolDefinition(
        name="send_email", description="Send an email to somebody.", parameters_json_schema=recipient
    )
    offered = [*tools(("create_task", "Create a task."), ("write_file", "Write to a file.")), KnownTool(mail)]
    ranking = Ranking(Meanings())
    assert [
        ranking.rank(said, offered)[0].tool.name
        for said in ("write to bob@example.org that I'm late", "tell bob@example.org I'm late")
    ] == ["send_email", "send_email"]
    assert [wanted_intention(said) for said in ("write a line to notes.txt", "write to bob@example.org")] == [
        "create",
        "send",
    ]


def test_a_question_changes_nothing() -> None:
    offered = tools(
        ("save_note", "Save what somebody likes, a note on Ana."),
    )
    ranking = Ranking()
    asked, told = (ranking.rank(said, offered)[0].score for said in ("what does Ana like?", "Ana likes tea"))
    assert (asked < THRESHOLD <= told, asked < told / 1.5) == (True, True)


def test_examples_of_a_tool_help() -> None:
    plain, helped = (
        KnownTool(ToolDefinition(name=name, description="Does it.", metadata={"examples": examples}))
        for name, examples in (("aaa", []), ("bbb", ["brew some coffee"]))
    )
    assert Ranking().rank("coffee please", [plain, helped])[0].tool is helped


def test_equal_scores_are_ordered_by_name() -> None:
    offered = tools(("beta", "Same."), ("alpha", "Same."))
    assert [each.tool.name for each in Ranking().rank("same", offered)] == ["alpha", "beta"]


def test_no_tools_no_ranks() -> None:
    assert Ranking(Meanings()).rank("anything", []) == []


# DESIGN's names of what is built in; the planner may know none of them.
BUILT_IN = """
    web_search search_web read_file get_current_time search_memory memory_search store_memory save_fact
    log_to_obsidian add_task list_tasks complete_task delete_task update_task undo_task query_knowledge_base
    code_execution request_human_input
"""


@pytest.mark.parametrize(
    "path", sorted(Path(steward.models.planner.__path__[0]).glob("*.py")), ids=lambda p: p.name
)
def test_the_planner_knows_no_tool_by_name(path: Path) -> None:
    code = path.read_text(encoding="utf-8")
    registered = [
        tool.name
        for tool in core_agent(facts=MemoryFactStore(), vault=None, wrote=AsyncMock()).manifest().tools
    ]
    # A tool that is named by one plain verb ("calculate") is a word of the language as well.
    names = {*BUILT_IN.split(), *registered}
    assert [name for name in names if "_" in name and name in code] == []
