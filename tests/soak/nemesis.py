"""The nemesis: harms one part of the stage after another, and heals each before the next.

A fault that this machine does not allow (mounting a small disk, shifting a clock) is left out, and named.
"""

import asyncio
import os
import random
import signal
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path

import asyncpg
import psutil
from tests.soak.stage import Programme, Stage
from tests.support.waiting import until

SECONDS_BETWEEN = 4.0
SECONDS_TO_RECOVER = 120.0
Harm = Callable[[], Awaitable[None]]


class Nemesis:
    def __init__(self, stage: Stage, *, seed: int) -> None:
        self._stage = stage
        self._random = random.Random(seed)
        self.done: Counter[str] = Counter()
        self.log: list[str] = []

    @property
    def not_possible(self) -> list[str]:
        disks = (name for name in ("database", "homes") if name not in self._stage.disks)
        missing = [f"full disk of the {name}" for name in disks]
        return missing + (["clock jump"] if self._stage.clock is None else [])

    async def run(self) -> None:
        """Until it is cancelled; whatever is harmed by then is healed."""
        faults = dict(self._faults())
        bag: list[str] = []
        try:
            while True:
                await self._recovered()
                await asyncio.sleep(SECONDS_BETWEEN * self._random.uniform(0.5, 1.5))
                if not bag:  # each once before any comes again, so that a short run sees all
                    bag = list(faults)
                    self._random.shuffle(bag)
                name = bag.pop()
                self.done[name] += 1
                self.log.append(name)
                await faults[name]()
        finally:
            self.heal()

    async def _recovered(self) -> None:
        """All but one instance answer, or the only one: what is always down is never asked anything."""
        wanted = max(1, len(self._stage.instances) - 1)

        async def enough() -> bool:
            await asyncio.sleep(0.5)
            ready = await asyncio.gather(*map(self._stage.answers, self._stage.instances))
            return sum(ready) >= wanted

        with suppress(TimeoutError):
            await until(enough, seconds=SECONDS_TO_RECOVER)

    def heal(self) -> None:
        stage = self._stage
        for each in stage.programmes:
            each.send(signal.SIGCONT)
            if each.wire is not None:
                each.wire.down = False
        stage.database.down = False
        for process in self._postgres():
            with suppress(psutil.Error):
                process.resume()
        for disk in stage.disks.values():
            _ballast(disk).unlink(missing_ok=True)
        if stage.clock is not None:
            stage.clock.shift(0)

    def _faults(self) -> Iterator[tuple[str, Harm]]:
        stage = self._stage
        yield "SIGKILL an instance", lambda: self._kill(stage.instances)
        yield "SIGKILL a worker", lambda: self._kill(stage.workers)
        yield "SIGSTOP an instance", lambda: self._stop(stage.instances)
        yield "SIGSTOP a worker", lambda: self._stop(stage.workers)
        yield "SIGKILL an MCP server", lambda: self._child("bell.py", signal.SIGKILL)
        yield "SIGSTOP an MCP server", lambda: self._child("bell.py", signal.SIGSTOP)
        yield "SIGKILL a Python tool's worker", lambda: self._child("steward.providers", signal.SIGKILL)
        yield "SIGKILL the postmaster", self._postmaster
        yield "SIGKILL a backend", self._backend
        yield "end all backends", self._terminate
        yield "SIGSTOP PostgreSQL", self._freeze
        yield "cut connections to PostgreSQL", self._cut_database
        yield "cut connections of clients", self._cut_clients
        for name in stage.disks:
            yield f"full disk of the {name}", lambda disk=name: self._fill(stage.disks[disk])
        if stage.clock is not None:
            for name, jump in (("40 days on", 40 * 86400), ("2 hours back", -7200), ("90 s on", 90)):
                yield f"clock jumps {name}", lambda jump=jump: self._jump(jump)

    # --- programs ---

    async def _kill(self, some: list[Programme]) -> None:
        self._random.choice(some).send(signal.SIGKILL)

    async def _stop(self, some: list[Programme]) -> None:
        """Longer than a lease now and then: others take its work, and it wakes up into that."""
        one = self._random.choice(some)
        one.send(signal.SIGSTOP)
        await asyncio.sleep(self._random.choice((2.0, 5.0, 14.0)))  # `heal` wakes it if that is cut short
        one.send(signal.SIGCONT)

    async def _child(self, named: str, number: signal.Signals) -> None:
        children = [child for each in self._stage.programmes for child in each.children()]
        fitting: list[psutil.Process] = []
        for child in children:
            with suppress(psutil.Error):
                if named in " ".join(child.cmdline()):
                    fitting.append(child)
        if not fitting:
            return
        one = self._random.choice(fitting)
        with suppress(psutil.Error):
            one.send_signal(number)
        if number is signal.SIGSTOP:
            try:
                await asyncio.sleep(4)
            finally:  # the end of the load may come in between
                with suppress(psutil.Error):
                    one.resume()

    # --- PostgreSQL ---

    def _postgres(self) -> list[psutil.Process]:
        """The postmaster first, then its backends."""
        with suppress(psutil.Error, OSError, ValueError, IndexError):
            file = self._stage.folder / "database" / "postgres" / "data" / "postmaster.pid"
            postmaster = psutil.Process(int(file.read_text().split()[0]))
            return [postmaster, *postmaster.children()]
        return []

    async def _postmaster(self) -> None:
        for process in self._postgres()[:1]:
            process.kill()

    async def _backend(self) -> None:
        busy: list[psutil.Process] = []
        for process in self._postgres()[1:]:
            with suppress(psutil.Error):
                if "soak" in " ".join(process.cmdline()):
                    busy.append(process)
        if busy:
            with suppress(psutil.Error):
                self._random.choice(busy).kill()

    async def _terminate(self) -> None:
        with suppress(OSError, asyncpg.PostgresError, TimeoutError):
            admin = await asyncpg.connect(self._stage.server.url, timeout=10)
            try:
                await admin.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'soak'"
                )
            finally:
                await admin.close()

    async def _freeze(self) -> None:
        frozen = self._postgres()
        for process in frozen:
            with suppress(psutil.Error):
                process.suspend()
        await asyncio.sleep(self._random.choice((1.0, 4.0)))
        for process in frozen:
            with suppress(psutil.Error):
                process.resume()

    # --- wires, disks, clocks ---

    async def _cut_database(self) -> None:
        self._stage.database.cut()
        self._stage.database.down = self._random.random() < 0.5
        await asyncio.sleep(self._random.uniform(0.1, 3))
        self._stage.database.down = False

    async def _cut_clients(self) -> None:
        for instance in self._stage.instances:
            assert instance.wire is not None
            instance.wire.cut()

    async def _fill(self, disk: Path) -> None:
        await asyncio.to_thread(_fill_up, _ballast(disk))
        await asyncio.sleep(self._random.choice((2.0, 6.0)))
        _ballast(disk).unlink(missing_ok=True)

    async def _jump(self, seconds: float) -> None:
        clock = self._stage.clock
        assert clock is not None
        clock.shift(seconds)
        await asyncio.sleep(self._random.uniform(3, 8))
        clock.shift(0)


def _ballast(disk: Path) -> Path:
    return disk / "ballast"


def _fill_up(file: Path) -> None:
    with suppress(OSError), file.open("wb", buffering=0) as ballast:
        while True:
            for size in (1 << 20, 1 << 12, 1):
                with suppress(OSError):
                    while True:
                        ballast.write(b"\0" * size)
            os.fsync(ballast.fileno())
            return
