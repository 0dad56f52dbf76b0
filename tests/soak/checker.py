"""The checker: compares what clients heard with what is there in the end. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise
from typing import assert_never

from tests.soak.history import APPROVALS, EFFECTS, Heard, History, Kind, Operation


class Fault(Enum):
    LOST = "acknowledged and lost"
    DOUBLED = "done twice"
    TWICE_APPROVED = "approval run twice"
    FALSE_FAILURE = "said to have failed, and done"
    WITHOUT_LINE = "effect without a line"
    UNTOLD = "interrupted and not announced"
    UNFINISHED = "never came to an end"
    ORPHAN = "process left over"
    GREW = "memory or handles grew"
    BROKEN_RECORD = "record changed or removed"


@dataclass(frozen=True, slots=True)
class Finding:
    fault: Fault
    what: str


@dataclass(frozen=True, slots=True)
class Life:
    """What one process used over its life, once it was warm: samples of (seconds, bytes, handles)."""

    name: str
    samples: Sequence[tuple[float, int, int]]


@dataclass(slots=True)
class Observed:
    """What is there when everything was healed and has come to rest, by marker."""

    tasks: Counter[str] = field(default_factory=Counter[str])
    completed: set[str] = field(default_factory=set[str])
    facts: Counter[str] = field(default_factory=Counter[str])
    effects: Counter[str] = field(default_factory=Counter[str])
    with_line: set[str] = field(default_factory=set[str])
    announced: set[str] = field(default_factory=set[str])  # proposals whose line says that nobody knows
    told_in_conversation: set[str] = field(default_factory=set[str])  # the same, said where it was asked
    proposals: dict[str, str] = field(default_factory=dict[str, str])  # by id
    jobs: dict[str, str] = field(default_factory=dict[str, str])  # by id
    notices: Counter[str] = field(default_factory=Counter[str])
    deliveries: Mapping[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])
    orphans: Sequence[str] = ()
    lives: Sequence[Life] = ()
    record: Sequence[str] = ()
    lines: list[str] = field(default_factory=list[str])  # of the record and of jobs, to explain a finding


# A life is judged when it is long enough. What grows from each quarter to the next goes on growing; one step
# is something that was loaded once.
LONG_ENOUGH = 180.0
STEP = 1.04
BYTES_TO_SPARE = 8 * 2**20
HANDLES_TO_SPARE = 4


def judge(history: History, seen: Observed) -> list[Finding]:
    found = [finding for operation in history.operations for finding in _one(operation, seen)]
    known = {operation.marker for operation in history.of(*EFFECTS)}
    found += [Finding(Fault.WITHOUT_LINE, marker) for marker in seen.effects if marker not in seen.with_line]
    found += [Finding(Fault.DOUBLED, f"{marker}: nobody asked") for marker in seen.effects.keys() - known]
    found += [Finding(Fault.ORPHAN, each) for each in seen.orphans]
    found += [Finding(Fault.BROKEN_RECORD, each) for each in seen.record]
    found += [Finding(Fault.GREW, said) for life in seen.lives if (said := _growth(life))]
    return found


def _one(operation: Operation, seen: Observed) -> Iterator[Finding]:
    count = _count(operation, seen)
    name = f"{operation.kind.value}: {operation.marker}"
    if count > 1:
        yield Finding(Fault.TWICE_APPROVED if operation.kind in APPROVALS else Fault.DOUBLED, name)
    # A job that was taken may end as failed, with an unknown outcome; that it ends is judged below.
    taken = operation.kind is Kind.JOB and seen.jobs.get(operation.job or "") != "done"
    if operation.heard is Heard.YES and count == 0 and not taken:
        yield Finding(Fault.LOST, name)
    if operation.heard is Heard.NO and count > 0:
        yield Finding(Fault.FALSE_FAILURE, f"{name} ({operation.said})")
    yield from _ending(operation, seen, name)


def _ending(operation: Operation, seen: Observed, name: str) -> Iterator[Finding]:
    """What was begun comes to an end, and an end that nobody knows is announced."""
    if operation.job is not None and seen.jobs.get(operation.job) not in ("done", "failed", "cancelled"):
        yield Finding(Fault.UNFINISHED, f"{name} (job {seen.jobs.get(operation.job)})")
    if operation.proposal is None:
        return
    state = seen.proposals.get(operation.proposal)
    if state in (None, "running"):
        yield Finding(Fault.UNFINISHED, f"{name} (proposal {state})")
    if state == "unknown":
        told = operation.proposal in seen.announced
        if operation.conversation is not None:
            told = told and operation.proposal in seen.told_in_conversation
        if not told:
            yield Finding(Fault.UNTOLD, name)


def _count(operation: Operation, seen: Observed) -> int:
    match operation.kind:
        case Kind.TASK | Kind.KEYED | Kind.TURN:
            return seen.tasks[operation.marker]
        case Kind.COMPLETED:
            return int(operation.about in seen.completed)
        case Kind.FACT:
            return seen.facts[operation.marker]
        case Kind.DELETED:
            return int(operation.about not in seen.tasks)
        case Kind.CALL | Kind.APPROVED | Kind.TOLLED | Kind.JOB:
            return seen.effects[operation.marker]
        case Kind.REMINDER:  # told as often as there are notices; one that comes again carries the same id
            return max(seen.notices[operation.marker], len(seen.deliveries.get(operation.marker, ())))
        case _:
            assert_never(operation.kind)


def _growth(life: Life) -> str | None:
    samples = life.samples
    if len(samples) < 8 or samples[-1][0] - samples[0][0] < LONG_ENOUGH:
        return None
    length = len(samples) // 4
    quarters = [samples[n * length : (n + 1) * length] for n in range(4)]
    for what, place, spare in (("bytes", 1, BYTES_TO_SPARE), ("handles", 2, HANDLES_TO_SPARE)):
        usual = [_middle([sample[place] for sample in quarter]) for quarter in quarters]
        if all(after > before * STEP + spare for before, after in pairwise(usual)):
            return f"{life.name}: {', '.join(f'{each:,}' for each in usual)} {what} by quarters of its life"
    return None


def _middle(numbers: Sequence[float]) -> float:
    return sorted(numbers)[len(numbers) // 2]
