"""The knowledge-base server: five tools, resources and prompts over MCP.

Owns names, parameters and error codes exactly as KB states them. Does not own what the operations do
(knowledge), nor who may delete a collection: it stands behind the door, which asks.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import mcp_types
import orjson
from fastmcp import Context, FastMCP
from fastmcp.exceptions import NotFoundError as UnknownToolError
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import ToolResult
from mcp.shared.exceptions import MCPError
from pydantic import Field, ValidationError

from steward.contract.call import current_call
from steward.contract.errors import StewardError
from steward.knowledge.model import CollectionError, parse_kind, parse_names
from steward.knowledge.service import KnowledgeBase
from steward.servers import knowledge_shapes as shapes
from steward.servers.asking import ask
from steward.servers.base import READS, CallContext, NextCall, new_server
from steward.servers.knowledge_codes import SYSTEM, wire_number

logger = logging.getLogger(__name__)

INVALID_PARAMETERS = -32602
ADDS = mcp_types.ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True)
DELETES = mcp_types.ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True)
SECONDS, INGEST_SECONDS = 30.0, 3_600.0

INSTRUCTIONS = """A library of documents on this machine. Ask with query_knowledge_base; each result says
where it stands. Results carry a relevance between 0 and 1; query_refinement says how to ask better."""

_QUESTIONS = {
    "collection_name": "Which collection?",
    "project_name": "Which project?",
    "collections": "Which collections, separated by commas?",
}


class KnowledgeErrors(Middleware):
    """Errors leave as JSON-RPC errors with KB's code and guidance; FastMCP keeps them only from here."""

    async def on_call_tool(self, context: CallContext, call_next: NextCall) -> Any:
        try:
            return await call_next(context)
        except MCPError:
            raise
        except UnknownToolError as error:
            guidance = "Call tools/list and use one of the names there."
            data = {"details": str(error), "guidance": guidance}
            raise _readable(INVALID_PARAMETERS, "There is no such tool.", data) from error
        except Exception as error:
            raise wire_error(error) from error

    async def on_read_resource(
        self,
        context: MiddlewareContext[mcp_types.ReadResourceRequestParams],
        call_next: CallNext[mcp_types.ReadResourceRequestParams, Any],
    ) -> Any:
        try:
            return await call_next(context)
        except Exception as error:
            if isinstance(error.__cause__ or error, StewardError):
                raise wire_error(error) from error
            raise


def wire_error(error: Exception) -> MCPError:
    """What the client is told: our own words for our own errors, and nothing of the inside for the rest."""
    found = error if isinstance(error, StewardError) else error.__cause__
    if isinstance(found, StewardError):
        code = wire_number(found.code)
        guidance = found.fix or "Try again; if it stays, look into the log."
        data = {
            "details": found.message,
            "guidance": guidance,
            "error_code": found.code,
            "retryable": found.retryable and not found.in_doubt,
        }
        if found.in_doubt:
            data["outcome_unknown"] = True
        return _readable(code, found.message, data)
    invalid = error if isinstance(error, ValidationError) else error.__cause__
    if isinstance(invalid, ValidationError):
        problems = "; ".join(
            f"{'.'.join(map(str, item['loc'])) or 'arguments'}: {item['msg']}" for item in invalid.errors()
        )
        return _readable(
            INVALID_PARAMETERS,
            f"The arguments do not fit this tool: {problems}.",
            {"details": problems, "guidance": "See the tool's input schema."},
        )
    if (
        isinstance(error, TimeoutError)
        or isinstance(error.__cause__, TimeoutError)
        or "timed out" in str(error)
    ):
        return _readable(
            SYSTEM, "The operation took too long.", {"details": "timeout", "guidance": "Ask for less."}
        )
    logger.error("A knowledge tool failed", exc_info=error)
    return _readable(
        SYSTEM,
        "Tool execution failed.",
        {"details": type(error).__name__, "guidance": "Look into Steward's log for the cause."},
    )


def _readable(code: int, message: str, data: Mapping[str, Any]) -> MCPError:
    """Many clients show the message alone, so the guidance stands in it as well."""
    return MCPError(code, f"{message} {data['guidance']}", dict(data))


def build(knowledge: KnowledgeBase, *, seconds: float = SECONDS) -> FastMCP:
    """`seconds`: how long an operation may take; ingesting has an hour."""
    server = new_server("steward-knowledge", INSTRUCTIONS, errors=KnowledgeErrors())
    _add_query(server, knowledge, seconds)
    _add_collections(server, knowledge, seconds)
    _add_documents(server, knowledge, seconds)
    _add_projects(server, knowledge, seconds)
    _add_resources(server, knowledge)
    _add_prompts(server)
    return server


