"""Stated facts as memories: what `save_fact` kept, found with what was learned.

Owns how a fact is compared with a question. Where facts are kept, and when two are the same, is not decided
here.
"""

import asyncio
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from steward.contract.ports import Embedder
from steward.knowledge.facts import Fact, FactStore
from steward.knowledge.memory import Memory, Recalled, Scope
from steward.knowledge.terms import terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST = 500  # facts of one person that are looked through, the newest first
_REMEMBERED = 4_000  # vectors; a fact is a few words, and is asked about again and again


class StatedFacts:
    """Implements `OtherMemories`: whoever's facts they are."""

    def __init__(self, store: FactStore, embedder: Embedder) -> None:
        def embedded(text: str) -> "NDArray[np.float32]":
            return embedder.embed([text])[0]

        self._store = store
        self._vector = lru_cache(maxsize=_REMEMBERED)(embedded)

    async def all(self, user: str) -> Sequence[Memory]:
        return [_memory(fact) for fact in (await self._store.list(user, limit=MOST)).items]

    async def recall(
        self, user: str, words: Mapping[str, int], vector: "NDArray[np.float32]"
    ) -> list[Recalled]:
        """The best first, scored as memories are: half by meaning, half by the words that are there."""
        known = await self.all(user)
        found = await asyncio.to_thread(lambda: [self._scored(each, words, vector) for each in known])
        return sorted(found, key=lambda each: -each.score)

    def _scored(self, memory: Memory, words: Mapping[str, int], vector: "NDArray[np.float32]") -> Recalled:
        covered = len(set(words) & set(terms(memory.content))) / max(len(words), 1)
        alike = float(self._vector(memory.content) @ vector)
        return Recalled(memory, float(np.clip(0.5 * alike + 0.5 * covered, 0, 1)))

    async def remove(self, user: str, memory_id: str) -> int:
        return int(await self._store.remove(user, memory_id))

    async def erase(self, user: str) -> int:
        return await self._store.erase(user)


def _memory(fact: Fact) -> Memory:
    return Memory(
        scope=Scope(user=fact.user),
        id=fact.id,
        content=fact.text,
        source=fact.source,
        happened_at=fact.created_at,
        created_at=fact.created_at,
        metadata={"kind": "fact"},
    )
