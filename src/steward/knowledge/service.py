"""The knowledge base as its users meet it: the MCP server, the command line and the API call these methods.

Owns what each operation means (defaults, names, history). Does not own search, ingestion or storage.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from steward.contract.errors import ConflictError, NotFoundError
from steward.contract.places import Places
from steward.contract.ports import Embedder, Reranker
from steward.knowledge.folders import Withhold, nothing_withheld
from steward.knowledge.ingest import Ingester, Text
from steward.knowledge.model import (
    Collection,
    CollectionError,
    CollectionKind,
    ContentType,
    DocumentError,
    LibraryAnswer,
    Project,
    QueryError,
    StoredDocument,
    check_name,
)
from steward.knowledge.ports import (
    FileReaders,
    KnowledgeStore,
    PassageFilters,
    PastQuery,
    ReadPassage,
    StoredSpace,
)
from steward.knowledge.refine import judge
from steward.knowledge.renewal import HandOver, Renewal
from steward.knowledge.report import Progress, Report, no_progress
from steward.knowledge.search import Searcher, check_query

MOST_RESULTS = 100
LARGEST_TEXT = 5_000_000


class KnowledgeBase:
    def __init__(
        self,
        store: KnowledgeStore,
        *,
        embedder: Embedder,
        reranker: Reranker | None,
        readers: FileReaders,
        places: Places,
        withhold: Withhold = nothing_withheld,
        uploads: Path | None = None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._searcher = Searcher(store, embedder, reranker)
        self._ingester = Ingester(store, embedder, readers, places=places, withhold=withhold, uploads=uploads)
        self._renewal = Renewal(store, embedder)

    async def close(self) -> None:
        await self._renewal.close()

    def hand_over_renewal(self, to: HandOver) -> None:
        """Large renewals go to somebody else from here on."""
        self._renewal.hand_over = to

    async def renew(self, progress: Progress = no_progress) -> int:
        """Make the vectors that the embedder in use has not made yet; how many passages that was."""
        return await self._renewal.all(progress)

    async def query(
        self,
        query: str,
        *,
        collections: Sequence[str] = (),
        top_k: int = 10,
        document_context: str | None = None,
        project: str | None = None,
        kinds: Sequence[ContentType] = (),
        metadata: Mapping[str, object] | None = None,
        user: str | None = None,
    ) -> LibraryAnswer:
        """Collections: those named, else the project's defaults, else all. `user`: whose history it joins."""
        text = check_query(query)
        if not 1 <= top_k <= MOST_RESULTS:
            raise QueryError(f"top_k is {top_k}.", fix=f"Use a number from 1 to {MOST_RESULTS}.")
        await self._renewal.ready()
        chosen = await self._chosen(collections, project)
        filters = PassageFilters(
            collections=tuple(collection.id for collection in chosen),
            kinds=tuple(kinds),
            metadata=metadata or {},
        )
        hits = await self._searcher.search(text, filters, top_k=top_k, context=document_context)
        answer = LibraryAnswer(hits=hits, refinement=await judge(self._store, text, hits, chosen))
        names = [collection.name for collection in chosen]
        await self._store.record_query(text[:2_000], names, answer, user=user)
        return answer

    async def _chosen(self, names: Sequence[str], project: str | None) -> Sequence[Collection]:
        if not names and project is not None:
            linked = await self._store.project(project)
            names = linked.defaults or linked.collections
            if not names:
                raise CollectionError(
                    f"The project '{project}' has no collections.",
                    fix=f"Link some with 'research-agent projects link \"{project}\" NAMES'.",
                )
        if names:
            return [await self._store.collection(name) for name in names]
        return await self._store.collections()

    # Collections and projects

    async def create_collection(
        self, name: str, kind: CollectionKind = CollectionKind.FUNDAMENTAL, *, project: str | None = None
    ) -> Collection:
        name = check_name(name, what="collection")
        if project is not None:
            await self._store.project(project)
        collection = await self._store.create_collection(name, kind)
        if project is not None:
            await self._store.link(project, [name])
            return await self._store.collection(name)
        return collection

    async def collections(self) -> Sequence[Collection]:
        return await self._store.collections()

    async def collection(self, name: str) -> Collection:
        return await self._store.collection(name.strip())

    async def delete_collection(self, name: str) -> Collection:
        return await self._store.delete_collection(name.strip())

    async def create_project(self, name: str, collections: Sequence[str] = ()) -> Project:
        for collection in collections:
            await self._store.collection(collection)
        project = await self._store.create_project(check_name(name, what="project"))
        return await self._store.link(project.name, collections) if collections else project

    async def projects(self) -> Sequence[Project]:
        return await self._store.projects()

    async def link(self, project: str, collections: Sequence[str]) -> Project:
        return await self._store.link(project, collections)

    async def unlink(self, project: str, collections: Sequence[str]) -> Project:
        return await self._store.unlink(project, collections)

    async def set_defaults(self, project: str, collections: Sequence[str]) -> Project:
        return await self._store.set_defaults(project, collections)

    # Embedders

    @property
    def embedder(self) -> str:
        """The one that new vectors are made with."""
        return self._embedder.name

    async def embedders(self) -> Sequence[StoredSpace]:
        """Whose vectors are kept; those of one that was used before stay until they are removed."""
        return await self._store.spaces()

    async def remove_embedder(self, name: str) -> int:
        """Remove the vectors of a model that is no longer used; how many there were."""
        await self.require_unused(name)
        return await self._store.empty(name)

    async def require_unused(self, name: str) -> None:
        """Raises where there is nothing to remove, or nothing that may be."""
        if name == self.embedder:
            raise ConflictError(
                f"The vectors of '{name}' are in use.", fix="Choose another one with STEWARD_EMBEDDER first."
            )
        if not any(space.embedder == name for space in await self._store.spaces()):
            raise NotFoundError(
                f"There are no vectors of '{name}'.", fix="See 'research-agent kb embedders'."
            )

    # Documents

    async def ingest(
        self,
        path: str | Path,
        collection: str,
        *,
        recursive: bool = False,
        remove_missing: bool = False,
        progress: Progress = no_progress,
    ) -> Report:
        into = await self._store.collection(collection)
        report = await self._ingester.ingest(
            path, into, recursive=recursive, remove_missing=remove_missing, progress=progress
        )
        await self._renewal.ready(patient=True)
        return report

    async def check_ingest(self, path: str, collection: str) -> None:
        """Raises as `ingest` would for a place or a collection that is not there; changes nothing."""
        await self._ingester.check(path, await self._store.collection(collection))

    async def augment(
        self, content: str, *, source: str, collection: str, title: str | None = None
    ) -> Report:
        into = await self._store.collection(collection)
        text = content.strip()
        if not text:
            raise DocumentError("The content is empty.", fix="Send the text to keep.")
        if len(text) > LARGEST_TEXT:
            raise DocumentError(
                f"The content has {len(text):,} characters; at most {LARGEST_TEXT:,} are taken.",
                fix="Save it as a file and ingest that.",
            )
        if "\0" in text or "\0" in source:
            raise DocumentError("The content holds a NUL character.", fix="Remove it and send it again.")
        if not source.strip():
            raise DocumentError("The source is empty.", fix="Say where it comes from: an address or a name.")
        item = Text(content=text, source=source.strip(), title=title or source.strip())
        return await self._ingester.add_texts([item], into)

    async def document(self, document_id: int) -> StoredDocument:
        return await self._store.document(document_id)

    async def passages_of(
        self, document_id: int, *, first: int = 0, limit: int = 1_000
    ) -> Sequence[ReadPassage]:
        """A document as it was read, from the passage with this number on."""
        await self._store.document(document_id)
        return await self._store.passages_of(document_id, first=first, limit=limit)

    async def remove_document(self, document_id: int) -> StoredDocument:
        """Its text leaves the library; the file that it was read from stays where it is."""
        return await self._store.remove_document(document_id)

    async def documents_from(self, source: str) -> Sequence[StoredDocument]:
        return await self._store.documents_from(source)

    async def documents(
        self, collection: str, *, limit: int = 1_000, after: int | None = None
    ) -> Sequence[StoredDocument]:
        """By source; `after` is the id of the last one seen."""
        await self._store.collection(collection)
        return await self._store.documents(collection, limit=limit, after=after)

    async def history(
        self, *, user: str | None = None, limit: int = 50, after: int | None = None
    ) -> Sequence[PastQuery]:
        """One user's queries, newest first; `after` is the id of the last one seen."""
        return await self._store.history(user=user, limit=limit, after=after)
