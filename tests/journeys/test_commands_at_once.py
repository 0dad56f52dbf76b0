"""Commands where nobody has started Steward: the first one does, and it serves those that follow."""

import asyncio
import json
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from tests.support.owner import owner_headers
from tests.support.running import steward_up
from tests.support.waiting import until

SECONDS = 100
ENDS_SOON = """
import uvloop
from steward.settings import load_settings
from steward.surfaces.api.background import run
uvloop.run(run(load_settings(), folder="here", idle=0.5))
"""


@dataclass
class House:
    """A home without a Steward, and commands in it."""

    home: Path
    environment: dict[str, str]

    async def __call__(
        self, *arguments: str, at: Path | None = None, **more: str
    ) -> tuple[int, dict[str, Any]]:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "steward", *arguments, "--json"),
            env=self.environment | more, cwd=at or self.home.parent, start_new_session=True,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        said, errors = await asyncio.wait_for(process.communicate(), SECONDS)
        assert b"Traceback" not in errors, errors.decode()
        return process.returncode or 0, json.loads(said)

    @property
    def known(self) -> dict[str, Any] | None:
        with suppress(FileNotFoundError):
            return json.loads((self.home / "instance.json").read_text())
        return None

    @property
    def pid(self) -> int:
        return (self.known or {})["pid"]

    def running(self) -> list[int]:
        """Every background program of this home."""
        return [
            process.pid
            for process in psutil.process_iter(["cmdline"])
            if "steward.surfaces.api.background" in (process.info["cmdline"] or ()) and self._is_ours(process)
        ]

    def _is_ours(self, process: psutil.Process) -> bool:
        with suppress(psutil.Error):
            return process.environ().get("STEWARD_HOME") == str(self.home)
        return False


@pytest.fixture
async def house(tmp_path: Path, database_url: str) -> AsyncIterator[House]:
    environment = os.environ | {
        "STEWARD_HOME": str(tmp_path / "home"),
        "DATABASE_URL": database_url,
        "OTEL_EXPORTER_OTLP_ENDPOINT": "none",
        "STEWARD_DAEMON": "on",
    }
    house = House(tmp_path / "home", environment)
    yield house
    for pid in house.running():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    await until(lambda: not house.running())


@pytest.mark.timeout(240)
async def test_the_first_command_starts_one_that_serves_the_next_until_it_is_told_to_end(
    house: House,
) -> None:
    added = await house("tasks", "add", "buy milk")
    first = house.running()
    listed = await house("tasks", "list")
    assert (added[0], [task["title"] for task in listed[1]["items"]]) == (0, ["buy milk"])
    assert first == house.running() == [house.pid]
    assert os.getsid(house.pid) == house.pid  # no terminal's fate is its own

    modes = {
        name: (house.home / name).stat().st_mode & 0o777 for name in ("instance.json", "logs/background.log")
    }
    assert set(modes.values()) == {0o600}

    pid = house.pid
    ended = await house("down")
    assert (ended[1]["ended"]["pid"], house.known) == (pid, None)
    await until(lambda: not house.running())
    assert (await house("down"))[1] == {"ended": None}


@pytest.mark.timeout(240)
async def test_commands_at_the_same_moment_share_one(house: House) -> None:
    answers = await asyncio.gather(*(house("users", "list") for _ in range(3)))
    assert [code for code, _ in answers] == [0, 0, 0]
    assert house.running() == [house.pid]


@pytest.mark.timeout(240)
async def test_one_that_was_killed_is_replaced_and_nothing_is_lost(house: House) -> None:
    await house("tasks", "add", "buy milk")
    killed = house.pid
    os.kill(killed, signal.SIGKILL)
    await until(lambda: not house.running())
    assert (house.known or {})["pid"] == killed  # what it left behind names nobody any more
    listed = await house("tasks", "list")
    assert [task["title"] for task in listed[1]["items"]] == ["buy milk"]
    assert house.running() == [house.pid] != [killed]


@pytest.mark.timeout(240)
async def test_one_with_other_settings_or_older_code_is_replaced(house: House) -> None:
    await house("users", "list")
    first = house.pid
    await house("users", "list", STEWARD_TIMEOUT="31")
    second = house.pid
    told = house.known or {}
    (house.home / "instance.json").write_text(json.dumps(told | {"fits": "an older release"}))
    await house("users", "list", STEWARD_TIMEOUT="31")
    assert len({first, second, house.pid}) == 3
    assert house.running() == [house.pid]


