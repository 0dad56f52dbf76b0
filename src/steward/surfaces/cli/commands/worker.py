"""`steward worker`: one more worker beside `steward up`, on any machine with the same database."""

from typing import Annotated

import typer

from steward.surfaces.cli.output import run, say

QueueOption = Annotated[
    list[str] | None,
    typer.Option("--queue", help="Take jobs of this queue only; may be given several times."),
]


def worker(
    queue: QueueOption = None,
    concurrency: Annotated[int, typer.Option(help="Jobs at the same time.", min=1, max=64)] = 4,
) -> None:
    """Take jobs out of the queue until stopped. `steward up` contains one worker; this adds another.

    \b
    Example: DATABASE_URL=postgresql://db/steward steward worker --queue ingest
    """

    async def work() -> None:
        from steward.bootstrap import open_platform  # noqa: PLC0415 - not needed for --help
        from steward.bootstrap.sharing.other_instances import following  # noqa: PLC0415
        from steward.settings import load_settings  # noqa: PLC0415
        from steward.surfaces.collector import memory_returned  # noqa: PLC0415
        from steward.surfaces.signals import asked_to_stop  # noqa: PLC0415

        taken = ", ".join(queue) if queue else "all queues"
        with asked_to_stop() as stop:
            async with (
                open_platform(load_settings()) as platform,
                following(platform),
                platform.work.worker(queue or (), concurrency=concurrency),
                memory_returned(),
            ):
                say(f"A worker takes jobs of {taken}. Ctrl-C stops it.")
                await stop.wait()

    run(work, long_lived=True)


def register(app: typer.Typer) -> None:
    app.command()(worker)
