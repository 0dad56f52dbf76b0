"""The cross-encoder as a Reranker: reads query and passage together and says how well they fit.

Owns the pairing of the two texts. The graph is made by scripts/train_reranker.py and build_reranker.py; an
installation without it searches without re-ranking (`installed`).
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from steward.models.minilm import CLS, DATA, SEP, TOKENS, MiniLM

_QUERY_TOKENS = 64


class CrossEncoder:
    def __init__(self) -> None:
        self._model = MiniLM(DATA / "reranker.onnx")

    @property
    def installed(self) -> bool:
        return self._model.installed

    def score(self, query: str, passages: Sequence[str], *, seconds: float = math.inf) -> NDArray[np.float32]:
        """Log-odds that the passage answers the query."""
        asked, *found = self._model.token_ids([query, *passages])
        head = [CLS, *asked[:_QUERY_TOKENS], SEP]
        room = TOKENS - len(head) - 1
        rows = [
            ([*head, *ids[:room], SEP], [0] * len(head) + [1] * (min(len(ids), room) + 1)) for ids in found
        ]
        return np.array([float(logit[0]) for logit in self._model.run_within(rows, seconds)], np.float32)
