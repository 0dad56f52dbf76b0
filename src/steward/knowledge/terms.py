"""Turns text into the search terms that the lexical index counts.

Owns tokenising, stop words and stemming, for documents and queries alike; it knows nothing of storage.
Identifiers are taken apart, so that `maxRetryCount` and `max_retry_count` answer to "retry".
"""

import unicodedata
from collections import Counter

from steward.contract import linear_re as re
from steward.contract.stems import english_stem

_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LONGEST = 64
_REMEMBERED = 200_000
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


# Everything but letters and digits separates words.
_SEPARATED = bytes(code if code < 128 and chr(code).isalnum() else ord(" ") for code in range(256))


class _Compound(str):
    """Stands for the terms of a word that has several."""

    __slots__ = ("terms",)

    def __new__(cls, terms: tuple[str, ...]) -> "_Compound":
        made = super().__new__(cls, " ".join(terms))  # no term has a space
        made.terms = terms
        return made


class _TermOfWord(dict[str, str]):
    """What each word that was ever seen counts as; nothing for a common one.

    Not an `lru_cache`: its order costs more than it saves.
    """

    def __missing__(self, word: str) -> str:
        if len(word) > _LONGEST:
            return self[word[:_LONGEST]]
        if len(self) >= _REMEMBERED:
            self.clear()
        found = self[word] = _term_of(word)
        return found


_KNOWN = _TermOfWord()
_COMMON_WORD = ""


def terms(text: str) -> list[str]:
    """Stems in the order they occur; common words left out."""
    return [
        part
        for term in map(_KNOWN.__getitem__, _words(text))
        if term
        for part in (term.terms if isinstance(term, _Compound) else (term,))
    ]


def term_counts(text: str) -> Counter[str]:
    """How often each term occurs."""
    counts = Counter(map(_KNOWN.__getitem__, _words(text)))
    counts.pop(_COMMON_WORD, None)
    for compound in [term for term in counts if isinstance(term, _Compound)]:
        times = counts.pop(compound)
        for term in compound.terms:
            counts[term] += times
    return counts


def _words(text: str) -> list[str]:
    if text.isascii():  # most text is, and this way takes half the time
        return text.encode().translate(_SEPARATED).decode().split()
    return _WORD.findall(unicodedata.normalize("NFKC", text))


def _term_of(word: str) -> str:
    lower = word.lower()
    if word == lower or word.isupper() or word.istitle():
        return _COMMON_WORD if lower in STOP_WORDS else english_stem(lower)
    parts = [part.lower() for part in _CAMEL.split(word)]
    found = [lower, *parts] if len(parts) > 1 else [lower]
    kept = tuple(english_stem(part) for part in found if part not in STOP_WORDS)
    if len(kept) < 2:
        return kept[0] if kept else _COMMON_WORD
    return _Compound(kept)
