"""What tools brought: passages with their sources, and what failed. Read from the record, by shape.

Owns how results of memory, knowledge, search and pages are read. A result in no known shape is evidence of
nothing and is counted as malformed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast
from urllib.parse import urlsplit

from steward.agents.turn.results import as_text
from steward.conversations.model import CallRecord, CallStatus, Source
from steward.models.planner.dialogue import Step

MEMORY_SEARCHES = ("search_memory", "memory_search")
KNOWLEDGE_SEARCH = "query_knowledge_base"
WEB_SEARCHES = ("web_search", "search_web")
PAGE_READERS = ("fetch_page",)
STORE = "store_memory"
MEMORY, DOCUMENT, WEB, TOOL = "memory", "document", "web", "tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutcome:
    """One call and what came of it, whoever made it."""

    tool: str
    arguments: Mapping[str, Any]
    data: Any = None
    failure: str | None = None

    @property
    def role(self) -> str:
        """The tool without the server it comes from: a search is a search."""
        return self.tool.rpartition("__")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePassage:
    text: str
    source: Source
    score: float = 0.0  # as the tool scored it, 0 to 1, where it does
    metadata: Mapping[str, Any]
    snippet: bool = False  # only what a search showed of a page


def from_records(records: Sequence[CallRecord]) -> list[ToolOutcome]:
    return [
        ToolOutcome(
            tool=record.tool,
            arguments=record.arguments,
            data=record.data,
            failure=None if record.status is CallStatus.DONE else (record.error or str(record.status)),
        )
        for record in records
    ]


def from_steps(steps: Sequence[Step]) -> list[ToolOutcome]:
    return [
        ToolOutcome(tool=step.tool, arguments=step.arguments, data=step.data, failure=step.failure)
        for step in steps
    ]


def passages(heard: Sequence[ToolOutcome]) -> list[SourcePassage]:
    """Everything that was read, pages before the snippets that led to them."""
    found = [passage for each in heard if each.failure is None for passage in _read(each)]
    read = {passage.source.location for passage in found if not passage.snippet}
    return [each for each in found if not (each.snippet and each.source.location in read)]


def malformed(heard: ToolOutcome) -> bool:
    """Whether a search or a page answered with something that is none."""
    if heard.failure is not None:
        return False
    if heard.role in (*MEMORY_SEARCHES, *WEB_SEARCHES, KNOWLEDGE_SEARCH):
        return _rows(heard.data) is None
    if heard.role in PAGE_READERS:
        return not isinstance(_get(heard.data, "text"), str)
    return False


def failures(heard: Sequence[ToolOutcome]) -> list[str]:
    said = [f"{each.tool} failed: {each.failure}" for each in heard if each.failure is not None]
    odd = [f"{each.tool} answered in a form that cannot be read." for each in heard if malformed(each)]
    return [*said, *odd]


def _read(heard: ToolOutcome) -> Iterator[SourcePassage]:
    role = heard.role
    if role in MEMORY_SEARCHES:
        yield from (_memory(row) for row in _rows(heard.data) or () if _has(row, "content"))
    elif role == KNOWLEDGE_SEARCH:
        yield from (_document(row) for row in _rows(heard.data) or () if _has(row, "content"))
    elif role in WEB_SEARCHES:
        yield from (_snippet(row) for row in _rows(heard.data) or () if _has(row, "url"))
    elif role in PAGE_READERS:
        if not malformed(heard):
            yield _page(cast("Mapping[str, Any]", heard.data))
    elif role != STORE and heard.data not in (None, "", [], {}):
        source = Source(title=heard.tool, location=heard.tool, kind=TOOL)
        yield SourcePassage(text=_told(heard.data), source=source, metadata={})


def _rows(data: Any) -> list[Mapping[str, Any]] | None:
    """The list inside a result, however it is wrapped; None when there is none."""
    if isinstance(data, Mapping):
        wrapped = cast("Mapping[str, Any]", data)
        data = next((wrapped[key] for key in ("items", "results", "result") if key in wrapped), None)
    if not isinstance(data, list):
        return None
    rows = cast("list[Any]", data)
    kept = [cast("Mapping[str, Any]", row) for row in rows if isinstance(row, Mapping)]
    return None if rows and not kept else kept


def _memory(row: Mapping[str, Any]) -> SourcePassage:
    metadata = _metadata(row)
    when = _day(metadata.get("timestamp") or metadata.get("stored_at"))
    source = Source(
        title=str(metadata.get("topic") or "memory").replace("_", " "),
        location=f"memory:{row.get('id') or ''}",
        kind=MEMORY,
        date=when,
        detail="; ".join(_found_at(metadata)) or None,
    )
    return SourcePassage(
        text=str(row["content"]), source=source, score=_number(row.get("score")), metadata=metadata
    )


def _document(row: Mapping[str, Any]) -> SourcePassage:
    metadata = _metadata(row)
    page = metadata.get("page")
    where = [_text(row.get("header_path")), f"page {page}" if page is not None else None]
    source = Source(
        title=str(metadata.get("document_title") or row.get("source_document") or "document"),
        location=str(row.get("source_document") or ""),
        kind=DOCUMENT,
        date=_day(metadata.get("modified_at") or metadata.get("date")),
        detail=", ".join(part for part in where if part) or None,
    )
    score = _number(row.get("relevance_score"))
    return SourcePassage(text=str(row["content"]), source=source, score=score, metadata=metadata)


def _snippet(row: Mapping[str, Any]) -> SourcePassage:
    source = Source(
        title=str(row.get("title") or row["url"]), location=str(row["url"]), date=_day(row.get("date"))
    )
    return SourcePassage(text=str(row.get("snippet") or ""), source=source, metadata={}, snippet=True)


def _page(data: Mapping[str, Any]) -> SourcePassage:
    location = str(data.get("url") or "")
    source = Source(title=str(data.get("title") or location), location=location, date=_day(data.get("date")))
    return SourcePassage(text=str(data["text"]), source=source, metadata={})


def _found_at(metadata: Mapping[str, Any]) -> list[str]:
    """Where a finding came from when it was stored, each place with its own date."""
    kept = metadata.get("sources")
    rows = cast("list[Any]", kept) if isinstance(kept, list) else []
    named = [[_text(_get(row, key)) for key in ("title", "location", "date")] for row in rows]
    return [", ".join(part for part in parts if part) for parts in named if parts[1]]


def _metadata(row: Mapping[str, Any]) -> Mapping[str, Any]:
    about = row.get("metadata")
    return cast("Mapping[str, Any]", about) if isinstance(about, Mapping) else dict[str, Any]()


def host_of(source: Source) -> str:
    """What makes two sources independent: another site, another document."""
    host = urlsplit(source.location).hostname if source.kind == WEB else None
    return (host or source.location).removeprefix("www.")


def _told(data: Any) -> str:
    return data if isinstance(data, str) else as_text(data)


def _has(row: Mapping[str, Any], key: str) -> bool:
    return isinstance(row.get(key), str) and bool(row[key])


def _get(data: Any, key: str) -> Any:
    return cast("Mapping[str, Any]", data).get(key) if isinstance(data, Mapping) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _number(value: Any) -> float:
    known = isinstance(value, int | float) and not isinstance(value, bool)
    return max(0.0, min(1.0, float(value))) if known else 0.0


def _day(value: Any) -> str | None:
    try:
        return datetime.fromisoformat(str(value)).date().isoformat() if value else None
    except ValueError:
        return None
