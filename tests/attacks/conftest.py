"""A real `steward up` that the attacks of one file share, and keys of every role for it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import anyio.from_thread
import httpx
import pytest
from tests.support.postgres import TestServer

ADMIN = "stw_attack_admin_0123456789abcdefghijklmnopqrstuvwxyz"
SECONDS_TO_START = 90


@dataclass(frozen=True)
class Victim:
    """A running Steward: its address, its home, the folder it was started in and which it may read."""

    url: str
    folder: Path
    home: Path
    process: subprocess.Popen[str]
    environment: Mapping[str, str]
    keys: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    clients: ExitStack = field(default_factory=ExitStack)

    def key(self, role: str, user: str = "local") -> str:
        """A key's token, made once for each role and user."""
        if (role, user) not in self.keys:
            made = self.client(ADMIN).post(
                "/v1/keys", json={"name": f"{role}-{user}", "role": role, "user": user}
            )
            self.keys[role, user] = made.raise_for_status().json()["token"]
        return self.keys[role, user]

    def client(self, token: str | None = None, **headers: str) -> httpx.Client:
        key = {"X-API-Key": token} if token else {}
        made = httpx.Client(base_url=self.url, headers=key | headers, timeout=30)
        return self.clients.enter_context(made)

    def acting(self, role: str, user: str = "local") -> httpx.Client:
        return self.client(self.key(role, user))

    def cli(self, *arguments: str, typed: str | None = None) -> subprocess.CompletedProcess[str]:
        """A command in another terminal of the same home."""
        return subprocess.run(
            [sys.executable, "-m", "steward", *arguments],
            env=dict(self.environment), cwd=self.folder, input=typed,
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    def lines_logged(self) -> list[dict[str, Any]]:
        answer = self.client(ADMIN).get("/v1/executions", params={"limit": 100}).raise_for_status()
        return answer.json()["items"]


@contextmanager
def running_victim(
    postgres: TestServer,
    folder: Path,
    *options: str,
    files: Mapping[str, object] | None = None,
    **variables: str,
) -> Iterator[Victim]:
    """Starts one; `files` are written into its home first (JSON where they are no text)."""
    home = folder / "home"
    home.mkdir()
    for name, content in (files or {}).items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(content if isinstance(content, str) else json.dumps(content))
    with anyio.from_thread.start_blocking_portal() as portal:
        stack = AsyncExitStack()
        url = portal.call(stack.enter_async_context, postgres.database_url())
        environment = os.environ | {
            "STEWARD_HOME": str(home),
            "DATABASE_URL": url,
            "STEWARD_API_KEY": ADMIN,
            "OTEL_EXPORTER_OTLP_ENDPOINT": "none",
            **variables,
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "steward", "up", "--port", "0", *options],
            env=environment, cwd=folder, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            victim = Victim(_address(process), folder, home, process, environment)
            with victim.clients:
                yield victim
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout:
                process.stdout.close()
            portal.call(stack.aclose)


def _address(process: subprocess.Popen[str]) -> str:
    """The address that the first line names."""
    assert process.stdout is not None
    with ThreadPoolExecutor(1) as thread:
        line = thread.submit(process.stdout.readline).result(SECONDS_TO_START)
    word = next(word for word in line.split() if word.startswith("http"))
    return str(httpx.URL(word).copy_with(path="/", query=None)).rstrip("/")


@pytest.fixture(scope="module")
def victim(postgres: TestServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Victim]:
    """The Steward that the attacks of this file try to break."""
    with running_victim(postgres, tmp_path_factory.mktemp("victim")) as running:
        yield running


@pytest.fixture(scope="module")
def awake(victim: Victim) -> None:
    """Models are loaded before anything is measured."""
    for agent in ("assistant", "tasks"):
        victim.client(ADMIN).post("/v1/chat", json={"message": "Add milk", "agent": agent}, timeout=90)
