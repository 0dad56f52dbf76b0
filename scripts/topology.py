"""The topology of deploy/compose.yaml without a container engine, started here and tried out.

nginx with deploy/nginx.conf in front of two instances, two workers, and pgbouncer with deploy/pgbouncer.ini
before an embedded PostgreSQL. Part of `make test-all`; exit 1 with the step that failed.
"""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import asyncpg
import httpx

from steward.storage.database import host
from steward.storage.database.embedded import EmbeddedServer

ROOT = Path(__file__).parent.parent
KEY = "stw_topology_0123456789abcdefghijklmnopqrstuvwxyz"
SECONDS = 300.0  # for the slowest machine; nothing here is timed


def program(name: str) -> str:
    """From the system's packages: installed, or unpacked under .peers."""
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:{ROOT}/.peers/{name}/usr/sbin")
    if found is None:
        raise SystemExit(f"There is no {name}; 'make peers bouncer' fetches it.")
    return found


def free_ports(count: int) -> list[int]:
    import socket  # noqa: PLC0415

    with ExitStack() as stack:
        held = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in held]


@contextmanager
def running(command: list[str], folder: Path, name: str, **variables: str) -> Any:
    with (folder / f"{name}.log").open("wb") as out:
        process = subprocess.Popen(command, cwd=folder, env=os.environ | variables, stdout=out, stderr=out)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Topology:
    def __init__(self, folder: Path, ports: list[int]) -> None:
        self.folder = folder
        self.pgbouncer, self.proxy, *self.instances = ports
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.proxy}"

    @property
    def database_url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.pgbouncer}/steward?sslmode=disable"

    def show_logs(self) -> None:
        for log in sorted(self.folder.glob("*.log")):
            print(f"== {log.name}\n{log.read_text(errors='replace')[-1500:]}", file=sys.stderr)

    def start_pooler(self, stack: ExitStack, server: EmbeddedServer) -> None:
        sockets = parse_qs(urlsplit(server.url).query)["host"][0]
        text = (ROOT / "deploy/pgbouncer.ini").read_text()
        text = text.replace("host=database port=5432", f"host={sockets} port=5432")
        text = text.replace("user=steward", "user=postgres").replace("0.0.0.0", "127.0.0.1")
        text = text.replace("6432", str(self.pgbouncer)).replace("scram-sha-256", "trust")
        (self.folder / "users.txt").write_text('"postgres" ""\n')
        (self.folder / "pgbouncer.ini").write_text(text + "unix_socket_dir =\n")
        owner = host.owner()  # of the server's socket; None where this account is it
        user = [] if owner is None else ["-u", owner.pw_name]
        command = [program("pgbouncer"), "-q", *user, str(self.folder / "pgbouncer.ini")]
        self.processes["pgbouncer"] = stack.enter_context(running(command, self.folder, "pgbouncer"))

    def start_steward(self, stack: ExitStack, name: str, *command: str) -> None:
        self.processes[name] = stack.enter_context(
            running(
                [sys.executable, "-m", "steward", *command],
                self.folder,
                name,
                STEWARD_HOME=str(self.folder / name),
                DATABASE_URL=self.database_url,
                STEWARD_API_KEY=KEY,
                STEWARD_OPEN_PAGE="false",
                OTEL_EXPORTER_OTLP_ENDPOINT="none",
            )
        )

    def start_proxy(self, stack: ExitStack) -> None:
        text = (ROOT / "deploy/nginx.conf").read_text()
        for number, port in enumerate(self.instances, 1):
            text = text.replace(f"steward-{number}:8700", f"127.0.0.1:{port}")
        text = text.replace("listen 8080", f"listen 127.0.0.1:{self.proxy}")
        ours = "".join(f"    {kind}_temp_path {self.folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))  # fmt: skip # noqa: E501
        text = text.replace("http {\n", f"http {{\n{ours}", 1)
        text = f"daemon off;\npid {self.folder}/nginx.pid;\nerror_log {self.folder}/nginx-error.log;\n{text}"
        text += "user root;\n" if os.geteuid() == 0 else ""
        (self.folder / "nginx.conf").write_text(text)
        command = [program("nginx"), "-p", str(self.folder), "-c", str(self.folder / "nginx.conf")]
        self.processes["nginx"] = stack.enter_context(running(command, self.folder, "nginx"))


@asynccontextmanager
async def topology() -> AsyncIterator[Topology]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="steward-topology-")))
        server = EmbeddedServer(folder / "postgres", settings={"max_connections": "200", "fsync": "off"})
        await asyncio.to_thread(server.join)
        stack.callback(server.leave)
        admin = await asyncpg.connect(server.url)
        await admin.execute("CREATE DATABASE steward")
        await admin.close()
        made = Topology(folder, free_ports(4))
        made.start_pooler(stack, server)
        for number, port in enumerate(made.instances, 1):
            made.start_steward(stack, f"steward-{number}", "up", "--port", str(port))
        for number in (1, 2):
            made.start_steward(stack, f"worker-{number}", "worker")
        made.start_proxy(stack)
        try:
            yield made
        except BaseException:
            made.show_logs()
            raise


