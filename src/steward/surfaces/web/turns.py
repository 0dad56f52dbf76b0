"""Turns that were begun on the page: they go on whatever their visitor looks at meanwhile.

Owns what has come of a running turn so far. A finished turn is the conversation's, and kept there.
"""

import asyncio
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, assert_never

from steward.contract.errors import StewardError
from steward.conversations.model import (
    ApprovalWanted,
    CallEnded,
    CallStarted,
    Progress,
    TextWritten,
    TurnEvent,
    TurnFinished,
)
from steward.conversations.shapes import call_shape
from steward.surfaces.api.routes.chat import CallShape
from steward.surfaces.web.hub import Hub

if TYPE_CHECKING:  # talking imports Pydantic AI, which takes seconds
    from steward.agents.chat import StartedTurn

logger = logging.getLogger(__name__)

SECONDS_TOGETHER = 0.1  # what comes within this time is drawn together
SECONDS_BEFORE_THE_FIRST = 0.3  # a quick turn is drawn once, when it has ended


@dataclass(slots=True, kw_only=True)
class LiveTurn:
    conversation: str
    user: str
    said: str
    text: str = ""
    draft: str = ""  # what the model writes; nobody has checked it yet
    step: str = ""
    calls: dict[str, CallShape] = field(default_factory=dict[str, CallShape])
    problem: str | None = None
    running: bool = True
    began: float = field(default_factory=lambda: asyncio.get_running_loop().time())
    task: asyncio.Task[None] | None = None

    async def ends_within(self, seconds: float) -> bool:
        """Whether it has ended, and well, once this time is over or earlier."""
        if self.task is not None:
            await asyncio.wait((self.task,), timeout=seconds)
        return not self.running and self.problem is None

    def take(self, event: TurnEvent) -> None:
        match event:
            case TextWritten(text=text):
                self.text += text
            case Progress(text=text):
                self.step = text
            case CallStarted():
                self.calls[event.call_id] = CallShape(
                    tool=event.tool,
                    arguments=dict(event.arguments),
                    status="running",
                    call_id=event.call_id,
                    duration_ms=0.0,
                )
            case CallEnded(record=record):
                self.calls[record.call_id] = CallShape.model_validate(call_shape(record))
            case ApprovalWanted() | TurnFinished():
                pass  # the answer says both
            case _:
                assert_never(event)


class LiveTurns:
    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._turns: dict[str, LiveTurn] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting: dict[str, asyncio.TimerHandle] = {}

    def begin(self, started: "StartedTurn", *, said: str, user: str) -> LiveTurn:
        turn = LiveTurn(conversation=started.conversation, user=user, said=said)
        self._turns[turn.conversation] = turn
        task = turn.task = asyncio.create_task(self._run(started, turn), name="a turn begun on the page")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return turn

    def of(self, conversation: str, *, user: str) -> LiveTurn | None:
        turn = self._turns.get(conversation)
        return turn if turn is not None and turn.user == user else None

    def dismiss(self, conversation: str) -> None:
        """What went wrong was read."""
        turn = self._turns.get(conversation)
        if turn is not None and not turn.running:
            del self._turns[conversation]

    async def settled(self) -> None:
        """Until every turn that runs now has ended."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await self.settled()

    async def _run(self, started: "StartedTurn", turn: LiveTurn) -> None:
        async def listen(event: TurnEvent) -> None:
            turn.take(event)
            self._tell_soon(turn)

        def write(draft: str) -> None:
            turn.draft = draft
            self._tell_soon(turn)

        try:
            await started.run(listen, writing=write)
        except StewardError as error:
            turn.problem = error.explain()
        except Exception:
            logger.exception("turn_failed", extra={"conversation": turn.conversation})
            turn.problem = "Something went wrong inside Steward. The log has the details."
        finally:
            turn.running = False
            if turn.problem is None:
                self._turns.pop(turn.conversation, None)
            self._tell(turn)

    def _tell_soon(self, turn: LiveTurn) -> None:
        if turn.conversation not in self._waiting:
            loop = asyncio.get_running_loop()
            at = max(loop.time() + SECONDS_TOGETHER, turn.began + SECONDS_BEFORE_THE_FIRST)
            self._waiting[turn.conversation] = loop.call_at(at, self._tell, turn)

    def _tell(self, turn: LiveTurn) -> None:
        if (later := self._waiting.pop(turn.conversation, None)) is not None:
            later.cancel()  # told now: once more would draw the same again
        self._hub.publish(f"turn-{turn.conversation}", user=turn.user)
