"""News of a terminal that was closed, where the operating system tells nobody.

A closed terminal sends SIGHUP to its session's first program only, and to the others when that one ends. A
`make` that started us waits for us instead, so that neither would ever end.
"""

import asyncio
import os
from collections.abc import Generator
from contextlib import contextmanager

CHECK_SECONDS = 1.0
_STANDARD = (0, 1, 2)


@contextmanager
def watched() -> "Generator[asyncio.Task[None]]":
    """A task that ends when the terminal is closed, which it may be while a program is still starting."""
    watching = asyncio.create_task(closed())
    try:
        yield watching
    finally:
        watching.cancel()


async def closed(*, every: float = CHECK_SECONDS) -> None:
    """Returns when the terminal in whose foreground this program ran is gone; never where there is none."""
    terminal = next((number for number in _STANDARD if os.isatty(number)), None)
    foreground = False
    while terminal is not None:
        try:
            # In the background it goes on without its terminal, as its user wanted.
            foreground = os.tcgetpgrp(terminal) == os.getpgrp()
        except OSError:
            if foreground:
                return
            break
        await asyncio.sleep(every)
    await asyncio.Future()
