"""What one run has read so far: the record that decides what may leave without asking.

A run is a turn of an agent with everything that agents it asks do for it, or a client's session. The door
writes the record, never a model. Does not own what counts as private or what is compared (policy).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

MOST_WORDS = 30_000
MOST_SEEN = 1_000_000  # characters


@dataclass(slots=True, eq=False, kw_only=True)
class RunRecord:
    said: str = ""  # what the person typed for this turn
    said_before: str = ""  # and in earlier turns of the same conversation
    untrusted: str | None = None  # the tool whose answer first brought somebody else's words in
    private: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """Words of memory, documents and files that were read, and where each comes from."""
    addresses: set[str] = field(default_factory=set[str])  # that a search engine named
    seen: str = ""  # what others wrote, as it was read
    full: bool = False  # more was read than is kept, so that nothing can be ruled out any more

    def read_private(self, words: Iterable[str], source: str) -> None:
        for word in words:
            if word not in self.private and len(self.private) >= MOST_WORDS:
                self.full = True
                return
            self.private[word] = self.private.get(word, frozenset()) | {source}

    def read_untrusted(self, text: str, source: str) -> None:
        if self.untrusted is None:
            self.untrusted = source
        self.seen = f"{self.seen}\n{text}"[:MOST_SEEN]

    def from_elsewhere(self, place: str) -> Mapping[str, frozenset[str]]:
        """The private words that `place` does not know already."""
        return {word: sources for word, sources in self.private.items() if sources != frozenset((place,))}
