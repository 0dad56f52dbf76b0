"""`steward log`: what was run, when, and what came of it."""

import json
from typing import Annotated, Any

import typer

from steward.surfaces.cli.client import connect
from steward.surfaces.cli.output import JsonFlag, run, show_json, show_table
from steward.surfaces.cli.since import parse_since


def log(
    tool: Annotated[str | None, typer.Option(help="Only calls of this tool.")] = None,
    status: Annotated[str | None, typer.Option(help="done, failed or pending_approval.")] = None,
    since: Annotated[
        str | None, typer.Option(help="A date, or how long ago: 2026-11-01, 90m, 24h, 7d.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 20,
    as_json: JsonFlag = False,
) -> None:
    """Show the execution log, newest first.

    \b
    Example: steward log --status failed --since 24h
    """

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


def register(app: typer.Typer) -> None:
    app.command()(log)


def _row(item: dict[str, Any]) -> tuple[str, ...]:
    output = item.get("output")
    happened = item.get("error") or (
        output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    )
    return (
        str(item["at"])[:19].replace("T", " "),
        str(item["tool"]),
        str(item["status"]),
        f"{item.get('duration_ms', 0):.0f}",
        happened if len(happened) <= 80 else f"{happened[:79]}…",
    )
