"""The workspace's policy.toml, read again when it changes.

A file that breaks or disappears while Steward runs closes the door, as it does at the start: who asks for the
rules gets the reason, and no call passes until the file is whole again. `known` are the last good rules, for
what is only shown.
"""

import logging
from collections.abc import Callable
from pathlib import Path

from steward.contract.errors import ConfigError, ConflictError, ErrorCode
from steward.policy.rules import Rules, parse_rules
from steward.providers.jsonfile import locked, replace_file

logger = logging.getLogger(__name__)


class WatchedRules:
    def __init__(self, path: Path, *, adjust: Callable[[Rules], Rules] = lambda rules: rules) -> None:
        self._path = path
        self._adjust = adjust
        self._broken: ConfigError | None = None
        self._stamp = self._stamp_now()
        # A folder that is no home yet has no rules; a file that was there once must stay there.
        self.known = self._adjust(Rules()) if self._stamp is None else self._read()

    def __call__(self) -> Rules:
        """Raises `ConfigError` that names the file and the fix while there are no rules to go by."""
        self._look()
        if self._broken is not None:
            raise ConfigError(self._broken.message, code=ErrorCode.POLICY_FAILED, fix=self._broken.fix)
        return self.known

    def problem(self) -> str | None:
        """Why no call passes now."""
        self._look()
        return None if self._broken is None else self._broken.explain()

    def _look(self) -> None:
        now = self._stamp_now()
        if now == self._stamp:
            return
        self._stamp = now
        try:
            self.known = self._read()
            self._broken = None
        except Exception as error:  # noqa: BLE001 - whatever is wrong with it, there are no rules to go by
            known = isinstance(error, ConfigError)
            self._broken = error if known else ConfigError(f"{self._path} cannot be used: {error}.")
            logger.warning("policy_file_broken", extra={"problem": self._broken.explain()})

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
        if self._stamp is None:
            raise ConfigError(
                f"{self._path} is missing: nothing runs without it.",
                fix="Put it back; an empty file means that you have no rules of your own.",
            )
        try:
            text = self._path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(
                f"{self._path} cannot be read: {error}.", fix="Make it a readable UTF-8 file."
            ) from error
        return self._adjust(parse_rules(text, source=str(self._path)))

    def _stamp_now(self) -> tuple[int, int, int] | None:
        try:
            status = self._path.stat()
        except OSError:
            return None
        return (status.st_mtime_ns, status.st_size, status.st_ino)
