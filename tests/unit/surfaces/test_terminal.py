"""A terminal that goes away: who ends with it, and who goes on."""

import asyncio
import os
from collections.abc import Iterator

import pytest
from tests.support.waiting import until

from steward.surfaces.api import terminal

OURS = os.getpgrp()


def watch(monkeypatch: pytest.MonkeyPatch, *seen: int | OSError) -> "asyncio.Task[None]":
    answers: Iterator[int | OSError] = iter(seen)

    def foreground(_: int) -> int:
        answer = next(answers)
        if isinstance(answer, OSError):
            raise answer
        return answer

    monkeypatch.setattr(os, "isatty", lambda number: bool(seen) and number == 1)
    monkeypatch.setattr(os, "tcgetpgrp", foreground)
    return asyncio.create_task(terminal.closed(every=0))


async def test_a_program_in_the_foreground_hears_that_its_terminal_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with asyncio.timeout(10):
        await watch(monkeypatch, OURS, OURS, OSError("hung up"))


@pytest.mark.parametrize("seen", [(), (OSError("not ours"),), (OURS, OURS + 1, OSError("hung up"))])
async def test_without_a_terminal_or_in_the_background_it_goes_on(
    monkeypatch: pytest.MonkeyPatch, seen: tuple[int | OSError, ...]
) -> None:
    watching = watch(monkeypatch, *seen)
    turns = iter(range(20))
    await until(lambda: next(turns) == 19)
    assert not watching.done()
    watching.cancel()
