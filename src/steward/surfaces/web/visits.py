"""A browser that comes back: the page loaded again is the same visit, and needs no key again.

The browser holds a random word in a cookie that no script can read and that ends with the browser. Which key
that visit acts with stays in the memory of this process: it is in no cookie, address, file or log.
"""

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie

COOKIE = "steward-visit"
SECONDS_KEPT = 12 * 3600.0  # since the visit was last seen


@dataclass(slots=True)
class _Visit:
    key: str
    seen: float


class Visits:
    """The keys of visits. Used from the server's loop and from the threads of its visitors."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._visits: dict[str, _Visit] = {}
        self._lock = threading.Lock()

    def remember(self, visit: str, key: str) -> None:
        with self._lock:
            self._visits[visit] = _Visit(key, self._clock())

    def recall(self, visit: str) -> str | None:
        with self._lock:
            oldest = self._clock() - SECONDS_KEPT
            self._visits = {name: kept for name, kept in self._visits.items() if kept.seen > oldest}
            known = self._visits.get(visit)
            if known is None:
                return None
            known.seen = self._clock()
            return known.key

    def forget(self, visit: str) -> None:
        with self._lock:
            self._visits.pop(visit, None)


VISITS = Visits()  # one process serves one page


def cookie_for(header: str) -> str | None:
    """The cookie to set on a page that is loaded with these; None when its visit is known already.

    A word that nobody came in with is replaced, so that one which somebody else put there opens nothing.
    """
    try:
        sent = SimpleCookie(header).get(COOKIE)
    except CookieError:
        sent = None
    if sent is not None and VISITS.recall(sent.value) is not None:
        return None
    # Lax: a link from elsewhere that leads here still finds its visit; requests of other sites never do.
    return f"{COOKIE}={secrets.token_urlsafe(32)}; Path=/; HttpOnly; SameSite=Lax"
