"""`research-agent kb`: documents and texts into a collection, once or for as long as it is watched."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from steward.surfaces.cli.calling import LIBRARY, call, call_tool, queue
from steward.surfaces.cli.client import connect, route
from steward.surfaces.cli.library import embedders
from steward.surfaces.cli.library.watching import watch_folder
from steward.surfaces.cli.output import JsonFlag, run, say, show_json, show_table

app = typer.Typer(help="Add documents and texts.", no_args_is_help=True)
embedders.register(app)

_SHOWN = 20
CollectionOption = Annotated[str, typer.Option("--collection", "-c", help="The collection.")]


@app.command("list")
def list_documents(
    collection: CollectionOption,
    limit: Annotated[int, typer.Option(help="How many at most.", min=1, max=1000)] = 100,
    as_json: JsonFlag = False,
) -> None:
    """List the documents of a collection.

    Example: research-agent kb list --collection papers
    """

    async def work() -> None:
        async with connect(agents=()) as api:
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


@app.command("add-document")
def add_document(
    path: Annotated[Path, typer.Argument(help="A file or a folder.")],
    collection: CollectionOption,
    *,
    recursive: Annotated[bool, typer.Option("--recursive", "-r", help="Folders inside as well.")] = False,
    remove_missing: Annotated[
        bool, typer.Option("--remove-missing", help="Remove the text of files that are gone, for good; asks.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Answer yes when it asks.")] = False,
    background: Annotated[
        bool, typer.Option("--background", help="Do not wait: a worker ingests it; prints its job.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Ingest a file or a folder. Running it again touches only what changed.

    Example: research-agent kb add-document ~/papers --collection papers --recursive
    """
    arguments = {"path": str(path.expanduser().absolute()), "collection": collection, "recursive": recursive}
    arguments |= {"remove_missing": True} if remove_missing else {}
    if background:
        queue("ingest_documents", arguments, as_json=as_json)
    call(
        "ingest_documents",
        arguments,
        as_json=as_json,
        yes=yes,
        show=show_report,
        doing=f"Reading {path.name or path}",
    )


@app.command("add-text")
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
    call("augment_knowledge", arguments, as_json=as_json, show=show_report)


@app.command("add-url")
def add_url(
    url: Annotated[str, typer.Argument(help="The page's address.")],
    collection: CollectionOption,
    *,
    title: Annotated[str | None, typer.Option(help="Its title.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Fetch a page and add it."""
    from steward.surfaces.cli.library.fetching import fetch_page  # noqa: PLC0415 - httpx and a parser, only here

    async def arguments() -> dict[str, Any]:
        page = await fetch_page(url)
        return {"content": page.text, "source": url, "collection": collection, "title": title or page.title}

    async def work() -> int:
        async with connect(agents=LIBRARY) as api:
            return await call_tool(
                api, "augment_knowledge", await arguments(), as_json=as_json, show=show_report
            )

    run(work, as_json=as_json)


@app.command("watch")
def watch(
    path: Annotated[Path, typer.Argument(help="A folder.")],
    collection: CollectionOption,
) -> None:
    """Keep a collection up to date with a folder until you press Ctrl-C.

    Example: research-agent kb watch ~/notes --collection notes
    """
    run(lambda: watch_folder(path, collection, show=show_report))


def show_report(data: dict[str, Any]) -> None:
    say(
        f"{data['collection']}: {data['added']} added, {data['updated']} updated, "
        f"{data['unchanged']} unchanged, {data['removed']} removed, {data['chunks']} new chunks"
    )
    if data["missing"]:
        say(f"  {data['missing']} have no file any more; their text stays until --remove-missing", error=True)
    for item in data["failed"][:_SHOWN]:
        say(f"  could not read {item['path']}: {item['reason']}", error=True)
    if data["failures"] > _SHOWN:
        say(f"  and {data['failures'] - _SHOWN} more; --json names them", error=True)
    for item in data["withheld"][:_SHOWN]:
        say(f"  left out {item['path']}: {item['reason']}", error=True)
    if data["withheld_files"] > _SHOWN:
        say(f"  and {data['withheld_files'] - _SHOWN} more; --json names them", error=True)
    if data["skipped"]:
        kinds = ", ".join(f"{count} {kind}" for kind, count in data["skipped"].items())
        say(f"  skipped: {kinds}", error=True)
