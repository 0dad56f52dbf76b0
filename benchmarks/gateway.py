"""One tool call through gateways, side by side: ours, mcp-proxy, FastMCP proxy, mcpo, ContextForge's bridge.

Each gateway runs in its own process with the same stdio server behind it; the peers in their own pinned
environments (`make peers`). Rounds are interleaved, so that whatever else the machine does hits all alike.
Printed are ratios to a bare HTTP echo on uvicorn's plain stack (h11, asyncio), which most peers run on; ours
and ContextForge's run on the fast one (httptools, uvloop), whose own echo is shown as well. Budget: ours at
most 2.5 times the plain echo at concurrency 1, and ahead of every peer at concurrency 10.

    python benchmarks/gateway.py [--calls 300] [--rounds 5] [--json]
"""

import argparse
import asyncio
import json
import os
import secrets
import socket
import statistics
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).parents[1]
HERE = Path(__file__).parent / "gateway_peers"
PEERS = ROOT / ".peers"
ECHO = [sys.executable, "-S", str(HERE / "echo_stdio.py")]
START_SECONDS = 90


class Target:
    """A gateway under measurement: how it is started, and how a call looks on its wire."""

    def __init__(self, name, command, *, path="/mcp", rest=False, env=None):
        self.name, self.command, self.path, self.rest = name, command, path, rest
        self.env = env or {}
        self.port = free_port()
        self.session = None
        self.version = None

    @contextmanager
    def running(self):
        command = [part.replace("{port}", str(self.port)) for part in self.command]
        env = {**os.environ, **self.env}
        quiet = None if os.environ.get("LOUD") else subprocess.DEVNULL
        with subprocess.Popen(
            command, stdout=quiet, stderr=quiet, env=env, start_new_session=True
        ) as process:
            try:
                yield self
            finally:
                process.terminate()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(5)
                process.kill()

    def request(self, number, method="tools/call", params=None):
        """The bytes of one HTTP request."""
        text = {"text": "hello"}
        if self.rest:
            body, path = json.dumps(text), "/echo"
        else:
            message = {"jsonrpc": "2.0", "method": method}
            message["params"] = params if params is not None else {"name": "echo", "arguments": text}
            if number is not None:
                message["id"] = number
            body, path = json.dumps(message), self.path
        head = [
            f"POST {path} HTTP/1.1",
            f"Host: 127.0.0.1:{self.port}",
            "Content-Type: application/json",
            "Accept: application/json, text/event-stream",
            f"Content-Length: {len(body)}",
        ]
        if self.session:
            head.append(f"Mcp-Session-Id: {self.session}")
        if self.version:
            head.append(f"MCP-Protocol-Version: {self.version}")
        return ("\r\n".join(head) + "\r\n\r\n" + body).encode()

    def check(self, body, number):
        """Every answer is this call's own."""
        assert b"hello" in body, body
        assert self.rest or str(number).encode() in body, body

    async def greet(self):
        """Wait until it listens, and shake hands."""
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                line = await Line.open(self.port)
                if not self.rest:
                    params = {
                        "protocolVersion": "2025-06-18",
                        "capabilities": {},
                        "clientInfo": {"name": "benchmark", "version": "1"},
                    }
                    self.session = self.version = None
                    headers, _ = await line.exchange(self.request(0, "initialize", params))
                    self.session = headers.get("mcp-session-id")
                    self.version = "2025-06-18"
                    await line.exchange(self.request(None, "notifications/initialized", {}))
                _, body = await line.exchange(self.request(1))
                if b"hello" not in body:
                    raise ConnectionError(body[:300])
                line.close()
                return
            except (OSError, ConnectionError, ValueError, asyncio.IncompleteReadError) as error:
                if time.monotonic() > deadline:
                    raise SystemExit(f"{self.name} does not answer: {error}") from error
                await asyncio.sleep(0.3)


