"""Who may come in, and what they may do: keys, their roles, and the owner's token.

Owns what a key is, how it is told from others, and what makes a request foreign. Does not own where keys
are kept (storage) or how one travels (surfaces, gateway). Only a key's SHA-256 is ever kept: with 256 random
bits inside there is nothing to guess, so a slow hash would protect nothing more. The owner's token has the
form of a key, so that whatever recognises and hides keys does the same for it.
"""

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol

from steward.contract import linear_re as re
from steward.contract.deciding import Role
from steward.contract.errors import ErrorCode, ForbiddenError, InputError, NotFoundError

LOCAL_USER = "local"
SETTINGS_KEY = "api-key"
SECONDS_BELIEVED = 5.0
MAX_REMEMBERED = 1_000
_TOKEN = re.compile(r"stw_([0-9a-f]{12})_[A-Za-z0-9_-]{43}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}")
# What proxies add. Whoever sends one without being a proxy makes only themselves foreign.
_PROXY_HEADERS = frozenset({
    "forwarded", "via", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "client-ip", "true-client-ip",
    "x-original-for", "x-original-host", "x-original-forwarded-for", "x-envoy-external-address",
    "fastly-client-ip", "fly-client-ip", "x-azure-clientip", "x-appengine-user-ip", "cdn-loop",
})  # fmt: skip
_PROXY_PREFIXES = ("x-forwarded", "cf-", "tailscale-")
_TAKEN = frozenset({LOCAL_USER, SETTINGS_KEY})  # by the owner's token and the key of the settings


