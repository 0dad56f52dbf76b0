"""The library's documents as tools: which there are, one as it was read, and taking one out.

Agents are offered the first two: a person takes a document out on the page or over the API.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from steward.contract.errors import NotFoundError
from steward.contract.tool import Effect, Origin, RiskLevel, ToolHints, ToolSpec
from steward.knowledge.model import StoredDocument
from steward.knowledge.service import KnowledgeBase
from steward.providers.functions import FunctionTool, LegacyToolAgent

LIBRARY_AGENT = "document-tools"
LIST_DOCUMENTS, READ_DOCUMENT, REMOVE_DOCUMENT = "list_documents", "read_document", "remove_document"
MOST_LISTED = 200
MOST_READ = 60  # passages of one document
_LISTS = (
    "Which documents the knowledge base holds, with their collections. Prefer query_knowledge_base "
    "for what is in "
    "them."
)
_READS = (
    "One document of the knowledge base from its beginning, passage by passage. Prefer "
    "query_knowledge_base for a "
    "question about it."
)


def library_agent(base: KnowledgeBase) -> LegacyToolAgent:
    async def listed() -> dict[str, Any]:
        found = await _documents(base)
        return {
            "documents": [_shape(each) for each in found[:MOST_LISTED]],
            "more": len(found) > MOST_LISTED,
        }

    async def read(document: str) -> dict[str, Any]:
        wanted = [each for each in await _documents(base) if document in (each.source, each.title)]
        if not wanted:
            raise NotFoundError(f"There is no document '{document[:80]}'.", fix="See list_documents.")
        passages = await base.passages_of(wanted[0].id, limit=MOST_READ)
        return {
            **_shape(wanted[0]),
            "passages": [{"heading": each.header_path, "text": each.text} for each in passages],
        }

    what = {"type": "string", "description": "Its source or title, as list_documents has it."}
    tools = [
        _tool(LIST_DOCUMENTS, listed, description=_LISTS, takes={}),
        _tool(READ_DOCUMENT, read, description=_READS, takes={"document": what}),
        _remove(base),
    ]
    return LegacyToolAgent(LIBRARY_AGENT, tools, name="The library", capabilities=("documents",))


def _remove(base: KnowledgeBase) -> FunctionTool:
    async def remove(document_id: int) -> dict[str, Any]:
        return _shape(await base.remove_document(document_id))

    async def tell(document_id: int) -> str:
        """Raises for a document that is not there: nobody is asked about nothing."""
        known = await base.document(document_id)
        return f'takes the document "{known.title}" out of the collection "{known.collection}"'

    return FunctionTool(
        ToolSpec(
            name=REMOVE_DOCUMENT,
            description="Take one document out of the knowledge base. The file that it was read from stays. "
            "It can be taken back for 30 days. Prefer manage_collections for a whole collection.",
            input_schema={
                "type": "object",
                "properties": {
                    "document_id": {
                        "type": "integer",
                        "minimum": 0,
                        "maximum": 2**53,
                        "description": "The document.",
                    }
                },
                "required": ["document_id"],
                "additionalProperties": False,
            },
            origin=Origin.BUILTIN,
            risk=RiskLevel.REVERSIBLE_WITH_DELAY,
            effect=Effect.WRITES_STORE,
            hints=ToolHints(read_only=False, destructive=True, idempotent=True, open_world=False),
            category="knowledge",
        ),
        remove,
        tell,
    )


async def _documents(base: KnowledgeBase) -> list[StoredDocument]:
    found: list[StoredDocument] = []
    for collection in await base.collections():
        found += await base.documents(collection.name, limit=MOST_LISTED + 1 - len(found))
        if len(found) > MOST_LISTED:
            break
    return found


def _shape(document: StoredDocument) -> dict[str, Any]:
    return {
        "title": document.title,
        "source": document.source,
        "collection": document.collection,
        "added": document.ingested_at.isoformat(),
        "metadata": {name: str(value)[:200] for name, value in document.metadata.items()},
    }


def _tool(
    name: str, function: Any, *, description: str, takes: Mapping[str, Any], examples: Sequence[str] = ()
) -> FunctionTool:
    spec = ToolSpec(
        name=name,
        description=description,
        input_schema={
            "type": "object",
            "properties": dict(takes),
            "required": list(takes),
            "additionalProperties": False,
        },
        origin=Origin.BUILTIN,
        risk=RiskLevel.REVERSIBLE,
        effect=Effect.READS,
        hints=ToolHints(read_only=True, destructive=False, idempotent=True, open_world=False),
        examples=tuple(examples),
        category="knowledge",
    )
    return FunctionTool(spec, function)
