"""all-MiniLM-L6-v2 as an Embedder: 384 numbers a text, on the processor, offline.

Owns how text becomes a vector. The graph is made by scripts/build_embedding.py.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from steward.models.minilm import CLS, DATA, SEP, MiniLM

NAME = "all-MiniLM-L6-v2/int8-1"
DIMENSIONS = 384


class MiniLMEmbedder:
    def __init__(self) -> None:
        self._model = MiniLM(DATA / "minilm.onnx")

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
