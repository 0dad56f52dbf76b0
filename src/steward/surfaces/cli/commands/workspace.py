"""`steward init|doctor|up|down`: the workspace and the running instance."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated

import typer

from steward.surfaces.cli.opening import FILE, OpenOption, show, wanted
from steward.surfaces.cli.output import Exit, JsonFlag, UnwritableError, run, say, show_json

HOST = "127.0.0.1"
PORT = 8700

HostOption = Annotated[str, typer.Option(help="Address to serve on; another than loopback needs a key.")]
PortOption = Annotated[int, typer.Option(help="Port to serve on.", min=0, max=65535)]


def init(as_json: JsonFlag = False) -> None:
    """Make the workspace folder with its files; what is there stays as it is.

    \b
    Example: STEWARD_HOME=~/work/steward steward init
    """

    async def work() -> None:
        from steward.bootstrap.workspace.home import initialise  # noqa: PLC0415 - not needed for --help
        from steward.settings import load_settings  # noqa: PLC0415

        settings = load_settings()
        made = initialise(settings)
        if as_json:
            show_json({"home": str(settings.home), "made": [str(path) for path in made]})
            return
        say(f"Your workspace is {settings.home}.")
        for path in made:
            say(f"  made {path.relative_to(settings.home)}")

    run(work, as_json=as_json)


def doctor(host: HostOption = HOST, port: PortOption = PORT, as_json: JsonFlag = False) -> None:
    """Check database, model, policy, port, keys and tracing, and say how to fix each.

    \b
    Example: steward doctor
    """

    async def work() -> int:
        from steward.bootstrap.workspace.diagnosis import Verdict, diagnose  # noqa: PLC0415 - not needed for --help
        from steward.settings import load_settings  # noqa: PLC0415
        from steward.surfaces.instance import agents_away, find_running  # noqa: PLC0415

        settings = load_settings()
        running = await find_running(settings)
        address = None if running is None else running.url
        away = None if running is None else await agents_away(settings, running)
        looking = diagnose(settings, host=host, port=port, running=address, away=away)
        findings = [item async for item in looking]
        bad = [item for item in findings if item.verdict is Verdict.BAD]
        if as_json:
            rows = [
                {"what": item.what, "verdict": item.verdict.value, "detail": item.detail, "fix": item.fix}
                for item in findings
            ]
            show_json({"healthy": not bad, "findings": rows})
        else:
            colours = {Verdict.GOOD: "green", Verdict.NOTE: "yellow", Verdict.BAD: "red"}
            for item in findings:
                mark = typer.style(f"{item.verdict.value:8}", fg=colours[item.verdict])
                say(f"{mark}{item.what:10}{item.detail}")
                if item.fix:
                    say(f"{'':18}{item.fix}")
        return Exit.FAILED if bad else Exit.DONE

    run(work, as_json=as_json)


def up(
    host: HostOption = HOST,
    port: PortOption = PORT,
    page: Annotated[bool, typer.Option(help="Serve the web page at /.")] = True,
    browser: OpenOption = None,
    samples: Annotated[bool, typer.Option("--samples", help="Fill a new, empty home with samples.")] = False,
) -> None:
    """Start Steward: HTTP API, gateway and page on one address. Prints an address that signs you in, once.

    \b
    Example: steward up --port 8700
    """

    async def work() -> None:
        from steward.settings import load_settings  # noqa: PLC0415 - not needed for --help
        from steward.surfaces.api.serve import SignIn, serve  # noqa: PLC0415

        settings = load_settings()

        def ready(address: str, sign_in: SignIn | None, unfinished: Sequence[str]) -> None:
            with suppress(UnwritableError):  # the terminal was closed meanwhile: it ends in order, not here
                say(f"Steward is up at {address} (API documentation at {address}/docs). Ctrl-C stops it.")
                if sign_in is not None:
                    say(f"Sign in, once and within ten minutes: {sign_in()}")
                for line in unfinished:
                    say(line)
            if sign_in is not None and wanted(browser, default=settings.open_page):
                show(sign_in(), settings.home)

        try:
            await serve(settings, host=host, port=port, ready=ready, page=page, samples=samples)
        finally:
            (settings.home / FILE).unlink(missing_ok=True)

    run(work, long_lived=True)


def down(as_json: JsonFlag = False) -> None:
    """End the Steward of this home, in the background or 'steward up'. Calls in flight are finished.

    \b
    Example: steward down
    """

    async def work() -> None:
        from steward.settings import load_settings  # noqa: PLC0415 - not needed for --help
        from steward.surfaces.background import end  # noqa: PLC0415

        ended = await end(load_settings())
        if as_json:
            show_json({"ended": None if ended is None else {"url": ended.url, "pid": ended.pid}})
        elif ended is None:
            say("No Steward runs for this home.")
        else:
            say(f"Steward at {ended.url} has ended.")

    run(work, as_json=as_json)


def register(app: typer.Typer) -> None:
    app.command()(init)
    app.command()(doctor)
    app.command()(up)
    app.command()(down)
