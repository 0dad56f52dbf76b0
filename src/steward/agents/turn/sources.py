"""What an answer rests on, read from the ledger: sources, steps in words, how much of it worked."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from steward.conversations.model import CallRecord, CallStatus, Source

MOST_SOURCES = 20
MAX_DEPTH = 5
_WORDS = {
    CallStatus.DONE: "worked",
    CallStatus.FAILED: "failed",
    CallStatus.PENDING_APPROVAL: "waits for approval",
    CallStatus.REFUSED: "was refused",
    CallStatus.REJECTED: "the person said no",
}


def reasoning(calls: Sequence[CallRecord]) -> str:
    if not calls:
        return "No tool was called."
    return " ".join(f"{_opening(call)} {call.tool}: {_WORDS[call.status]}." for call in calls)


def _opening(call: CallRecord) -> str:
    return "Did not call" if call.status is CallStatus.REJECTED else "Called"


def share_done(calls: Sequence[CallRecord]) -> float:
    """The part of the calls that worked; nothing called is no evidence."""
    done = sum(call.status is CallStatus.DONE for call in calls)
    return round(done / len(calls), 4) if calls else 0.0


def sources(calls: Sequence[CallRecord]) -> tuple[Source, ...]:
    """Pages, documents and memories among the results, each once."""
    found: dict[str, Source] = {}
    for call in calls:
        if call.status is CallStatus.DONE:
            for source in _sources(call.data, 0):
                found.setdefault(source.location, source)
    return tuple(found.values())[:MOST_SOURCES]


def _sources(data: Any, depth: int) -> Iterator[Source]:
    if depth > MAX_DEPTH:
        return
    if isinstance(data, Mapping):
        given = cast("Mapping[str, Any]", data)
        source = _source(given)
        if source is not None:
            yield source
        for value in given.values():
            yield from _sources(value, depth + 1)
    elif isinstance(data, list):
        for item in cast("list[Any]", data):
            yield from _sources(item, depth + 1)


def _source(given: Mapping[str, Any]) -> Source | None:
    title, date = _text(given.get("title")), _text(given.get("date"))
    if url := _text(given.get("url")):
        return Source(title=title or url, location=url, date=date)
    if document := _text(given.get("source_document")):
        inner = given.get("metadata")
        named = cast("Mapping[str, Any]", inner if isinstance(inner, Mapping) else {})
        return Source(
            title=_text(named.get("document_title")) or document,
            location=document,
            kind="document",
            date=date,
            detail=_text(given.get("header_path")),
        )
    return None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
