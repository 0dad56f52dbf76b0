"""What may be said, and how it is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.contract.errors import InputError
from steward.conversations.turns import LONGEST, TITLE, pieces, read_message, title_of


@pytest.mark.parametrize("text", ["", "  \n ", "a" * (LONGEST + 1), "a\0b", "half \ud800 a letter"])
def test_what_cannot_be_kept_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        read_message(text)


def test_a_title_is_the_beginning_on_one_line() -> None:
    assert (title_of("add\nmilk"), len(title_of("word " * 100))) == ("add milk", TITLE)


@given(st.text())
def test_pieces_are_the_text(text: str) -> None:
    assert "".join(pieces(text)) == text
