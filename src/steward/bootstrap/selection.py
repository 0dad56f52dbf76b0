"""Tool search over a platform: keeps the index in step with the registry, the database and what is used.

Words are indexed as tools come. Vectors come from the database where they were made before; a few that are
missing are made when somebody searches, many of them in the background from then on.
"""

import asyncio
import hashlib
import logging
from collections.abc import Collection, Iterator, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from steward.bootstrap.knowledge import Library
from steward.contract.call import CallerKind, Done
from steward.contract.errors import StewardError
from steward.contract.ports import RankedTool, TextReader
from steward.contract.tool import ToolSpec
from steward.models.reader import TextsApart, taught_reader
from steward.orchestrator.orchestrator import Orchestrator
from steward.orchestrator.ports import Execution, ExecutionLog, Intent
from steward.selection.fit import FitJudge
from steward.selection.index import ToolIndex
from steward.selection.past import MOST
from steward.storage.database.postgres import Database
from steward.storage.selection import PostgresSelectionStore
from steward.telemetry.masking import MASKER

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

logger = logging.getLogger(__name__)

AT_ONCE = 192  # missing vectors that a search makes itself: Steward's own tools, and some. More come later
CHUNK = 32
LONGEST_REQUEST = 400
SETTLING = 2.0  # seconds


@dataclass(frozen=True, slots=True)
class _Use:
    user: str
    tool: str
    request: str


class LearningLog:
    """An execution log that remembers which tool served which request, beside writing every line.

    `by_rote` are agents that go through the same tools whatever they are asked: how they end says nothing.
    """

    def __init__(self, log: ExecutionLog, *, by_rote: Collection[str] = ()) -> None:
        self._log = log
        self._by_rote = by_rote
        self._loop = asyncio.get_running_loop()
        self.used = asyncio.Event()
        self._last: dict[str, _Use] = {}  # by correlation: what came before the last call only helped

    async def begin(self, intent: Intent) -> None:
        await self._log.begin(intent)

    def append(self, execution: Execution) -> None:
        self._log.append(execution)
        call = execution.call
        said = (call.utterance or "").strip()
        if not isinstance(execution.result, Done) or not call.user or not 0 < len(said) <= LONGEST_REQUEST:
            return
        if call.caller.kind is CallerKind.AGENT and call.caller.id.partition(" ")[0] in self._by_rote:
            return
        self._last[call.correlation_id] = _Use(call.user, execution.tool, said)
        self._loop.call_soon_threadsafe(self.used.set)

    def accepting(self) -> bool:
        return self._log.accepting()

    def take(self) -> list[_Use]:
        """What was learned since the last time."""
        uses, self._last = list(self._last.values()), {}
        return uses

    def forget(self, user: str) -> None:
        self._last = {key: use for key, use in self._last.items() if use.user != user}


