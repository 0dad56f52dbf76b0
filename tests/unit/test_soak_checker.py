"""The soak's checker finds what it is there for: each fault planted in a clean history."""

from collections import Counter
from collections.abc import Callable

import pytest
from tests.soak.checker import Fault, Life, Observed, judge
from tests.soak.history import Heard, History, Kind, Operation

MIB = 2**20


def clean() -> tuple[History, Observed]:
    history = History(
        [
            Operation(Kind.TASK, "task1", Heard.YES),
            Operation(Kind.TASK, "task2", Heard.NOTHING),
            Operation(Kind.CALL, "ring1", Heard.YES),
            Operation(Kind.CALL, "ring2", Heard.NO),
            Operation(Kind.APPROVED, "strike1", Heard.YES, proposal="p1"),
            Operation(Kind.APPROVED, "strike2", Heard.NOTHING, proposal="p2"),
            Operation(Kind.DELETED, "gone1", Heard.NOTHING, proposal="p3", conversation="c1", about="task3"),
            Operation(Kind.COMPLETED, "done1", Heard.YES, about="task1"),
            Operation(Kind.FACT, "fact1", Heard.YES),
            Operation(Kind.JOB, "job1", Heard.YES, job="1"),
            Operation(Kind.REMINDER, "remind1", Heard.YES),
        ]
    )
    seen = Observed(
        tasks=Counter(task1=1, task2=1, task3=1, remind1=1),
        completed={"task1"},
        facts=Counter(fact1=1),
        effects=Counter(ring1=1, strike1=1, job1=1),
        with_line={"ring1", "ring2", "strike1", "strike2", "job1"},
        announced={"p2", "p3"},
        told_in_conversation={"p3"},
        proposals={"p1": "finished", "p2": "unknown", "p3": "unknown"},
        jobs={"1": "done"},
        notices=Counter(remind1=1),
        deliveries={"remind1": Counter(n1=2)},  # it came again, under its own id
        # Something is loaded once on the way.
        lives=[Life("one", [(second, (300 if second < 90 else 500) * MIB, 40) for second in range(200)])],
    )
    return history, seen


def test_a_clean_history_has_no_finding() -> None:
    assert judge(*clean()) == []


PLANTED: dict[str, tuple[Callable[[Observed], object], Fault]] = {
    "a lost task": (lambda seen: seen.tasks.pop("task1"), Fault.LOST),
    "a lost effect": (lambda seen: seen.effects.pop("ring1"), Fault.LOST),
    "a lost completion": (lambda seen: seen.completed.clear(), Fault.LOST),
    "a lost reminder": (lambda seen: (seen.notices.clear(), seen.deliveries["remind1"].clear()), Fault.LOST),
    "a job that is done without its effect": (lambda seen: seen.effects.pop("job1"), Fault.LOST),
    "a task that nobody heard of, twice": (lambda seen: seen.tasks.update(["task2"]), Fault.DOUBLED),
    "a call made twice": (lambda seen: seen.effects.update(["ring1"]), Fault.DOUBLED),
    "a reminder told under two ids": (lambda seen: seen.deliveries["remind1"].update(["n2"]), Fault.DOUBLED),
    "an approval run twice": (lambda seen: seen.effects.update(["strike1"]), Fault.TWICE_APPROVED),
    "an approval run twice that nobody heard of": (
        lambda seen: seen.effects.update({"strike2": 2}),
        Fault.TWICE_APPROVED,
    ),
    "a failure that was none": (lambda seen: seen.effects.update(["ring2"]), Fault.FALSE_FAILURE),
    "an effect without a line": (lambda seen: seen.with_line.discard("strike1"), Fault.WITHOUT_LINE),
    "an interrupted call that nobody tells of": (lambda seen: seen.announced.discard("p2"), Fault.UNTOLD),
    "one that its conversation does not tell of": (
        lambda seen: seen.told_in_conversation.clear(),
        Fault.UNTOLD,
    ),
    "a proposal that still runs": (lambda seen: seen.proposals.update(p1="running"), Fault.UNFINISHED),
    "a job that still waits": (lambda seen: seen.jobs.update({"1": "waiting"}), Fault.UNFINISHED),
    "a process left over": (lambda seen: setattr(seen, "orphans", ["4711"]), Fault.ORPHAN),
    "a changed record": (lambda seen: setattr(seen, "record", ["line 3 was changed"]), Fault.BROKEN_RECORD),
    "a leak of memory": (
        lambda seen: setattr(seen, "lives", [Life("one", [(s, (300 + s) * MIB, 40) for s in range(400)])]),
        Fault.GREW,
    ),
    "a leak of handles": (
        lambda seen: setattr(seen, "lives", [Life("one", [(s, 300 * MIB, 40 + s) for s in range(400)])]),
        Fault.GREW,
    ),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_fault_is_found(planted: str) -> None:
    plant, fault = PLANTED[planted]
    history, seen = clean()
    plant(seen)
    assert [finding.fault for finding in judge(history, seen)] == [fault]
