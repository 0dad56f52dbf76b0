"""A long call with a bar on the terminal; elsewhere the call alone."""

import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import aclosing, contextmanager
from typing import Any

from steward.contract.errors import UnavailableError
from steward.surfaces.cli.client import Api, route
from steward.surfaces.cli.output import visible

Step = Callable[[Mapping[str, Any]], None]


async def call_with_progress(
    api: Api, tool: str, arguments: Mapping[str, Any], *, doing: str
) -> dict[str, Any]:
    """The call's result; its progress shows on standard error where that is a terminal."""
    path, body = route("tools", tool, "call"), {"arguments": arguments}
    if not sys.stderr.isatty():
        return await api.post(path, body)
    with _bar(doing) as step:
        async with aclosing(api.stream(path, body)) as events:
            async for name, data in events:
                if name == "result":
                    return data
                step(data)
    raise UnavailableError(
        "Steward stopped before the answer was complete.", fix="Run it again: what was done is kept."
    )


@contextmanager
def _bar(doing: str) -> Generator[Step]:
    # Only a terminal needs it, and it takes a tenth of a second to load.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[item]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(visible(doing), total=None, item="")

        def step(data: Mapping[str, Any]) -> None:
            item = visible(str(data.get("message") or ""))
            progress.update(task, completed=data["done"], total=data.get("total"), item=item[:40])

        yield step
