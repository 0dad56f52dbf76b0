"""Which quote answers, and which only stands near."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from steward.agents.researcher.evidence import DOCUMENT, MEMORY, SourcePassage
from steward.agents.researcher.findings import find_by_meaning, find_in_library
from steward.agents.researcher.relevance import Relevance
from steward.conversations.model import Source

TABLE = "| code | meaning |\n|---|---|\n| K2 | door open |\n| K7 | drum too full |\n"


class Judging:
    """A reranker whose log-odds are given with the texts."""

    def __init__(self, **odds: float) -> None:
        self._odds = odds

    @property
    def installed(self) -> bool:
        return True

    def score(self, query: str, passages: Sequence[str], *, seconds: float = 0.0) -> NDArray[np.float32]:
        known = [next((odd for word, odd in self._odds.items() if word in text), -8.0) for text in passages]
        return np.array(known, np.float32)


def passage(text: str, *, score: float, kind: str = DOCUMENT) -> SourcePassage:
    source = Source(title="The dryer", location="dryer.md", kind=kind, date=None, detail="Codes")
    return SourcePassage(text=text, source=source, score=score, metadata={})


def test_a_quote_holds_the_code_that_was_asked_about() -> None:
    found = find_in_library("what does K7 mean?", [passage(TABLE, score=0.9)], Relevance())
    assert [quote.text for quote in found.quotes] == ["K7: drum too full"]


def test_a_code_that_nothing_names_is_not_answered_by_another() -> None:
    found = find_in_library("what does K9 mean?", [passage(TABLE, score=0.9)], Relevance())
    assert not found.answered


def test_a_code_in_the_name_of_the_document_need_not_stand_in_the_quote() -> None:
    source = Source(title="Dryer WT20", location="dryer.md", kind=DOCUMENT, date=None, detail="Lint")
    told = SourcePassage(text="Empty the lint filter every day.", source=source, score=0.9, metadata={})
    found = find_in_library("how often is the filter of the WT20 emptied?", [told], Relevance())
    assert found.answered


def test_a_passage_with_the_words_of_the_question_comes_before_one_without() -> None:
    other = passage("The club meets on the first Monday at seven.", score=0.8)
    asked = passage("| who | what |\n|---|---|\n| Yuna | bake sale |\n", score=0.2)
    found = find_in_library("who runs the bake sale?", [other, asked], Relevance())
    assert [quote.text for quote in found.quotes] == ["Yuna: bake sale"]


OVEN = "The oven burns logs. Logs lie behind the barn."
TAP = "The tap waters the roses. It sits under the bench."
LUNCH = "Lunch is served by Ana. Be there at 12:15."
FINE = "A fine is for late books. The fine is 2 euros."
FUSES = "The fuses are old. Fuses go in the top drawer."
FERRY = "The ferry takes cars. The ferry goes at 9:40."


@pytest.mark.parametrize(
    ("question", "text", "told"),
    [
        ("where are the logs for the oven?", OVEN, "Logs lie behind the barn."),
        ("where is the tap?", TAP, TAP),
        ("what time is lunch served?", LUNCH, LUNCH),
        ("how much is the fine?", FINE, "The fine is 2 euros."),
        ("in which drawer are the fuses?", FUSES, "Fuses go in the top drawer."),
        ("when is the ferry?", FERRY, "The ferry goes at 9:40."),
    ],
)
def test_the_sentence_that_can_hold_the_answer_is_told(question: str, text: str, told: str) -> None:
    judged = Relevance(Judging(burns=5.0, waters=5.0, served=5.0, late=5.0, old=5.0, cars=5.0))
    found = find_in_library(question, [passage(text, score=0.9)], judged)
    assert [quote.text for quote in found.quotes] == [told]


def test_a_memory_that_shares_no_word_is_near_where_both_models_say_so() -> None:
    told = [passage("the fuse box is in the pantry", score=0.19, kind=MEMORY)]
    found = find_by_meaning("where is the electricity?", told, Relevance(Judging(pantry=-3.8)))
    assert [quote.text for quote in found.quotes] == ["the fuse box is in the pantry"]


def test_what_is_only_near_is_no_answer() -> None:
    told = [passage("the fuse box is in the pantry", score=0.19, kind=MEMORY)]
    assert not find_by_meaning("where is the electricity?", told, Relevance(Judging(pantry=-3.8))).answered


def test_what_is_far_away_is_not_told() -> None:
    told = [passage("the boat is at pier 6", score=0.1, kind=MEMORY)]
    assert not find_by_meaning("where did I park?", told, Relevance(Judging(pier=0.5))).quotes


def test_a_name_that_is_asked_about_stands_in_the_memory() -> None:
    told = [passage("our anniversary is on 4 May", score=0.3, kind=MEMORY)]
    found = find_by_meaning("when is my flight to Rome?", told, Relevance(Judging(anniversary=2.0)))
    assert not found.quotes
