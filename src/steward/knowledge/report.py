"""The account of an ingest, for people: what came, what went, what failed and why."""

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from steward.contract.errors import StewardError

MOST_FAILURES = 1_000  # that a report names; the rest is counted
EMPTY = "empty"

Progress = Callable[[int, int | None, str], Awaitable[None]]


async def no_progress(_done: int, _total: int | None, _message: str) -> None:
    """For callers that show none."""


@dataclass(frozen=True, slots=True)
class Failure:
    code: str
    reason: str


@dataclass(slots=True)
class Report:
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    missing: int = 0  # documents whose file is gone or empty by now; their text stays
    chunks: int = 0
    failures: int = 0
    failed: dict[str, Failure] = field(default_factory=dict[str, Failure])  # the first of them
    skipped: Counter[str] = field(default_factory=Counter[str])  # by suffix; those without a word as EMPTY

    withheld: dict[str, str] = field(default_factory=dict[str, str])  # the first of them, and what they are
    withheld_files: int = 0

    def withhold(self, file: Path, what: str) -> None:
        self.withheld_files += 1
        if len(self.withheld) < MOST_FAILURES:
            self.withheld[str(file)] = what

    def fail(self, file: Path, error: StewardError) -> None:
        self.failures += 1
        if len(self.failed) < MOST_FAILURES:
            self.failed[str(file)] = Failure(error.code, error.explain())

    @property
    def documents(self) -> int:
        return self.added + self.updated + self.unchanged
