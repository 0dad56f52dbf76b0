"""How relevant a passage is, between 0 and 1: the probability that a person would call it an answer.

A logistic model of three views (the cross-encoder's log-odds, the vectors' similarity, how much of the
query's weight the passage mentions), fitted by scripts/fit_relevance.py: docs/decisions/0035-relevance.md.
Unlike the ranking score it can be compared between queries.
"""

import numpy as np
from numpy.typing import NDArray

from steward.knowledge.ranking import Scores

_WITH_READER = (-4.4, 0.48, 4.47, 1.58)
_WITHOUT_READER = (-7.87, 0.0, 8.27, 4.35)
NOTHING = 0.08  # below this fewer than one in ten is an answer


def relevance(logits: Scores | None, similarity: Scores, covered: Scores) -> NDArray[np.float64]:
    constant, reader, likeness, mention = _WITHOUT_READER if logits is None else _WITH_READER
    total = constant + likeness * similarity + mention * covered
    if logits is not None:
        total = total + reader * logits
    return 1 / (1 + np.exp(-total))


def in_order(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Never less than that of a passage ranked below it."""
    return np.maximum.accumulate(values[::-1])[::-1]
