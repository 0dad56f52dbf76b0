"""Browsers that are signed in, and the one-time addresses that sign them in.

The browser holds a random word in a cookie that no script can read, that no other site sends along and that
ends with the browser. Which key that visit acts with stays in the memory of this process: it is in no cookie,
address, file or log. A one-time address holds a word of its own, which is worth nothing after its first use.
"""

import hashlib
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

COOKIE = "steward-visit"
SECONDS_KEPT = 12 * 3600.0  # since the visit was last seen
LINK_SECONDS = 600.0
MOST_LINKS = 100
LONGEST_BROWSER = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenVisit:
    """A browser that is signed in, as it is shown to whoever may end that: nothing of it opens anything."""

    id: str
    name: str  # of the key
    user: str
    browser: str
    began_at: datetime
    idle_seconds: float


@dataclass(slots=True, kw_only=True)
class _Visit:
    key: str
    seen: float
    id: str
    name: str
    user: str
    browser: str
    began_at: datetime


class Visits:
    """The keys of visits. Used from the server's loop and from the threads of its visitors."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._visits: dict[str, _Visit] = {}
        self._lock = threading.Lock()

    def begin(self, key: str, *, name: str = "", user: str = "", browser: str = "") -> str:
        """A new visit and its word. Never a word that a browser brought: somebody may have planted it."""
        word = secrets.token_urlsafe(32)
        visit = _Visit(
            key=key,
            seen=self._clock(),
            id=secrets.token_hex(6),
            name=name,
            user=user,
            browser=browser[:LONGEST_BROWSER],
            began_at=datetime.now(UTC),
        )
        with self._lock:
            self._visits[word] = visit
        return word

    def recall(self, word: str) -> str | None:
        """The key of a visit that is here now: somebody does something."""
        with self._lock:
            self._drop_old()
            known = self._visits.get(word)
            if known is None:
                return None
            known.seen = self._clock()
            return known.key

    def key_of(self, word: str) -> str | None:
        """The same for an open stream, which alone keeps nobody signed in."""
        with self._lock:
            self._drop_old()
            known = self._visits.get(word)
            return None if known is None else known.key

    def open(self, name: str | None) -> list[OpenVisit]:
        """Those of one key, or everybody's; the latest first."""
        with self._lock:
            self._drop_old()
            now = self._clock()
            kept = [each for each in self._visits.values() if name in (None, each.name)]
        shown = [
            OpenVisit(
                id=each.id,
                name=each.name,
                user=each.user,
                browser=each.browser,
                began_at=each.began_at,
                idle_seconds=now - each.seen,
            )
            for each in kept
        ]
        return sorted(shown, key=lambda each: each.began_at, reverse=True)

    def id_of(self, word: str) -> str | None:
        with self._lock:
            known = self._visits.get(word)
            return None if known is None else known.id

    def forget(self, word: str) -> None:
        with self._lock:
            self._visits.pop(word, None)

    def end(self, visit_id: str, name: str | None) -> bool:
        """End one by its id; only one of this key, unless anybody's may be ended (None)."""
        with self._lock:
            for word, each in self._visits.items():
                if each.id == visit_id and name in (None, each.name):
                    del self._visits[word]
                    return True
        return False

    def _drop_old(self) -> None:
        oldest = self._clock() - SECONDS_KEPT
        self._visits = {name: kept for name, kept in self._visits.items() if kept.seen > oldest}


VISITS = Visits()  # one process serves one page


@dataclass(frozen=True, slots=True)
class _Link:
    key: str
    until: float


class SignInLinks:
    """One-time addresses, each for the key of whoever asked for it. Only their words' hashes are kept."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._links: dict[bytes, _Link] = {}

    def make(self, key: str) -> str:
        """The path of a new one."""
        self._drop_old()
        while len(self._links) >= MOST_LINKS:
            del self._links[next(iter(self._links))]
        code = secrets.token_urlsafe(32)
        self._links[_hashed(code)] = _Link(key, self._clock() + LINK_SECONDS)
        return f"/sign-in?code={code}"

    def use(self, code: str) -> str | None:
        """The key it stands for, once; None for what was used, is too old or was never made."""
        self._drop_old()
        link = self._links.pop(_hashed(code), None)
        return None if link is None else link.key

    def key_of(self, code: str) -> str | None:
        """The same without using it up."""
        self._drop_old()
        link = self._links.get(_hashed(code))
        return None if link is None else link.key

    def _drop_old(self) -> None:
        now = self._clock()
        self._links = {word: link for word, link in self._links.items() if link.until > now}


def _hashed(code: str) -> bytes:
    return hashlib.sha256(code.encode(errors="replace")).digest()


def word_in(header: str) -> str:
    """The visit's word among these cookies; empty when there is none.

    Not by `http.cookies`: anybody sends them, and it reads quotes in time that grows with their square.
    """
    pairs = (pair.partition("=") for pair in header.split(";"))
    words = [value.strip() for name, _, value in pairs if name.strip() == COOKIE]
    return words[-1] if words else ""


def cookie_of(word: str) -> str:
    # Strict: nothing that another site begins carries it, a link to here included (gate.py knows a way).
    return f"{COOKIE}={word}; Path=/; HttpOnly; SameSite=Strict"
