"""`steward undo`: take back what was changed last, whatever it was."""

from typing import Annotated, Any

import typer

from steward.surfaces.cli.client import Api, connect
from steward.surfaces.cli.commands.tools import show_result
from steward.surfaces.cli.consent import settle
from steward.surfaces.cli.output import JsonFlag, result_exit, run, say, show_json, show_table, visible

UNDO_AGENT = "undo"
MOST_AT_ONCE = 100


def register(app: typer.Typer) -> None:
    app.command("undo")(undo)


def undo(
    count: Annotated[
        int, typer.Argument(min=1, max=MOST_AT_ONCE, metavar="[N]", help="How many changes, the last first.")
    ] = 1,
    change: Annotated[
        str | None,
        typer.Option("--id", help="Only this change. The id of an undo does again what it took back."),
    ] = None,
    shown: Annotated[bool, typer.Option("--list", help="Show your last changes; take nothing back.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Answer yes when it asks for consent.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Take back what was changed last: tasks, memories, schedules, documents, notes, rules, tools.

    \b
    Example: steward undo 2
    """

    async def work() -> int:
        async with connect(agents=None) as api:
            if shown:
                return await _show(api, as_json=as_json)
            body: dict[str, Any] = {"count": count} if change is None else {"id": change}
            return await take_back(api, body, yes=yes, as_json=as_json)

    run(work, as_json=as_json)


async def take_back(api: Api, body: dict[str, Any], *, yes: bool, as_json: bool) -> int:
    result = await settle(api, await api.post("/v1/undo", body), yes=yes, as_json=as_json)
    if as_json or not result["success"]:
        show_result(result, as_json=as_json)
    else:
        say(visible(result["data"]["message"]))
    return result_exit(result)


async def _show(api: Api, *, as_json: bool) -> int:
    found = await api.get("/v1/undo")
    if as_json:
        show_json(found)
        return 0
    rows = [
        (each["at"][:16].replace("T", " "), each["what"], each["id"], each["undone_by"] or "")
        for each in found["items"]
    ]
    show_table(("WHEN", "WHAT", "ID", "TAKEN BACK BY"), rows, empty="Nothing was changed yet.")
    return 0
