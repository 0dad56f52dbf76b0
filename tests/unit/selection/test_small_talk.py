"""Conversation asks for nothing, so nothing can be missing for it."""

import pytest

from steward.models.acts import acts_in
from steward.models.embedding import MiniLMEmbedder
from steward.selection.capabilities import AbilityKind, LexiconExtractor

LEXICON = LexiconExtractor(MiniLMEmbedder(), acts=acts_in)


def talks(said: str) -> bool:
    return all(need.kind is AbilityKind.TALK for need in LEXICON.needs(said))


@pytest.mark.req("RES-FR-014")
@pytest.mark.parametrize(
    "said",
    [
        "hello",
        "yo",
        "lol",
        "my cat just sneezed",
        "I love pizza",
        "it's my birthday today",
        "that makes sense",
        "I just got back from holiday",
        "congratulations!",
        "great, thank you so much",
    ],
)
def test_who_only_talks_needs_nothing(said: str) -> None:
    assert talks(said)


@pytest.mark.parametrize(
    "said",
    [
        "Fax this letter to the embassy",
        "I need a taxi to the airport",
        "I lost my password, reset it",
        "I'd like some music",
        "Vacuum the living room",
        "my portfolio performance for Q3",
        "convert 5 miles to km",
        "what is the capital of France?",
    ],
)
def test_who_wants_something_does_not_only_talk(said: str) -> None:
    assert not talks(said)
