"""What every ToolRanker keeps to: by words alone, by the index without vectors, and with them."""

from collections.abc import Callable

import pytest
from tests.support.few_tools import TOOLS, tool

from steward.contract.ports import ToolRanker
from steward.models.embedding import MiniLMEmbedder
from steward.selection.index import ToolIndex
from steward.selection.lexical import LexicalRanker


def embedded() -> ToolIndex:
    embedder = MiniLMEmbedder()
    index = ToolIndex(embedder)
    index.take_in(TOOLS)
    texts = index.missing()
    index.supply(dict(zip(texts, embedder.embed(texts), strict=True)))
    return index


RANKERS: list[Callable[[], ToolRanker]] = [LexicalRanker, ToolIndex, embedded]


@pytest.fixture(params=RANKERS, ids=["words", "index", "index with vectors"], scope="module")
def ranker(request: pytest.FixtureRequest) -> ToolRanker:
    return request.param()


@pytest.mark.req("SKL-FR-004")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("what will the weather be in Paris", "weather__forecast"),
        ("read a file for me", "files__read_file"),
        ("open an issue about the crash", "github__create_issue"),
        ("send a message to Ana", "mail__send"),
    ],
)
def test_the_tool_that_fits_comes_first(ranker: ToolRanker, query: str, expected: str) -> None:
    assert ranker.rank(query, TOOLS, limit=1)[0].tool.name == expected


def test_scores_fall_and_stay_between_none_and_one(ranker: ToolRanker) -> None:
    scores = [hit.score for hit in ranker.rank("send the weather of a city in a message", TOOLS, limit=4)]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


def test_only_the_given_tools_are_found_and_no_more_than_asked_for(ranker: ToolRanker) -> None:
    found = ranker.rank("read the weather file and send an issue", TOOLS[:3], limit=2)
    assert len(found) == 2
    assert {hit.tool.name for hit in found} <= {each.name for each in TOOLS[:3]}


def test_without_tools_nothing_is_found(ranker: ToolRanker) -> None:
    assert ranker.rank("anything", (), limit=5) == ()


def test_a_tool_that_just_came_is_found(ranker: ToolRanker) -> None:
    grown = (*TOOLS, tool("garden__water", "Water an orchid", orchid="Which orchid"))
    assert ranker.rank("water the orchid", grown, limit=1)[0].tool.name == "garden__water"
