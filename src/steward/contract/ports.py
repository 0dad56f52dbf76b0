"""Ports that several rooms share. Implementations are chosen in bootstrap and nowhere else."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from steward.contract.tool import ToolSpec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Text to unit vectors. The same text gives the same vector, whatever it is batched with."""

    @property
    def name(self) -> str:
        """Stored beside vectors: a change of name means they must be made again."""
        ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """One row a text. CPU-bound: async callers run it in a thread."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class ReadText:
    """A text as a whole and as its pieces in their context."""

    vector: "NDArray[np.float32]"
    pieces: tuple[int, ...]  # the reader's own numbers for the pieces
    piece_vectors: "NDArray[np.float32]"  # one unit row a piece


class TextReader(Embedder, Protocol):
    """An embedder that also says what each piece of a text means where it stands."""

    def read(self, texts: Sequence[str]) -> list[ReadText]: ...


class Reranker(Protocol):
    """How well each passage answers the query; higher is better, comparable within one query."""

    def score(
        self, query: str, passages: Sequence[str], *, seconds: float = math.inf
    ) -> "NDArray[np.float32]":
        """One number a passage, from the first one on, for as many as there is time."""
        ...


@dataclass(frozen=True, slots=True)
class RankedTool:
    tool: ToolSpec
    score: float  # 0 to 1


class ToolRanker(Protocol):
    """Finds the tools that fit a request, best first."""

    def rank(self, query: str, tools: Sequence[ToolSpec], *, limit: int) -> tuple[RankedTool, ...]: ...


@dataclass(frozen=True, slots=True)
class Capability:
    name: str  # stable snake_case, e.g. financial_data_api
    description: str


class CapabilityExtractor(Protocol):
    """What a request needs to be able to do, whatever tools there are."""

    async def extract(self, task_description: str) -> tuple[Capability, ...]: ...


class SecretSource(Protocol):
    """Where `${NAME}` in a configuration file is looked up."""

    def lookup(self, name: str) -> str | None: ...
