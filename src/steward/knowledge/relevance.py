"""How relevant a passage is, between 0 and 1: the probability that a person would call it an answer.

A logistic model of three views: how far the cross-encoder puts the passage above what else it read for the
query, the vectors' similarity, and how much of the query's weight the passage mentions. Fitted by
scripts/fit_relevance.py to passages that the cross-encoder was not trained on
(docs/decisions/0060-relevance.md). Unlike the ranking score it can be compared between queries.
"""

import numpy as np
from numpy.typing import NDArray

from steward.knowledge.ranking import Scores

_WITH_READER = (-6.02, 0.42, 5.05, 1.99)
_WITHOUT_READER = (-7.01, 0.0, 7.33, 3.52)
NOTHING = 0.05  # below this hardly anything is an answer
READ = 15  # passages that the cross-encoder is expected to read
UNRELATED = -5.0  # its log-odds for a passage on another subject


def relevance(logits: Scores | None, similarity: Scores, covered: Scores) -> NDArray[np.float64]:
    """`logits`: the cross-encoder's, of all that it read and in the order it did."""
    constant, reader, likeness, mention = _WITHOUT_READER if logits is None else _WITH_READER
    total = constant + likeness * similarity + mention * covered
    if logits is not None:
        total = total + reader * above_the_rest(logits)
    return 1 / (1 + np.exp(-total))


def above_the_rest(logits: Scores) -> Scores:
    """Log-odds against those of the first passages; where there are fewer, the rest would be unrelated."""
    first = logits[:READ]
    return logits - (first.sum() + UNRELATED * (READ - len(first))) / READ


def in_order(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Never less than that of a passage ranked below it: neighbours in the wrong order share their mean."""
    pools: list[tuple[float, int]] = []
    for value in values.tolist():
        pools.append((value, 1))
        while len(pools) > 1 and pools[-2][0] < pools[-1][0]:
            (above, many), (below, few) = pools[-2:]
            pools[-2:] = [((above * many + below * few) / (many + few), many + few)]
    return np.repeat([value for value, _ in pools], [count for _, count in pools])
