"""A waiting call is told about, without its arguments."""

import asyncio
import json
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from steward.contract.call import Caller, CallerKind
from steward.contract.errors import UnavailableError
from steward.contract.tool import RiskLevel
from steward.orchestrator.proposals import Proposal
from steward.providers.notify import AllNotifiers, DesktopNotifier, WebhookNotifier

PROPOSAL = Proposal(
    id="p1",
    tool="wipe",
    arguments={"token": "hunter2"},
    digest="d",
    definition_hash="h",
    risk=RiskLevel.IRREVERSIBLE,
    confidence=0.0,
    reason="it cannot be taken back",
    caller=Caller(CallerKind.AGENT, "assistant"),
    user="local",
    utterance=None,
    call_id="c",
    correlation_id="r",
    created_at=datetime(2026, 11, 15, tzinfo=UTC),
)


@asynccontextmanager
async def hook(status: int) -> AsyncIterator[tuple[str, asyncio.Queue[bytes]]]:
    """A real HTTP listener on loopback."""
    bodies: asyncio.Queue[bytes] = asyncio.Queue()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length")
        )
        await bodies.put(await reader.readexactly(length))
        writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook", bodies


async def test_a_webhook_gets_what_a_person_needs_to_decide_and_no_argument() -> None:
    async with hook(204) as (address, bodies):
        await WebhookNotifier(address).notify(PROPOSAL)
        body = await bodies.get()
    assert json.loads(body) == {
        "event": "approval_wanted",
        "proposal_id": "p1",
        "tool": "wipe",
        "risk": "irreversible",
        "reason": "it cannot be taken back",
        "caller": "agent assistant",
        "created_at": "2026-11-15T00:00:00+00:00",
        "approve": "steward approve p1",
        "look": "steward proposals",
    }


async def test_a_webhook_that_fails_says_so_without_its_address() -> None:
    async with hook(500) as (address, _):
        with pytest.raises(UnavailableError) as answered:
            await WebhookNotifier(address).notify(PROPOSAL)
    with pytest.raises(UnavailableError) as unreached:
        await WebhookNotifier("http://127.0.0.1:1/token-hunter2").notify(PROPOSAL)
    assert ("500" in answered.value.message, "hunter2" in unreached.value.message) == (True, False)


async def test_the_desktop_is_told_through_its_own_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = tmp_path / "said"
    program = tmp_path / "notify-send"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {said}\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    await DesktopNotifier().notify(PROPOSAL)
    assert said.read_text().splitlines() == [
        "--",
        "Steward",
        "wipe waits for you: it cannot be taken back. Look with 'steward proposals' or on the page.",
    ]


async def test_a_machine_without_a_desktop_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    await DesktopNotifier().notify(PROPOSAL)


async def test_one_failing_hook_does_not_silence_the_other() -> None:
    async with hook(204) as (address, bodies):
        both = AllNotifiers([WebhookNotifier("http://127.0.0.1:1/"), WebhookNotifier(address)])
        with pytest.raises(UnavailableError):
            await both.notify(PROPOSAL)
        assert json.loads(await bodies.get())["proposal_id"] == "p1"
