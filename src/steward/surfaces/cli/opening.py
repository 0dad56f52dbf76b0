"""`steward open`, and how a page address reaches the browser.

A browser is started with its address on a command line, which every account of the machine can read. So it is
given a file that only its owner can read, and that leads on to the address.
"""

import sys
import threading
import webbrowser
from html import escape
from pathlib import Path
from typing import Annotated

import typer

from steward.contract.errors import UnavailableError
from steward.surfaces.cli.client import connect
from steward.surfaces.cli.files import write_private
from steward.surfaces.cli.output import JsonFlag, run, say, show_json

FILE = "open.html"
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")
OpenOption = Annotated[
    bool | None,
    typer.Option("--open/--no-open", help="Open the page in your browser; else STEWARD_OPEN_PAGE says."),
]


def open_page(browser: OpenOption = None, as_json: JsonFlag = False) -> None:
    """Make another address that signs a browser in, once, and open it.

    \b
    Example: steward open
    """

    async def work() -> None:
        from steward.settings import load_settings  # noqa: PLC0415 - not needed for --help
        from steward.surfaces.instance import find_running  # noqa: PLC0415

        settings = load_settings()
        running = await find_running(settings)
        if running is None or running.background:
            raise UnavailableError("Steward does not run, so it shows no page.", fix="Start 'steward up'.")
        async with connect(settings, agents=()) as api:
            made = await api.post("/v1/sign-in-links")
            address = running.url + made["path"]
            if as_json:
                show_json({"url": address, "expires_at": made["expires_at"]})
                return
            say(address)
            if wanted(browser, default=settings.open_page):
                other = await api.post("/v1/sign-in-links")  # the one above stays unused
                show(running.url + other["path"], settings.home).join()

    run(work, as_json=as_json)


def wanted(told: bool | None, *, default: bool) -> bool:
    """Whether to open a browser: as was said, but by itself only where somebody sits in front of one."""
    return told if told is not None else default and sys.stdout.isatty() and _has_screen()


def _has_screen() -> bool:
    from steward.settings import environment  # noqa: PLC0415 - see above

    if sys.platform in ("darwin", "win32"):
        return "SSH_CONNECTION" not in environment()
    return any(environment().get(name) for name in DISPLAYS)


def show(address: str, home: Path) -> threading.Thread:
    """Open it without waiting for the browser, which may be slow to start."""
    file = home / FILE
    where = escape(address, quote=True)
    page = (
        f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={where}">'
        f'<title>Steward</title><a href="{where}">Go on to Steward</a>\n'
    )
    write_private(file, page.encode())
    opening = threading.Thread(target=webbrowser.open, args=(file.as_uri(),), daemon=True)
    opening.start()
    return opening


def register(app: typer.Typer) -> None:
    app.command("open")(open_page)
