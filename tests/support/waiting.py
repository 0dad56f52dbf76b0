"""Waiting for something that another process or task does: no fixed sleeps, a deadline for the worst case."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Any


async def until(condition: Callable[[], Any | Awaitable[Any]], *, seconds: float = 30) -> None:
    """Return once `condition()` is true; fail when it is not within a generous time."""
    async with asyncio.timeout(seconds):
        while True:
            met = condition()
            if await met if inspect.isawaitable(met) else met:
                return
            await asyncio.sleep(0.005)
