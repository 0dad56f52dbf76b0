"""Steward's own process, closed to the other programs of its account.

Owns one flag: without it every program of the account could read our environment and memory in /proc.
"""

import contextlib
import sys


def close_to_others() -> None:
    """Linux only. The kernel resets the flag in programs that we start; debuggers need root from now on."""
    if sys.platform.startswith("linux"):
        from steward.providers.containment import kernel  # noqa: PLC0415 - constants of Linux

        with contextlib.suppress(OSError):
            kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