async def eventually(what: str, met: Callable[[], Awaitable[bool]]) -> None:
    begun = time.monotonic()
    while time.monotonic() - begun < SECONDS:
        with suppress(httpx.HTTPError):
            if await met():
                print(f"{what}: {time.monotonic() - begun:.1f} s", flush=True)
                return
        await asyncio.sleep(0.2)
    raise SystemExit(f"{what}: not within {SECONDS:.0f} s")


async def try_out(made: Topology) -> None:
    headers = {"X-API-Key": KEY}
    async with httpx.AsyncClient(base_url=made.url, headers=headers, timeout=60) as client:

        async def ready(port: int | None = None) -> bool:
            base = made.url if port is None else f"http://127.0.0.1:{port}"
            return (await client.get(f"{base}/readyz")).status_code == 200

        for port in made.instances:
            await eventually(f"instance on {port} is ready", lambda port=port: ready(port))
        await eventually("the proxy reaches one", ready)
        added = await client.post("/v1/tasks", json={"title": "from the proxy"})
        assert added.json()["success"], added.text

        async def everywhere() -> bool:
            lists = [await client.get(f"http://127.0.0.1:{p}/v1/tasks") for p in made.instances]
            return all("from the proxy" in each.text for each in lists)

        await eventually("a task is on both instances", everywhere)
        await _work_in_the_background(client)
        await _kept_in_pieces(client)
        gone = made.processes["steward-1"]
        gone.send_signal(signal.SIGKILL)
        gone.wait()
        await eventually("one instance is killed, and the proxy still answers", ready)
        again = await client.post("/v1/tasks", json={"title": "with one instance"})
        assert again.status_code in (200, 502), again.text  # what may have run is not sent twice
        async with httpx.AsyncClient(base_url=made.url, timeout=60) as stranger:
            assert (await stranger.get("/v1/tasks")).status_code == 401


async def _work_in_the_background(client: httpx.AsyncClient) -> None:
    body = {"arguments": {}, "background": True}
    queued = await client.post("/v1/tools/get_current_time/call", json=body)
    assert queued.status_code == 202, queued.text

    async def done() -> bool:
        return (await client.get(f"/v1/jobs/{queued.json()['job']}")).json()["state"] == "done"

    await eventually("a job in the background is done", done)


async def _kept_in_pieces(client: httpx.AsyncClient) -> None:
    """A stream of events comes through before it ends."""
    begun = time.monotonic()
    async with client.stream("GET", "/v1/notices/stream") as stream:
        async for line in stream.aiter_lines():
            assert line.startswith(":"), line
            print(f"a stream's first line comes through the proxy: {time.monotonic() - begun:.1f} s")
            return


async def main() -> None:
    async with topology() as made:
        await try_out(made)
    print("the topology of deploy/ works")


if __name__ == "__main__":
    asyncio.run(main())
