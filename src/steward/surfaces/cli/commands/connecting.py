"""`steward connect`: what to paste into a client, with a key of that client's own."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from steward.contract.errors import InputError, NotFoundError
from steward.surfaces.cli.client import Api, connect
from steward.surfaces.cli.clients import CLIENTS, PIPED, Access, Client, piped
from steward.surfaces.cli.output import JsonFlag, run, say, show_json, visible

DEFAULT_ADDRESS = "http://127.0.0.1:8700"
OPENS = {
    "read": "It may look at tasks, tools, proposals and the log of its user, and change nothing.",
    "use": "It may use tools and agents. What needs a yes waits for you: on the page, or with "
    "'steward proposals'. It can never say yes itself.",
    "approve": "It may also SAY YES for you: whoever holds this key decides on calls that wait, deletions "
    "included. Give it only to a client that shows you each question, whole.",
    "admin": "It may do EVERYTHING that you may: make keys, change tools, erase users. No client needs that.",
}


def connect_client(
    client: Annotated[str, typer.Argument(help=f"Which one: {', '.join((*CLIENTS, PIPED))}.")],
    *,
    role: Annotated[str, typer.Option(help="read, use, approve or admin: what its key may do.")] = "use",
    user: Annotated[str, typer.Option(help="Whose data it reaches.")] = "local",
    as_json: JsonFlag = False,
) -> None:
    """Print what to paste into a client, with a new key of its own.

    \b
    Example: steward connect cursor
             steward connect open-webui --role approve
    """

    async def work() -> None:
        from steward.settings import load_settings  # noqa: PLC0415 - not needed for --help

        name, settings = client.lower(), load_settings()
        if name == PIPED:
            _show_piped(settings.home, role, as_json=as_json)
            return
        known = CLIENTS.get(name)
        if known is None:
            names = ", ".join((*CLIENTS, PIPED))
            raise NotFoundError(f"There is no client '{visible(client)}' here.", fix=f"Use one of {names}.")
        async with connect(settings, agents=()) as api:
            made = await _key(api, name, role=role, user=user)
        address = None if api.background else api.running
        _show(known, Access(address or DEFAULT_ADDRESS, made["token"]), made, as_json=as_json)
        if address is None and not as_json:
            say("Nothing answers there yet: start 'steward up'.", error=True)

    run(work, as_json=as_json)


def _show(client: Client, access: Access, made: dict[str, Any], *, as_json: bool) -> None:
    paste, role = client.paste(access), made["role"]
    if as_json:
        shown = {"url": client.url(access), "api_key": access.key, "role": role, "paste": paste}
        show_json({**shown, "key": made["name"]})
        return
    say(f"For {client.title}: put this into {client.where}.", error=True)
    say(paste)
    say(f"\nIts key is '{made['name']}', role {role}. {OPENS[role]}", error=True)
    say(f"'steward keys revoke {made['name']}' ends it.", error=True)
    if client.hint:
        say(client.hint, error=True)


def _show_piped(home: Path, role: str, *, as_json: bool) -> None:
    if role not in OPENS:
        raise InputError(f"There is no role '{visible(role)}'.", fix=f"Use one of {', '.join(OPENS)}.")
    paste = piped(str(Path(sys.executable).with_name("steward")), str(home.absolute()), role)
    if as_json:
        show_json({"url": None, "api_key": None, "role": role, "paste": paste, "key": None})
        return
    say("For Claude Desktop: put this into claude_desktop_config.json.", error=True)
    say(paste)
    say(f"\nIt starts Steward itself, so it needs no key; its role is {role}. {OPENS[role]}", error=True)


async def _key(api: Api, name: str, *, role: str, user: str) -> dict[str, Any]:
    """A new key, named after the client.

    One that was pasted before goes on working: it can be shown to nobody again, and whoever uses it has not
    been asked. It is a person's to revoke.
    """
    taken = {key["name"] for key in (await api.get("/v1/keys", limit=1_000))["items"]}
    free = next(each for each in _names(name) if each not in taken)
    return await api.post("/v1/keys", {"name": free, "role": role, "user": user})


def _names(name: str) -> "list[str]":
    return [name, *(f"{name}-{number}" for number in range(2, 1_002))]


def register(app: typer.Typer) -> None:
    app.command("connect")(connect_client)
