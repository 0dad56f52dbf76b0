"""The workspace's policy.toml, read again when it changes.

A file that breaks or disappears while Steward runs closes the door, as it does at the start: who asks for the
rules gets the reason, and no call passes until the file is whole again. `known` are the last good rules, for
what is only shown.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path

from steward.contract.errors import ConfigError, ConflictError, ErrorCode, InputError
from steward.policy.rules import Rule, Rules, parse_rules
from steward.policy.writing import with_rule, without_rule
from steward.providers.jsonfile import locked, replace_file

logger = logging.getLogger(__name__)


class WatchedRules:
    def __init__(self, path: Path, *, adjust: Callable[[Rules], Rules] = lambda rules: rules) -> None:
        self._path = path
        self._adjust = adjust
        # Within it the file is the newest of all instances, and a change of it goes to them.
        self.changing: Callable[[], AbstractAsyncContextManager[None]] = nullcontext
        self._broken: ConfigError | None = None
        # Around each change made here: where several instances share their rules, the others get it.
        self.changing: Callable[[], AbstractAsyncContextManager[None]] = nullcontext
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

    async def add(self, rule: Rule, *, note: str) -> bool:
        """Write a rule down; False where it stands already. `note` says who made it."""
        async with self.changing():
            return await asyncio.to_thread(self._change, lambda text: with_rule(text, rule, note=note))

    async def remove(self, rule_id: str) -> None:
        async with self.changing():
            await asyncio.to_thread(self._change, lambda text: without_rule(text, rule_id))

    def _change(self, change: Callable[[str], str]) -> bool:
        with locked(self._path):
            before = self.text()
            try:
                after = change(before)
            except ConfigError as error:
                raise ConflictError(f"The policy was not changed. {error.message}", fix=error.fix) from error
            if after == before:
                return False
            replace_file(self._path, after.encode())
        return True

    def text(self) -> str:
        """The file as it stands. Blocks: async callers use a thread."""
        return self._path.read_text(encoding="utf-8") if self._path.exists() else ""

    async def rewrite(self, text: str, *, before: str) -> None:
        """The whole file anew, where it still is what its writer has seen and the new one can be used."""
        async with self.changing():
            await asyncio.to_thread(self._rewrite, text, before)

    def _rewrite(self, text: str, before: str) -> None:
        with locked(self._path):
            if self.text() != before:
                raise ConflictError(
                    f"{self._path.name} was changed meanwhile; nothing was written.",
                    fix="Look at it again, then make your change.",
                )
            self.parse(text)
            replace_file(self._path, text.encode())

    def parse(self, text: str) -> Rules:
        """What this text would say, were it the file; refused where it could not be used."""
        try:
            return self._adjust(parse_rules(text, source=self._path.name))
        except ConfigError as error:
            raise InputError(f"Nothing was written. {error.message}", fix=error.fix) from error

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
