import pytest

from steward.contract.tool import ToolSpec
from steward.selection.lexical import LexicalRanker, words


def tool(name: str, description: str, **properties: str) -> ToolSpec:
    schema = {
        "type": "object",
        "properties": {key: {"description": told} for key, told in properties.items()},
    }
    return ToolSpec(name=name, description=description, input_schema=schema)


TOOLS = (
    tool("github__create_issue", "Open a new issue in a repository", title="The issue's title"),
    tool("files__read_file", "Read the contents of a text file", path="Where the file is"),
    tool("weather__forecast", "Weather for the coming days in a city", city="Name of a city"),
    tool("mail__send", "Send an e-mail message to a recipient", recipient="Address"),
)


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
