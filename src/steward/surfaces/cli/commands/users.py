"""`steward users`: the people whose tasks are kept here."""

from typing import Annotated

import typer

from steward.surfaces.cli.client import connect, route
from steward.surfaces.cli.consent import agreed
from steward.surfaces.cli.output import Exit, JsonFlag, run, say, show_json, show_table

app = typer.Typer(rich_markup_mode=None, help="The people whose tasks are kept here.", no_args_is_help=True)

UserId = Annotated[str, typer.Argument(help="The user's id; see 'steward users list'.")]
WARNING = "Erasing '{}' takes their tasks, history, facts and keys. It cannot be taken back."
NameOption = Annotated[str | None, typer.Option(help="How to call this person.")]


@app.command("add")
def add_user(
    user_id: Annotated[str, typer.Argument(help="Letters, digits and any of _ . @ -")],
    name: NameOption = None,
    zone: Annotated[str, typer.Option(help="Their time zone, such as Europe/Berlin.")] = "UTC",
    as_json: JsonFlag = False,
) -> None:
    """Add a user.

    \b
    Example: steward users add ana --name "Ana Lima" --zone America/Sao_Paulo
    """

    async def work() -> None:
        async with connect(agents=()) as api:
            user = await api.post("/v1/users", {"id": user_id, "name": name, "time_zone": zone})
        if as_json:
            show_json(user)
        else:
            say(f"Added {user['id']} ({user['name']}, {user['time_zone']}).")

    run(work, as_json=as_json)


@app.command("list")
def list_users(as_json: JsonFlag = False) -> None:
    """List the users with their time zones.

    \b
    Example: steward users list
    """

    async def work() -> None:
        async with connect(agents=()) as api:
            found = await api.get("/v1/users", limit=1_000)
        if as_json:
            show_json(found)
            return
        rows = [(user["id"], user["name"], user["time_zone"]) for user in found["items"]]
        show_table(("USER", "NAME", "TIME ZONE"), rows, empty="There are no users.")

    run(work, as_json=as_json)


@app.command("edit")
def edit_user(
    user_id: UserId,
    name: NameOption = None,
    zone: Annotated[str | None, typer.Option(help="Their time zone, such as Europe/Berlin.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Change a user's name or time zone.

    \b
    Example: steward users edit local --zone Europe/Berlin
    """

    async def work() -> None:
        async with connect(agents=()) as api:
            user = await api.patch(_path(user_id), {"name": name, "time_zone": zone})
        if as_json:
            show_json(user)
        else:
            say(f"{user['id']} is {user['name']}, {user['time_zone']}.")

    run(work, as_json=as_json)


@app.command("address")
def set_address(
    user_id: UserId,
    medium: Annotated[str, typer.Argument(help="email, webhook, ntfy or desktop.")],
    address: Annotated[str, typer.Argument(help="Where it goes; none takes it away.")] = "",
    as_json: JsonFlag = False,
) -> None:
    """Say where a user's reminders and schedules are sent, beside the page and the terminal.

    \b
    Example: steward users address ana email ana@example.org
    """

    async def work() -> None:
        path = route("users", user_id, "addresses", medium)
        async with connect(agents=()) as api:
            known = await (api.delete(path) if address == "none" else api.put(path, {"address": address}))
        if as_json:
            show_json(known)
        else:
            say(f"{user_id} is told by {', '.join(known['items']) or 'page and terminal only'}.")

    run(work, as_json=as_json)


@app.command("erase")
def erase_user(
    user_id: UserId,
    yes: Annotated[bool, typer.Option("--yes", help="Erase without asking.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Erase a user with everything they own, for good. Ends with 3 when nobody can be asked.

    \b
    Example: steward users erase ana
    """

    async def work() -> int:
        async with connect(agents=()) as api:
            user = await api.get(_path(user_id))
            if not yes and not agreed(WARNING.format(user_id), verb="erase", as_json=as_json):
                return Exit.WAITS
            user = await api.delete(_path(user_id), confirm=user_id)
        if as_json:
            show_json({"erased": user})
        else:
            say(f"Erased {user['id']} and everything they owned.")
        return Exit.DONE

    run(work, as_json=as_json)


def _path(user_id: str) -> str:
    return route("users", user_id)