class ToolSearch:
    """Implements `ToolRanker` over the platform's index."""

    def __init__(
        self,
        orchestrator: Orchestrator,
        reader: TextReader,
        *,
        store: PostgresSelectionStore,
        log: LearningLog,
    ) -> None:
        self._orchestrator = orchestrator
        self._reader = reader
        self._store = store
        self._log = log
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self._asked = asyncio.Event()
        self._unsaved: dict[str, NDArray[np.float32]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._learning = asyncio.Lock()
        self.index = ToolIndex(reader)
        self.judge = tool_judge()

    def rank(self, query: str, tools: Sequence[ToolSpec], *, limit: int) -> tuple[RankedTool, ...]:
        self.index.take_in(tools)
        missing = self.index.missing()
        if 0 < len(missing) <= AT_ONCE:
            vectors = dict(zip(missing, self._reader.embed(missing), strict=True))
            self.index.supply(vectors)
            self._unsaved |= vectors
        self._loop.call_soon_threadsafe(self._asked.set)
        return self.index.rank(query, tools, limit=limit)

    async def warm(self) -> None:
        """Make missing vectors from now on and search once, so that a person's first search need not wait."""
        self._asked.set()
        tools = [tool.spec for tool in self._orchestrator.registry]
        await asyncio.to_thread(self.rank, "what can be done here", tools, limit=1)

    def incomplete(self) -> list[str]:
        """Why a search may not see everything, in words; empty when it does."""
        said = self._orchestrator.lifecycle.absences()
        missing = len(self.index.missing())
        if missing > AT_ONCE:
            said.append("New tools are found by their words only until their meaning is worked out.")
        return said

    # --- keeping in step ---

    def open(self) -> None:
        self._orchestrator.registry.subscribe(self._notice)
        self._changed.set()
        self._tasks = [
            asyncio.create_task(self._keep(), name="tool-search"),
            asyncio.create_task(self._study(), name="tool-requests"),
        ]

    def _notice(self) -> None:
        self._loop.call_soon_threadsafe(self._changed.set)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with suppress(StewardError):
            await self._save()
            await self.learn()

    async def _keep(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                await self.catch_up()
            except StewardError as error:  # search goes on by words
                logger.warning("tool_search_behind", extra={"problem": error.message})

    async def _study(self) -> None:
        try:
            async with self._learning:
                await self._teach(await self._store.learned(MOST))
            while True:
                await self._log.used.wait()
                self._log.used.clear()
                await asyncio.sleep(SETTLING)  # the last call of a turn is the one that served it
                await self.learn()
        except StewardError as error:
            logger.warning("tool_requests_unread", extra={"problem": error.message})

    async def catch_up(self) -> None:
        """Take in the registry as it is, with the vectors that are known."""
        specs = [tool.spec for tool in self._orchestrator.registry]
        await asyncio.to_thread(self.index.sync, specs)
        await self._load(self.index.missing())
        if self.index.missing() or self._unsaved:
            await self._asked.wait()
            await self._save()
            await self._make()

    async def _load(self, texts: Sequence[str]) -> None:
        digests = {_digest(text): text for text in texts}
        known = await self._store.vectors(self._reader.name, list(digests))
        self.index.supply({digests[digest]: vector for digest, vector in known.items()})

    async def _make(self) -> None:
        """Vectors that nobody made before, a few at a time, so that a search in between sees them."""
        for texts in _chunks(self.index.missing()):
            vectors = await asyncio.to_thread(self._reader.embed, texts)
            made = dict(zip(texts, vectors, strict=True))
            self.index.supply(made)
            self._unsaved |= made
            await self._save()

    async def _save(self) -> None:
        kept, self._unsaved = self._unsaved, {}
        if kept:
            digests = {_digest(text): vector for text, vector in kept.items()}
            try:
                await self._store.keep_vectors(self._reader.name, digests)
            except BaseException:  # cancelled on the way: closing saves them once more
                self._unsaved = kept | self._unsaved
                raise

    # --- what use teaches ---

    async def learn(self) -> None:
        """Keep what calls since the last time have taught."""
        async with self._learning:
            uses = self._log.take()
            if uses:
                masked = [_Use(use.user, use.tool, MASKER.value(use.request)) for use in uses]
                await self._store.learn((use.user, use.tool, use.request) for use in masked)
                await self._teach([(use.request, use.tool) for use in masked])

    async def forget(self, user: str) -> None:
        """Know nothing any more that only this user's calls have taught."""
        async with self._learning:  # what is being learned would come back otherwise
            self._log.forget(user)
            await self._store.forget(user)
            self.index.keep_learned(await self._store.learned(MOST))

    async def _teach(self, requests: Sequence[tuple[str, str]]) -> None:
        texts = list(dict.fromkeys(request for request, _ in requests))
        digests = {text: _digest(text) for text in texts}
        known = await self._store.vectors(self._reader.name, list(digests.values()))
        new = [text for text in texts if digests[text] not in known]
        if new:
            made = await asyncio.to_thread(self._reader.embed, new)
            fresh = {digests[text]: vector for text, vector in zip(new, made, strict=True)}
            await self._store.keep_vectors(self._reader.name, fresh)
            known |= fresh
        self.index.learn((request, tool, known[digests[request]]) for request, tool in requests)


def open_search(
    orchestrator: Orchestrator,
    library: Library,
    *,
    database: Database,
    log: LearningLog,
    stack: AsyncExitStack,
) -> ToolSearch:
    store = PostgresSelectionStore(database)
    search = ToolSearch(orchestrator, library.embedder, store=store, log=log)
    search.open()
    stack.push_async_callback(search.close)
    return search


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=1)
def tool_judge() -> FitJudge:
    """The one of this program: a tool's definition is read once."""
    return FitJudge(TextsApart(), together=taught_reader())


def _chunks(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(texts), CHUNK):
        yield texts[start : start + CHUNK]
