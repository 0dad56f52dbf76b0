"""`steward gaps`: what was asked for and could not be done for want of a tool."""

from typing import Annotated

import typer

from steward.surfaces.cli.client import connect
from steward.surfaces.cli.output import JsonFlag, run, show_json, show_table


def gaps(
    limit: Annotated[int, typer.Option(help="How many at most.", min=1, max=1000)] = 50,
    as_json: JsonFlag = False,
) -> None:
    """List what you asked for and no tool could do, with servers that would add it.

    \b
    Example: steward gaps
    """

    async def work() -> None:
        async with connect(agents=()) as api:
            found = await api.get("/v1/gaps", limit=limit)
        if as_json:
            show_json(found)
            return
        rows = [
            (
                item["missing"],
                str(item["times"]),
                item["last_at"][:10],
                ", ".join(each["server"] for each in item["suggestions"]) or "-",
                item["task"],
            )
            for item in found["items"]
        ]
        head = ("MISSING", "TIMES", "LAST", "SERVERS THAT ADD IT", "REQUEST")
        show_table(head, rows, empty="Nothing was asked for that no tool can do.")

    run(work, as_json=as_json)


def register(app: typer.Typer) -> None:
    app.command("gaps")(gaps)
