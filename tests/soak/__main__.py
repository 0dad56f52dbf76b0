"""`make soak`: mixed load while everything is harmed, then a look at what is left. Exit 1 on any finding.

python -m tests.soak --seconds 600 --instances 1 3
"""

import argparse
import asyncio
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.soak.checker import Fault, Finding, Observed, judge
from tests.soak.history import Heard, History, Kind
from tests.soak.load import Load
from tests.soak.looking import Looking
from tests.soak.nemesis import Nemesis
from tests.soak.stage import Stage, set_up

LEAST_ANSWERED = 10  # fewer prove nothing


@dataclass(frozen=True)
class Soaked:
    instances: int
    seconds: float
    seed: int
    history: History
    nemesis: Nemesis
    observed: Observed
    findings: list[Finding]
    restarts: Counter[str]
    gave_up: list[str]
    under_way: list[str]
    dead_letters: Counter[str]

    def table(self) -> str:
        faults = ", ".join(f"{name} {times}" for name, times in sorted(self.nemesis.done.items()))
        rows = [
            f"soak: {self.instances} instance(s), {self.seconds:.0f} s, seed {self.seed}",
            f"faults: {sum(self.nemesis.done.values())} ({faults})",
            f"not possible here: {', '.join(self.nemesis.not_possible) or 'nothing'}",
            f"starts: {', '.join(f'{name} {times}' for name, times in sorted(self.restarts.items()))}",
            "",
            f"{'operation':42} {'asked':>6} {'heard yes':>9} {'no':>5} {'nothing':>8} {'happened':>8}",
        ]
        for kind in Kind:
            asked = self.history.of(kind)
            heard = Counter(each.heard for each in asked)
            rows.append(
                f"{kind.value:42} {len(asked):6} {heard[Heard.YES]:9} {heard[Heard.NO]:5} "
                f"{heard[Heard.NOTHING]:8} {self._happened(kind):>8}"
            )
        counted = Counter(finding.fault for finding in self.findings)
        rows += ["", *(f"{fault.value:42} {counted[fault]:6}" for fault in Fault)]
        repeats = sum(n - 1 for ids in self.observed.deliveries.values() for n in ids.values())
        rows.append(f"{'webhook came again, with the same id':42} {repeats:6}")
        rows += ["", *self._uses()]
        refusals = Counter(f"{each.kind.value}: {each.said}" for each in self.history.operations if each.said)
        rows += [f"said {times} times of {said}" for said, times in refusals.most_common(12)]
        rows += [f"{times} jobs failed: {why}" for why, times in self.dead_letters.most_common(6)]
        for finding in self.findings:
            rows += ["", f"  {finding.fault.value}: {finding.what}", *self._known_of(finding)]
        rows += [f"  ended by itself: {each}" for each in self.gave_up]
        rows += [f"  still under way at the end: {each}" for each in self.under_way]
        return "\n".join(rows)

    def _known_of(self, finding: Finding) -> Iterator[str]:
        """What Steward itself says of it."""
        about = [each for each in self.history.operations if each.marker in finding.what.split()]
        words = {word for each in about for word in (each.marker, each.proposal, each.job) if word}
        for line in self.observed.lines:
            listed = "'tool': 'list_tasks'" in line  # by the checker itself, again and again
            if not listed and any(repr(word) in line for word in words):
                yield f"    {line[:1500]}"

    def _happened(self, kind: Kind) -> str:
        counts = {
            Kind.FACT: self.observed.facts,
            Kind.REMINDER: self.observed.notices,
            **dict.fromkeys((Kind.TASK, Kind.KEYED, Kind.TURN), self.observed.tasks),
            **dict.fromkeys((Kind.CALL, Kind.APPROVED, Kind.TOLLED, Kind.JOB), self.observed.effects),
        }.get(kind)
        if counts is None:
            return "-"
        return str(sum(counts[each.marker] for each in self.history.of(kind)))

    def _uses(self) -> list[str]:
        longest: dict[str, tuple[float, str]] = {}
        for life in self.observed.lives:
            if life.samples:
                age, size, handles = life.samples[-1]
                middle = life.samples[len(life.samples) // 2]
                said = (
                    f"{life.name}: {age:.0f} s, {middle[1] >> 20} then {size >> 20} MiB, "
                    f"{middle[2]} then {handles} handles"
                )
                name = life.name.partition(" ")[0]
                longest[name] = max(longest.get(name, (0.0, "")), (age, said))
        return [f"longest life of {said}" for _, said in longest.values()]


async def soak(instances: int, seconds: float, *, seed: int) -> Soaked:
    history = History()
    async with set_up(instances) as stage:
        nemesis = Nemesis(stage, seed=seed)
        load = Load(stage, history, seed=seed)
        harming = asyncio.create_task(nemesis.run())
        try:
            await load.run(seconds)
        finally:
            harming.cancel()
            await asyncio.gather(harming, return_exceptions=True)
        await stage.ready()
        looking = Looking(stage)
        await looking.at_rest(history)
        observed = await looking.settled(history)
        await stage.stop()
        await _wait_for_the_end(stage)
        observed.orphans = stage.left_over()
        observed.lives = [life for each in stage.programmes for life in each.lives]
        return Soaked(
            instances, seconds, seed, history, nemesis, observed, judge(history, observed),
            Counter({each.name: each.starts for each in stage.programmes}),
            [f"{each.name} with {code}" for each in stage.programmes for code in each.ended_itself],
            looking.under_way,
            looking.dead_letters,
        )  # fmt: skip


async def _wait_for_the_end(stage: Stage) -> None:
    """What belongs to a program that has ended gets the time that a specification gives it."""
    for _ in range(50):
        if not stage.left_over():
            return
        await asyncio.sleep(0.2)


def main() -> int:
    options = argparse.ArgumentParser(prog="soak", description=__doc__)
    options.add_argument("--seconds", type=float, default=600)
    options.add_argument("--instances", type=int, nargs="+", default=[1, 3])
    options.add_argument("--seed", type=int, default=random.randrange(10_000))
    options.add_argument("--keep", type=Path, help="Append the tables to this file as well.")
    given = options.parse_args()
    failed = False
    for number in given.instances:
        begun = time.monotonic()
        soaked = asyncio.run(soak(number, given.seconds, seed=given.seed))
        answered = sum(each.heard is Heard.YES for each in soaked.history.operations)
        failed |= bool(soaked.findings) or answered < LEAST_ANSWERED
        table = f"{soaked.table()}\n({time.monotonic() - begun:.0f} s in all)\n"
        print(table, flush=True)
        if given.keep:
            with given.keep.open("a", encoding="utf-8") as file:
                file.write(f"{table}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
