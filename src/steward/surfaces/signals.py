"""A program that runs until it is told to stop, without a server of its own."""

import asyncio
import signal
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def asked_to_stop() -> Generator[asyncio.Event]:
    """Set by Ctrl-C, SIGTERM or a closed terminal, so that what is open closes in order."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # nohup: somebody has said that it goes on
        numbers.append(signal.SIGHUP)
    for number in numbers:
        loop.add_signal_handler(number, stop.set)
    try:
        yield stop
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