def _user() -> str | None:
    """For whom this call acts. The SDK carries the caller's context across its in-memory streams."""
    call = current_call.get()
    return None if call is None else call.user


def _add_query(server: FastMCP, knowledge: KnowledgeBase, seconds: float) -> None:
    @server.tool(annotations=READS, timeout=seconds)
    async def query_knowledge_base(
        query: Annotated[str, Field(description="What you are looking for, in your own words.")],
        collections: Annotated[
            str | None, Field(description="Comma-separated collection names; all when absent.")
        ] = None,
        top_k: Annotated[int, Field(description="Number of results, 1 to 100.")] = 10,
        document_context: Annotated[
            str | None, Field(description="Text of the document at hand; it sharpens the search.")
        ] = None,
        project_name: Annotated[
            str | None, Field(description="Search this project's default collections, where none is named.")
        ] = None,
    ) -> ToolResult:
        """Search the knowledge base by meaning and words, with re-ranking.

        Use it instead of web_search for the person's own documents, papers and books. Prefer search_memory
        for what was said or decided.
        """
        answer = await knowledge.query(
            query,
            collections=parse_names(collections),
            top_k=top_k,
            document_context=document_context,
            project=project_name,
            user=_user(),
        )
        return ToolResult(
            content=shapes.answer_text(query, answer), structured_content=shapes.answer_data(answer)
        )


def _add_collections(server: FastMCP, knowledge: KnowledgeBase, seconds: float) -> None:
    @server.tool(annotations=DELETES, timeout=seconds)
    async def manage_collections(
        action: Annotated[Literal["create", "list", "delete", "info"], Field(description="What to do.")],
        ctx: Context,
        collection_name: Annotated[
            str | None, Field(description="Needed for create, delete and info.")
        ] = None,
        collection_type: Annotated[
            str | None, Field(description="fundamental or project-specific, for create.")
        ] = None,
        project_name: Annotated[str | None, Field(description="A project to link the new one to.")] = None,
    ) -> ToolResult | mcp_types.InputRequiredResult:
        """Create, list, inspect or delete collections. Deleting removes every document in it, for good.

        Prefer query_knowledge_base for searching in them.
        """
        if action == "list":
            found = await knowledge.collections()
            data = {"status": "success", "collections": [shapes.collection_data(item) for item in found]}
            return ToolResult(content=shapes.collections_text(found), structured_content=data)
        if action == "delete" and not collection_name:  # the yes was given to this call, not to a later name
            raise CollectionError("'delete' needs collection_name.", fix="Send collection_name along.")
        given = await _needed(ctx, action, {"collection_name": collection_name})
        if not isinstance(given, dict):
            return given
        name = given["collection_name"]
        match action:
            case "create":
                item = await knowledge.create_collection(
                    name, parse_kind(collection_type), project=project_name
                )
                text = f"Created collection **{item.name}** ({item.kind.value})."
            case "info":
                item = await knowledge.collection(name)
                text = shapes.collections_text([item])
            case "delete":
                item = await knowledge.delete_collection(name)
                text = f"Deleted collection **{item.name}** with {item.documents} documents."
        data = {"status": "success", "action": action, "collection": shapes.collection_data(item)}
        return ToolResult(content=text, structured_content=data)


async def _needed(
    ctx: Context, action: str, arguments: Mapping[str, str | None]
) -> dict[str, str] | mcp_types.InputRequiredResult:
    """Arguments that this action cannot do without: as given, or else asked for where somebody can be."""
    missing = {
        name: f"{_QUESTIONS[name]} ('{action}' needs it.)" for name, value in arguments.items() if not value
    }
    answers = await ask(ctx, missing) if missing else {}
    if isinstance(answers, mcp_types.InputRequiredResult):
        return answers
    known = {name: (value or answers[name] or "").strip() for name, value in arguments.items()}
    absent = [name for name, value in known.items() if not value]
    if absent:
        names = " and ".join(absent)
        raise CollectionError(f"'{action}' needs {names}.", fix=f"Send {names} along.")
    return known


