"""What the knowledge room needs from others: a store for chunks, and readers for files."""

from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from steward.knowledge.model import (
    Block,
    Citation,
    Collection,
    CollectionKind,
    ContentType,
    Document,
    EmbeddedChunk,
    LibraryAnswer,
    Project,
    StoredDocument,
)
from steward.knowledge.ranking import Statistics

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class ReadDocument:
    title: str
    media_type: str
    blocks: tuple[Block, ...]


class FileReaders(Protocol):
    def readable(self, path: Path) -> bool: ...

    async def read(self, path: Path) -> ReadDocument:
        """Raises `DocumentError` for a file that cannot be read."""
        ...

    async def markdown(self, text: str) -> tuple[Block, ...]:
        """A text that is at hand already."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageFilters:
    """Which passages count at all."""

    collections: tuple[int, ...]
    kinds: tuple[ContentType, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    chunk_id: int
    document_id: int
    collection: str
    text: str
    kind: ContentType
    sequence: int
    citation: Citation
    metadata: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPassage:
    """A passage as it stands in its document, for a reader."""

    id: int
    sequence: int
    kind: ContentType
    header_path: str
    page: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Candidates:
    """Everything that either search brought up, with what ranking needs: a row a passage."""

    passages: Sequence[Passage]
    vectors: "NDArray[np.float32]"
    counts: "NDArray[np.float64]"  # a column a query term
    lengths: "NDArray[np.float64]"
    statistics: Statistics


@dataclass(frozen=True, slots=True)
class StoredFile:
    source: str
    root: str  # what was named when it was ingested: the file itself, or a folder above it


@dataclass(frozen=True, slots=True, kw_only=True)
class PastQuery:
    id: int
    query: str
    collections: tuple[str, ...]
    results: int
    best: float | None
    refinement: str
    asked_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class OutdatedDocument:
    """A document that has no vectors of a model: what is needed to make them."""

    id: int
    collection: int
    title: str
    chunk_ids: Sequence[int]
    passages: Sequence[tuple[str, str]]  # header path and text


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSpace:
    """One model's vectors."""

    embedder: str
    dimensions: int
    documents: int
    vectors: int
    size: int  # bytes, with the index


class CollectionStore(Protocol):
    """Collections and projects."""

    async def create_collection(self, name: str, kind: CollectionKind) -> Collection: ...

    async def collections(self) -> Sequence[Collection]: ...

    async def collection(self, name: str) -> Collection: ...

    async def delete_collection(self, name: str) -> Collection:
        """With everything in it, for good."""
        ...

    async def create_project(self, name: str) -> Project: ...

    async def projects(self) -> Sequence[Project]: ...

    async def project(self, name: str) -> Project: ...

    async def link(self, project: str, collections: Sequence[str]) -> Project: ...

    async def unlink(self, project: str, collections: Sequence[str]) -> Project: ...

    async def set_defaults(self, project: str, collections: Sequence[str]) -> Project: ...


class VectorSpaces(Protocol):
    """Each model's vectors stand beside those of the others."""

    async def spaces(self) -> Sequence[StoredSpace]: ...

    async def empty(self, embedder: str) -> int:
        """Remove this model's vectors; how many there were."""
        ...

    async def outdated(self, embedder: str) -> int:
        """How many passages have no vector of this model."""
        ...

    async def next_outdated(self, embedder: str, *, after: int) -> OutdatedDocument | None: ...

    async def renew(
        self, document: OutdatedDocument, vectors: "NDArray[np.float32]", *, embedder: str
    ) -> None:
        """Its vectors in one transaction; nothing when it was replaced or removed meanwhile."""
        ...


class PassageSearch(Protocol):
    async def candidates(
        self,
        terms: Mapping[str, int],
        vector: "Awaitable[NDArray[np.float32]]",
        filters: PassageFilters,
        *,
        embedder: str,
        limit: int,
    ) -> Candidates:
        """By words and by meaning; the vector may still be on its way when the words are looked up."""
        ...

    async def related_terms(
        self, collections: Sequence[int], terms: Sequence[str], *, limit: int
    ) -> Sequence[str]: ...

    async def header_paths(self, collections: Sequence[int], *, limit: int) -> Sequence[str]: ...


class KnowledgeStore(CollectionStore, VectorSpaces, PassageSearch, Protocol):
    async def known(self, collection: int, sources: Sequence[str]) -> Mapping[str, str]:
        """The SHA-256 of those that are stored."""
        ...

    def files_under(self, collection: int, folder: str) -> AsyncIterator[StoredFile]:
        """What was a file in this folder or below it."""
        ...

    async def replace(
        self, collection: int, document: Document, chunks: Sequence[EmbeddedChunk], *, embedder: str
    ) -> bool:
        """Document and chunks in one transaction. False when exactly this was stored already."""
        ...

    async def remove(self, collection: int, sources: Sequence[str]) -> int: ...

    async def remove_moved(self, collection: int, sources: Sequence[str]) -> int:
        """Those whose text another document of the collection holds as well, so that nothing is lost."""
        ...

    async def settle(self, collection: int) -> None:
        """After a load: statistics and indexes are brought up to date."""
        ...

    async def document(self, document_id: int) -> StoredDocument: ...

    async def passages_of(self, document_id: int, *, first: int, limit: int) -> Sequence[ReadPassage]:
        """From the passage with this number on, in the order of the document."""
        ...

    async def remove_document(self, document_id: int) -> StoredDocument:
        """It as it was; within a call it can be taken back."""
        ...

    async def documents_from(self, source: str) -> Sequence[StoredDocument]:
        """What was read from this path or address, in whichever collection; the latest first."""
        ...

    async def documents(
        self, collection: str, *, limit: int, after: int | None = None
    ) -> Sequence[StoredDocument]: ...

    async def record_query(
        self, query: str, collections: Sequence[str], answer: LibraryAnswer, *, user: str | None
    ) -> None: ...

    async def history(
        self, *, user: str | None, limit: int, after: int | None = None
    ) -> Sequence[PastQuery]: ...
