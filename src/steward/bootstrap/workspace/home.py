"""A workspace folder: what `steward init` makes, and what must be there afterwards.

A home that was never initialised is initialised. A registry file or a policy that goes missing later is a
reason to halt: silently making an empty one would drop every tool and rule the person had configured.
"""

import os
from pathlib import Path

from steward.contract.errors import ConfigError, ErrorCode
from steward.settings import Settings

MARKER = "home.json"
STAGE, READY = ".restoring", "ready.json"  # a restore that is complete but not yet in place

POLICY = """\
# Which tools may run without asking. Full reference: docs/policy.md
#
# [[rule]]
# tool = "notes__append"      # a tool's name, or a pattern such as "notes__*"
# trust = true                # run it without asking (never for irreversible ones)
#
# [[rule]]
# tool = "weather__*"
# risk = "reversible"         # your own rating of a tool that nobody has rated
"""

FILES = {
    "mcp.json": '{\n  "mcpServers": {}\n}\n',
    "tools/tools.json": '{\n  "tools": []\n}\n',
    "policy.toml": POLICY,
}
REQUIRED = ("mcp.json", "tools/tools.json", "policy.toml")
FOLDERS = ("tools", "skills", "logs")


def initialise(settings: Settings) -> tuple[Path, ...]:
    """Make what is missing and return it; what is there stays as it is."""
    home = settings.home
    made: list[Path] = []
    try:
        for folder in (home, *(home / name for name in FOLDERS)):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name, content in FILES.items():
            if _create(home / name, content):
                made.append(home / name)
        _create(home / MARKER, '{"version": 1}\n')
    except OSError as error:
        raise ConfigError(
            f"The folder {home} cannot be used: {error.strerror}.",
            fix="Choose another with STEWARD_HOME, or free space and check its permissions.",
        ) from error
    return tuple(made)


def initialised(settings: Settings) -> bool:
    return (settings.home / MARKER).exists()


def ensure(settings: Settings) -> None:
    """Initialise a new home; refuse one that lost a registry file; finish a restore that was killed."""
    if (settings.home / STAGE / READY).exists():
        finish_restore(settings)
    if not initialised(settings):
        initialise(settings)
        return
    for name in REQUIRED:
        if not (settings.home / name).is_file():
            raise ConfigError(
                f"{settings.home / name} is missing.",
                code=ErrorCode.CONFIG_MISSING,
                fix="Restore it, or run 'steward init' to start with an empty one.",
            )


def finish_restore(settings: Settings) -> None:
    # Here and not above: it brings the database's tools, which nobody needs who only starts.
    from steward.bootstrap.workspace.backup import finish  # noqa: PLC0415

    finish(settings.home)


def _create(path: Path, content: str) -> bool:
    """Write a file unless it is there; whole or not at all."""
    if path.exists():
        return False
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.write_text(content, encoding="utf-8")
        partial.chmod(0o600)
        partial.rename(path)
    finally:
        partial.unlink(missing_ok=True)
    return True
