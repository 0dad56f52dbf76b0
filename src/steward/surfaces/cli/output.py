"""What a command prints and how it ends.

`--json` prints one JSON object and nothing else on standard output. On a terminal there are colours and
tables; elsewhere plain text. Exit codes: 0 done, 1 failed, 2 bad usage, 3 waits for approval, 4 tool gap.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from enum import IntEnum
from typing import Annotated, Any

import typer

from steward.contract.errors import InputError, StewardError

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


class Exit(IntEnum):
    DONE = 0
    FAILED = 1
    USAGE = 2
    WAITS = 3
    GAP = 4


def run(work: Callable[[], Awaitable[int | None]], *, as_json: bool = False) -> None:
    """Run a command's coroutine; explain what Steward can explain, and end with its exit code."""
    try:
        code = asyncio.run(_await(work))
    except StewardError as error:
        show_error(error, as_json=as_json)
        raise typer.Exit(Exit.USAGE if isinstance(error, InputError) else Exit.FAILED) from None
    except KeyboardInterrupt:
        say("Stopped.", error=True)
        raise typer.Exit(130) from None
    raise typer.Exit(code or Exit.DONE)


async def _await(work: Callable[[], Awaitable[int | None]]) -> int | None:
    return await work()


def say(text: str, *, error: bool = False) -> None:
    typer.echo(text, err=error)


def show_json(value: Any) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False, default=str))


def show_error(error: StewardError, *, as_json: bool) -> None:
    if as_json:
        show_json(
            {
                "status": "failed",
                "success": False,
                "error": error.explain(),
                "error_code": error.code,
                "retryable": error.retryable,
            }
        )
        return
    mark = typer.style("Error", fg="red", bold=True) if sys.stderr.isatty() else "Error"
    typer.echo(f"{mark} {error.code}: {error.message}", err=True)
    if error.fix:
        typer.echo(f"  {error.fix}", err=True)


def show_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, empty: str) -> None:
    """A table on a terminal; tab-separated lines elsewhere, so that other programs can read them."""
    body = [[str(cell) for cell in row] for row in rows]
    if not body:
        say(empty)
        return
    if not sys.stdout.isatty():
        say("\t".join(columns))
        for row in body:
            say("\t".join(cell.replace("\t", " ").replace("\n", " ") for cell in row))
        return
    from rich.console import Console  # noqa: PLC0415 - only a terminal needs it
    from rich.table import Table  # noqa: PLC0415

    table = Table(*columns, box=None, header_style="bold", pad_edge=False)
    for row in body:
        table.add_row(*row)
    Console().print(table)


def result_exit(result: dict[str, Any]) -> Exit:
    return {"done": Exit.DONE, "pending_approval": Exit.WAITS, "gap": Exit.GAP}.get(
        str(result.get("status")), Exit.FAILED
    )


def at_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()
