"""The entries of mcp.json as a person edits them: shown without their secrets, written with them.

Owns what of an entry is shown, and which secret goes back to its place. An entry names programs that run on
this machine as its owner, so only the owner writes one (surfaces). What an entry may say is the file's
(mcp_config.py).
No change of it can be taken back: the journal would have to keep the secrets.
"""

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import orjson

from steward.bootstrap.tools.mcp_servers import Servers
from steward.contract import linear_re as re
from steward.contract.errors import ConfigError, ConflictError, InputError, NotFoundError
from steward.providers.mcp.mcp_config import change_mcp_config, server_entries
from steward.telemetry.masking import MASKER

KEPT = "(kept)"  # stands where a secret is; whoever leaves it there keeps the secret
SECRET_PLACES = frozenset({"env", "headers", "oauth"})
_REFERENCE = re.compile(r"(?:\w{1,20} )?\$\{[^}]{1,200}\}")
Entry = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerEntry:
    """One server of mcp.json."""

    name: str
    entry: Mapping[str, Any]  # secrets as `KEPT`
    fingerprint: str


class ServerEntries:
    def __init__(
        self, path: Path, servers: Servers, *, shared: Callable[[], AbstractAsyncContextManager[None]]
    ) -> None:
        """Within `shared` the file is the newest of all instances, and the change of it goes to them."""
        self._path = path
        self._servers = servers
        self._shared = shared

    async def list(self) -> list[ServerEntry]:
        """In the order of the file. Raises `ConfigError` where it cannot be used."""
        known = await asyncio.to_thread(server_entries, self._path)
        return [
            ServerEntry(name=name, entry=_hidden(entry), fingerprint=_fingerprint(entry))
            for name, entry in known.items()
        ]

    async def get(self, name: str) -> ServerEntry:
        found = next((each for each in await self.list() if each.name == name), None)
        if found is None:
            raise _unknown(name)
        return found

    async def add(self, entries: Mapping[str, Entry]) -> None:
        def change(servers: dict[str, Any]) -> None:
            for name, entry in entries.items():
                if name in servers:
                    raise ConflictError(
                        f"mcp.json has a server '{name[:80]}' already; nothing was written.",
                        fix="Change that one, or choose another name.",
                    )
                servers[name] = _whole(entry, {})

        await self._change(change)

    async def update(self, name: str, entry: Entry, *, before: str) -> None:
        """`before`: the fingerprint of what its writer has seen."""

        def change(servers: dict[str, Any]) -> None:
            if name not in servers:
                raise _unknown(name)
            if _fingerprint(servers[name]) != before:
                raise ConflictError(
                    f"The server '{name}' was changed meanwhile; nothing was written.",
                    fix="Look at it again, then make your change.",
                )
            servers[name] = _whole(entry, servers[name])

        await self._change(change)

    async def remove(self, name: str) -> None:
        def change(servers: dict[str, Any]) -> None:
            if servers.pop(name, None) is None:
                raise _unknown(name)

        await self._change(change)

    async def _change(self, change: Any) -> None:
        try:
            async with self._shared():
                await asyncio.to_thread(change_mcp_config, self._path, change)
        except ConfigError as error:
            raise InputError(f"Nothing was written. {error.message}", fix=error.fix) from error
        await self._servers.reload()


def _unknown(name: str) -> NotFoundError:
    return NotFoundError(f"mcp.json has no server '{name[:80]}'.", fix="See 'steward agents list'.")


def _fingerprint(entry: object) -> str:
    return hashlib.sha256(orjson.dumps(entry, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _hidden(value: Any, *, secret: bool = False) -> Any:
    """The same with `KEPT` for each secret: what stands in a place for them, or looks like one."""
    if isinstance(value, dict):
        known = cast("Entry", value)
        return {
            name: _hidden(each, secret=secret or name in SECRET_PLACES or _is_secret(name, each))
            for name, each in known.items()
        }
    if isinstance(value, list):
        shown = cast("list[Any]", value)
        masked = cast("list[Any]", MASKER.value(shown))  # what follows "--token" is one
        return [
            _hidden(each, secret=secret or (isinstance(each, str) and each != beside))
            for each, beside in zip(shown, masked, strict=True)
        ]
    if not isinstance(value, str) or _REFERENCE.fullmatch(value):
        return value
    return KEPT if secret or MASKER.text(value) != value else value


def _is_secret(name: str, value: Any) -> bool:
    return isinstance(value, str) and MASKER.value({name: value}) != {name: value}


def _whole(new: Any, old: Any, *, at: str = "") -> Any:
    """What was written, with the secrets that were left as `KEPT` from where they stood."""
    if isinstance(new, dict):
        before = cast("Entry", old) if isinstance(old, dict) else {}
        return {
            name: _whole(each, before.get(name), at=f"{at}.{name}" if at else name)
            for name, each in cast("Entry", new).items()
        }
    if isinstance(new, list):
        return _whole_list(cast("list[Any]", new), old, at)
    if new != KEPT:
        return new
    if not isinstance(old, str):
        raise InputError(f"Nothing is kept at '{at}'.", fix="Write the value itself, or ${NAME}.")
    return old


def _whole_list(new: list[Any], old: Any, at: str) -> list[Any]:
    """In their order; where there are fewer or more than before, nobody knows which is meant."""
    before = cast("list[Any]", old) if isinstance(old, list) else []
    kept = [each for each, shown in zip(before, _hidden(before), strict=True) if shown == KEPT]
    if sum(each == KEPT for each in new) not in (0, len(kept)):
        raise InputError(f"It is not clear which value is kept in '{at}'.", fix="Write them all anew.")
    rest = iter(kept)
    return [next(rest) if each == KEPT else _whole(each, None, at=at) for each in new]
