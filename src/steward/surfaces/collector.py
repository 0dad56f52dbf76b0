"""What a program of ours does about its memory: how often it looks for garbage, and what it hands back."""

import asyncio
import atexit
import ctypes
import gc
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress

ALLOCATIONS_BETWEEN_LOOKS = 50_000
SECONDS_BETWEEN_RETURNS = 60.0
MMAP_THRESHOLD = -3  # as glibc's mallopt numbers it
LARGE, LARGE_USUALLY = 4 * 2**20, 32 * 2**20  # bytes; the second is where glibc itself arrives after a while


def spare_the_collector() -> None:
    """Loading makes many classes and little garbage: looking for it, also at the end, took half a second."""
    gc.set_threshold(ALLOCATIONS_BETWEEN_LOOKS)
    atexit.register(gc.freeze)


@contextmanager
def loading() -> Generator[None]:
    """Nothing is looked for while this lasts, and what stands at its end is never gone through again."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def memory_given_back() -> Generator[None]:
    """Reading a model in frees more than it keeps, and glibc hands that back only when it is told.

    What is freed between two blocks that stay cannot be handed back at all: meanwhile large blocks are asked
    of the system one by one, which takes them back at once.
    """
    _tell_glibc("mallopt", MMAP_THRESHOLD, LARGE)
    try:
        yield
    finally:
        _tell_glibc("mallopt", MMAP_THRESHOLD, LARGE_USUALLY)
        _tell_glibc("malloc_trim", 0)


@asynccontextmanager
async def memory_returned(seconds: float = SECONDS_BETWEEN_RETURNS) -> AsyncGenerator[None]:
    """Hand back what is free, again and again.

    Models reckon in threads, several at a time, and glibc keeps the most that each of its heaps ever held: a
    program that serves grew by a third in some minutes of requests, half of it free.
    """

    async def hand_back() -> None:
        while True:
            await asyncio.sleep(seconds)
            await asyncio.to_thread(_tell_glibc, "malloc_trim", 0)  # holds no lock of Python's meanwhile

    task = asyncio.create_task(hand_back(), name="handing memory back")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _tell_glibc(function: str, *arguments: int) -> None:
    with suppress(OSError, AttributeError, TypeError):  # another C library decides for itself
        getattr(ctypes.CDLL(None), function)(*arguments)
