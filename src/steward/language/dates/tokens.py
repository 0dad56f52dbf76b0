"""Cuts a text into words, numbers and signs that remember where they stood."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from steward.contract import linear_re as re

_TOKEN = re.compile(r"\d+|[^\W\d_]+(?:['\u2019][^\W\d_]+)*|[^\w\s]|_")


@dataclass(frozen=True, slots=True)
class Token:
    """`text` is lower case without apostrophes; `glued` means that no space stood before it."""

    text: str
    start: int
    end: int
    glued: bool
    raw: str

    @property
    def is_number(self) -> bool:
        return self.text.isdecimal() and self.text.isascii()


@lru_cache(64)
def tokenize(text: str, *, most: int | None = None) -> tuple[Token, ...]:
    """The same for the same text: several of those who read a request look for its dates."""
    tokens: list[Token] = []
    last_end = -1
    for found in islice(_TOKEN.finditer(text), most):
        raw = found.group()
        plain = raw.lower().replace("'", "").replace("\u2019", "") or raw
        tokens.append(Token(plain, found.start(), found.end(), found.start() == last_end, raw))
        last_end = found.end()
    return tuple(tokens)
