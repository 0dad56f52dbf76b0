"""Semantic memory: what was learned, kept per user, agent and project, found again by meaning.

Owns what is worth keeping, when two memories say the same or contradict each other, and how they are
ranked. A newer fact supersedes the older one, which stays visible as history. Does not own where memories
are kept.
"""

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from steward.contract import linear_re as re
from steward.contract.call import new_id
from steward.contract.errors import ConflictError, InputError, NotFoundError
from steward.contract.ports import Embedder, Reranker
from steward.knowledge import ranking
from steward.knowledge.memory_rules import contradicts, worth_keeping
from steward.knowledge.ranking import Statistics
from steward.knowledge.search import CANDIDATES, check_query, refine_order
from steward.knowledge.terms import terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONGEST = 20_000
LARGEST_METADATA = 20_000  # characters of it as JSON
_SAME = 0.97
_MAYBE_CONTRADICTS = 0.6
_RECENCY = 0.5
_A_DAY = 86_400.0
_ABOUT_NOW = re.compile(
    r"\b(latest|lately|(most )?recent(ly)?|newest|current(ly)?|right now|nowadays|these days|at the moment|"
    r"so far|up to date|last time)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Whose memory it is. Without agent or project it is shared by all of that user's."""

    user: str
    agent: str | None = None
    project: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    scope: Scope
    content: str
    source: str
    happened_at: datetime
    created_at: datetime
    context: str = ""
    conversation: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    superseded_by: str | None = None
    id: str = field(default_factory=new_id)

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(" ".join(re.findall(r"\w+", self.content.casefold())).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class IndexedMemory:
    memory: Memory
    vector: "NDArray[np.float32]"
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarMemory:
    id: str
    content: str
    happened_at: datetime
    likeness: float


@dataclass(frozen=True, slots=True)
class MemoryCandidates:
    memories: Sequence[Memory]
    vectors: "NDArray[np.float32]"
    counts: "NDArray[np.float64]"
    lengths: "NDArray[np.float64]"
    statistics: Statistics


@dataclass(frozen=True, slots=True)
class Recalled:
    memory: Memory
    score: float


@dataclass(frozen=True, slots=True)
class MemoryPage:
    items: Sequence[Memory]
    next: str | None = None


class MemoryStore(Protocol):
    async def add(
        self,
        item: IndexedMemory,
        *,
        embedder: str,
        supersedes: Sequence[str] = (),
        superseded_by: str | None = None,
    ) -> str:
        """The id it is kept under: its own, or that of the same memory that holds and stays."""
        ...

    async def last_in(self, scope: Scope, conversation: str) -> str | None: ...

    async def similar(self, scope: Scope, vector: "NDArray[np.float32]") -> Sequence[SimilarMemory]:
        """The nearest in exactly this scope, of those that hold."""
        ...

    async def candidates(
        self, scope: Scope, terms: Mapping[str, int], vector: "NDArray[np.float32]", *, limit: int
    ) -> MemoryCandidates: ...

    async def list(
        self, scope: Scope, *, limit: int = 50, after: str | None = None, superseded: bool = False
    ) -> MemoryPage: ...

    async def history(self, scope: Scope, memory_id: str) -> Sequence[Memory]:
        """The memory and everything it took the place of, newest first."""
        ...

    async def forget(self, scope: Scope, memory_id: str) -> int:
        """The memory with its history, for good; how many that were."""
        ...

    async def forget_scope(self, scope: Scope) -> int: ...

    async def count(self, scope: Scope) -> int:
        """How many `forget_scope` would forget."""
        ...


class OtherMemories(Protocol):
    """What is remembered elsewhere, and belongs to a person whatever the agent and project."""

    async def all(self, user: str) -> Sequence[Memory]: ...

    async def recall(
        self, user: str, words: Mapping[str, int], vector: "NDArray[np.float32]"
    ) -> Sequence[Recalled]:
        """The best first."""
        ...

    async def remove(self, user: str, memory_id: str) -> int: ...

    async def erase(self, user: str) -> int: ...


class MemoryManager:
    """One scope's memory. `semantic_search` and `store_document` are what RES names."""

    def __init__(
        self,
        store: MemoryStore,
        *,
        embedder: Embedder,
        reranker: Reranker | None,
        scope: Scope,
        stated: OtherMemories | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._reranker = reranker
        self._scope = scope
        self._stated = stated
        self._now = now

    async def semantic_search(self, query: str, top_k: int = 5) -> list[dict[str, Any]]:
        return [
            {
                "id": item.memory.id,
                "content": item.memory.content,
                "score": round(item.score, 4),
                "metadata": {**item.memory.metadata, **provenance(item.memory)},
            }
            for item in await self.recall(query, top_k)
        ]

    async def store_document(
        self, content: str, metadata: Mapping[str, Any] | None = None, *, corrects: str | None = None
    ) -> str:
        """Keep a text; `source`, `timestamp`, `conversation` and `context` in its metadata are understood.

        `corrects`: the id of the memory whose place it takes, whatever the two say.
        """
        memory = await self._memory(content, dict(metadata or {}))
        if corrects is not None:
            return await self._correct(corrects, memory, at_its_time="timestamp" not in (metadata or {}))
        item = await asyncio.to_thread(self._index, memory)
        similar = await self._store.similar(self._scope, item.vector)
        for other in similar:
            if other.likeness >= _SAME and Counter(terms(other.content)) == Counter(terms(memory.content)):
                return other.id
        disputed = [
            other
            for other in similar
            if other.likeness >= _MAYBE_CONTRADICTS and contradicts(memory.content, other.content)
        ]
        # What is told later may have happened earlier: then it is the history of what is known already.
        newer = [other for other in disputed if other.happened_at > memory.happened_at]
        return await self._store.add(
            item,
            embedder=self._embedder.name,
            supersedes=[] if newer else [other.id for other in disputed],
            superseded_by=newer[0].id if newer else None,
        )

    async def _correct(self, corrected: str, memory: Memory, *, at_its_time: bool) -> str:
        """It stands where the other stood, and keeps what nobody said anew."""
        old = next(each for each in await self.history(corrected) if each.id == corrected)
        if old.superseded_by is not None:
            raise ConflictError("Something newer has taken its place.", fix="Look again, and change that.")
        if memory.content == old.content:
            return old.id
        memory = replace(
            memory,
            scope=old.scope,
            happened_at=old.happened_at if at_its_time else memory.happened_at,
            context=memory.context or old.context,
            conversation=memory.conversation or old.conversation,
            metadata={**old.metadata, **memory.metadata},
        )
        item = await asyncio.to_thread(self._index, memory)
        return await self._store.add(item, embedder=self._embedder.name, supersedes=[old.id])

    async def recall(self, query: str, top_k: int = 5) -> list[Recalled]:
        text = check_query(query)
        if not 1 <= top_k <= 100:
            raise InputError(f"top_k is {top_k}.", fix="Use a number from 1 to 100.")
        words = Counter(terms(text))
        vector = (await asyncio.to_thread(self._embedder.embed, [text]))[0]
        found = await self._store.candidates(self._scope, words, vector, limit=CANDIDATES)
        ranked = await asyncio.to_thread(self._rank, text, words, vector, found) if found.memories else []
        others: Sequence[Recalled] = ()
        if self._stated is not None:
            others = await self._stated.recall(self._scope.user, words, vector)
        return _merged(ranked, others)[:top_k]

    def _rank(
        self, query: str, words: Mapping[str, int], vector: "NDArray[np.float32]", found: MemoryCandidates
    ) -> list[Recalled]:
        similarity = (found.vectors @ vector).astype(np.float64)
        lexical = ranking.bm25(words, found.counts, found.lengths, found.statistics)
        fused = ranking.fuse(lexical, similarity, weight=ranking.MEMORIES.lexical)
        recent = None
        if _ABOUT_NOW.search(query):
            moments = np.array([memory.happened_at.timestamp() for memory in found.memories])
            recent = _RECENCY * ranking.standardise(moments, least_spread=_A_DAY)
        order = np.argsort(-fused, kind="stable")
        texts = [_reading(memory) for memory in found.memories]
        place, _ = refine_order(
            query,
            order,
            fused=fused,
            vectors=found.vectors,
            texts=texts,
            reranker=self._reranker,
            weights=ranking.MEMORIES,
            bonus=recent,
        )
        covered = ranking.coverage(words, found.counts, found.statistics)
        return [
            Recalled(found.memories[i], float(np.clip(0.5 * similarity[i] + 0.5 * covered[i], 0, 1)))
            for i in place
        ]

    async def _memory(self, content: str, metadata: dict[str, Any]) -> Memory:
        text = content.strip()
        if not text or "\0" in text or len(text) > LONGEST:
            raise InputError(
                "A memory is a text of up to 20,000 characters.",
                fix="Longer texts belong in the knowledge base.",
            )
        if not worth_keeping(text):
            raise InputError(
                "This is small talk or a question: there is nothing in it to remember.",
                code="MEMORY_NOT_KEPT",
                fix="Store what was learned, as a statement.",
            )
        if len(json.dumps(metadata, default=str)) > LARGEST_METADATA:
            raise InputError(
                f"The metadata has more than {LARGEST_METADATA:,} characters.",
                fix="Keep what says where from.",
            )
        conversation = _text(metadata.pop("conversation", None))
        context = _text(metadata.pop("context", None))
        if context is None and conversation is not None:
            context = await self._store.last_in(self._scope, conversation)
        now = self._now()
        return Memory(
            scope=self._scope,
            content=text,
            source=_text(metadata.pop("source", None)) or "agent",
            happened_at=_moment(metadata.pop("timestamp", None), now),
            created_at=now,
            context=(context or "")[:2_000],
            conversation=conversation,
            metadata=metadata,
        )

    def _index(self, memory: Memory) -> IndexedMemory:
        """What was said just before gives "she" and "there" their meaning: it is indexed along."""
        texts = (
            [memory.content, f"{memory.context}\n{memory.content}"] if memory.context else [memory.content]
        )
        vector = self._embedder.embed(texts).sum(axis=0)
        date = memory.happened_at.strftime("%d %B %Y").lstrip("0")
        words = Counter(terms(memory.content)) + Counter(terms(memory.content))
        words += Counter(terms(memory.context)) + Counter(terms(date))
        return IndexedMemory(memory, vector / np.linalg.norm(vector), words)

    async def list(
        self, *, limit: int = 50, after: str | None = None, superseded: bool = False
    ) -> MemoryPage:
        return await self._store.list(self._scope, limit=limit, after=after, superseded=superseded)

    async def stated(self) -> Sequence[Memory]:
        """What the person stated word for word, the newest first."""
        return [] if self._stated is None else await self._stated.all(self._scope.user)

    async def history(self, memory_id: str) -> Sequence[Memory]:
        past = await self._store.history(self._scope, memory_id)
        past = past or [each for each in await self.stated() if each.id == memory_id]
        if not past:
            raise NotFoundError(
                f"There is no memory '{memory_id}'.", fix="List them with 'steward memory list'."
            )
        return past

    async def forget(self, memory_id: str) -> int:
        """One memory with what it took the place of; how many that were."""
        forgotten = await self._store.forget(self._scope, memory_id)
        if not forgotten and self._stated is not None:
            forgotten = await self._stated.remove(self._scope.user, memory_id)
        if not forgotten:
            raise NotFoundError(
                f"There is no memory '{memory_id}'.", fix="List them with 'steward memory list'."
            )
        return forgotten

    async def count(self) -> int:
        return await self._store.count(self._scope) + len(await self.stated() if self._is_whole else ())

    async def forget_all(self) -> int:
        forgotten = await self._store.forget_scope(self._scope)
        if self._stated is not None and self._is_whole:
            forgotten += await self._stated.erase(self._scope.user)
        return forgotten

    @property
    def _is_whole(self) -> bool:
        """Whether the scope is all of a person's memory, and no agent's or project's part of it."""
        return self._scope == Scope(user=self._scope.user)


def _merged(remembered: Sequence[Recalled], stated: Sequence[Recalled]) -> list[Recalled]:
    """Each fact before the first memory that fits less; memories keep their order. No text twice."""
    texts = {each.memory.fingerprint for each in remembered}
    left = [each for each in stated if each.memory.fingerprint not in texts]
    merged: list[Recalled] = []
    for each in remembered:
        while left and left[0].score > each.score:
            merged.append(left.pop(0))
        merged.append(each)
    return [*merged, *left]


def provenance(memory: Memory) -> dict[str, str]:
    """Where a memory comes from, when it happened and when it was stored; whose it is beside the user."""
    known = {
        "source": memory.source,
        "timestamp": memory.happened_at.isoformat(),
        "stored_at": memory.created_at.isoformat(),
        "conversation": memory.conversation,
        "agent": memory.scope.agent,
        "project": memory.scope.project,
    }
    return {name: value for name, value in known.items() if value is not None}


def _reading(memory: Memory) -> str:
    return f"{memory.context}\n{memory.content}" if memory.context else memory.content


def _text(value: object) -> str | None:
    return str(value).strip() or None if value is not None else None


def _moment(value: object, now: datetime) -> datetime:
    if value is None:
        return now
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    except ValueError:
        raise InputError(
            f"'{value}' is not a time.", fix="Write it like 2026-03-01T12:00:00+00:00."
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
