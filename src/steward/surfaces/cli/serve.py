"""`steward serve`: a part of the registry as an MCP server, over stdio or HTTP."""

from typing import Annotated

import typer

from steward.surfaces.cli.output import run, say

NAMES = "tasks, knowledge, time, web, files, gateway, or a server of mcp.json"


def serve(
    name: Annotated[str, typer.Argument(help=f"What to serve: {NAMES}.")],
    http: Annotated[
        int | None, typer.Option("--http", help="Serve over HTTP on this port.", min=0, max=65535)
    ] = None,
    strict: Annotated[bool, typer.Option(help="Deletions wait for 'steward approve'.")] = False,
) -> None:
    """Serve tools to Cursor, Claude and other MCP clients. Without --http it speaks over stdio.

    \b
    Example: steward serve gateway
             steward serve tasks --http 8701
    """

    async def work() -> None:
        from steward.settings import load_settings  # noqa: PLC0415 - not needed for --help
        from steward.surfaces.mcp import serve_http, serve_stdio  # noqa: PLC0415

        settings = load_settings()
        if http is None:
            await serve_stdio(settings, name, strict=strict)
            return

        def ready(address: str) -> None:
            say(f"Serving {name} at {address}. Ctrl-C stops it.", error=True)

        await serve_http(settings, name, port=http, strict=strict, ready=ready)

    run(work, long_lived=True)


def register(app: typer.Typer) -> None:
    app.command()(serve)
