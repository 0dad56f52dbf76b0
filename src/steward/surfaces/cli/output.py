"""What a command prints and how it ends.

`--json` prints one JSON object and nothing else on standard output. On a terminal there are colours and
tables; elsewhere plain text. Exit codes: 0 done, 1 failed, 2 bad usage, 3 waits for approval, 4 tool gap.
"""

import asyncio
import errno
import json
import os
import shutil
import sys
import traceback
import unicodedata
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from enum import IntEnum
from typing import Annotated, Any

import typer

from steward.contract.call import Failed, envelope
from steward.contract.errors import ErrorCode, InputError, StewardError, StorageError
from steward.contract.showing import WIDTH, ShownCall, show
from steward.surfaces.loops import runner

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


class Exit(IntEnum):
    DONE = 0
    FAILED = 1
    USAGE = 2
    WAITS = 3
    GAP = 4
    STOPPED = 130  # as a shell says of a program that Ctrl-C ended


def run(
    work: Callable[[], Awaitable[int | None]], *, as_json: bool = False, long_lived: bool = False
) -> None:
    """Run a command's coroutine and end with its exit code."""
    with explained(as_json=as_json):
        code = _runner(long_lived)(_await(work))
    raise typer.Exit(code or Exit.DONE)


@contextmanager
def explained(*, as_json: bool = False) -> Generator[None]:
    """Explain what Steward can explain, and end with the exit code that fits."""
    try:
        yield
    except UnwritableError as error:
        show_error(error, as_json=False)
        raise typer.Exit(Exit.FAILED) from None
    except StewardError as error:
        show_error(error, as_json=as_json)
        raise typer.Exit(Exit.USAGE if isinstance(error, InputError) else Exit.FAILED) from None
    except KeyboardInterrupt:
        show_error(StewardError("Stopped.", code=ErrorCode.CANCELLED), as_json=as_json)
        raise typer.Exit(Exit.STOPPED) from None
    except BrokenPipeError:
        raise  # a reader that closes early (`steward log | head`): Typer ends the command quietly
    except Exception as error:  # noqa: BLE001 - explained to the person, who has no use for a stack trace
        show_error(_unexpected(error), as_json=as_json)
        raise typer.Exit(Exit.FAILED) from None


def _unexpected(error: Exception) -> StewardError:
    """What no room could explain. The stack trace is for whoever asks for it with STEWARD_DEBUG."""
    from steward.settings import load_settings  # noqa: PLC0415 - not needed for --help

    if load_settings().debug:
        traceback.print_exception(error)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        where = f" ({error.filename})" if error.filename else ""
        return StorageError(
            f"The disk is full{where}.",
            code=ErrorCode.STORAGE_FULL,
            fix="Free some space and run it again; 'steward doctor' says where.",
        )
    return StewardError(
        f"Something went wrong inside Steward: {type(error).__name__}: {error}.",
        fix="Run it again with STEWARD_DEBUG=1 to see where.",
    )


def _runner(long_lived: bool) -> Callable[[Coroutine[Any, Any, int | None]], int | None]:
    """What serves for long runs on the faster loop, where there is one; most commands never need it."""
    return runner() if long_lived else asyncio.run


async def _await(work: Callable[[], Awaitable[int | None]]) -> int | None:
    return await work()


class UnwritableError(StewardError):
    """Standard output takes nothing more. The work itself was done."""

    default_code = ErrorCode.STORAGE_FULL


def say(text: str, *, error: bool = False) -> None:
    try:
        typer.echo(text, err=error)
    except BrokenPipeError:
        raise
    except OSError as problem:
        _give_up_output()
        raise UnwritableError(
            f"The answer could not be written: {problem.strerror}.",
            fix="What was asked for has been done; 'steward log' shows it.",
        ) from problem


def _give_up_output() -> None:
    """What is left in the buffer goes nowhere; the interpreter would fail on it once more at its end."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def visible(text: str) -> str:
    """Other people's text as it may be shown: what would steer a terminal or reorder a line is spelled out.

    Without this, a tool's description or arguments could repaint the question that a person is asked.
    """
    return "".join(
        symbol
        if symbol in "\n\t" or unicodedata.category(symbol) not in ("Cc", "Cf")
        else ascii(symbol)[1:-1]
        for symbol in text
    )


def whole_call(proposal: Mapping[str, Any]) -> str:
    """A proposal as every surface shows it, within the width of this terminal."""
    width = min(shutil.get_terminal_size().columns, WIDTH) if sys.stdout.isatty() else WIDTH
    shown = ShownCall(
        tool=proposal["tool"],
        arguments=proposal["arguments"],
        effect=proposal["effect"],
        reason=proposal["reason"],
    )
    return show(shown, width=width)


def show_json(value: Any) -> None:
    say(json.dumps(value, ensure_ascii=False, default=str))


def show_error(error: StewardError, *, as_json: bool) -> None:
    if as_json:
        failed = Failed(
            error=error.explain(),
            code=error.code,
            retryable=error.retryable and not error.in_doubt,
            outcome_unknown=error.in_doubt,
            call_id=str(error.details.get("call_id") or ""),
            correlation_id=str(error.details.get("correlation_id") or ""),
        )
        show_json(envelope(failed))
        return
    mark = typer.style("Error", fg="red", bold=True) if sys.stderr.isatty() else "Error"
    typer.echo(f"{mark} {error.code}: {visible(error.message)}", err=True)
    if error.fix:
        typer.echo(f"  {visible(error.fix)}", err=True)


def show_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, empty: str) -> None:
    """A table on a terminal; tab-separated lines elsewhere, so that other programs can read them."""
    body = [[visible(str(cell)) for cell in row] for row in rows]
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
    from rich.text import Text  # noqa: PLC0415

    table = Table(*columns, box=None, header_style="bold", pad_edge=False)
    for row in body:
        table.add_row(*map(Text, row))  # as text: cells are not markup
    Console().print(table)


def result_exit(result: dict[str, Any]) -> Exit:
    return {"done": Exit.DONE, "pending_approval": Exit.WAITS, "gap": Exit.GAP}.get(
        str(result.get("status")), Exit.FAILED
    )


def at_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()
