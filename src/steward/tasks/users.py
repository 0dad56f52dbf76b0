"""The people whose tasks these are: ids, names and time zones.

Owns what a user id and a zone may be. `local` is the person at this machine; it always exists.
"""

import difflib
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from steward.contract import linear_re as re
from steward.contract.errors import ConflictError, InputError, NotFoundError
from steward.tasks.envelopes import TaskCode
from steward.tasks.model import User
from steward.tasks.ports import UserStore

LOCAL_USER = "local"
MAX_NAME = 200
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}")
_SURROGATES = re.compile("[\ud800-\udfff\0]")


class Users:
    def __init__(self, store: UserStore) -> None:
        self._store = store

    async def ensure_local(self, time_zone: str) -> None:
        await self._store.add(User(id=LOCAL_USER, name="You", time_zone=time_zone))

    async def add(self, user_id: str, *, name: str | None = None, time_zone: str = "UTC") -> User:
        if not _ID.fullmatch(user_id):
            raise InputError(
                f"'{user_id[:80]}' cannot be a user's id.",
                fix="Use 1 to 64 letters, digits and any of _ . @ -, starting with a letter or digit.",
            )
        user = User(id=user_id, name=read_name(name or user_id), time_zone=read_zone(time_zone))
        if not await self._store.add(user):
            raise ConflictError(f"There is a user '{user_id}' already.", fix="Choose another id.")
        return user

    async def get(self, user_id: str) -> User:
        user = None if _SURROGATES.search(user_id) else await self._store.get(user_id)
        if user is None:
            raise _missing(user_id)
        return user

    async def list(self) -> Sequence[User]:
        return await self._store.list()

    async def change(self, user_id: str, *, name: str | None = None, time_zone: str | None = None) -> User:
        user = await self.get(user_id)
        changed = replace(
            user,
            name=user.name if name is None else read_name(name),
            time_zone=user.time_zone if time_zone is None else read_zone(time_zone),
        )
        if not await self._store.change(changed):
            raise _missing(user_id)
        return changed

    async def erase(self, user_id: str) -> User:
        """The user and everything they own, for good. `local` starts again with nothing."""
        user = await self.get(user_id)
        if not await self._store.erase(user_id):
            raise _missing(user_id)
        if user_id == LOCAL_USER:
            await self.ensure_local(user.time_zone)
        return user


def read_name(name: str) -> str:
    name = " ".join(name.split())
    if not 1 <= len(name) <= MAX_NAME or _SURROGATES.search(name):
        raise InputError("A user's name has 1 to 200 characters.", fix="Choose another name.")
    return name


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    """The names of the IANA database, read from its folders once: that takes a tenth of a second."""
    return frozenset(available_timezones())


def read_zone(name: str) -> str:
    """The name of a zone in the IANA database; a near miss is told what was probably meant."""
    try:
        # Only names of the database: a path or a fixed offset is no zone that knows of clock changes.
        if name in zone_names():
            return ZoneInfo(name).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        pass
    known = {zone.casefold(): zone for zone in zone_names()}
    near = difflib.get_close_matches(name[:80].casefold(), known, n=3, cutoff=0.6)
    near += [zone for zone in known if zone.rpartition("/")[2] == name.casefold().replace(" ", "_")]
    meant = " or ".join(dict.fromkeys(known[zone] for zone in near))
    raise InputError(
        f"There is no time zone '{name[:80]}'.",
        fix=f"Did you mean {meant}?" if meant else "Use a name such as Europe/Berlin or UTC.",
    )


def _missing(user_id: str) -> NotFoundError:
    return NotFoundError(
        f"There is no user '{user_id[:80]}'.", code=TaskCode.INVALID_USER, fix="See 'steward users list'."
    )
