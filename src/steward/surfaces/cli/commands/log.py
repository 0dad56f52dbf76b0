"""`steward log`: what was run, when, and what came of it; and whether that record is whole."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from steward.surfaces.cli.client import connect, route
from steward.surfaces.cli.files import write_private
from steward.surfaces.cli.output import Exit, JsonFlag, run, say, show_json, show_table
from steward.surfaces.cli.since import parse_since

app = typer.Typer(rich_markup_mode=None)

STATUSES = "done, failed, pending_approval, running or interrupted."


@app.callback(invoke_without_command=True)
def log(
    context: typer.Context,
    *,
    tool: Annotated[str | None, typer.Option(help="Only calls of this tool.")] = None,
    status: Annotated[str | None, typer.Option(help=STATUSES)] = None,
    since: Annotated[
        str | None, typer.Option(help="A date, or how long ago: 2026-11-01, 90m, 24h, 7d.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 20,
    as_json: JsonFlag = False,
) -> None:
    """Show what was run on every instance, newest first; check the record; export receipts.

    \b
    Example: steward log --status failed --since 24h
    """
    if context.invoked_subcommand is not None:
        return

    async def work() -> None:
        moment = None if since is None else parse_since(since).isoformat()
        async with connect(agents=()) as api:
            found = await api.get("/v1/executions", tool=tool, status=status, since=moment, limit=limit)
        if as_json:
            show_json(found)
            return
        show_table(
            ("WHEN", "TOOL", "STATUS", "MS", "WHAT HAPPENED"),
            [_row(item) for item in found["items"]],
            empty="Nothing was run yet.",
        )

    run(work, as_json=as_json)


@app.command("verify")
def verify(as_json: JsonFlag = False) -> None:
    """Check that no line of the record was changed or removed; exit code 1 names those that were.

    \b
    Example: steward log verify
    """

    async def work() -> int:
        async with connect(agents=()) as api:
            found = await api.get("/v1/executions/verify")
        if as_json:
            show_json(found)
            return Exit.DONE if found["whole"] else Exit.FAILED
        for problem in found["problems"]:
            say(_told(problem))
        erased = f", {found['erased']} of them erased with their user" if found["erased"] else ""
        verdict = "The record is whole" if found["whole"] else "The record is NOT whole"
        say(f"{verdict}: {found['lines']} lines{erased}.")
        for home in found["homes"]:
            say(f"signed by home {home}")
        return Exit.DONE if found["whole"] else Exit.FAILED

    run(work, as_json=as_json)


@app.command("receipt")
def receipt(
    call: Annotated[str, typer.Argument(help="The id of a call or a proposal; see 'steward log --json'.")],
    export: Annotated[Path | None, typer.Option(help="Write it to this file.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """All that is on record of one call, signed; examples/check_receipt.py checks it without Steward.

    \b
    Example: steward log receipt 3f2a9c4d1b7e --export receipt.json
    """

    async def work() -> None:
        async with connect(agents=()) as api:
            found = await api.get(route("executions", call, "receipt"))
        if export is not None:
            write_private(export, (json.dumps(found, ensure_ascii=False, indent=2) + "\n").encode())
            say(f"Wrote {len(found['lines'])} lines to {export}.", error=True)
        if as_json or export is None:
            show_json(found)

    run(work, as_json=as_json)


def register(parent: typer.Typer) -> None:
    parent.add_typer(app, name="log")


def _told(problem: dict[str, Any]) -> str:
    place = "" if problem["number"] is None else f", line {problem['number']}"
    call = "" if problem["call_id"] is None else f" (call {problem['call_id']}"
    call += f", {problem['tool']} at {problem['at']})" if problem["tool"] else ")" if call else ""
    return f"Home {problem['home']}{place}{call}: {problem['what']}."


def _row(item: dict[str, Any]) -> tuple[str, ...]:
    output = item.get("output")
    happened = item.get("error") or (
        output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    )
    if item.get("erased") or item["status"] == "erased":
        happened = "(erased with its user)"
    return (
        str(item["at"])[:19].replace("T", " "),
        str(item["tool"]),
        str(item["status"]),
        f"{item.get('duration_ms', 0):.0f}",
        happened if len(happened) <= 80 else f"{happened[:79]}…",
    )
