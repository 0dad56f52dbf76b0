import pytest
from tests.support.few_tools import TOOLS, tool

from steward.contract.tool import ToolSpec
from steward.selection.lexical import LexicalRanker, words


def best(query: str, limit: int = 1) -> list[str]:
    return [hit.tool.name for hit in LexicalRanker().rank(query, TOOLS, limit=limit)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("what will the weather be in Paris", "weather__forecast"),
        ("reading files", "files__read_file"),
        ("send emails to a colleague, by e-mail", "mail__send"),
        ("CREATE ISSUES", "github__create_issue"),
        ("createIssue", "github__create_issue"),
        ("recipients", "mail__send"),
    ],
)
def test_the_tool_whose_words_fit_comes_first(query: str, expected: str):
    assert best(query) == [expected]


def test_nothing_in_common_finds_nothing():
    assert best("xylophone") == []


def test_an_empty_question_and_an_empty_catalogue_find_nothing():
    assert best("") == []
    assert LexicalRanker().rank("weather", (), limit=5) == ()


def test_scores_lie_between_zero_and_one_and_fall():
    hits = LexicalRanker().rank("read the issue file title", TOOLS, limit=4)
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


def test_a_limit_is_kept():
    assert len(best("file issue weather mail", limit=2)) == 2


def test_a_changed_catalogue_is_indexed_again():
    ranker = LexicalRanker()
    assert ranker.rank("orchid", TOOLS, limit=1) == ()
    grown = (*TOOLS, tool("garden__water", "Water the orchid"))
    assert [hit.tool.name for hit in ranker.rank("orchid", grown, limit=1)] == ["garden__water"]


def test_a_schema_without_properties_is_no_obstacle():
    odd = ToolSpec(name="odd", description="Odd thing", input_schema={"type": "object", "properties": []})
    assert [hit.tool.name for hit in LexicalRanker().rank("odd", (odd,), limit=1)] == ["odd"]


def test_humps_underscores_and_spaces_read_the_same():
    assert (
        words("getUserNames") == words("get_user_names") == words("get user name") == ["get", "user", "name"]
    )
