"""Turns text into the search terms that the lexical index counts.

Owns tokenising, stop words and stemming, for documents and queries alike; it knows nothing of storage.
Identifiers are indexed whole and in their parts, so that `max_retry_count` answers to "retry".
"""

import re
from functools import lru_cache

import snowballstemmer  # pyright: ignore[reportMissingTypeStubs]

_TOKEN = re.compile(r"[^\W_]+(?:[._'’+#-]*[^\W_]+)*[+#]*", re.UNICODE)
_PART = re.compile(r"[^\W_]+", re.UNICODE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_MAXIMUM = 64
STOP_WORDS = frozenset(
    "a about above after again against all also am an and any are as at be because been before being below "
    "between both but by can could did do does doing down during each few for from further had has have "
    "having he her here hers herself him himself his how i if in into is it its itself just may me might "
    "more most must my myself no nor not of off on once only or other our ours ourselves out over own "
    "same shall she should so some such than that the their theirs them themselves then there these they "
    "this those through to too under until up upon us very was we were what when where which while who "
    "whom why will with would you your yours yourself yourselves".split()
)
_stemmer = snowballstemmer.stemmer("english")


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    return str(_stemmer.stemWord(word))
