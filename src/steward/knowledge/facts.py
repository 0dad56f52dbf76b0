"""Facts: single sentences a person wants remembered, each once.

Owns what a fact is and when two are the same. Does not own where they are kept (storage).
"""

import hashlib
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from steward.contract import linear_re as re
from steward.contract.call import new_id
from steward.contract.errors import InputError

MAX_LENGTH = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    user: str
    text: str
    source: str = "person"  # who said it: a person, an agent, a document
    id: str = field(default_factory=new_id)
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def fingerprint(self) -> str:
        """The same for texts that differ only in case, spacing, punctuation or Unicode form."""
        plain = unicodedata.normalize("NFKC", self.text).casefold()
        words = re.findall(r"\w+", plain) or plain.split()
        return hashlib.sha256(" ".join(words).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class FactPage:
    items: Sequence[Fact]
    next: str | None = None


class FactStore(Protocol):
    async def add(self, fact: Fact) -> Fact:
        """The stored fact: this one, or the one with its fingerprint that the user already has."""
        ...

    async def list(self, user: str, *, limit: int = 50, after: str | None = None) -> FactPage:
        """Newest first; `after` is a page's `next`."""
        ...

    async def remove(self, user: str, fact_id: str) -> bool:
        """Forget one fact. False when the user has no such fact."""
        ...

    async def erase(self, user: str) -> int:
        """Delete everything of this user for good; how many facts there were."""
        ...


async def save_fact(
    store: FactStore,
    text: str,
    *,
    user: str,
    source: str = "person",
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Fact:
    """Remember a text for a user. Saying it again gives the fact that is already there."""
    kept = text.strip()
    if not kept:
        raise InputError("The fact has no text.", fix="Say what should be remembered.")
    if len(kept) > MAX_LENGTH:
        raise InputError(
            f"The fact has {len(kept):,} characters.",
            fix=f"Keep it under {MAX_LENGTH:,}; longer texts belong in the knowledge base.",
        )
    if "\0" in kept:
        raise InputError("The fact holds a NUL character.", fix="Remove it and send the text again.")
    return await store.add(Fact(user=user, text=kept, source=source, created_at=now()))
