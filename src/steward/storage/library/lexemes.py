"""Search terms as PostgreSQL keeps them: a tsvector whose weight letters say how often a term occurs.

D stands for once, C for twice, B for three or four times, A for more (`ranking.count_class`).
"""

import struct
from collections.abc import Mapping

from steward.knowledge.ranking import count_class

_MANY = 5  # from here on all counts are written the same
# What follows a term on the wire, by its count: a NUL, one position, and its weight in the highest bits.
_ENDINGS = tuple(b"\0" + struct.pack(">HH", 1, count_class(count) << 14 | 1) for count in range(_MANY + 1))


def encoded(counts: Mapping[str, int]) -> bytes:
    """As a binary parameter or COPY carries it."""
    endings, most = _ENDINGS, _ENDINGS[_MANY]
    words = [term.encode() + (endings[count] if count < _MANY else most) for term, count in counts.items()]
    return struct.pack(">i", len(words)) + b"".join(words)


def quoted(term: str) -> str:
    """A term as a tsquery names it."""
    return "'" + term.replace("\\", "\\\\").replace("'", "''") + "'"
