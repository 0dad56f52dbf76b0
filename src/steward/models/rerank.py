"""The cross-encoder as a Reranker: reads query and passage together and says how well they fit.

Owns the pairing of the two texts. The graph is made by scripts/train_reranker.py and build_reranker.py; an
installation without it searches without re-ranking (`installed`).
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from steward.models.minilm import CLS, DATA, SEP, MiniLM

_QUERY_TOKENS = 64
_TOKENS = 160  # of both texts: half of the longest passages, the half that counts


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
        room = _TOKENS - len(head) - 1
        parts = [_nearest_part(asked, ids, room) for ids in found]
        rows = [([*head, *part, SEP], [0] * len(head) + [1] * (len(part) + 1)) for part in parts]
        return np.array([float(logit[0]) for logit in self._model.run_within(rows, seconds)], np.float32)


def _nearest_part(asked: Sequence[int], passage: Sequence[int], room: int) -> Sequence[int]:
    """As many pieces of a passage as there is room for, where most of the question stands; else the first."""
    if len(passage) <= room:
        return passage
    wanted = frozenset(asked)
    said = np.cumsum([0, *(piece in wanted for piece in passage)])
    begin = int(np.argmax(said[room:] - said[:-room]))
    return passage[begin : begin + room]
