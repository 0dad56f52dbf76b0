"""English stems, for every room that compares words.

Owns the one stemmer a thread: a Snowball stemmer works on state of its own, and two threads in one spoil each
other's words. Which words count and what becomes of identifiers is each room's own affair.
"""

import importlib
import threading
from typing import Any

_LIBRARY: Any = importlib.import_module("Stemmer")  # has no types


class _Stemmers(threading.local):
    def __init__(self) -> None:
        self.english: Any = _LIBRARY.Stemmer("english")


_STEMMERS = _Stemmers()


def english_stem(word: str) -> str:
    """The stem of a word in lower case."""
    return str(_STEMMERS.english.stemWord(word))
