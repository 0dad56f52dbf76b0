"""Who may come in over HTTP, and how often.

Owns the checks of Host and Origin (a web page must not reach us through a name it controls), keys and
their rate limits. Works on raw ASGI headers: every request passes here.
"""

import time
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from steward.contract.errors import ForbiddenError
from steward.policy.access import LOCAL_USER, Keys, Role, came_through_a_proxy
from steward.servers.gateway.ports import Doorkeeper, Member

LOCAL = ("127.0.0.1", "localhost", "[::1]")
FORGET_AFTER = 10_000  # keys whose buckets are kept at most


@dataclass(frozen=True, slots=True)
class GatewayRefusal:
    status: int
    message: str
    headers: tuple[tuple[bytes, bytes], ...] = ()
    data: Mapping[str, str] | None = None  # what a program reads of it
    code: int = -32600


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How many requests a caller may send at once, how many are left, in how many seconds all are again."""

    limit: int
    remaining: int
    reset: int


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float
    total: int = 0  # requests that were let in


@dataclass(slots=True)
class RateLimit:
    """At most `per_minute` calls a minute and key, `burst` at once; 0 a minute is no limit."""

    per_minute: float = 6_000
    burst: float = 200
    clock: Callable[[], float] = time.monotonic
    _buckets: dict[str, _Bucket] = field(default_factory=dict[str, _Bucket])

    @classmethod
    def of(cls, per_minute: int) -> "RateLimit":
        """A burst is two seconds' worth, so that a page may load at once; 0 is no limit."""
        return cls(per_minute=per_minute, burst=max(10, per_minute / 30))

    def standing(self, key: str) -> "Standing | None":
        """How a caller stands just now; None without a limit."""
        bucket = self._buckets.get(key)
        if not self.per_minute or bucket is None:
            return None
        missing = self.burst - bucket.tokens
        seconds = max(1, round(missing * 60 / self.per_minute)) if missing >= 1 else 0
        return Standing(limit=int(self.burst), remaining=max(0, int(bucket.tokens)), reset=seconds)

    def wait(self, key: str) -> float:
        """0 when one more is fine, else the seconds until it is."""
        if not self.per_minute:
            return 0.0
        now = self.clock()
        bucket = self._buckets.get(key)
        if bucket is None:
            if len(self._buckets) >= FORGET_AFTER:
                self._buckets.clear()
            bucket = self._buckets[key] = _Bucket(self.burst, now)
        rate = self.per_minute / 60
        bucket.tokens = min(self.burst, bucket.tokens + (now - bucket.at) * rate)
        bucket.at = now
        if bucket.tokens >= 1:
            bucket.tokens -= 1
            bucket.total += 1
            return 0.0
        return (1 - bucket.tokens) / rate

    def totals(self) -> dict[str, int]:
        """Requests let in so far, of each caller of the last minute."""
        since = self.clock() - 60
        return {key: bucket.total for key, bucket in self._buckets.items() if bucket.at > since}

    def charge(self, key: str, requests: int) -> None:
        """Other instances let these in: they count here too. Nobody waits longer than a minute for it."""
        bucket = self._buckets.get(key)
        if bucket is not None:
            bucket.tokens = max(bucket.tokens - requests, -self.per_minute)


class OpenDoor:
    """No keys: for a gateway that only a test or a benchmark of this process can reach."""

    async def admit(self, key: str | None, scope: MutableMapping[str, Any]) -> Member | None:
        del key, scope
        return Member(LOCAL_USER, role=Role.ADMIN)


class KnownKeys:
    """The workspace's keys and their roles, and the token of its owner."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    async def admit(self, key: str | None, scope: MutableMapping[str, Any]) -> Member | None:
        names = (name.decode("latin-1") for name, _ in scope.get("headers", ()))
        try:
            holder = await self._keys.admit(key, passed_on=came_through_a_proxy(names))
        except ForbiddenError:
            return None
        # Everything here belongs to the owner, who may therefore act for whomever a call names.
        user = None if holder.owner else holder.user
        return Member(holder.name, user=user, role=holder.role)


class GatewayGuard:
    """`any_host`: names of this server are not known (it serves other machines), so any is taken."""

    def __init__(
        self,
        doorkeeper: Doorkeeper,
        *,
        hosts: tuple[str, ...] = (),
        any_host: bool = False,
        limit: RateLimit | None = None,
    ) -> None:
        self._doorkeeper = doorkeeper
        self._hosts = frozenset((*LOCAL, *hosts))
        self._any_host = any_host
        self._limit = limit or RateLimit()

    async def admit(
        self, headers: Mapping[bytes, bytes], scope: MutableMapping[str, Any]
    ) -> Member | GatewayRefusal:
        host = headers.get(b"host", b"").decode("latin-1")
        if not self._any_host and _name(host) not in self._hosts:
            return GatewayRefusal(421, "Invalid Host header")
        origin = headers.get(b"origin")
        if origin is not None and not self._own(origin.decode("latin-1"), host):
            return GatewayRefusal(403, "Invalid Origin header")
        member = await self._doorkeeper.admit(_key(headers), scope)
        if member is None:
            return GatewayRefusal(401, "A key is needed", ((b"www-authenticate", b'Bearer realm="steward"'),))
        seconds = self._limit.wait(member.id)
        if seconds:
            return GatewayRefusal(
                429, "Too many requests", ((b"retry-after", b"%d" % max(1, round(seconds))),)
            )
        return member

    def _own(self, origin: str, host: str) -> bool:
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        if parts.scheme not in ("http", "https"):
            return False
        return _name(parts.netloc) in self._hosts or (self._any_host and parts.netloc == host)


def _name(host: str) -> str:
    """`localhost:8700` -> `localhost`; an IPv6 address keeps its brackets."""
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]


def _key(headers: Mapping[bytes, bytes]) -> str | None:
    bearer = headers.get(b"authorization", b"")
    if bearer[:7].lower() == b"bearer ":
        return bearer[7:].strip().decode("latin-1")
    key: Any = headers.get(b"x-api-key")
    return None if key is None else key.decode("latin-1")
