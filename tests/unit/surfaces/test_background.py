"""The Steward in the background: who may use it, when it ends, and how a long command finds the next one."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.support.waiting import until

from steward.settings import Settings, load_settings
from steward.surfaces import background, instance
from steward.surfaces.api.background import Attendance
from steward.surfaces.cli.client import Api, LastingWire
from steward.surfaces.instance import Instance, alone, taken
from steward.surfaces.wire import Body, LostError

TOKEN = "stw_owner"
OWNER = {b"authorization": b"Bearer stw_owner"}


class House:
    """An application whose answers wait for `go_on`, behind an attendance."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.go_on.set()
        self.asked: list[str] = []
        self.started: list[Collection[str] | None] = []
        self.attendance = Attendance(self.answer, token=TOKEN, starting=self.start)

    async def start(self, needed: Collection[str] | None) -> None:
        self.started.append(needed)

    async def answer(self, scope: Any, receive: Any, send: Any) -> None:
        del receive
        self.asked.append(scope["path"])
        await self.go_on.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def ask(
        self, path: str, headers: Mapping[bytes, bytes], *, query: bytes = b"", kind: str = "http"
    ) -> Any:
        said: list[Any] = []

        async def send(message: Any) -> None:
            said.append(message)

        scope = {"type": kind, "path": path, "query_string": query, "headers": list(headers.items())}
        await self.attendance(scope, send, send)
        return said[0].get("status", said[0].get("code"))

    def over(self, *, idle: float = 60, found: Callable[[], bool] = lambda: True) -> "asyncio.Task[None]":
        async def working() -> bool:
            return False

        return asyncio.create_task(self.attendance.over(idle=idle, found=found, working=working))


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {b"authorization": b"Bearer stw_other"},
        {b"x-api-key": TOKEN.encode()},
        {b"authorization": b"Bearer "},
    ],
)
async def test_it_answers_nobody_but_its_owner(headers: dict[bytes, bytes]) -> None:
    house = House()
    assert [await house.ask(path, headers) for path in ("/v1/tasks", background.END)] == [401, 401]
    assert house.asked == []


async def test_it_opens_no_socket_to_anybody() -> None:
    house = House()
    assert await house.ask("/v1/x", OWNER, kind="websocket") == 1008


async def test_it_proves_itself_to_whoever_asks() -> None:
    house = House()
    assert (await house.ask("/healthz", {}), house.asked) == (200, ["/healthz"])


@pytest.mark.parametrize(
    ("headers", "needed"),
    [({}, None), ({b"steward-agents": b""}, []), ({b"steward-agents": b"tasks,undo"}, ["tasks", "undo"])],
)
async def test_a_request_waits_for_the_agents_that_it_needs(
    headers: dict[bytes, bytes], needed: list[str] | None
) -> None:
    house = House()
    await house.ask("/v1/tasks", OWNER | headers)
    assert house.started == [needed]


async def test_it_ends_when_nobody_has_needed_it_for_so_long() -> None:
    await asyncio.wait_for(House().over(idle=0.01), 10)


async def test_it_does_not_end_while_somebody_is_answered() -> None:
    house = House()
    house.go_on.clear()
    asking = asyncio.create_task(house.ask("/v1/chat", OWNER))
    await until(lambda: house.asked)
    over = house.over(idle=0.001)
    done, _ = await asyncio.wait({over}, timeout=0.1)
    house.go_on.set()
    await asking
    await asyncio.wait_for(over, 10)
    assert done == set()


async def test_it_does_not_end_while_a_job_runs() -> None:
    asked = 0

    async def working() -> bool:
        nonlocal asked
        asked += 1
        return asked < 3

    async with asyncio.timeout(10):
        await House().attendance.over(idle=0.001, found=lambda: True, working=working)
    assert asked == 3


async def test_it_ends_when_no_command_finds_it_any_more() -> None:
    await asyncio.wait_for(House().over(found=lambda: False), 10)


async def test_it_ends_when_its_owner_says_so() -> None:
    house = House()
    over = house.over()
    assert await house.ask(background.END, OWNER) == 202
    await asyncio.wait_for(over, 10)


async def test_one_that_is_in_use_is_not_replaced() -> None:
    house = House()
    house.go_on.clear()
    asking = asyncio.create_task(house.ask("/v1/chat", OWNER))
    await until(lambda: house.asked)
    assert await house.ask(background.END, OWNER, query=b"unless_busy=yes") == 409
    house.go_on.set()
    await asking


