"""`steward serve`: a part of the registry as an MCP server, over stdio or HTTP."""

from typing import Annotated

import typer

from steward.contract.deciding import Role
from steward.contract.errors import InputError
from steward.surfaces.cli.output import run, say

NAMES = "tasks, knowledge, time, web, files, gateway, or a server of mcp.json"


def serve(
    name: Annotated[str, typer.Argument(help=f"What to serve: {NAMES}.")],
    http: Annotated[
        int | None, typer.Option("--http", help="Serve over HTTP on this port.", min=0, max=65535)
    ] = None,
    role: Annotated[
        str | None,
        typer.Option(help="What the client on the pipe may do: read, use (default), approve or admin."),
    ] = None,
    client_confirms: Annotated[
        bool,
        typer.Option(
            "--client-confirms",
            help="With 'tasks', on a pipe: the client's own agent confirms deletions, no person is asked.",
        ),
    ] = False,
) -> None:
    """Serve tools to Cursor, Claude and other MCP clients. Without --http it speaks over stdio.

    A client on the pipe acts for you with the role 'use': what needs a yes waits for 'steward approve'. With
    '--role approve' a yes given in the client counts as yours. Over HTTP the role is the key's.

    \b
    Example: steward serve gateway
             steward serve tasks --http 8701
    """
    allowed = _allowed(name, http, role=role, client_confirms=client_confirms)

    async def work() -> None:
        from steward.settings import load_settings  # noqa: PLC0415 - not needed for --help
        from steward.surfaces.mcp import serve_http, serve_stdio  # noqa: PLC0415

        settings = load_settings()
        if http is None:
            await serve_stdio(settings, name, role=allowed, client_confirms=client_confirms)
            return

        def ready(address: str) -> None:
            say(f"Serving {name} at {address}. Ctrl-C stops it.", error=True)

        await serve_http(settings, name, port=http, ready=ready)

    run(work, long_lived=True)


def _allowed(name: str, http: int | None, *, role: str | None, client_confirms: bool) -> Role:
    """The role of a client on the pipe; ends with bad usage for options that do not belong together."""
    problem = None
    if client_confirms and http is not None:
        problem = (
            "--client-confirms is for a pipe only: over HTTP nobody knows whose program it is. "
            "Leave --http or --client-confirms out."
        )
    elif client_confirms and name != "tasks":
        problem = "--client-confirms is for 'steward serve tasks' only. Leave it out."
    elif role is not None and http is not None:
        problem = "--role is for a pipe only: over HTTP the key says the role. Leave --http or --role out."
    if problem is not None:
        raise typer.BadParameter(problem)
    try:
        return Role.parse(role or Role.USE.word)
    except InputError as error:
        raise typer.BadParameter(error.explain()) from error


def register(app: typer.Typer) -> None:
    app.command()(serve)
