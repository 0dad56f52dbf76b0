"""all-MiniLM-L6-v2 as an Embedder: 384 numbers a text, on the processor, offline.

Owns how text becomes a vector, and a vector for each of its word pieces. The graph is made by
scripts/build_embedding.py.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from steward.contract.ports import ReadText
from steward.models.minilm import CLS, DATA, SEP, MiniLM

NAME = "all-MiniLM-L6-v2/int8-1"
DIMENSIONS = 384
_LAST_LAYER = "t70"  # what the graph's mean is taken of


class MiniLMEmbedder:
    def __init__(self) -> None:
        self._model = MiniLM(DATA / "minilm.onnx", inner=_LAST_LAYER)

    @property
    def name(self) -> str:
        return NAME

    @property
    def dimensions(self) -> int:
        return DIMENSIONS

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.empty((len(texts), DIMENSIONS), np.float32)
        rows = [[CLS, *ids, SEP] for ids in self._model.token_ids(texts)]
        for index, vector in enumerate(self._model.run([(row, [0] * len(row)) for row in rows])):
            vectors[index] = vector
        return vectors

    def read(self, texts: Sequence[str]) -> list[ReadText]:
        """Each text as a whole and piece by piece, in one pass."""
        pieces = self._model.token_ids(texts)
        rows = [[CLS, *ids, SEP] for ids in pieces]
        found = self._model.run_inside([(row, [0] * len(row)) for row in rows])
        return [
            ReadText(vector=vector, pieces=tuple(ids), piece_vectors=_unit(inside[1:-1]))
            for ids, (vector, inside) in zip(pieces, found, strict=True)
        ]


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