# --- one a home ---


def test_a_home_has_one_instance_at_a_time(tmp_path: Path) -> None:
    with alone(tmp_path) as first, alone(tmp_path) as second:
        assert (first, second, taken(tmp_path)) == (True, False, True)
    assert not taken(tmp_path)


async def test_who_begins_and_never_answers_is_named_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "SECONDS_TO_START", 0.1)
    monkeypatch.setenv("STEWARD_DAEMON", "on")
    settings = load_settings(STEWARD_HOME=str(tmp_path))
    with alone(tmp_path), pytest.raises(background.UnavailableError) as caught:
        await background.serving(settings, reads_files=False)
    assert caught.value.code == "SERVICE_UNAVAILABLE"


# --- whom it serves ---


def fitting(tmp_path: Path, **given: str) -> str:
    return background.fitting(load_settings(STEWARD_HOME=str(tmp_path), **given))


def test_the_same_settings_fit_and_others_do_not(tmp_path: Path) -> None:
    same = fitting(tmp_path)
    assert fitting(tmp_path) == same
    assert same not in {fitting(tmp_path, STEWARD_TIMEOUT="31"), fitting(tmp_path, OPENAI_API_KEY="sk-other")}


def test_another_release_does_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = fitting(tmp_path)
    monkeypatch.setattr(background, "release", lambda: "9.9.9")
    assert fitting(tmp_path) != before


def test_another_value_of_what_mcp_json_refers_to_does_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mcp.json").write_text(
        '{"mcpServers": {"x": {"url": "http://x", "token": "${MY_WORD:-none}"}}}'
    )
    before = fitting(tmp_path)
    monkeypatch.setenv("MY_WORD", "open sesame")
    monkeypatch.setenv("UNUSED_WORD", "open sesame")
    with_it = fitting(tmp_path)
    monkeypatch.setenv("UNUSED_WORD", "other")
    assert (with_it != before, fitting(tmp_path)) == (True, with_it)


def test_what_is_written_of_the_settings_shows_no_secret(tmp_path: Path) -> None:
    assert "sesame" not in fitting(tmp_path, OPENAI_API_KEY="sesame")


async def test_where_it_is_switched_off_none_is_used_or_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def running(_: Settings) -> Instance:
        return Instance("http://127.0.0.1:1", os.getpid(), fits="x")

    monkeypatch.setattr(background, "find_running", running)
    settings = load_settings(STEWARD_HOME=str(tmp_path))
    assert await background.serving(settings, reads_files=False) is None


def test_what_commands_read_says_no_more_than_it_needs(tmp_path: Path) -> None:
    settings = load_settings(STEWARD_HOME=str(tmp_path))
    with instance.announced(settings, Instance("http://127.0.0.1:1", 7)):
        assert instance.is_announced(tmp_path, 7)
    assert not instance.is_announced(tmp_path, 7)


# --- a command that outlives it ---


class Ended:
    """A wire to a program that has ended, before it heard anything or after."""

    def __init__(self, *, heard: bool) -> None:
        self._heard = heard

    @asynccontextmanager
    async def open(
        self, method: str, path: str, *, body: Body = None, headers: Mapping[str, str] | None = None
    ) -> AsyncGenerator[Any]:
        raise LostError(ConnectionRefusedError(), heard=self._heard)
        yield


class Answers:
    status = 200

    @asynccontextmanager
    async def open(
        self, method: str, path: str, *, body: Body = None, headers: Mapping[str, str] | None = None
    ) -> AsyncGenerator["Answers"]:
        yield self

    async def read(self) -> bytes:
        return b'{"answered": true}'


def lasting(first: Any, *, found: Instance | None) -> Api:
    wires = {"first": first, "next": Answers()}

    async def find() -> Instance | None:
        return found

    return Api(LastingWire(Instance("first", 1), find, lambda instance: wires[instance.url]))


async def test_what_was_not_heard_is_said_again_to_the_next_one() -> None:
    api = lasting(Ended(heard=False), found=Instance("next", 2))
    assert await api.post("/v1/chat", {}) == {"answered": True}


@pytest.mark.parametrize(("heard", "found"), [(True, Instance("next", 2)), (False, None)])
async def test_what_may_have_been_heard_is_not_said_again(heard: bool, found: Instance | None) -> None:
    with pytest.raises(background.UnavailableError):
        await lasting(Ended(heard=heard), found=found).post("/v1/chat", {})
