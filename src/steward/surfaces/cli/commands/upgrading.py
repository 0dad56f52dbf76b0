"""`steward upgrade`: what the installed Steward changes here, and how to get a newer one."""

from typing import TYPE_CHECKING

import typer

from steward.surfaces.cli.output import JsonFlag, run, say, show_json

if TYPE_CHECKING:
    from steward.bootstrap.upgrade import Upgrade

NEWER = "A newer Steward: 'pipx upgrade steward-agents' or 'uv tool upgrade steward-agents', then this again."


def upgrade(as_json: JsonFlag = False) -> None:
    """Say what the installed Steward changes in this workspace at its next start. Changes nothing itself.

    \b
    Example: steward upgrade
    """

    async def work() -> None:
        from steward.bootstrap import upgrade as upgrading  # noqa: PLC0415 - not needed for --help
        from steward.settings import load_settings  # noqa: PLC0415

        found = await upgrading.upgrade(load_settings())
        if as_json:
            show_json(
                {
                    "installed": found.installed,
                    "last": found.last,
                    "new": found.new,
                    "migrations": [
                        {"number": each.number, "name": each.name, "says": each.says}
                        for each in found.migrations
                    ],
                    "breaking": found.breaking,
                }
            )
            return
        _show(found)

    run(work, as_json=as_json)


def _show(found: "Upgrade") -> None:
    say(f"This is steward {found.installed}.")
    if found.last is not None:
        say(f"The database was last changed by {found.last}.")
    if found.new:
        say(f"\nNew:\n\n{found.new}")
    if not found.migrations:
        say("\nThe next start changes nothing in the database.")
    else:
        say(f"\nThe next start changes the database in {len(found.migrations)} steps:")
        for each in found.migrations:
            say(f"  {each.number:04} {each.says or each.name.replace('_', ' ')}")
        if found.breaking:
            say("Older Stewards refuse this database from then on: upgrade every instance.")
        else:
            say("Older Stewards go on beside it.")
        say("First: 'steward backup FILE'. Then stop Steward and start it again.")
    say(NEWER, error=True)


def register(app: typer.Typer) -> None:
    app.command()(upgrade)
