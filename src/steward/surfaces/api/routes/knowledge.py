"""Routes on the knowledge base beside its tools: what is there, and the vectors of models no longer used."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel

from steward.bootstrap.tools.library_tools import REMOVE_DOCUMENT
from steward.contract.call import PendingApproval, ToolCall
from steward.contract.errors import ConflictError
from steward.knowledge.model import StoredDocument
from steward.knowledge.ports import StoredSpace
from steward.surfaces.api.identity import Admin, Reader, Worker
from steward.surfaces.api.paging import After, AfterNumber, Limit, cut, overfull
from steward.surfaces.api.shapes import ToolResultShape
from steward.surfaces.api.state import Here

router = APIRouter(prefix="/v1/knowledge", tags=["knowledge"])


class CollectionItem(BaseModel):
    name: str
    type: str
    documents: int
    chunks: int
    size_bytes: int
    projects: list[str]
    created_at: str


class CollectionList(BaseModel):
    items: list[CollectionItem]
    next: str | None = None


class DocumentItem(BaseModel):
    id: int
    source: str
    title: str
    media_type: str
    size_bytes: int
    chunks: int
    ingested_at: str
    metadata: dict[str, Any]


class DocumentList(BaseModel):
    items: list[DocumentItem]
    next: str | None = None


class PassageItem(BaseModel):
    id: int
    sequence: int
    kind: str
    header_path: str
    page: int | None
    text: str


class ReadDocumentShape(BaseModel):
    document: DocumentItem
    collection: str
    items: list[PassageItem]
    next: str | None = None


class QueryItem(BaseModel):
    query: str
    collections: list[str]
    results: int
    best_relevance: float | None
    refinement: str
    asked_at: str


class QueryList(BaseModel):
    items: list[QueryItem]
    next: str | None = None


class EmbedderItem(BaseModel):
    name: str
    dimensions: int
    documents: int
    vectors: int
    size_bytes: int
    in_use: bool


class EmbedderList(BaseModel):
    items: list[EmbedderItem]
    next: str | None = None


class RemovedVectors(BaseModel):
    name: str
    vectors: int


@router.get("/collections")
async def list_collections(
    platform: Here, _: Reader, limit: Limit = 1_000, after: After = None
) -> CollectionList:
    """By name, with counts, sizes and the projects that use them."""
    known = await platform.library.base.collections()
    page, following = cut(known, limit=limit, after=after, key=lambda item: item.name)
    return CollectionList(
        items=[
            CollectionItem(
                name=item.name,
                type=item.kind.value,
                documents=item.documents,
                chunks=item.chunks,
                size_bytes=item.size,
                projects=list(item.projects),
                created_at=item.created_at.isoformat(),
            )
            for item in page
        ],
        next=following,
    )


@router.get("/collections/{name}/documents")
async def list_documents(
    platform: Here, _: Reader, name: str, limit: Limit = 1_000, after: AfterNumber = None
) -> DocumentList:
    """What a collection was made from, by source."""
    found = await platform.library.base.documents(name, limit=limit + 1, after=after)
    page, following = overfull(found, limit=limit, key=lambda item: str(item.id))
    return DocumentList(
        items=[_document(item) for item in page],
        next=following,
    )


def _document(item: StoredDocument) -> DocumentItem:
    return DocumentItem(
        id=item.id,
        source=item.source,
        title=item.title,
        media_type=item.media_type,
        size_bytes=item.size,
        chunks=item.chunks,
        ingested_at=item.ingested_at.isoformat(),
        metadata=dict(item.metadata),
    )


@router.get("/documents")
async def find_documents(
    platform: Here,
    _: Reader,
    *,
    source: Annotated[
        str, Query(min_length=1, max_length=4_096, description="The path or address it is from, or its name.")
    ],
) -> DocumentList:
    """What was read from one place or has this name, in whichever collection; the latest first."""
    return DocumentList(
        items=[_document(item) for item in await platform.library.base.documents_from(source)]
    )


@router.get("/documents/{document_id}")
async def read_document(
    platform: Here,
    _: Reader,
    document_id: Annotated[int, Path(ge=0, le=2**53)],
    *,
    limit: Limit = 200,
    after: Annotated[int | None, Query(ge=0, le=2**31 - 2, description="The previous page's `next`.")] = None,
) -> ReadDocumentShape:
    """A document as it was read: its passages in order."""
    base = platform.library.base
    document = await base.document(document_id)
    first = 0 if after is None else after + 1
    found = await base.passages_of(document_id, first=first, limit=limit + 1)
    page, following = overfull(found, limit=limit, key=lambda item: str(item.sequence))
    passages = [
        PassageItem(
            id=item.id,
            sequence=item.sequence,
            kind=item.kind.value,
            header_path=item.header_path,
            page=item.page,
            text=item.text,
        )
        for item in page
    ]
    return ReadDocumentShape(
        document=_document(document), collection=document.collection, items=passages, next=following
    )


@router.delete(
    "/documents/{document_id}",
    responses={202: {"model": ToolResultShape, "description": "Waits for approval."}},
)
async def remove_document(
    platform: Here,
    identity: Worker,
    document_id: Annotated[int, Path(ge=0, le=2**53)],
    *,
    response: Response,
) -> ToolResultShape:
    """Take it out of the library. It waits for a person's yes (202), and can be undone for 30 days."""
    await platform.library.base.document(document_id)  # nobody is asked about what is not there
    call = ToolCall(
        tool=REMOVE_DOCUMENT,
        arguments={"document_id": document_id},
        caller=identity.caller,
        user=identity.user,
    )
    result = await platform.orchestrator.execute(call)
    if isinstance(result, PendingApproval):
        response.status_code = 202
    return ToolResultShape.of(result)


