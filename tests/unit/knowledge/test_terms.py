from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.knowledge.terms import term_counts, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The swarms are leaving", ["swarm", "leav"]),
        ("max_retry_count", ["max", "retri", "count"]),
        ("maxRetryCount", ["maxretrycount", "max", "retri", "count"]),
        (
            "HTTPServer and PostgreSQL 18",
            ["httpserver", "http", "server", "postgresql", "postgr", "sql", "18"],
        ),
        ("Müller's Straße", ["müller", "s", "straße"]),
        ("of the and", []),
        ("", []),
    ],
)
def test_text_becomes_the_terms_that_are_counted(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_an_endless_word_stays_small() -> None:
    assert max(map(len, terms("y" * 1_000_000))) <= 64


def test_counts_are_those_of_the_terms() -> None:
    text = "A swarm of swarms: maxRetryCount, MAX_RETRY and Max. HTTPServer's swarming servers"
    assert term_counts(text) == Counter(terms(text))
    assert term_counts(text)["swarm"] == 3


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_plain_text_has_the_same_words_beside_an_accent(text: str) -> None:
    assert terms(f"{text} é") == [*terms(text), "é"]
