"""Where a quote begins and where it ends."""

import pytest

from steward.language.forms.quotes import quote_around, quotes_in


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("rename 'Sort shed' to 'Paint shed door' since you're here", ["Sort shed", "Paint shed door"]),
        ("call it 'Ana's birthday' please", ["Ana's birthday"]),
        ('put "milk", then "bread" down', ["milk", "bread"]),
        ("don't touch 'the boiler', it's fine", ["the boiler"]),
        ("the note \u2018Bob\u2019s bike\u2019 isn\u2019t mine", ["Bob\u2019s bike"]),
        ("write \u201cask Li\u201d and \u201cpay Jo\u201d", ["ask Li", "pay Jo"]),
        ("it's Jo's and they're Ana's", []),
        ('a 5" pipe and a 7" one', []),
        ("say 'it'll do', won't you", ["it'll do"]),
        ("run `make all` now", ["make all"]),
    ],
)
def test_a_quote_ends_behind_a_word(text: str, inner: list[str]) -> None:
    assert [each.inner for each in quotes_in(text)] == inner


def test_a_piece_knows_the_quote_around_it() -> None:
    text = "swap 'old mill' for 'new mill' when they're ready"
    at = text.index("new")
    found = quote_around(text, at, at + 3)
    assert found is not None
    assert found.inner == "new mill"
    assert quote_around(text, 0, 4) is None
    assert quote_around(text, text.index("for"), text.index("for") + 3) is None
