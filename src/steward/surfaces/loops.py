"""The event loop of what serves for long: uvloop where the extra `speed` is installed, else asyncio's."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any


def runner() -> Callable[[Coroutine[Any, Any, Any]], Any]:
    try:
        import uvloop  # noqa: PLC0415 - most commands never need it
    except ImportError:
        return asyncio.run
    return uvloop.run
