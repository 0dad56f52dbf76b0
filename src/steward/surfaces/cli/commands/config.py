"""`steward config`: the files of this home beside those that the instances on one database share."""

import difflib
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from steward.surfaces.cli.output import Exit, JsonFlag, run, say, show_json

if TYPE_CHECKING:
    from steward.bootstrap.sharing.shared_registry import Difference, SharedRegistry

app = typer.Typer(
    help="Compare and settle what instances on one database share: tools, servers, policy and skills.",
    no_args_is_help=True,
)
Paths = Annotated[
    list[str] | None,
    typer.Argument(help="Files such as policy.toml; none: all that differ.", metavar="[FILE]..."),
]
_WORDS = {
    "pull": "the registry has a newer version; a running instance takes it over by itself",
    "push": "it was edited here; a running instance shares it by itself",
    "clash": "two edits of one version: the registry's is in force, yours was put aside",
    "differs": "this home was never part of the registry",
}


@asynccontextmanager
async def _registry() -> AsyncGenerator["SharedRegistry"]:
    """Without the rest of the platform: a home that differs cannot start it."""
    from steward.bootstrap.platform import place, shared_registry  # noqa: PLC0415
    from steward.bootstrap.workspace import home  # noqa: PLC0415 - not needed for --help
    from steward.settings import load_settings  # noqa: PLC0415
    from steward.storage.database.postgres import Database  # noqa: PLC0415

    settings = load_settings()
    home.ensure(settings)
    async with Database(place(settings)) as database:
        yield shared_registry(settings, database)


@app.command()
def diff(as_json: JsonFlag = False) -> None:
    """Show what differs between this home and the registry, line by line. Ends with 1 where anything does.

    \b
    Example: steward config diff
    """

    async def work() -> int:
        async with _registry() as registry:
            found = await registry.differences()
        if as_json:
            show_json({"items": [_shape(each) for each in found], "next": None})
        elif not found:
            say("This home has what the registry has.")
        else:
            for each in found:
                say(f"{each.path}: {_WORDS[each.step.value]}.")
                say("\n".join(_lines(each)))
        return Exit.FAILED if found else Exit.DONE

    run(work, as_json=as_json)


@app.command()
def push(files: Paths = None, as_json: JsonFlag = False) -> None:
    """Make what lies in this home, or was put aside, the next version for every instance.

    \b
    Example: steward config push policy.toml
    """
    _decide("push", files or (), as_json=as_json)


@app.command()
def pull(files: Paths = None, as_json: JsonFlag = False) -> None:
    """Take the registry's version over this home's, which is kept in the folder 'replaced'.

    \b
    Example: steward config pull
    """
    _decide("pull", files or (), as_json=as_json)


def _decide(step: str, files: Sequence[str], *, as_json: bool) -> None:
    async def work() -> None:
        from steward.bootstrap.sharing.shared_registry import SharingStep  # noqa: PLC0415 - not needed for --help

        async with _registry() as registry:
            done = await registry.decide(SharingStep(step), files)
        if as_json:
            show_json({"files": list(done)})
        elif not done:
            say("Nothing differs.")
        else:
            word = "shared now" if step == "push" else "taken over from the registry"
            say("\n".join(f"{path} is {word}." for path in done))

    run(work, as_json=as_json)


def _shape(each: "Difference") -> dict[str, object]:
    return {
        "file": each.path,
        "state": each.step.value,
        "here": _text(each.here),
        "registry": _text(each.there),
        "made_by": each.made_by,
    }


def _text(content: bytes | None) -> str | None:
    return None if content is None else content.decode(errors="replace")


def _lines(each: "Difference") -> list[str]:
    there, here = ((_text(content) or "").splitlines() for content in (each.there, each.here))
    source = f"registry ({each.made_by or 'nobody'})"
    return [*difflib.unified_diff(there, here, source, "this home", lineterm="", n=2)]
