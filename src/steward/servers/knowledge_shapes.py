"""How the knowledge tools' answers look: as data (KB-4) and as Markdown for a reader."""

from collections.abc import Mapping, Sequence
from typing import Any

from steward.knowledge.model import Collection, Hit, LibraryAnswer, Project, StoredDocument, document_name
from steward.knowledge.ports import PastQuery
from steward.knowledge.report import Report


def answer_data(answer: LibraryAnswer) -> dict[str, Any]:
    return {
        "status": "success",
        "results": [_hit_data(hit) for hit in answer.hits],
        "query_refinement": {
            "status": answer.refinement.status.value,
            "suggestions": list(answer.refinement.suggestions),
            "message": answer.refinement.message,
        },
    }


def _hit_data(hit: Hit) -> dict[str, Any]:
    return {
        "content": hit.text,
        "relevance_score": hit.relevance,
        "relevance_label": hit.label,
        "source_document": hit.citation.name,
        "header_path": hit.citation.header_path,
        "metadata": {
            **hit.metadata,
            "document_title": hit.citation.title,
            "content_type": hit.kind.value,
            "chunk_sequence_id": hit.sequence,
            "collection": hit.collection,
            "document_id": hit.document_id,
            "page": hit.citation.page,
            "span": [hit.citation.start, hit.citation.end],
            "also_in": _names(hit.also_in),
        },
    }


def _names(sources: Sequence[str]) -> list[str]:
    return [document_name(source) for source in sources]


def answer_text(query: str, answer: LibraryAnswer) -> str:
    lines = [f"## Results for “{_one_line(query)}”", ""]
    if not answer.hits:
        lines += ["_Nothing relevant was found._", ""]
    for number, hit in enumerate(answer.hits, 1):
        page = f" · page {hit.citation.page}" if hit.citation.page is not None else ""
        lines += [
            f"### {number}. {_heading(hit)}",
            f"**{hit.label}** ({hit.relevance:.2f}) · `{hit.citation.name}`{page} · {_span(hit)}",
            "",
            *(f"> {line}" for line in hit.text.splitlines()),
            "",
        ]
        if hit.also_in:
            lines += [f"_Also in: {', '.join(_names(hit.also_in))}_", ""]
    lines.append(f"**Query:** {answer.refinement.status.value} — {answer.refinement.message}")
    if answer.refinement.suggestions:
        lines.append(f"**Try:** {', '.join(answer.refinement.suggestions)}")
    return "\n".join(lines)


def collection_data(collection: Collection) -> dict[str, Any]:
    return {
        "name": collection.name,
        "type": collection.kind.value,
        "documents": collection.documents,
        "chunks": collection.chunks,
        "size_bytes": collection.size,
        "projects": list(collection.projects),
        "created_at": collection.created_at.isoformat(),
    }


def collections_text(collections: Sequence[Collection]) -> str:
    if not collections:
        return "There are no collections yet."
    rows = [
        f"| {item.name} | {item.kind.value} | {item.documents} | {item.chunks} | {item.size:,} |"
        for item in collections
    ]
    return "\n".join(["| Collection | Type | Documents | Chunks | Bytes |", "|---|---|---|---|---|", *rows])


def project_data(project: Project) -> dict[str, Any]:
    return {
        "name": project.name,
        "collections": list(project.collections),
        "default_collections": list(project.defaults),
    }


def project_text(project: Project) -> str:
    linked = ", ".join(project.collections) or "none"
    defaults = ", ".join(project.defaults) or "none"
    return f"**{project.name}**: collections {linked}; defaults {defaults}."


ADD_SINGLY = "Name it by itself in ingest_documents to add it; that asks first."


def report_data(report: Report, collection: str) -> dict[str, Any]:
    return {
        "status": "success",
        "collection": collection,
        "added": report.added,
        "updated": report.updated,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "missing": report.missing,
        "chunks": report.chunks,
        "failed": [
            {"path": path, "code": failure.code, "reason": failure.reason}
            for path, failure in sorted(report.failed.items())
        ],
        "failures": report.failures,
        "skipped": dict(report.skipped),
        "withheld": [
            {"path": path, "reason": f"It is {what}. {ADD_SINGLY}"}
            for path, what in sorted(report.withheld.items())
        ],
        "withheld_files": report.withheld_files,
    }


def report_text(report: Report, collection: str) -> str:
    counts = (
        f"**{collection}**: {report.added} added, {report.updated} updated, {report.unchanged} unchanged, "
        f"{report.removed} removed; {report.chunks} new chunks."
    )
    lines = [counts]
    if report.missing:
        lines += ["", f"{report.missing} of its documents have no file any more; their text stays."]
    if report.failed:
        lines += ["", f"{report.failures} could not be read:"]
        lines += [f"- `{path}`: {failure.reason}" for path, failure in sorted(report.failed.items())[:50]]
        if report.failures > 50:
            lines.append(f"- and {report.failures - 50} more")
    if report.skipped:
        kinds = ", ".join(f"{count} {kind}" for kind, count in report.skipped.most_common(10))
        lines += ["", f"Skipped: {kinds}."]
    if report.withheld:
        lines += ["", f"{report.withheld_files} left out because they look private. {ADD_SINGLY}"]
        lines += [f"- `{path}`: {what}" for path, what in sorted(report.withheld.items())[:50]]
    return "\n".join(lines)


def document_data(document: StoredDocument) -> dict[str, Any]:
    return {
        "id": document.id,
        "collection": document.collection,
        "source": document.source,
        "title": document.title,
        "media_type": document.media_type,
        "sha256": document.sha256,
        "size_bytes": document.size,
        "chunks": document.chunks,
        "ingested_at": document.ingested_at.isoformat(),
        "metadata": dict(document.metadata),
    }


def query_data(query: PastQuery) -> Mapping[str, Any]:
    return {
        "query": query.query,
        "collections": list(query.collections),
        "results": query.results,
        "best_relevance": query.best,
        "refinement": query.refinement,
        "asked_at": query.asked_at.isoformat(),
    }


def _heading(hit: Hit) -> str:
    """The title and the way down to the passage; most ways begin with the title."""
    title, path = hit.citation.title, hit.citation.header_path
    return path if path.split(" > ")[0] == title else " · ".join(filter(None, (title, path)))


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 200 else f"{line[:199]}…"


def _span(hit: Hit) -> str:
    return f"characters {hit.citation.start}-{hit.citation.end}"