@router.get("/queries")
async def list_queries(
    platform: Here, identity: Reader, limit: Limit = 50, after: AfterNumber = None
) -> QueryList:
    """What you asked and how well it was answered, newest first."""
    found = await platform.library.base.history(user=identity.user, limit=limit + 1, after=after)
    page, following = overfull(found, limit=limit, key=lambda item: str(item.id))
    return QueryList(
        items=[
            QueryItem(
                query=item.query,
                collections=list(item.collections),
                results=item.results,
                best_relevance=item.best,
                refinement=item.refinement,
                asked_at=item.asked_at.isoformat(),
            )
            for item in page
        ],
        next=following,
    )


@router.get("/embedders")
async def list_embedders(
    platform: Here, _: Reader, limit: Limit = 1_000, after: After = None
) -> EmbedderList:
    """The models whose vectors are kept, by name, with what they take on the disk."""
    base = platform.library.base
    page, following = cut(await base.embedders(), limit=limit, after=after, key=_space_key)
    return EmbedderList(
        items=[
            EmbedderItem(
                name=space.embedder,
                dimensions=space.dimensions,
                documents=space.documents,
                vectors=space.vectors,
                size_bytes=space.size,
                in_use=space.embedder == base.embedder,
            )
            for space in page
        ],
        next=following,
    )


def _space_key(space: StoredSpace) -> str:
    return f"{space.embedder} {space.dimensions:05}"


@router.delete("/embedders/{name:path}")
async def remove_embedder(
    platform: Here,
    _: Admin,
    name: str,
    *,
    confirm: str | None = Query(default=None, description="Its name again: making the vectors took a while."),
) -> RemovedVectors:
    """Remove the vectors of a model that is no longer used; the documents stay."""
    await platform.library.base.require_unused(name)
    if confirm != name:
        raise ConflictError(
            f"Removing the vectors of '{name}' means making them again, should it be used again.",
            fix="Repeat its name as the parameter 'confirm'.",
        )
    return RemovedVectors(name=name, vectors=await platform.library.base.remove_embedder(name))
