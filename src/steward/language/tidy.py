"""Text as people type it, made regular before anything reads it: apostrophes that were left out, "u", quotes.

Changes no word that has a meaning of its own without the apostrophe ("its", "were", "well", "ill").
"""

import re
from functools import lru_cache
from typing import Final

from steward.contract import linear_re

_SHORT: Final = {
    **{f"{word}s": f"{word}'s" for word in ("what", "where", "who", "when", "how", "that", "there", "here")},
    **{
        f"{word}nt": f"{word}n't"
        for word in ("do", "does", "did", "is", "are", "was", "were", "has", "have", "had", "could", "would")
    },
    **{f"{word}nt": f"{word}n't" for word in ("should", "must", "need")},
    "cant": "can't", "wont": "won't", "im": "I'm", "ive": "I've", "id like": "I'd like",
    "youre": "you're", "youve": "you've", "theyre": "they're", "weve": "we've",
    "u": "you", "ur": "your",
}  # fmt: skip
# "u-haul" and "U.S." are names.
_LEFT_OUT = re.compile(rf"(?<![\w.-])(?:{'|'.join(_SHORT)})\b(?![-.&]\w)", re.IGNORECASE)


@lru_cache(64)  # many ask for the same text in a turn
def with_apostrophes(text: str) -> str:
    """ "whats" as "what's", "dont" as "don't"."""
    return _LEFT_OUT.sub(lambda found: _restored(found.group()), text)


def _restored(word: str) -> str:
    whole = _SHORT[word.lower()]
    return whole[:1].upper() + whole[1:] if word[:1].isupper() else whole


def covered(quotes: linear_re.Pattern, text: str) -> bytearray:
    """For each character, whether it stands in quotes: one look, however many of them there are."""
    marks = bytearray(len(text) + 1)
    for found in quotes.finditer(text):
        marks[found.start() : found.end()] = b"\1" * (found.end() - found.start())
    return marks
