"""`research-agent`: the knowledge base at the command line, each command the mirror of an MCP tool.

Every command calls its tool through the door, so that a terminal, an agent and an editor see the same
answers.
"""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from steward.surfaces.cli.calling import LIBRARY, call, call_tool
from steward.surfaces.cli.client import connect, route
from steward.surfaces.cli.library import documents, projects
from steward.surfaces.cli.output import JsonFlag, run, say, show_json, show_table

app = typer.Typer(
    name="research-agent",
    help="Your library: ingest documents, ask, and see where each answer stands.",
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help: rich would cost half of the start-up time
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
collections_app = typer.Typer(help="Collections of documents.", no_args_is_help=True)
app.add_typer(collections_app, name="collections")
app.add_typer(documents.app, name="kb")
app.add_typer(projects.app, name="projects")

NameArgument = Annotated[str, typer.Argument(help="Its name.")]


@app.command("query")
def query(
    text: Annotated[str, typer.Argument(metavar="QUERY", help="What you are looking for.")],
    *,
    collections: Annotated[str | None, typer.Option(help="Comma-separated names; all when absent.")] = None,
    project: Annotated[
        str | None, typer.Option(help="Search this project's collections, where none is named.")
    ] = None,
    top_k: Annotated[int, typer.Option("--top-k", help="Number of results.")] = 10,
    context: Annotated[Path | None, typer.Option(help="A document whose text sharpens the search.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Search the knowledge base.

    Example: research-agent query "how do swarms choose a home" --collections bees --top-k 3
    """
    arguments: dict[str, Any] = {
        "query": text,
        "collections": collections,
        "project_name": project,
        "top_k": top_k,
    }
    if context is not None:
        try:
            arguments["document_context"] = context.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise typer.BadParameter(f"{context}: {error.strerror}") from None
    call("query_knowledge_base", arguments, as_json=as_json, show=_show_answer)


@collections_app.command("create")
def create(
    name: NameArgument,
    *,
    kind: Annotated[str, typer.Option("--type", help="fundamental or project-specific.")] = "fundamental",
    project: Annotated[str | None, typer.Option(help="A project to link it to.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Create a collection.

    Example: research-agent collections create papers
    """
    call(
        "manage_collections",
        {"action": "create", "collection_name": name, "collection_type": kind, "project_name": project},
        as_json=as_json,
        show=lambda data: say(f"Created collection '{data['collection']['name']}'."),
    )


@collections_app.command("list")
def list_collections(as_json: JsonFlag = False) -> None:
    """List collections with their counts and sizes."""
    call(
        "manage_collections",
        {"action": "list"},
        as_json=as_json,
        show=lambda d: _show_collections(d["collections"]),
    )


@collections_app.command("info")
def info(name: NameArgument, as_json: JsonFlag = False) -> None:
    """Show one collection."""
    call(
        "manage_collections",
        {"action": "info", "collection_name": name},
        as_json=as_json,
        show=lambda data: _show_collections([data["collection"]]),
    )


@collections_app.command("delete")
def delete(
    name: NameArgument,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Answer yes when it asks.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Delete a collection with everything in it, for good. Asks first."""

    async def work() -> int:
        arguments = {"action": "delete", "collection_name": name}
        async with connect(agents=LIBRARY) as api:
            # A name that does not exist is said now, not after somebody agreed to its deletion.
            await api.get(route("knowledge", "collections", name, "documents"), limit=1)
            return await call_tool(
                api,
                "manage_collections",
                arguments,
                as_json=as_json,
                yes=yes,
                show=lambda data: say(f"Deleted collection '{data['collection']['name']}'."),
            )

    run(work, as_json=as_json)


@app.command("history")
def history(
    limit: Annotated[int, typer.Option(help="How many at most.", min=1, max=1000)] = 20,
    as_json: JsonFlag = False,
) -> None:
    """List what you asked, newest first, and how well it was answered."""

    async def work() -> None:
        async with connect(agents=()) as api:
            found = await api.get("/v1/knowledge/queries", limit=limit)
        if as_json:
            show_json(found)
            return
        rows = [
            (
                item["asked_at"][:16].replace("T", " "),
                str(item["results"]),
                "" if item["best_relevance"] is None else f"{item['best_relevance']:.2f}",
                item["refinement"],
                item["query"],
            )
            for item in found["items"]
        ]
        show_table(("ASKED", "RESULTS", "BEST", "QUERY WAS", "QUERY"), rows, empty="Nothing was asked yet.")

    run(work, as_json=as_json)


def _show_answer(data: dict[str, Any]) -> None:
    for number, hit in enumerate(data["results"], 1):
        detail = hit["metadata"]
        title, path = detail["document_title"], hit["header_path"]
        place = path if path.split(" > ")[0] == title else " · ".join(filter(None, (title, path)))
        header = f"{number}. {place}"
        say(typer.style(header, bold=True) if sys.stdout.isatty() else header)
        page = f", page {detail['page']}" if detail.get("page") else ""
        say(f"   {hit['relevance_label']} ({hit['relevance_score']:.2f}) · {hit['source_document']}{page}")
        say("\n".join(f"   {line}" for line in hit["content"].strip().splitlines()[:8]))
        say("")
    refinement = data["query_refinement"]
    if not data["results"] or refinement["status"] != "optimal":
        say(refinement["message"])
        if refinement["suggestions"]:
            say(f"Try: {', '.join(refinement['suggestions'])}")


def _show_collections(collections: list[dict[str, Any]]) -> None:
    rows = [
        (
            item["name"],
            item["type"],
            str(item["documents"]),
            str(item["chunks"]),
            f"{item['size_bytes']:,}",
            ", ".join(item["projects"]),
        )
        for item in collections
    ]
    show_table(
        ("COLLECTION", "TYPE", "DOCUMENTS", "CHUNKS", "BYTES", "PROJECTS"),
        rows,
        empty="There are no collections yet.",
    )
