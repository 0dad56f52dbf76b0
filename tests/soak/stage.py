"""The stage of a soak: a PostgreSQL, instances, workers and the wires between them, each can be harmed.

Owns starting, harming back to health and stopping. What is done to them is the nemesis's part.
"""

import asyncio
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import asyncpg
import httpx
import psutil
from tests.soak.checker import Life
from tests.soak.wires import Webhook, Wire, webhook, wire_to
from tests.support.mcp_servers import free_port
from tests.support.waiting import until

from steward.contract.errors import StewardError
from steward.storage.database.embedded import EmbeddedServer

KEY = "stw_soak_admin_0123456789abcdefghijklmnopqrstuvwxyz"
SECONDS_TO_START = 300
SECONDS_TO_STOP = 30
CLOCK = Path(__file__).with_name("clock.c")
BELL = Path(__file__).with_name("bell.py")
SCHEMA = {"type": "object", "properties": {"marker": {"type": "string"}}, "required": ["marker"]}
STRIKE = """
import json, os
def run(marker):
    receiver = os.open({receiver!r}, os.O_WRONLY | os.O_APPEND)
    os.write(receiver, (json.dumps({{"marker": marker}}) + "\\n").encode())
    os.close(receiver)
    return "struck"
"""
POSTGRES = {"fsync": "off", "max_wal_size": "96MB", "min_wal_size": "32MB", "max_connections": "300"}


@dataclass(eq=False)
class Programme:
    """A `steward up` or `steward worker` that is started again whenever it is gone."""

    name: str
    command: tuple[str, ...]
    environment: dict[str, str]
    folder: Path
    port: int | None = None  # of an instance
    wire: Wire | None = None
    process: subprocess.Popen[bytes] | None = None
    lives: list[Life] = field(default_factory=list[Life])
    starts: int = 0
    ended_itself: list[str] = field(default_factory=list[str])  # how and why, where nobody asked for it
    harmed: bool = False
    warming: asyncio.Task[None] | None = None
    _said: int = 0  # how much the lives before this one have printed
    seen: dict[int, psutil.Process] = field(default_factory=dict[int, psutil.Process])  # all it ever started

    @property
    def url(self) -> str:
        assert self.wire is not None
        return f"http://127.0.0.1:{self.wire.port}"

    def start(self) -> None:
        self.starts += 1
        self.harmed = False
        with (self.folder / f"{self.name}.out").open("ab") as out:
            self._said = out.tell()
            self.process = subprocess.Popen(
                self.command, env=self.environment, cwd=self.folder, stdout=out, stderr=out
            )
        self.lives.append(Life(f"{self.name} ({self.starts})", []))
        self.warming = asyncio.ensure_future(self.wait_for_work() if self.port is None else self.warm())

    async def wait_for_work(self) -> None:
        out = self.folder / f"{self.name}.out"
        while "takes jobs" not in out.read_text()[self._said :]:  # noqa: ASYNC110
            await asyncio.sleep(1)

    async def warm(self) -> None:
        """A first turn loads what is loaded once; what a process uses is looked at from then on."""
        async with httpx.AsyncClient(timeout=60, headers={"X-API-Key": KEY}) as client:
            while True:
                with suppress(httpx.HTTPError):
                    said = {"message": "Show my tasks", "agent": "tasks"}
                    if (await client.post(f"{self.url}/v1/chat", json=said)).status_code == 200:
                        return
                await asyncio.sleep(1)

    def send(self, number: signal.Signals) -> None:
        if self.process is not None and self.process.poll() is None:
            self.harmed |= number is signal.SIGKILL
            self.process.send_signal(number)

    def look_after(self) -> None:
        if self.process is not None and self.process.poll() is not None:
            if not self.harmed:
                said = (self.folder / f"{self.name}.out").read_text()[self._said :].strip()
                self.ended_itself.append(f"{self.process.returncode}: {said[-300:]}")
            if self.warming is not None:
                self.warming.cancel()
            self.start()

    def sample(self) -> None:
        if self.process is None or self.process.poll() is not None:
            return
        self.seen |= {child.pid: child for child in self.children()}
        if self.warming is not None and (not self.warming.done() or self.warming.cancelled()):
            return
        with suppress(psutil.Error):
            there = psutil.Process(self.process.pid)
            age, held = time.time() - there.create_time(), there.memory_info().rss
            samples = self.lives[-1].samples
            assert isinstance(samples, list)
            if held:  # none at the moment of its end
                samples.append((age, held, there.num_fds()))

    def children(self) -> list[psutil.Process]:
        with suppress(psutil.Error):
            if self.process is not None:
                return psutil.Process(self.process.pid).children(recursive=True)
        return []


