"""Addresses, paths, host names and references are taken whole."""

import pytest

from steward.language.forms.pieces import whole_piece


@pytest.mark.parametrize(
    ("text", "piece", "whole"),
    [
        ("ask jo.van.dyk@mill.example to sign", "dyk@mill.example", "jo.van.dyk@mill.example"),
        ("mail (ann-lee@post.example), please", "lee@post", "ann-lee@post.example"),
        ("write to o_b+news@x.example.", "news@x", "o_b+news@x.example"),
        ("open https://a.example/b?c=d#e now", "example/b", "https://a.example/b?c=d#e"),
        ("read ~/notes/2026/plan.final.md!", "plan.final", "~/notes/2026/plan.final.md"),
        ("is db-2.local up?", "2.local", "db-2.local"),
        ("restart api.shop.example:8080, quickly", "shop.example", "api.shop.example:8080"),
        ("void KX-20-881 today", "881", "KX-20-881"),
        ("what became of inc/2031-04?", "2031", "inc/2031-04"),
        ("roll back to v2.1.3.", "2.1", "v2.1.3"),
        ("delete draft.txt and go on", "draft", "draft.txt"),
        ("ask \u201cmo@hill.example\u201d", "hill.example", "mo@hill.example"),
    ],
)
def test_a_piece_takes_in_all_of_it(text: str, piece: str, whole: str) -> None:
    start = text.index(piece)
    first, last = whole_piece(text, start, start + len(piece))
    assert text[first:last] == whole


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("the well-known baker", "known"),
        ("at 3.30pm sharp", "30pm"),
        ("2.5kg of flour", "5kg"),
        ("I left.Then", "I"),
        ("see you e.g. on Monday", "g"),
        ("a half-hour walk", "hour walk"),
        ("from 9.30-10.15 please", "10.15"),
    ],
)
def test_ordinary_words_stay_as_they_are(text: str, piece: str) -> None:
    start = text.index(piece)
    assert whole_piece(text, start, start + len(piece)) == (start, start + len(piece))
