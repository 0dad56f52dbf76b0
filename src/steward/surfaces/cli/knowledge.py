"""`research-agent`: the knowledge base at the command line, each command the mirror of an MCP tool.

Every command calls its tool through the door, so that a terminal, an agent and an editor see the same
answers.
"""

import asyncio
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from steward.contract.errors import InputError
from steward.surfaces.cli.client import Api, connect, route
from steward.surfaces.cli.consent import settle
from steward.surfaces.cli.output import Exit, JsonFlag, result_exit, run, say, show_json, show_table
from steward.surfaces.cli.progress import call_with_progress

app = typer.Typer(
    name="research-agent",
    help="Your library: ingest documents, ask, and see where each answer stands.",
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help: rich would cost half of the start-up time
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
collections_app = typer.Typer(help="Collections of documents.", no_args_is_help=True)
kb_app = typer.Typer(help="Add documents and texts.", no_args_is_help=True)
projects_app = typer.Typer(help="Projects group collections.", no_args_is_help=True)
app.add_typer(collections_app, name="collections")
app.add_typer(kb_app, name="kb")
app.add_typer(projects_app, name="projects")

_SHOWN = 20
Show = Callable[[dict[str, Any]], None]
CollectionOption = Annotated[str, typer.Option("--collection", "-c", help="The collection.")]
NameArgument = Annotated[str, typer.Argument(help="Its name.")]


@app.command("query")
def query(
    text: Annotated[str, typer.Argument(metavar="QUERY", help="What you are looking for.")],
    *,
    collections: Annotated[str | None, typer.Option(help="Comma-separated names; all when absent.")] = None,
    top_k: Annotated[int, typer.Option("--top-k", help="Number of results.")] = 10,
    context: Annotated[Path | None, typer.Option(help="A document whose text sharpens the search.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Search the knowledge base.

    Example: research-agent query "how do swarms choose a home" --collections bees --top-k 3
    """
    arguments: dict[str, Any] = {"query": text, "collections": collections, "top_k": top_k}
    if context is not None:
        try:
            arguments["document_context"] = context.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise typer.BadParameter(f"{context}: {error.strerror}") from None
    _call("query_knowledge_base", arguments, as_json=as_json, show=_show_answer)


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
    _call(
        "manage_collections",
        {"action": "create", "collection_name": name, "collection_type": kind, "project_name": project},
        as_json=as_json,
        show=lambda data: say(f"Created collection '{data['collection']['name']}'."),
    )


@collections_app.command("list")
def list_collections(as_json: JsonFlag = False) -> None:
    """List collections with their counts and sizes."""
    _call(
        "manage_collections",
        {"action": "list"},
        as_json=as_json,
        show=lambda d: _show_collections(d["collections"]),
    )


@collections_app.command("info")
def info(name: NameArgument, as_json: JsonFlag = False) -> None:
    """Show one collection."""
    _call(
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
        async with connect() as api:
            # A name that does not exist is said now, not after somebody agreed to its deletion.
            await api.get(route("knowledge", "collections", name, "documents"), limit=1)
            return await _tool(
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
        async with connect() as api:
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


@kb_app.command("list")
def list_documents(
    collection: CollectionOption,
    limit: Annotated[int, typer.Option(help="How many at most.", min=1, max=1000)] = 100,
    as_json: JsonFlag = False,
) -> None:
    """List the documents of a collection.

    Example: research-agent kb list --collection papers
    """

    async def work() -> None:
        async with connect() as api:
            found = await api.get(route("knowledge", "collections", collection, "documents"), limit=limit)
        if as_json:
            show_json(found)
            return
        rows = [
            (item["title"], str(item["chunks"]), item["ingested_at"][:16].replace("T", " "), item["source"])
            for item in found["items"]
        ]
        show_table(("TITLE", "CHUNKS", "INGESTED", "SOURCE"), rows, empty="There are no documents in it yet.")
        if found["next"]:
            say(f"There are more: --limit {min(limit * 2, 1000)}", error=True)

    run(work, as_json=as_json)


@kb_app.command("add-document")
def add_document(
    path: Annotated[Path, typer.Argument(help="A file or a folder.")],
    collection: CollectionOption,
    *,
    recursive: Annotated[bool, typer.Option("--recursive", "-r", help="Folders inside as well.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Ingest a file or a folder. Running it again touches only what changed.

    Example: research-agent kb add-document ~/papers --collection papers --recursive
    """
    _call(
        "ingest_documents",
        {"path": str(path.expanduser().absolute()), "collection": collection, "recursive": recursive},
        as_json=as_json,
        show=_show_report,
        doing=f"Reading {path.name or path}",
    )


@kb_app.command("add-text")
def add_text(
    text: Annotated[str, typer.Argument(help="The text, or - to read it from standard input.")],
    collection: CollectionOption,
    source: Annotated[str, typer.Option(help="Where it comes from.")],
    *,
    title: Annotated[str | None, typer.Option(help="Its title.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Add a text; the same source again replaces it."""
    content = sys.stdin.read() if text == "-" else text
    arguments = {"content": content, "source": source, "collection": collection, "title": title}
    _call("augment_knowledge", arguments, as_json=as_json, show=_show_report)


@kb_app.command("add-url")
def add_url(
    url: Annotated[str, typer.Argument(help="The page's address.")],
    collection: CollectionOption,
    *,
    title: Annotated[str | None, typer.Option(help="Its title.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Fetch a page and add it."""
    from steward.surfaces.cli.fetching import fetch_page  # noqa: PLC0415 - httpx and a parser, only here

    async def arguments() -> dict[str, Any]:
        page = await fetch_page(url)
        return {"content": page.text, "source": url, "collection": collection, "title": title or page.title}

    async def work() -> int:
        async with connect() as api:
            return await _tool(
                api, "augment_knowledge", await arguments(), as_json=as_json, show=_show_report
            )

    run(work, as_json=as_json)


@kb_app.command("watch")
def watch(
    path: Annotated[Path, typer.Argument(help="A folder.")],
    collection: CollectionOption,
) -> None:
    """Keep a collection up to date with a folder until you press Ctrl-C.

    Example: research-agent kb watch ~/notes --collection notes
    """

    async def work() -> None:
        import watchfiles  # noqa: PLC0415 - only here

        folder = path.expanduser().absolute()
        if not folder.is_dir():
            raise InputError(f"{path} is not a folder.", fix="Watch a folder.")
        arguments = {"path": str(folder), "collection": collection, "recursive": True}
        async with connect() as api:
            say(f"Watching {folder} for collection '{collection}'. Ctrl-C ends it.", error=True)
            if await _tool(
                api, "ingest_documents", arguments, as_json=False, show=_show_report, doing="Reading"
            ):
                raise InputError(f"'{collection}' cannot be kept up to date.", fix="See the message above.")
            # Asked to stop between two rounds: an ingest under way is finished, not torn.
            stop = asyncio.Event()
            for number in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(number, stop.set)
            async for _changes in watchfiles.awatch(folder, step=200, stop_event=stop):  # pyright: ignore[reportUnknownMemberType]
                await _tool(api, "ingest_documents", arguments, as_json=False, show=_show_report)

    run(work)


@projects_app.command("create")
def create_project(
    name: NameArgument,
    *,
    collections: Annotated[str | None, typer.Option(help="Comma-separated names to link.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Create a project."""
    _project("create", name, collections, as_json=as_json)


PROJECT_CHANGES = {
    "link": "Link collections to a project.",
    "unlink": "Take collections out of a project; the collections stay.",
    "set-defaults": "Choose which of its collections a project searches.",
}


def _project_change(action: str) -> Callable[..., None]:
    def command(
        name: NameArgument,
        collections: Annotated[str, typer.Argument(help="Comma-separated names.")],
        as_json: JsonFlag = False,
    ) -> None:
        _project(action, name, collections, as_json=as_json)

    return command


for _action, _help in PROJECT_CHANGES.items():
    projects_app.command(_action, help=_help)(_project_change(_action))


def _project(action: str, name: str, collections: str | None, *, as_json: bool) -> None:
    def show(data: dict[str, Any]) -> None:
        project = data["project"]
        say(f"{project['name']}: {', '.join(project['collections']) or 'no collections'}")
        if project["default_collections"]:
            say(f"  searches {', '.join(project['default_collections'])}")

    arguments = {"action": action, "project_name": name, "collections": collections}
    _call("manage_projects", arguments, as_json=as_json, show=show)


def _call(
    tool: str,
    arguments: dict[str, Any],
    *,
    as_json: bool,
    show: Show,
    yes: bool = False,
    doing: str | None = None,
) -> None:
    async def work() -> int:
        async with connect() as api:
            return await _tool(api, tool, arguments, as_json=as_json, show=show, yes=yes, doing=doing)

    run(work, as_json=as_json)


async def _tool(
    api: Api,
    tool: str,
    arguments: dict[str, Any],
    *,
    as_json: bool,
    show: Show,
    yes: bool = False,
    doing: str | None = None,
) -> int:
    """Call a tool and show its answer. `doing`: what a person at a terminal reads meanwhile."""
    given = {key: value for key, value in arguments.items() if value is not None}
    if doing is None:
        result = await api.post(route("tools", tool, "call"), {"arguments": given})
    else:
        result = await call_with_progress(api, tool, given, doing=doing)
    result = await settle(api, result, yes=yes, as_json=as_json)
    if as_json:
        show_json(result["data"] if result["status"] == "done" else result)
    elif result["status"] == "done":
        show(result["data"])
    elif result["status"] == "pending_approval":
        say(f"This waits for your yes: {result['error']}", error=True)
        say(f"  steward approve {result['proposal_id']}", error=True)
    else:
        say(f"Error {result['error_code']}: {result['error']}", error=True)
    return result_exit(result)


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


def _show_report(data: dict[str, Any]) -> None:
    say(
        f"{data['collection']}: {data['added']} added, {data['updated']} updated, "
        f"{data['unchanged']} unchanged, {data['removed']} removed, {data['chunks']} new chunks"
    )
    for item in data["failed"][:_SHOWN]:
        say(f"  could not read {item['path']}: {item['reason']}", error=True)
    if data["failures"] > _SHOWN:
        say(f"  and {data['failures'] - _SHOWN} more; --json names them", error=True)
    if data["skipped"]:
        kinds = ", ".join(f"{count} {kind}" for kind, count in data["skipped"].items())
        say(f"  skipped: {kinds}", error=True)


__all__ = ["Exit", "app"]
