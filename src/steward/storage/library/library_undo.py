"""Taking back what was read into the library. A document that leaves is put away with its passages, not lost.

Nothing is embedded again when it comes back: its passages wait under a collection below zero, which no search
looks into, until the journal forgets the change (undo.py).
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from steward.contract.errors import ConflictError
from steward.contract.undoing import CannotUndoError, TakenBack, UndoStep, changed_since
from steward.knowledge.model import Document
from steward.storage import undo
from steward.storage.database import sql
from steward.storage.database.postgres import Session

SQL = sql.load("knowledge")
DOCUMENT = "document"
Image = Mapping[str, Any]


async def document_before(session: Session, collection: int, source: str) -> Image | None:
    """The document of this source as it is, where a change of it can be taken back."""
    if undo.call_under_way() is None:
        return None
    known = await session.fetchval(SQL.document_at, collection, source)
    return None if known is None else await _image(session, known)


async def note_document(session: Session, document_id: int, before: Image | None, document: Document) -> bool:
    """Once it is kept. True where what it said before was put away."""
    call = undo.call_under_way()
    if call is None:
        return False
    shelf = None if before is None else await session.fetchval(undo.SQL.chunks_to_shelf, document_id)
    image = await _image(session, document_id)
    assert image is not None
    data = _data(image, stands=image["sha256"], row=before, shelf=shelf)
    words = f"{'added' if before is None else 'read anew'} the document '{document.title}'"
    await undo.note(session, _step(document_id, data), user=call.user or undo.LOCAL, words=words)
    return before is not None


async def put_away(session: Session, document_id: int, *, words: str) -> None:
    """Remove a document so that it can come back; `words` say what was done."""
    call, image = undo.call_under_way(), await _image(session, document_id)
    if call is None or image is None:
        return
    shelf = await session.fetchval(undo.SQL.chunks_to_shelf, document_id)
    await session.execute(undo.SQL.delete_document, document_id)
    data = _data(image, stands=None, row=image, shelf=shelf)
    await undo.note(session, _step(document_id, data), user=call.user or undo.LOCAL, words=words)


def document_taker(settle: Callable[[int], Awaitable[None]]) -> undo.Taker:
    """`settle` brings a collection's statistics up to date."""

    async def take(session: Session, _user: str, step: UndoStep) -> TakenBack:
        document, row, shelf = (step.data[name] for name in ("document", "row", "shelf"))
        there = await _image(session, document)
        if (None if there is None else there["sha256"]) != step.data["stands"]:
            raise changed_since("the document")
        away = None if there is None else await session.fetchval(undo.SQL.chunks_to_shelf, document)
        if there is not None:
            await session.execute(undo.SQL.delete_document, document)
        if row is not None:
            await _unshelve(session, row, shelf)
        back = {
            "document": document,
            "collection": step.data["collection"],
            "stands": None if row is None else row["sha256"],
            "row": there,
            "shelf": away,
        }
        return TakenBack(back, lambda: settle(int(step.data["collection"])))

    return take


async def _unshelve(session: Session, row: Image, shelf: int) -> None:
    try:
        async with session.transaction() as attempt:
            await attempt.execute(undo.SQL.unshelve, row, shelf)
    except ConflictError as error:
        raise CannotUndoError(
            "Nothing was taken back: the document is there again, or its collection is gone."
        ) from error


async def _image(session: Session, document_id: int) -> Image | None:
    row = await session.fetchrow(undo.SQL.images, "kb_documents", {"id": document_id})
    return None if row is None else row["image"]


def _data(image: Image, *, stands: str | None, row: Image | None, shelf: int | None) -> dict[str, Any]:
    collection = image["collection_id"]
    return {
        "document": image["id"],
        "collection": collection,
        "stands": stands,
        "row": row,
        "shelf": shelf,
    }


def _step(document_id: int, data: Mapping[str, Any]) -> UndoStep:
    return UndoStep(kind=DOCUMENT, thing=f"kb_documents:{document_id}", data=data)
