"""Vectors are one model's: another one's are made from the stored text, beside those that are there.

Owns when that happens: on first use, at once for a small library, beside everything else for a large one,
which is searched by words meanwhile. One transaction a document: an interrupted renewal goes on where it was,
and whoever still uses the former model finds its vectors untouched.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

import numpy as np

from steward.contract.ports import Embedder
from steward.knowledge.ports import KnowledgeStore, OutdatedDocument
from steward.knowledge.report import Progress, no_progress
from steward.knowledge.wording import with_headers

logger = logging.getLogger(__name__)

HandOver = Callable[[], Awaitable[bool]]
"""Leaves the work to somebody else; False when nobody takes it."""

AT_ONCE = 1_000  # passages that a question waits for
_BATCH = 64


class Renewal:
    def __init__(self, store: KnowledgeStore, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self.hand_over: HandOver | None = None
        self._work: asyncio.Task[None] | None = None
        self._small = True

    async def ready(self, *, patient: bool = False) -> None:
        """Begin if there is something to renew; wait for it if that is short, or if the caller has time."""
        if self._work is None or (self._work.done() and _failed(self._work)):
            outdated = await self._store.outdated(self._embedder.name)
            self._small = outdated <= AT_ONCE
            if not self._small and not patient and self.hand_over is not None and await self.hand_over():
                return
            if outdated:
                logger.warning("%d passages have no vectors of '%s' yet", outdated, self._embedder.name)
            self._work = asyncio.create_task(self._run(outdated))
        if self._work.done() or patient or self._small:
            await asyncio.shield(self._work)

    async def close(self) -> None:
        if self._work is not None:
            self._work.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await self._work

    async def all(self, progress: Progress = no_progress) -> int:
        """Renew everything that is outdated; how many passages that was."""
        outdated = await self._store.outdated(self._embedder.name)
        await self._run(outdated, progress)
        return outdated

    async def _run(self, outdated: int, progress: Progress = no_progress) -> None:
        touched: set[int] = set()
        last = done = 0
        while outdated and (document := await self._store.next_outdated(self._embedder.name, after=last)):
            vectors = await asyncio.to_thread(self._vectors, document)
            await self._store.renew(document, vectors, embedder=self._embedder.name)
            touched.add(document.collection)
            last = document.id
            done += len(document.passages)
            await progress(min(done, outdated), outdated, document.title)
        for collection in touched:
            await self._store.settle(collection)

    def _vectors(self, document: OutdatedDocument) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
        texts = [with_headers(document.title, header, text) for header, text in document.passages]
        parts = [
            self._embedder.embed(texts[start : start + _BATCH]) for start in range(0, len(texts), _BATCH)
        ]
        return np.concatenate(parts)


def _failed(work: "asyncio.Task[None]") -> bool:
    return work.cancelled() or work.exception() is not None