@dataclass(frozen=True, slots=True)
class Holder:
    """Whoever a request comes from."""

    name: str
    role: Role
    user: str = LOCAL_USER
    owner: bool = False  # came with the token of the home itself, not with a key

    def require(self, role: Role) -> None:
        if self.role < role:
            raise ForbiddenError(
                f"The role '{self.role.word}' may not do this.", fix=f"Use a key with the role '{role.word}'."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What is kept of a key: enough to recognise it, too little to use it."""

    id: str
    name: str
    role: Role
    user: str
    digest: str
    created_at: datetime

    @property
    def holder(self) -> Holder:
        return Holder(self.name, self.role, self.user)


class KeyStore(Protocol):
    """Keeps keys that are not revoked. Each method is one atomic step."""

    async def add(self, key: Key) -> None:
        """Raise `ConflictError` when a key of this name is there."""
        ...

    async def get(self, key_id: str) -> Key | None: ...

    async def list(self) -> Sequence[Key]:
        """Oldest first."""
        ...

    async def set_role(self, key_id: str, role: Role) -> bool:
        """False where the key is not there."""
        ...

    async def remove(self, key_id: str) -> bool: ...


def digest(token: str) -> str:
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


def new_token() -> tuple[str, str]:
    """A token with 256 random bits, and the id in it that finds its row."""
    key_id = secrets.token_hex(6)
    return key_id, f"stw_{key_id}_{secrets.token_urlsafe(32)}"


def is_token(text: str) -> bool:
    return _TOKEN.fullmatch(text) is not None


def came_through_a_proxy(headers: Iterable[str]) -> bool:
    """By the names of a request's headers, in small letters: whether somebody else passed it on."""
    return any(name in _PROXY_HEADERS or name.startswith(_PROXY_PREFIXES) for name in headers)


class Keys:
    """The keys of a workspace; `root` is the one from the settings, `owner` the token of the home itself.

    Both may do everything. Nobody is anybody without one of them: not even on this machine, which other
    accounts and a proxy share. The owner's token is for programs of the owner's on this machine: it opens
    nothing to a request that somebody passed on.

    What the store said is believed for some seconds, so that a busy client costs no query per request;
    a revocation in this process counts at once, one by another process after that time.
    """

    def __init__(
        self,
        store: KeyStore,
        *,
        root: str | None = None,
        owner: str | None = None,
        clock: Callable[[], float] = time.monotonic,
        seconds: float = SECONDS_BELIEVED,
    ) -> None:
        self._store = store
        self._root = None if root is None else digest(root)
        self._owner = None if owner is None else digest(owner)
        self._clock = clock
        self._seconds = seconds
        self._remembered: dict[str, tuple[float, Holder]] = {}
        self._any: tuple[float, bool] | None = None

    async def admit(self, token: str | None, *, passed_on: bool = False) -> Holder:
        """The holder of this key. `passed_on`: the request came through a proxy."""
        if token is None:
            raise ForbiddenError(
                "A key is needed.",
                code=ErrorCode.UNAUTHENTICATED,
                fix="Send one as X-API-Key or Authorization: Bearer; 'steward connect' or 'steward keys add' "
                "makes it.",
            )
        given = digest(token)
        if self._owner is not None and hmac.compare_digest(given, self._owner):
            return _owner(passed_on=passed_on)
        return await self._holder(token, given)

    async def exist(self) -> bool:
        """Whether any key was made, so that somebody else than the owner can come in."""
        if self._root is not None:
            return True
        if self._any is None or self._any[0] < self._clock():
            self._any = (self._clock() + self._seconds, bool(await self._store.list()))
        return self._any[1]

    async def add(self, name: str, role: Role, *, user: str = LOCAL_USER) -> tuple[Key, str]:
        """A new key and its token, which nobody can show again."""
        for what, value in (("name", name), ("user", user)):
            if not _NAME.fullmatch(value):
                raise InputError(
                    f"'{value}' cannot be a key's {what}.", fix="Use letters, digits and any of _ . @ -"
                )
        if name.casefold() in _TAKEN:  # receipts, visits and sessions tell callers apart by their names
            raise InputError(
                f"A key cannot be called '{name}': that is the owner's.", fix="Choose another name."
            )
        key_id, token = new_token()
        key = Key(
            id=key_id, name=name, role=role, user=user, digest=digest(token), created_at=datetime.now(UTC)
        )
        await self._store.add(key)
        self._forget()
        return key, token

    async def list(self) -> Sequence[Key]:
        return await self._store.list()

    async def change_role(self, id_or_name: str, role: Role) -> Key:
        """It opens more or less from the next request on; in other programs after some seconds."""
        key = await self._find(id_or_name)
        if not await self._store.set_role(key.id, role):
            raise _no_key(id_or_name)
        self._forget()
        return replace(key, role=role)

    async def revoke(self, id_or_name: str) -> Key:
        key = await self._find(id_or_name)
        if not await self._store.remove(key.id):
            raise _no_key(id_or_name)
        self._forget()
        return key

    async def _find(self, id_or_name: str) -> Key:
        for key in await self._store.list():
            if id_or_name in (key.id, key.name):
                return key
        raise _no_key(id_or_name)

    async def _holder(self, token: str, given: str) -> Holder:
        remembered = self._remembered.get(given)
        if remembered is not None and remembered[0] >= self._clock():
            return remembered[1]
        holder = await self._known(token, given)
        if holder is None:
            self._remembered.pop(given, None)
            raise ForbiddenError(
                "This key is not known.", code=ErrorCode.UNAUTHENTICATED, fix="See 'steward keys list'."
            )
        if len(self._remembered) >= MAX_REMEMBERED:
            self._remembered.clear()
        self._remembered[given] = (self._clock() + self._seconds, holder)
        return holder

    async def _known(self, token: str, given: str) -> Holder | None:
        if self._root is not None and hmac.compare_digest(given, self._root):
            return Holder(SETTINGS_KEY, Role.ADMIN)
        shape = _TOKEN.fullmatch(token)
        key = None if shape is None else await self._store.get(shape[1])
        matches = key is not None and hmac.compare_digest(given, key.digest)
        return key.holder if key is not None and matches else None

    def _forget(self) -> None:
        self._remembered.clear()
        self._any = None


def _no_key(id_or_name: str) -> NotFoundError:
    return NotFoundError(f"There is no key '{id_or_name}'.", fix="See 'steward keys list'.")


def _owner(*, passed_on: bool) -> Holder:
    if passed_on:
        raise ForbiddenError(
            "The owner's token is for this machine, and this request came through a proxy.",
            code=ErrorCode.UNAUTHENTICATED,
            fix="Use a key of your own there: 'steward keys add NAME --role approve'.",
        )
    return Holder(LOCAL_USER, Role.ADMIN, owner=True)