def _add_documents(server: FastMCP, knowledge: KnowledgeBase, seconds: float) -> None:
    @server.tool(annotations=ADDS, timeout=INGEST_SECONDS)
    async def ingest_documents(
        path: Annotated[str, Field(description="A file or a folder on this machine.")],
        collection: Annotated[str, Field(description="The collection to add it to.")],
        ctx: Context,
        recursive: Annotated[bool, Field(description="Folders inside the folder as well.")] = False,
        remove_missing: Annotated[
            bool, Field(description="Remove the text of files that are gone, for good.")
        ] = False,
    ) -> ToolResult:
        """Add a file or folder of documents to the knowledge base: read and index it for searching.

        Markdown, text, HTML, PDF, DOCX, CSV, code. Unchanged files are skipped.

        Prefer augment_knowledge for text that is in no file.
        """

        async def progress(done: int, total: int | None, message: str) -> None:
            await ctx.report_progress(done, total, message)

        report = await knowledge.ingest(
            path, collection, recursive=recursive, remove_missing=remove_missing, progress=progress
        )
        return ToolResult(
            content=shapes.report_text(report, collection),
            structured_content=shapes.report_data(report, collection),
        )

    @server.tool(annotations=ADDS, timeout=seconds)
    async def augment_knowledge(
        content: Annotated[str, Field(description="The text to keep, Markdown welcome.")],
        source: Annotated[str, Field(description="Where it comes from: an address or a name.")],
        collection: Annotated[str, Field(description="The collection to add it to.")],
        title: Annotated[str | None, Field(description="The document's title.")] = None,
    ) -> ToolResult:
        """Add outside research. The same source again replaces what it said before.

        Prefer ingest_documents for files and folders. Prefer store_memory for single findings.
        """
        report = await knowledge.augment(content, source=source, collection=collection, title=title)
        return ToolResult(
            content=shapes.report_text(report, collection),
            structured_content=shapes.report_data(report, collection),
        )


def _add_projects(server: FastMCP, knowledge: KnowledgeBase, seconds: float) -> None:
    @server.tool(annotations=ADDS, timeout=seconds)
    async def manage_projects(
        action: Annotated[
            Literal["create", "link", "unlink", "set-defaults"], Field(description="What to do.")
        ],
        ctx: Context,
        project_name: Annotated[str | None, Field(description="The project.")] = None,
        collections: Annotated[str | None, Field(description="Comma-separated collection names.")] = None,
    ) -> ToolResult | mcp_types.InputRequiredResult:
        """Group collections under projects, and choose which ones a project searches by default.

        Prefer manage_collections for a collection by itself.
        """
        wanted = {"project_name": project_name}
        if action != "create":
            wanted["collections"] = collections
        given = await _needed(ctx, action, wanted)
        if not isinstance(given, dict):
            return given
        name, names = given["project_name"], parse_names(given.get("collections", collections))
        match action:
            case "create":
                project = await knowledge.create_project(name, names)
            case "link":
                project = await knowledge.link(name, names)
            case "unlink":
                project = await knowledge.unlink(name, names)
            case "set-defaults":
                project = await knowledge.set_defaults(name, names)
        data = {"status": "success", "action": action, "project": shapes.project_data(project)}
        return ToolResult(content=shapes.project_text(project), structured_content=data)


def _json(value: Mapping[str, Any] | Sequence[Any]) -> str:
    return orjson.dumps(value, default=str).decode()


def _add_resources(server: FastMCP, knowledge: KnowledgeBase) -> None:
    @server.resource("knowledge://collections", mime_type="application/json")
    async def collections() -> str:
        """Every collection with its counts and sizes."""
        return _json([shapes.collection_data(item) for item in await knowledge.collections()])

    @server.resource("knowledge://collections/{name}/documents", mime_type="application/json")
    async def documents(name: str) -> str:
        """A collection's documents."""
        return _json([shapes.document_data(item) for item in await knowledge.documents(name)])

    @server.resource("knowledge://documents/{document_id}", mime_type="application/json")
    async def document(document_id: int) -> str:
        """One document's metadata."""
        return _json(shapes.document_data(await knowledge.document(document_id)))

    @server.resource("knowledge://projects", mime_type="application/json")
    async def projects() -> str:
        """Every project with its collections and those that it searches."""
        return _json([shapes.project_data(item) for item in await knowledge.projects()])

    @server.resource("knowledge://queries", mime_type="application/json")
    async def queries() -> str:
        """Your last queries and how they fared."""
        return _json([shapes.query_data(item) for item in await knowledge.history(user=_user())])


def _add_prompts(server: FastMCP) -> None:
    @server.prompt
    def refine_query(query: str, problem: str = "too broad") -> str:
        """Turn a weak query into a better one."""
        return (
            f"The search “{query}” was {problem}. Write one better query: name the thing, its property "
            "and its setting; leave out filler words; keep the person's own terms. "
            "Then call query_knowledge_base."
        )

    @server.prompt
    def extract_context(document: str) -> str:
        """Boil a document down to what sharpens a search."""
        return (
            "From the document below, list in at most 120 words: its subject, the names and terms that "
            "matter, and what its reader wants to know. "
            "Pass the list as document_context to query_knowledge_base.\n\n"
            f"{document}"
        )
