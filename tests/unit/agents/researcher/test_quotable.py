"""What of a text can be quoted: every word as it stands there."""

import pytest

from steward.agents.researcher.quotable import sentences


def test_sentences_leave_headings_and_markup_out() -> None:
    text = "# Paris today\n\n**Paris** is the [capital](http://x) of France. It lies on the Seine.\n\n* short"
    assert sentences(text) == ["Paris is the capital of France.", "It lies on the Seine."]


def test_a_sentence_that_was_wrapped_is_quoted_whole() -> None:
    text = (
        "Offline it says so, and an engine that takes longer than its deadline allows is\n"
        "answered with `TOOL_EXECUTION_TIMEOUT`. Nothing is tried again.\n"
    )
    whole, last = sentences(text)
    assert whole.endswith("longer than its deadline allows is answered with TOOL_EXECUTION_TIMEOUT.")
    assert last == "Nothing is tried again."


def test_lines_that_were_not_wrapped_are_statements_of_their_own() -> None:
    assert sentences("Population: 5,000 people\nArea: 12 square km\nMayor: Ada Example") == [
        "Population: 5,000 people",
        "Area: 12 square km",
        "Mayor: Ada Example",
    ]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Set `STEWARD_HOME` to *another* folder.", "Set STEWARD_HOME to another folder."),
        ("**`my_tool --all`** shows __everything__ there is.", "my_tool --all shows everything there is."),
        ("A snake_case_name and 2 * 3 * 4 stay.", "A snake_case_name and 2 * 3 * 4 stay."),
        ("> Whoever asks gets an answer.", "Whoever asks gets an answer."),
        ("Press `a` and then `b` for more.", "Press a and then b for more."),
    ],
)
def test_only_markup_is_taken_away(written: str, said: str) -> None:
    assert sentences(written) == [said]


def test_items_of_a_list_are_told_apart_and_kept_whole() -> None:
    text = (
        "- a yes from whoever may approve runs exactly that call, and it\n"
        "  runs it once, with a receipt;\n"
        "- a no turns it down.\n"
        "2. the second step is this"
    )
    assert sentences(text) == [
        "a yes from whoever may approve runs exactly that call, and it runs it once, with a receipt;",
        "a no turns it down.",
        "the second step is this",
    ]


def test_a_table_row_says_what_its_cells_say_of_the_first() -> None:
    text = "| role | may |\n|---|---|\n| `approve` | decide on proposals | answer |\n| | only look around |\n"
    assert sentences(text) == ["approve: decide on proposals; answer", "only look around"]


def test_a_line_of_code_is_quoted_as_it_is() -> None:
    text = (
        "Restore it with:\n\n```bash\nSTEWARD_HOME=~/again steward restore ~/backup.zip\n```\nDone with it."
    )
    assert sentences(text) == [
        "Restore it with:",
        "STEWARD_HOME=~/again steward restore ~/backup.zip",
    ]
