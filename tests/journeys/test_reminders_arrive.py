"""A reminder reaches the person: from a sentence in the chat to a receiver, whoever fires it."""

import asyncio
import os
import pty
import signal
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.support.receivers import web_receiver
from tests.support.running import Running, steward_up, surroundings
from tests.support.waiting import until

pytestmark = pytest.mark.slow

PROMPT = 2.0  # seconds after its time


async def say(running: Running, text: str) -> dict[str, Any]:
    async with httpx.AsyncClient(timeout=60) as client:
        answer = await client.post(f"{running.url}/v1/chat", json={"message": text}, headers=running.owner)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_reminder_said_in_the_chat_is_told_at_its_time(tmp_path: Path, database_url: str) -> None:
    async with (
        web_receiver() as receiver,
        steward_up(tmp_path, database_url, STEWARD_NOTIFY_WEBHOOK=receiver.url) as running,
    ):
        await say(running, "Show my tasks")  # warm
        answer = await say(running, "Remind me in 3 seconds to stretch")
        due = datetime.fromisoformat(answer["tool_calls"][0]["arguments"]["due_date"])
        await until(lambda: receiver.posted)
        late = (datetime.now(UTC) - due).total_seconds()
        told = receiver.posted[0].body
        assert (told["event"], told["title"]) == ("reminder", "stretch")
        assert 0 <= late < PROMPT


async def test_a_reminder_is_told_by_another_instance_when_its_own_is_dead(
    tmp_path: Path, database_url: str
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    async with (
        web_receiver() as receiver,
        steward_up(tmp_path / "b", database_url, STEWARD_NOTIFY_WEBHOOK=receiver.url),
    ):
        async with steward_up(tmp_path / "a", database_url, STEWARD_NOTIFY_WEBHOOK=receiver.url) as first:
            await say(first, "Show my tasks")
            answer = await say(first, "Remind me in 5 seconds to stretch")
            first.process.kill()
            await first.process.wait()
        due = datetime.fromisoformat(answer["tool_calls"][0]["arguments"]["due_date"])
        assert not receiver.posted
        await until(lambda: receiver.posted)
        late = (datetime.now(UTC) - due).total_seconds()
        assert 0 <= late < PROMPT
        assert len(receiver.posted) == 1


async def test_a_reminder_shows_in_the_terminal_chat_and_the_program_ends_at_once(
    tmp_path: Path, database_url: str
) -> None:
    async with steward_up(tmp_path, database_url) as running:
        ours, theirs = pty.openpty()
        chat = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "steward", "chat"),
            env=surroundings(tmp_path, database_url),
            stdin=theirs, stdout=theirs, stderr=theirs,
        )  # fmt: skip
        os.close(theirs)
        os.set_blocking(ours, False)
        shown = b""

        def sees(words: bytes) -> bool:
            nonlocal shown
            with suppress(BlockingIOError):
                shown += os.read(ours, 65_536)
            return words in shown

        await until(lambda: sees(b"you> "), seconds=90)
        body = {"title": "stretch", "due_date": "in 1 second", "notify": True}
        async with httpx.AsyncClient(timeout=60) as client:
            await client.post(f"{running.url}/v1/tasks", json=body, headers=running.owner)
            await until(lambda: sees(b"Reminder: stretch"), seconds=60)

            async def seen() -> bool:
                found = await client.get(f"{running.url}/v1/notices?unseen=true", headers=running.owner)
                return found.json()["items"] == []

            await until(seen)
        running.process.send_signal(signal.SIGTERM)  # though somebody still listens
        await asyncio.wait_for(running.process.wait(), 20)
        chat.kill()
        await chat.wait()
        os.close(ours)
