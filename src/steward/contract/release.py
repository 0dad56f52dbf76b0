"""Which Steward this is: the version of the installed package, said in one place."""

from functools import cache

PACKAGE = "steward-agents"


@cache
def release() -> str:
    from importlib.metadata import version  # noqa: PLC0415 - `--help` need not pay for it

    return version(PACKAGE)
