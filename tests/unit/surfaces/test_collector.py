"""A program that serves hands back the memory that it does not use."""

import ctypes
import sys
from pathlib import Path

import pytest
from tests.support.waiting import until

from steward.surfaces.collector import memory_returned

BLOCK, BLOCKS = 32 * 2**10, 4_000


def held() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096


@pytest.mark.skipif(sys.platform != "linux", reason="it is glibc that keeps it")
async def test_what_is_free_between_blocks_that_stay_is_handed_back() -> None:
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    blocks = [ctypes.c_void_p(libc.malloc(ctypes.c_size_t(BLOCK))) for _ in range(BLOCKS)]
    for block in blocks:
        ctypes.memset(block, 1, BLOCK)
    kept = blocks[::100]
    for block in blocks:
        if block not in kept:
            libc.free(block)
    before = held()
    async with memory_returned(0.01):
        await until(lambda: held() < before - BLOCK * BLOCKS // 2)
    for block in kept:
        libc.free(block)
