"""Whether a passage answers a question, 0 to 1.

Owns the threshold from which something counts as an answer. The cross-encoder says how well a passage
answers; the names in the question must stand in it as well, because another tower's height is no answer.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from steward.agents.researcher.questions import keywords, names_in
from steward.contract.ports import Reranker
from steward.language.asking import may_answer
from steward.models.planner.words import stems

ANSWERS = 0.6  # from here on a passage is taken for an answer
_OTHER_KIND = 0.4  # of the score, for a sentence that cannot hold the kind of thing that is asked for
_MOST_SCORED = 24  # texts that the cross-encoder reads for one question; the rest share too few words


@dataclass(frozen=True, slots=True)
class Relevance:
    reranker: Reranker | None = None

    def scores(self, question: str, texts: Sequence[str], *, about: Sequence[str] = ()) -> list[float]:
        """`about` names what each text belongs to (its title), which counts as if the text said it."""
        settings = list(about) or [""] * len(texts)
        shared = [_shared(question, text, where) for text, where in zip(texts, settings, strict=True)]
        if self.reranker is None:
            return [round(each, 4) for each in shared]
        likely = sorted(range(len(texts)), key=lambda at: -shared[at])[:_MOST_SCORED]
        scores = [0.0] * len(texts)
        if likely:
            odds = self.reranker.score(question, [texts[at] for at in likely])
            for at, logit in zip(likely, odds, strict=True):
                scores[at] = round(_probability(float(logit)) * shared[at], 4)
        return scores

    def odds(self, question: str, texts: Sequence[str]) -> list[float]:
        """Log-odds that each answers, by its meaning alone; none where no model can say."""
        if self.reranker is None or not texts:
            return []
        return [float(each) for each in self.reranker.score(question, texts)]

    def within(self, question: str, texts: Sequence[str], *, heading: str) -> list[float]:
        """How the sentences of one passage compare. That the passage is about the question is known."""
        words = {*keywords(question), *names_in(question)}
        shared = [_overlap(words, set(stems(text))) * _of_its_kind(question, text) for text in texts]
        likely = sorted(range(len(texts)), key=lambda at: -shared[at])[:_MOST_SCORED]
        if self.reranker is None or not likely:
            return shared
        odds = self.reranker.score(question, [f"{heading}: {texts[at]}" for at in likely])
        scores = [0.0] * len(texts)
        for at, logit in zip(likely, odds, strict=True):
            scores[at] = _probability(float(logit)) * shared[at]
        return scores


def _of_its_kind(question: str, text: str) -> float:
    """Who asks how much, when or where is not answered by a sentence without any figure or place."""
    return 1.0 if may_answer(question, text) else _OTHER_KIND


def _shared(question: str, text: str, about: str) -> float:
    said = set(stems(text)) | set(stems(about))
    names = names_in(question)
    if names:
        return len(names & said) / len(names)
    return _overlap(set(keywords(question)), said)


def _overlap(words: set[str], said: set[str]) -> float:
    return 0.3 + 0.7 * len(said & words) / len(words) if words else 0.3


def _probability(logit: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, logit))))
