from concurrent.futures import ThreadPoolExecutor

import pytest

from steward.knowledge.terms import _stem, terms


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


def test_threads_do_not_spoil_each_others_words() -> None:
    texts = [
        " ".join(f"{stem}{tail}{number}ly" for tail in ("ing", "ation", "ies"))
        for number in range(60)
        for stem in ("carr", "instanc", "swarm")
    ]
    expected = {text: terms(text) for text in texts}
    _stem.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        found = dict(zip(texts * 5, pool.map(terms, texts * 5), strict=False))
    assert found == expected
