"""The workspace's policy.toml, read again when it changes.

A file that breaks while Steward runs does not open the door: the last good rules stay, minus nothing, and
the problem is shown by `steward doctor`. At start a broken file halts.
"""

import logging
from collections.abc import Callable
from pathlib import Path

from steward.contract.errors import ConfigError, ConflictError
from steward.policy.rules import Rules, parse_rules
from steward.providers.jsonfile import locked, replace_file

logger = logging.getLogger(__name__)


class WatchedRules:
    def __init__(self, path: Path, *, adjust: Callable[[Rules], Rules] = lambda rules: rules) -> None:
        self._path = path
        self._adjust = adjust
        self._stamp: tuple[int, int] | None = None
        self._rules = self._read()
        self.problem: str | None = None

    def __call__(self) -> Rules:
        if self._stamp_now() != self._stamp:
            try:
                self._rules = self._read()
                self.problem = None
            except ConfigError as error:
                self._stamp = self._stamp_now()
                self.problem = error.explain()
                logger.warning("policy_file_broken", extra={"problem": self.problem})
        return self._rules

    def trust(self, tool: str) -> None:
        """Write down that this tool runs without asking. Blocks: async callers use a thread."""
        with locked(self._path):
            text = self._path.read_text(encoding="utf-8") if self._path.exists() else ""
            if self._trusting(text, tool):
                return
            grown = f'{text.rstrip()}\n\n[[rule]]\ntool = "{tool}"\ntrust = true\n'.lstrip()
            if not self._trusting(grown, tool):
                raise ConflictError(
                    f"{self._path.name} says elsewhere that '{tool}' must ask.",
                    fix="Remove that rule first; one 'trust = false' outweighs every 'true'.",
                )
            replace_file(self._path, grown.encode())

    def _trusting(self, text: str, tool: str) -> bool:
        try:
            return parse_rules(text, source=str(self._path)).trusts((tool,), {}, None) is True
        except ConfigError as error:
            raise ConflictError(f"The policy was not changed. {error.message}", fix=error.fix) from error

    def _read(self) -> Rules:
        self._stamp = self._stamp_now()
        try:
            text = self._path.read_text(encoding="utf-8") if self._stamp else ""
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(
                f"{self._path} cannot be read: {error}.", fix="Make it a readable UTF-8 file."
            ) from error
        return self._adjust(parse_rules(text, source=str(self._path)))

    def _stamp_now(self) -> tuple[int, int] | None:
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return None
        return (status.st_mtime_ns, status.st_size)
