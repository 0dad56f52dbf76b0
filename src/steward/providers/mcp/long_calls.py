"""Calls that a server goes on with after its answer: tasks, the extension of 2026-07-28 for long calls.

Owns how a handle is followed to its outcome: looked at as often as the server says, its questions answered,
and given up where nobody waits any longer. Does not own the deadline; that is the door's.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol, cast

from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER, encode_header_value
from mcp_types import INTERNAL_ERROR

from steward.contract.trace_context import passed_on
from steward.providers.mcp.wire import BadAnswerError, ConnectionLostError

EXTENSION = "io.modelcontextprotocol/tasks"
USUAL_PAUSE, SHORTEST_PAUSE, LONGEST_PAUSE = 1.0, 0.05, 10.0
GIVING_UP = 5.0

Answer = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""The answers to what a server asks, by the keys of its questions."""


class Asks(Protocol):
    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        headers: dict[str, str] | None = None,
    ) -> dict[str, Any]: ...


class LongCallOfServer:
    def __init__(self, session: Asks, handle: Mapping[str, Any], *, answer: Answer) -> None:
        task: Any = handle.get("taskId")
        if not isinstance(task, str) or not task:
            raise BadAnswerError("it began a long call and gave it no name")
        self._task = task
        self._session = session
        self._answer = answer
        self._headers = {MCP_NAME_HEADER: encode_header_value(task)}

    async def outcome(self, about: Mapping[str, Any]) -> dict[str, Any]:
        """What the call would have answered, or the error that it ended with."""
        answered: set[str] = set()
        try:
            while (status := about.get("status")) not in ("completed", "failed", "cancelled"):
                if status not in ("working", "input_required"):
                    raise BadAnswerError(f"its long call is '{status}', which is nothing")
                asked = about.get("inputRequests") if status == "input_required" else None
                if isinstance(asked, dict):
                    answered |= await self._answered(cast("dict[str, Any]", asked), without=answered)
                await asyncio.sleep(_pause(about))
                about = await self._ask("tasks/get")
        except asyncio.CancelledError:
            await self._give_up()
            raise
        except ConnectionLostError as error:
            # It goes on at the server; whether it took effect is not known here.
            raise ConnectionLostError(error.message, sent=True) from None
        return _ended(about)

    async def _answered(self, asked: dict[str, Any], *, without: set[str]) -> set[str]:
        new = {key: question for key, question in asked.items() if key not in without}
        if new:
            await self._ask("tasks/update", inputResponses=dict(await self._answer(new)))
        return set(new)

    async def _ask(self, method: str, *, timeout: float | None = None, **more: Any) -> dict[str, Any]:
        params = passed_on({"taskId": self._task, **more})
        return await self._session.request(method, params, timeout=timeout, headers=self._headers)

    async def _give_up(self) -> None:
        """Told once, by a task of its own: whoever waited is gone."""

        async def tell() -> None:
            with suppress(MCPError, BadAnswerError, ConnectionLostError, TimeoutError):
                await self._ask("tasks/cancel", timeout=GIVING_UP)

        telling = asyncio.ensure_future(tell())
        with suppress(asyncio.CancelledError):
            await asyncio.shield(telling)


def _pause(about: Mapping[str, Any]) -> float:
    said: Any = about.get("pollIntervalMs")
    seconds = said / 1000 if isinstance(said, int | float) and not isinstance(said, bool) else USUAL_PAUSE
    return min(max(seconds, SHORTEST_PAUSE), LONGEST_PAUSE)


def _ended(about: Mapping[str, Any]) -> dict[str, Any]:
    result, error = about.get("result"), about.get("error")
    if about.get("status") == "completed":
        if not isinstance(result, dict):
            raise BadAnswerError("its long call ended without a result")
        return cast("dict[str, Any]", result)
    if isinstance(error, dict):
        said = cast("dict[str, Any]", error)
        code, message = said.get("code"), said.get("message")
        raise MCPError(code if isinstance(code, int) else INTERNAL_ERROR, str(message), said.get("data"))
    raise MCPError(INTERNAL_ERROR, str(about.get("statusMessage") or "The server gave the call up."))
