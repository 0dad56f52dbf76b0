"""What the knowledge base is made of: collections, projects, documents, chunks, and what a search finds.

Owns the words and their invariants. Does not own how anything is read, stored or ranked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from steward.contract import linear_re as re
from steward.contract.errors import StewardError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TOO_LARGE = "KB_TOO_LARGE"  # a document's own code, beside KB_DOCUMENT
NAME = re.compile(r"[\w][\w .-]{0,63}")


class KnowledgeError(StewardError):
    """The five kinds that KB-5.1 names; the MCP server gives each its JSON-RPC code."""

    default_code = "KB_SYSTEM"


class ConfigurationError(KnowledgeError):
    default_code = "KB_CONFIGURATION"


class CollectionError(KnowledgeError):
    default_code = "KB_COLLECTION"


class DocumentError(KnowledgeError):
    default_code = "KB_DOCUMENT"


class QueryError(KnowledgeError):
    default_code = "KB_QUERY"


class CollectionKind(StrEnum):
    FUNDAMENTAL = "fundamental"
    PROJECT = "project-specific"


class ContentType(StrEnum):
    PROSE = "prose"
    CODE = "code_block"
    TABLE = "table"


def check_name(name: str, *, what: str) -> str:
    kept = name.strip()
    if not NAME.fullmatch(kept):
        raise CollectionError(
            f"'{kept[:80]}' cannot name a {what}.",
            fix="Use up to 64 letters, digits, spaces, '.', '_' or '-', starting with a letter or digit.",
        )
    return kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    id: int
    name: str
    kind: CollectionKind
    created_at: datetime
    documents: int = 0
    chunks: int = 0
    size: int = 0  # bytes of the documents as they were read
    projects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    name: str
    collections: tuple[str, ...]
    defaults: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A piece of a document as its reader found it, in reading order."""

    text: str
    kind: ContentType = ContentType.PROSE
    headers: tuple[str, ...] = ()
    page: int | None = None
    start: int = 0  # first character in the document's text


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    sequence: int
    text: str
    kind: ContentType
    header_path: str
    start: int
    end: int
    page: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedChunk:
    chunk: Chunk
    vector: "NDArray[np.float32]"
    counts: Mapping[str, int]  # terms of header path and text

    @property
    def length(self) -> int:
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document to be stored; `source` (a path or an address) is its identity in a collection."""

    source: str
    title: str
    media_type: str
    sha256: str
    size: int
    root: str | None = None  # the folder it was found under, so that its disappearance can be noticed
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDocument:
    id: int
    collection: str
    source: str
    title: str
    media_type: str
    sha256: str
    size: int
    chunks: int
    ingested_at: datetime
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """Where a passage stands, so that a reader can find it again."""

    document: str
    title: str
    header_path: str
    page: int | None
    start: int
    end: int

    @property
    def name(self) -> str:
        return document_name(self.document)

    def __str__(self) -> str:
        place = f", page {self.page}" if self.page is not None else ""
        header = f", {self.header_path}" if self.header_path else ""
        return f"{self.document}{header}{place}, characters {self.start}-{self.end}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    chunk_id: int
    document_id: int
    collection: str
    text: str
    relevance: float
    kind: ContentType
    sequence: int
    citation: Citation
    also_in: tuple[str, ...] = ()  # documents that say the same in nearly the same words
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def label(self) -> str:
        return relevance_label(self.relevance)


class Refinement(StrEnum):
    OPTIMAL = "optimal"
    CLARIFY = "clarification_needed"
    TOO_BROAD = "too_broad"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRefinement:
    status: Refinement
    message: str
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryAnswer:
    hits: Sequence[Hit]
    refinement: QueryRefinement


def document_name(source: str) -> str:
    """What a reader calls a document: a file by its name, never by its place on this machine."""
    path = PurePath(source)
    return path.name if path.is_absolute() else source


def relevance_label(relevance: float) -> str:
    if relevance >= 0.8:
        return "Highly Relevant"
    if relevance >= 0.45:
        return "Relevant"
    return "Somewhat Relevant" if relevance >= 0.15 else "Marginal"


def parse_names(text: str | None) -> tuple[str, ...]:
    """A comma-separated list of names, each once, in order."""
    parts = (part.strip() for part in (text or "").split(","))
    return tuple(dict.fromkeys(part for part in parts if part))


def parse_kind(text: str | None) -> CollectionKind:
    try:
        return CollectionKind((text or CollectionKind.FUNDAMENTAL).strip().lower())
    except ValueError:
        raise CollectionError(
            f"'{text}' is not a type of collection.", fix="Use 'fundamental' or 'project-specific'."
        ) from None