@dataclass
class Stage:
    folder: Path
    server: EmbeddedServer
    database: Wire
    webhook: Webhook
    instances: list[Programme]
    workers: list[Programme]
    disks: dict[str, Path]  # small ones that can be filled, by what is on them
    clock: "Clock | None"  # of the first instance
    _keeping: asyncio.Task[None] | None = None

    @property
    def receiver(self) -> Path:
        return self.folder / "effects"

    @property
    def programmes(self) -> list[Programme]:
        return [*self.instances, *self.workers]

    async def start(self) -> None:
        for each in self.programmes:
            each.start()
        await self.ready()
        self._keeping = asyncio.create_task(self._keep())

    async def _keep(self) -> None:
        """Whatever supervises programs elsewhere: what has ended is started again."""
        while True:
            with suppress(StewardError):  # its disk is full: the next time
                await asyncio.to_thread(self.server.revive)
            for each in self.programmes:
                each.look_after()
                each.sample()
            await asyncio.sleep(2)

    async def ready(self, seconds: float = SECONDS_TO_START) -> None:
        for instance in self.instances:
            await until(partial(self.answers, instance), seconds=seconds)

    async def answers(self, instance: Programme) -> bool:
        await asyncio.sleep(0.1)
        with suppress(httpx.HTTPError):
            async with httpx.AsyncClient(timeout=10) as client:
                return (await client.get(f"{instance.url}/readyz")).status_code == 200
        return False

    async def stop(self) -> None:
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.gather(self._keeping, return_exceptions=True)
        for each in self.programmes:
            if each.warming is not None:
                each.warming.cancel()
            each.send(signal.SIGCONT)
            each.send(signal.SIGTERM)
        for each in self.programmes:
            if each.process is not None:
                try:
                    await asyncio.to_thread(each.process.wait, SECONDS_TO_STOP)
                except subprocess.TimeoutExpired:
                    each.process.kill()
                    each.process.wait()

    def left_over(self) -> list[str]:
        """Processes that know this stage's folder or were started by a program here, besides PostgreSQL's."""
        seen = {child for each in self.programmes for child in each.seen.values()}
        found: list[str] = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                words = " ".join(process.cmdline())
                known = f"{words} {process.environ().get('STEWARD_HOME', '')}"
                ours = process in seen or str(self.folder) in known
                alive = process.status() != psutil.STATUS_ZOMBIE
                if ours and alive and process.pid != os.getpid() and process.name() != "postgres":
                    found.append(f"{process.pid} {words[:160]}")
        return found


@dataclass(frozen=True)
class Clock:
    """Shifts the wall clock of programs that were started with its `environment`."""

    file: Path
    library: Path

    def shift(self, seconds: float) -> None:
        with self.file.open("r+b") as file:  # in its place: programs have it mapped
            file.write(struct.pack("=q", int(seconds * 1e9)))

    @property
    def environment(self) -> dict[str, str]:
        return {"LD_PRELOAD": str(self.library), "SOAK_CLOCK": str(self.file)}


def make_clock(folder: Path) -> Clock | None:
    """None where there is no compiler, or no preloading."""
    compiler, library = shutil.which("cc"), folder / "clock.so"
    if compiler is None or not sys.platform.startswith("linux"):
        return None
    made = [compiler, "-shared", "-fPIC", "-O2", "-o", str(library), str(CLOCK), "-ldl"]
    if subprocess.run(made, check=False, capture_output=True).returncode != 0:
        return None
    clock = Clock(folder / "clock", library)
    clock.file.write_bytes(bytes(8))
    return clock


