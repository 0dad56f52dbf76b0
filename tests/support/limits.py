"""The specifications' limits in seconds, as deadlines that a busy machine keeps as well."""

import asyncio
import os

BUSY = 12  # what is stated for a machine of one's own, on one that runs a whole suite


def within(stated: float) -> asyncio.Timeout:
    """`STEWARD_BUSY` is how busy the machine is instead: `make mutate` looks whether a deadline is one."""
    return asyncio.timeout(stated * float(os.environ.get("STEWARD_BUSY", BUSY)))
