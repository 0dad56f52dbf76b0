"""Apostrophes that people leave out."""

import pytest

from steward.language.tidy import with_apostrophes


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("whats my wifes name", "what's my wifes name"),
        ("Dont forget the milk", "Don't forget the milk"),
        ("what do u know about ur work", "what do you know about your work"),
        ("i havent paid and im late", "i haven't paid and I'm late"),
    ],
)
def test_what_was_left_out_comes_back(typed: str, meant: str) -> None:
    assert with_apostrophes(typed) == meant


@pytest.mark.parametrize(
    "typed",
    ["its open, were well", "id card", "add can't stop", "the whatsit", "rent a u-haul", "the U.S. visa"],
)
def test_words_with_a_meaning_of_their_own_stay(typed: str) -> None:
    assert with_apostrophes(typed) == typed