@contextmanager
def small_disk(place: Path, mebibytes: int) -> Iterator[bool]:
    """A disk of its own at `place`; False where this account may not mount one."""
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m,mode=755", "tmpfs", str(place)],
        check=False, capture_output=True,
    ).returncode == 0  # fmt: skip
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(place)], check=False)


@asynccontextmanager
async def set_up(instances: int, workers: int = 1) -> AsyncIterator[Stage]:
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="steward-soak-")))
        _open_to_all(folder)
        disks: dict[str, Path] = {}
        for name, size in (("database", 640), ("homes", 256)):
            if stack.enter_context(small_disk(folder / name, size)):
                disks[name] = folder / name
        server = EmbeddedServer(folder / "database" / "postgres", settings=POSTGRES)
        await asyncio.to_thread(server.join)
        stack.push_async_callback(asyncio.to_thread, server.leave)
        admin = await asyncpg.connect(server.url)
        await admin.execute("CREATE DATABASE soak")
        await admin.close()
        sockets = parse_qs(urlsplit(server.url).query)["host"][0]
        socket = f"{sockets}/.s.PGSQL.5432"
        database = await stack.enter_async_context(
            wire_to(lambda: asyncio.open_unix_connection(socket, limit=2**20))
        )
        hook = await stack.enter_async_context(webhook())
        address = f"postgresql://postgres@127.0.0.1:{database.port}/soak?sslmode=disable"
        stage = Stage(folder, server, database, hook, [], [], disks, make_clock(folder))
        for number in range(instances):
            made = _programme(stage, f"instance{number}", address)
            there = made.port
            made.wire = await stack.enter_async_context(
                wire_to(lambda port=there: asyncio.open_connection("127.0.0.1", port, limit=2**20))
            )
            stage.instances.append(made)
        stage.workers += [_programme(stage, f"worker{n}", address, worker=True) for n in range(workers)]
        try:
            await stage.start()
            yield stage
        finally:
            await stage.stop()


def _open_to_all(folder: Path) -> None:
    """Root's PostgreSQL is somebody else, and so is contained code."""
    folder.chmod(0o755)
    (folder / "effects").touch()
    (folder / "effects").chmod(0o666)


def _programme(stage: Stage, name: str, address: str, *, worker: bool = False) -> Programme:
    folder = stage.folder / name
    folder.mkdir()
    home = stage.folder / "homes" / name
    _furnish(home, stage.receiver)
    port = None if worker else free_port()
    command = ("worker",) if port is None else ("up", "--no-page", "--port", str(port))
    environment = {
        **os.environ,
        "STEWARD_HOME": str(home),
        "DATABASE_URL": address,
        "STEWARD_API_KEY": KEY,
        "STEWARD_RATE_LIMIT": "0",
        "STEWARD_MODEL": "planner",
        "STEWARD_NOTIFY_WEBHOOK": f"http://127.0.0.1:{stage.webhook.port}/",
        "OTEL_EXPORTER_OTLP_ENDPOINT": "none",
    }
    if stage.clock is not None and name == "instance0":
        environment |= stage.clock.environment
    command = (sys.executable, "-m", "steward", *command)
    return Programme(name, command, environment, folder, port=port)


def _furnish(home: Path, receiver: Path) -> None:
    (home / "tools").mkdir(parents=True)
    (home / "tools" / "strike.py").write_text(STRIKE.format(receiver=str(receiver)))
    strike = {
        "name": "strike",
        "description": "Strike the bell.",
        "script": "strike.py",
        "input_schema": SCHEMA,
        "risk": "irreversible",
        "parallel_capable": True,
    }
    (home / "tools" / "tools.json").write_text(json.dumps({"tools": [strike]}))
    bell = {
        "command": sys.executable,
        "args": [str(BELL), str(receiver)],
        "risk": {"ring": "reversible", "toll": "irreversible"},
    }
    (home / "mcp.json").write_text(json.dumps({"mcpServers": {"bell": bell}}))
    (home / "policy.toml").write_text('trust = ["bell__ring"]\n')
