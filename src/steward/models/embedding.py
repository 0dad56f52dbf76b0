"""MiniLM encoders as Embedders: 384 numbers a text, on the processor, offline.

Owns how text becomes a vector, and a vector for each of its word pieces: all-MiniLM-L6-v2, for everything
that is searched (scripts/build_embedding.py). Requests and tools are read by reader.py.
"""

from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from steward.contract.ports import ReadText
from steward.models.minilm import CHARACTERS, CLS, DATA, SEP, MiniLM

NAME = "all-MiniLM-L6-v2/int8-1"
DIMENSIONS = 384
GRAPH = "minilm.onnx"
SHORT = 600  # characters; longer ones are passages, and each is embedded once, or what a person pasted
REMEMBERED = 4_096  # short texts whose vectors are remembered
REMEMBERED_LONG = 64  # a turn asks for the same ones again and again
# The tensors inside the graphs that their means are taken of.
_LAST_LAYER = "t70"


class MiniLMEmbedder:
    """Implements `TextReader`."""

    def __init__(
        self,
        graph: str = GRAPH,
        *,
        name: str = NAME,
        last_layer: str = _LAST_LAYER,
        tables: str | None = None,
    ) -> None:
        self._model = MiniLM(DATA / graph, inner=last_layer, tables=DATA / tables if tables else None)
        self._name = name
        self._short: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._long: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = Lock()

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimensions(self) -> int:
        return DIMENSIONS

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        # Several of those who answer a request ask for the same vectors.
        texts = [text[:CHARACTERS] for text in texts]
        with self._lock:
            known = {text: kept[text] for text in texts if text in (kept := self._memory(text))}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        made = dict(zip(new, self._embed(new), strict=True))
        with self._lock:
            for text, vector in made.items():
                self._memory(text)[text] = vector.copy()
            for kept, most in ((self._short, REMEMBERED), (self._long, REMEMBERED_LONG)):
                while len(kept) > most:
                    kept.popitem(last=False)
        known |= made
        return np.stack([known[text] for text in texts]) if texts else self._embed(texts)

    def _memory(self, text: str) -> OrderedDict[str, NDArray[np.float32]]:
        return self._short if len(text) <= SHORT else self._long

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
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


@lru_cache(maxsize=1)
def minilm_embedder() -> MiniLMEmbedder:
    """The one of this program: what it has embedded for one asker, it need not embed for the next."""
    return MiniLMEmbedder()
