"""`steward export|import|backup|restore`: your data as a file, and back."""

from pathlib import Path
from typing import Annotated, Any

import typer

from steward.contract.errors import InputError
from steward.surfaces.cli.client import connect
from steward.surfaces.cli.output import JsonFlag, run, say, show_json

ToFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="The file to write; one that is there is replaced.")
]
FromFile = Annotated[Path, typer.Argument(metavar="FILE", help="The file to read.")]
UserOption = Annotated[str | None, typer.Option(help="Whose data; yours when not given.")]


def export(
    file: ToFile,
    user: UserOption = None,
    library: Annotated[bool, typer.Option(help="With the library's documents.")] = True,
    as_json: JsonFlag = False,
) -> None:
    """Write everything a user owns into one file: tasks, conversations, memories, facts, approvals, library.

    \b
    Example: steward export my-data.zip
    """

    async def work() -> None:
        async with connect() as api:
            size = await api.download("/v1/export", file, user=user, library=library)
        if as_json:
            show_json({"file": str(file), "bytes": size})
        else:
            say(f"Wrote {file} ({size:,} bytes). Only you can read it.")

    run(work, as_json=as_json)


def import_(file: FromFile, user: UserOption = None, as_json: JsonFlag = False) -> None:
    """Bring an export in: all of it or nothing. What is there already stays as it is.

    \b
    Example: steward import my-data.zip --user ana
    """

    async def work() -> None:
        if not file.is_file():
            raise InputError(f"There is no file {file}.", fix="Name one that 'steward export' wrote.")
        async with connect() as api:
            done = await api.upload("/v1/import", file, user=user)
        if as_json:
            show_json(done)
            return
        added = {name: count for name, count in done["added"].items() if count}
        for name, count in added.items():
            say(f"  {count:>7,} {name}")
        stayed = sum(done["present"].values())
        say(f"Imported {sum(added.values()):,} for '{done['user']}'; {stayed:,} were there already.")

    run(work, as_json=as_json)


def backup(file: ToFile, as_json: JsonFlag = False) -> None:
    """Write the whole workspace into one file: the embedded database, mcp.json, policy.toml, tools, skills.

    A running Steward need not stop. Logs are not part of it.

    \b
    Example: steward backup ~/steward-backup.zip
    """

    async def work() -> None:
        from steward.bootstrap.workspace.backup import back_up  # noqa: PLC0415 - not needed for --help
        from steward.settings import load_settings  # noqa: PLC0415

        await back_up(load_settings(), file)
        size = file.stat().st_size
        if as_json:
            show_json({"file": str(file), "bytes": size})
        else:
            say(f"Wrote {file} ({size:,} bytes). Keep it safe: it opens like your workspace.")

    run(work, as_json=as_json)


def restore(
    file: FromFile,
    *,
    force: Annotated[bool, typer.Option("--force", help="Replace what the workspace holds.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Make the workspace what it was when the backup was written. Stop Steward first.

    \b
    Example: STEWARD_HOME=~/steward-again steward restore ~/steward-backup.zip
    """

    async def work() -> None:
        from steward.bootstrap.workspace.backup import restore as put_back  # noqa: PLC0415 - not needed for --help
        from steward.settings import load_settings  # noqa: PLC0415
        from steward.surfaces.background import claimed  # noqa: PLC0415

        settings = load_settings()
        async with claimed(settings):
            about: dict[str, Any] = await put_back(settings, file, force=force)
        if as_json:
            show_json({"home": str(settings.home), "made_at": about["made_at"]})
        else:
            say(f"{settings.home} is as it was at {about['made_at'][:19].replace('T', ' ')} UTC.")

    run(work, as_json=as_json)


def register(app: typer.Typer) -> None:
    app.command()(export)
    app.command("import")(import_)
    app.command()(backup)
    app.command()(restore)
