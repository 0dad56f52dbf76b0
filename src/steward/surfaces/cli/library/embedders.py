"""`research-agent kb embedders`: whose vectors the library keeps, and removing those no longer used."""

from typing import Annotated

import typer

from steward.surfaces.cli.client import connect, route
from steward.surfaces.cli.consent import agreed
from steward.surfaces.cli.output import Exit, JsonFlag, run, say, show_json, show_table

WARNING = "The vectors of '{}' would have to be made again, should you use it again; documents stay."


def register(app: typer.Typer) -> None:
    app.command("embedders")(list_embedders)
    app.command("remove-embedder")(remove_embedder)


def list_embedders(as_json: JsonFlag = False) -> None:
    """List the embedding models whose vectors are kept, and what they take on the disk.

    \b
    Example: research-agent kb embedders
    """

    async def work() -> None:
        async with connect(agents=()) as api:
            found = await api.get(route("knowledge", "embedders"))
        if as_json:
            show_json(found)
            return
        rows = [
            (
                item["name"],
                str(item["dimensions"]),
                str(item["documents"]),
                str(item["vectors"]),
                f"{item['size_bytes']:,}",
                "yes" if item["in_use"] else "",
            )
            for item in found["items"]
        ]
        headings = ("EMBEDDER", "DIMENSIONS", "DOCUMENTS", "VECTORS", "BYTES", "IN USE")
        show_table(headings, rows, empty="There are no vectors yet.")

    run(work, as_json=as_json)


def remove_embedder(
    name: Annotated[str, typer.Argument(help="The model's name; see 'research-agent kb embedders'.")],
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Remove without asking.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Remove the vectors of a model that is no longer used. Ends with 3 when nobody can be asked.

    \b
    Example: research-agent kb remove-embedder openai:text-embedding-3-small
    """

    async def work() -> int:
        async with connect(agents=()) as api:
            kept = (await api.get(route("knowledge", "embedders")))["items"]
            # What cannot be removed is said at once, not after somebody agreed to it.
            asks = any(item["name"] == name and not item["in_use"] for item in kept)
            if asks and not yes and not agreed(WARNING.format(name), verb="remove", as_json=as_json):
                return Exit.WAITS
            confirm = name if asks else None
            removed = await api.delete(route("knowledge", "embedders", name), confirm=confirm)
        if as_json:
            show_json(removed)
        else:
            say(f"Removed {removed['vectors']} vectors of '{name}'.")
        return Exit.DONE

    run(work, as_json=as_json)
