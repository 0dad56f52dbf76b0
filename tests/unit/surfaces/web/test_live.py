"""The stream's numbers and who hears what, and a turn as it comes: without a server."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from steward.contract.errors import StewardError
from steward.conversations.model import (
    Answer,
    AnswerStatus,
    CallEnded,
    CallRecord,
    CallStarted,
    CallStatus,
    Progress,
    TextWritten,
    TurnFinished,
)
from steward.surfaces.web.hub import Hub
from steward.surfaces.web.turns import LiveTurns


async def yes() -> bool:
    return True


async def first(hub: Hub, count: int, *, since: str | None = None) -> list[bytes]:
    stream = hub.follow(lambda event: event.user in (None, "ana"), since=since, still=yes, seconds=0.01)
    found: list[bytes] = []
    async for lines in stream:
        found.append(lines)
        if len(found) == count:
            break
    await stream.aclose()
    return found


def number(line: bytes) -> str:
    return next(part.removeprefix("id: ") for part in line.decode().split("\n") if part.startswith("id: "))


async def test_only_what_concerns_a_visit_is_sent_and_missed_events_come_later() -> None:
    hub = Hub()
    hub.publish("tasks", user="ana", data="t0")
    [hello] = await first(hub, 1)
    assert b'{"resumed": false}' in hello
    hub.publish("tasks", user="eve", data="t1")
    hub.publish("tasks", user="ana", data="t2")
    hub.resync()
    again, missed = await first(hub, 2, since=number(hello))
    assert b'{"resumed": true}' in again
    assert (b"t1" in missed, b"t2" in missed, b"resync" in missed, b"t0" in missed) == (
        False,
        True,
        True,
        False,
    )
    assert hub.streams == 0


async def test_events_that_are_forgotten_mean_looking_again() -> None:
    hub = Hub(kept=2)
    [hello] = await first(hub, 1)
    for count in range(5):
        hub.publish("tasks", user="ana", data=str(count))
    [again] = await first(hub, 1, since=number(hello))
    assert b'{"resumed": false}' in again


async def test_a_visit_that_ended_hears_no_more_however_much_there_is_to_tell() -> None:
    hub = Hub()

    async def still() -> bool:
        return False

    stream = hub.follow(lambda _: True, since=None, still=still, seconds=0.0)
    await anext(stream)
    hub.publish("tasks", user=None)
    assert b"event: left" in await anext(stream)
    assert [lines async for lines in stream] == []


async def test_a_page_that_was_drawn_at_a_mark_hears_what_came_after() -> None:
    hub = Hub()
    hub.publish("tasks", user="ana", data="drawn")
    mark = hub.mark
    hub.publish("tasks", user="ana", data="later")
    hello, missed = await first(hub, 2, since=mark)
    assert (b'{"resumed": true}' in hello, b"later" in missed, b"drawn" in missed) == (True, True, False)


async def test_a_quiet_stream_shows_that_it_lives_and_ends_with_the_visit() -> None:
    hub, left = Hub(), False

    async def still() -> bool:
        return not left

    stream = hub.follow(lambda _: True, since=None, still=still, seconds=0.01)
    await anext(stream)
    assert await anext(stream) == b": waiting\n\n"
    left = True
    assert b"event: left" in await anext(stream)
    with pytest.raises(StopAsyncIteration):
        await anext(stream)


class Scripted:
    """A turn that was begun, as `Chat.begin` gives it."""

    def __init__(self, *events: Any, error: Exception | None = None) -> None:
        self.conversation = "c1"
        self._events = events
        self._error = error
        self.go = asyncio.Event()

    async def run(self, listener: Any, *, writing: Callable[[str], None]) -> None:
        writing("Hel")
        for event in self._events:
            await listener(event)
        await self.go.wait()
        if self._error:
            raise self._error


RECORD = CallRecord(tool="add_task", arguments={}, status=CallStatus.DONE, call_id="1")
ANSWER = Answer(status=AnswerStatus.DONE, agent="tasks", conversation="c1", answer="Done.")


async def test_a_turn_shows_what_has_come_of_it_and_goes_when_it_ends() -> None:
    turns = LiveTurns(Hub())
    scripted = Scripted(
        Progress("searching"),
        CallStarted(call_id="1", tool="add_task"),
        CallStarted(call_id="2", tool="list_tasks"),
        CallEnded(RECORD),
        TextWritten("Hel"),
        TextWritten("lo"),
        TurnFinished(ANSWER),
    )
    turn = turns.begin(scripted, said="hello", user="ana")  # pyright: ignore[reportArgumentType]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert (turn.draft, turn.text, turn.step) == ("Hel", "Hello", "searching")
    assert [call.status for call in turn.calls.values()] == ["done", "running"]
    assert (turns.of("c1", user="ana"), turns.of("c1", user="eve")) == (turn, None)
    scripted.go.set()
    await turns.settled()
    assert (turn.running, turns.of("c1", user="ana")) == (False, None)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (StewardError("No model.", fix="Set one."), "No model. Set one."),
        (ValueError("inner"), "Something went wrong"),
    ],
)
async def test_a_turn_that_fails_says_why_until_the_next(error: Exception, words: str) -> None:
    turns = LiveTurns(Hub())
    scripted = Scripted(error=error)
    scripted.go.set()
    turn = turns.begin(scripted, said="hello", user="ana")  # pyright: ignore[reportArgumentType]
    await turns.settled()
    kept = turns.of("c1", user="ana")
    assert kept is turn
    assert words in (turn.problem or "")
    turns.dismiss("c1")
    assert turns.of("c1", user="ana") is None
    await turns.close()
