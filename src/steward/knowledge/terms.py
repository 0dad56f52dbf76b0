"""Turns text into the search terms that the lexical index counts.

Owns tokenising, stop words and stemming, for documents and queries alike; it knows nothing of storage.
Identifiers are taken apart, so that `maxRetryCount` and `max_retry_count` answer to "retry".
"""

import re
import threading
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import snowballstemmer  # pyright: ignore[reportMissingTypeStubs]

_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LONGEST = 64
_COMMON = """
a about above after again against all also am an and any are as at be because been before being
below between both but by can could did do does doing down during each few for from further had has
have having he her here hers herself him himself his how i if in into is it its itself just may me
might more most must my myself no nor not of off on once only or other our ours ourselves out over
own same shall she should so some such than that the their theirs them themselves then there these
they this those through to too under until up upon us very was we were what when where which while
who whom why will with would you your yours yourself yourselves
"""
STOP_WORDS = frozenset(_COMMON.split())


class _Stemmers(threading.local):
    """One a thread: a stemmer works on state of its own, and two threads in it spoil each other's words."""

    def __init__(self) -> None:
        self.english: Any = snowballstemmer.stemmer("english")  # pyright: ignore[reportUnknownMemberType]


_STEMMERS = _Stemmers()


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    return str(_STEMMERS.english.stemWord(word))


def terms(text: str) -> list[str]:
    """Stems in the order they occur; common words left out."""
    return [_stem(word) for word in _words(text) if word not in STOP_WORDS]


def _words(text: str) -> Iterator[str]:
    for match in _WORD.finditer(unicodedata.normalize("NFKC", text)):
        word = match[0][:_LONGEST]
        lower = word.lower()
        yield lower
        if not (word.islower() or word.isupper() or word.istitle()):
            parts = _CAMEL.split(word)
            if len(parts) > 1:
                yield from (part.lower() for part in parts)