@pytest.mark.timeout(240)
async def test_a_command_reads_files_where_it_stands_and_others_need_not(
    house: House, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "tea.md").write_text("# Tea\n\nGreen tea is brewed at eighty degrees.\n")
    await house("users", "list")
    first = house.pid
    await house("users", "list", at=elsewhere)
    assert house.pid == first
    read = await house("tools", "call", "read_file", "--arg", "path=tea.md", at=elsewhere)
    assert (read[0], "eighty" in json.dumps(read[1]["data"])) == (0, True)
    assert house.pid != first


@pytest.mark.timeout(240)
async def test_it_serves_its_owner_and_no_key(house: House) -> None:
    key = {"X-API-Key": "stw_key_of_the_settings"}
    await house("users", "list", STEWARD_API_KEY=key["X-API-Key"])
    token = owner_headers(house.home)["X-API-Key"]
    async with httpx.AsyncClient(base_url=(house.known or {})["url"]) as client:
        asked = [await client.get("/v1/tasks", headers=headers) for headers in ({}, key)]
        gone = [
            await client.get(path, headers={"Authorization": f"Bearer {token}"}) for path in ("/", "/mcp")
        ]
        owner = await client.get("/v1/tasks", headers={"Authorization": f"Bearer {token}"})
    assert [answer.status_code for answer in (*asked, owner, *gone)] == [401, 401, 200, 404, 404]


@pytest.mark.timeout(240)
async def test_a_start_that_fails_says_why_and_leaves_nothing_running(house: House) -> None:
    assert (await house("init"))[0] == 0
    (house.home / "policy.toml").unlink()
    code, told = await house("tasks", "list")
    assert (code, told["error_code"], "steward init" in told["error"]) == (1, "CONFIG_MISSING", True)
    await until(lambda: not house.running())
    lost = await house("tasks", "list", DATABASE_URL="postgresql://127.0.0.1:1/none")
    assert (lost[0], lost[1]["error_code"]) == (1, "CONFIG_MISSING")


@pytest.mark.timeout(240)
async def test_a_database_that_does_not_answer_is_named_by_the_command(house: House) -> None:
    code, told = await house("tasks", "list", DATABASE_URL="postgresql://127.0.0.1:1/none")
    assert (code, told["error_code"]) == (1, "STORAGE_UNAVAILABLE")


@pytest.mark.timeout(240)
async def test_it_ends_when_its_home_is_gone(house: House) -> None:
    await house("users", "list")
    assert len(house.running()) == 1
    shutil.rmtree(house.home)
    await until(lambda: not house.running())


@pytest.mark.timeout(240)
async def test_it_ends_when_nobody_has_needed_it(house: House) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", ENDS_SOON), env=house.environment, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await asyncio.wait_for(process.communicate(), SECONDS)
    assert (process.returncode, "url" in json.loads(said), house.known) == (0, True, None)


@pytest.mark.timeout(240)
async def test_steward_up_takes_its_place_and_is_then_used(
    house: House, tmp_path: Path, database_url: str
) -> None:
    await house("tasks", "add", "buy milk")
    before = house.pid
    async with steward_up(tmp_path, database_url, "--no-page") as up:
        listed = await house("tasks", "list")
        assert (house.pid, house.running()) == (up.process.pid, [])
        assert [task["title"] for task in listed[1]["items"]] == ["buy milk"]
        ended = await house("down")
        assert ended[1]["ended"]["pid"] == up.process.pid != before
        assert await asyncio.wait_for(up.process.wait(), SECONDS) == 0


@pytest.mark.timeout(240)
async def test_without_it_a_command_does_its_work_itself(house: House) -> None:
    assert (await house("tasks", "list", STEWARD_DAEMON="off"))[0] == 0
    assert (house.running(), house.known) == ([], None)


@pytest.mark.timeout(240)
@pytest.mark.parametrize("command", [("init",), ("doctor", "--port", "0"), ("open",)])
async def test_these_commands_never_start_one(house: House, command: tuple[str, ...]) -> None:
    await house(*command)
    assert (house.running(), house.known) == ([], None)
