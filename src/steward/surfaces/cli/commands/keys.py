"""`steward keys`: who may use the HTTP API and the gateway."""

from typing import Annotated

import typer

from steward.surfaces.cli.client import connect, route
from steward.surfaces.cli.output import JsonFlag, run, say, show_json, show_table

app = typer.Typer(help="Make, see and revoke keys of the HTTP API and the gateway.", no_args_is_help=True)


@app.command()
def add(
    name: Annotated[str, typer.Argument(help="What you call it: a program, a machine, a person.")],
    *,
    role: Annotated[
        str, typer.Option(help="read, use, approve or admin; each may do what those before it may.")
    ] = "use",
    user: Annotated[str, typer.Option(help="Whose data it reaches.")] = "local",
    as_json: JsonFlag = False,
) -> None:
    """Make a key and show it, once. 'steward connect' makes one for a client, with what to paste there.

    \b
    Example: steward keys add laptop --role approve
    """

    async def work() -> None:
        async with connect(agents=()) as api:
            made = await api.post("/v1/keys", {"name": name, "role": role, "user": user})
        if as_json:
            show_json(made)
            return
        say(made["token"])
        say(f"This is the key '{name}' ({role}). Keep it now: only its hash is stored.", error=True)

    run(work, as_json=as_json)


@app.command("list")
def list_keys(as_json: JsonFlag = False) -> None:
    """List the keys that open something.

    \b
    Example: steward keys list
    """

    async def work() -> None:
        async with connect(agents=()) as api:
            found = await api.get("/v1/keys", limit=1_000)
        if as_json:
            show_json(found)
            return
        rows = [
            (key["id"], key["name"], key["role"], key["user"], key["created_at"][:16])
            for key in found["items"]
        ]
        empty = "There are no keys: only you come in, with the token of your home."
        show_table(("ID", "NAME", "ROLE", "USER", "MADE"), rows, empty=empty)

    run(work, as_json=as_json)


@app.command()
def revoke(
    key: Annotated[str, typer.Argument(help="A key's id or name; see 'steward keys list'.")],
    as_json: JsonFlag = False,
) -> None:
    """Make a key worthless, at once.

    \b
    Example: steward keys revoke laptop
    """

    async def work() -> None:
        async with connect(agents=()) as api:
            await api.delete(route("keys", key))
        show_json({"revoked": key}) if as_json else say(f"{key} opens nothing any more.")

    run(work, as_json=as_json)