class Line:
    """A kept-alive HTTP/1.1 connection that reads JSON, chunked JSON and event streams."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    @classmethod
    async def open(cls, port):
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def exchange(self, request):
        self.writer.write(request)
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
        headers = dict(line.split(": ", 1) for line in head[1:] if ": " in line)
        status = int(head[0].split(" ")[1])
        if status >= 400:
            raise ConnectionError(f"HTTP {status}")
        if "content-length" in headers:
            return headers, await self.reader.readexactly(int(headers["content-length"]))
        if headers.get("transfer-encoding") != "chunked":
            return headers, b""
        body = b""
        while size := int(await self.reader.readline(), 16):
            body += await self.reader.readexactly(size)
            await self.reader.readexactly(2)
        await self.reader.readexactly(2)
        return headers, body

    def close(self):
        self.writer.close()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


async def one_after_another(target, calls):
    """Seconds of each call, one at a time on one connection."""
    line = await Line.open(target.port)
    taken = []
    for number in range(calls):
        request = target.request(number + 10)
        began = time.perf_counter()
        _, body = await line.exchange(request)
        taken.append(time.perf_counter() - began)
        target.check(body, number + 10)
    line.close()
    return taken


async def at_once(target, calls, wide):
    """Calls a second, `wide` at a time, each on its own connection."""

    async def client(offset):
        line = await Line.open(target.port)
        for number in range(calls // wide):
            name = 1000 + offset * 100_000 + number
            _, body = await line.exchange(target.request(name))
            target.check(body, name)
        line.close()

    began = time.perf_counter()
    await asyncio.gather(*(client(offset) for offset in range(wide)))
    return calls / (time.perf_counter() - began)


def targets():
    python = sys.executable
    baseline = [python, str(HERE / "baseline.py")]
    secret = {name: secrets.token_urlsafe(48) for name in ("JWT_SECRET_KEY", "AUTH_ENCRYPTION_SECRET")}
    bridge = [str(PEERS / "contextforge/bin/python"), "-m", "mcpgateway.translate"]
    return [
        Target("HTTP echo", [*baseline, "plain", "{port}"]),
        Target("HTTP echo, fast stack", [*baseline, "fast", "{port}"]),
        Target("HTTP to stdio, ungoverned", [*baseline, "fast", "{port}", *ECHO]),
        Target("Steward", [python, str(HERE / "steward_gateway.py"), "{port}", *ECHO]),
        Target(
            "mcp-proxy",
            [str(PEERS / "mcp-proxy/bin/mcp-proxy"), "--port", "{port}", "--", *ECHO],
        ),
        Target("FastMCP proxy", [python, str(HERE / "fastmcp_proxy.py"), "{port}", *ECHO]),
        Target(
            "mcpo",
            [str(PEERS / "mcpo/bin/mcpo"), "--host", "127.0.0.1", "--port", "{port}", "--", *ECHO],
            rest=True,
        ),
        Target(
            "ContextForge bridge",
            [*bridge, "--stdio", " ".join(ECHO), "--expose-streamable-http", "--port", "{port}"],
            env=secret,
        ),
    ]


async def measure(chosen, calls, rounds, wide):
    alone = {target.name: [] for target in chosen}
    together = {target.name: [] for target in chosen}
    for _ in range(rounds):
        for target in chosen:
            alone[target.name].append(statistics.median(await one_after_another(target, calls)))
        for target in chosen:
            together[target.name].append(await at_once(target, calls, wide))
    return (
        {name: min(medians) for name, medians in alone.items()},
        {name: max(rates) for name, rates in together.items()},
    )


async def main(arguments):
    chosen = [each for each in targets() if not arguments.only or each.name in arguments.only]
    with ExitStack() as stack:
        for target in chosen:
            stack.enter_context(target.running())
        for target in chosen:
            await target.greet()
        alone, together = await measure(chosen, arguments.calls, arguments.rounds, arguments.wide)
    base, peak = alone["HTTP echo"], together["HTTP echo"]
    rows = [
        {
            "gateway": name,
            "ms": round(alone[name] * 1000, 3),
            "times_echo": round(alone[name] / base, 2),
            "calls_per_second": round(together[name]),
            "share_of_echo": round(together[name] / peak, 3),
        }
        for name in alone
    ]
    if arguments.json:
        print(json.dumps({"concurrency": arguments.wide, "rows": rows}))
        return
    print(
        f"{'gateway':28} {'ms a call':>10} {'x echo':>8} {f'calls/s at {arguments.wide}':>14} {'of echo':>8}"
    )
    for row in sorted(rows, key=lambda row: row["ms"]):
        print(
            f"{row['gateway']:28} {row['ms']:10.3f} {row['times_echo']:8.2f} "
            f"{row['calls_per_second']:14d} {row['share_of_echo']:8.3f}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--wide", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", nargs="*")
    asyncio.run(main(parser.parse_args()))
