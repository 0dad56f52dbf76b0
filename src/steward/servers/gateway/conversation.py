"""Work that may need several exchanges with its client before it is done.

Owns waiting, parking and resuming. On 2025-11-25 questions are requests on the stream of the request being
answered. On 2026-07-28 they are the answer: the work is parked, and goes on when the client comes back with
the state it was given. That state is sealed and bound to the request, its arguments and its key by the SDK's
`RequestStateBoundary`, so a client can resume only what is its own.
"""

import asyncio
import secrets
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, InputResponseRequestParams

from steward.servers.gateway.link import (
    Context,
    LegacyLine,
    Link,
    ModernLine,
    RunningWork,
    modern,
    wanted_level,
)
from steward.servers.gateway.long_calls import Finish, LongCalls

PARKED_AT_MOST = 1_000
PARKED_SECONDS = 600.0
TICKS = 5  # turns of the loop in which questions put at once come together


@dataclass(frozen=True, slots=True)
class Retry:
    """What a 2026-07-28 client brought back."""

    state: Mapping[str, str]
    responses: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Parked:
    running: RunningWork
    link: Link
    finish: Finish
    expiry: asyncio.TimerHandle


class Conversations:
    def __init__(self, log_level: Callable[[Context], str], long_calls: LongCalls | None = None) -> None:
        self._log_level = log_level
        self._long_calls = long_calls
        self._parked: dict[str, _Parked] = {}

    def link(self, context: Context, given: Mapping[str, Any] | None = None) -> Link:
        level = wanted_level(context.meta) if modern(context) else self._log_level(context)
        return Link(given=given, log_level=level)

    async def hold(
        self, context: Context, link: Link, work: Coroutine[Any, Any, Any], finish: Finish
    ) -> dict[str, Any]:
        """Do some work whose questions go through `link`."""
        task = asyncio.create_task(work)
        running = RunningWork(outcome=task, cancel=task.cancel)
        return await self.carry_on(context, running, link, finish)

    async def carry_on(
        self, context: Context, running: RunningWork, link: Link, finish: Finish
    ) -> dict[str, Any]:
        link.line = ModernLine(context, running) if modern(context) else self.legacy(context)
        patience = self._patience(context)
        try:
            await _outcome_or_question(running, patience)
            if patience is not None and not running.outcome.done() and not running.questions:
                handle = await self._let_go(context, running, link, finish)
                if handle is not None:
                    return handle
                await _outcome_or_question(running)
        except asyncio.CancelledError:
            running.cancel()
            raise
        if running.outcome.done():
            return await finish(context, running.outcome.result())
        return self._park(running, link, finish)

    def _patience(self, context: Context) -> float | None:
        """For how long a request waits for its answer; None where its client takes no handle."""
        known = self._long_calls
        return known.after if known is not None and known.concern(context) else None

    async def _let_go(
        self, context: Context, running: RunningWork, link: Link, finish: Finish
    ) -> dict[str, Any] | None:
        return (
            None if self._long_calls is None else await self._long_calls.hold(context, running, link, finish)
        )

    def legacy(self, context: Context) -> LegacyLine:
        return LegacyLine(context, self._log_level(context))

    async def resume(self, context: Context, retry: Retry) -> dict[str, Any]:
        parked = self._parked.pop(retry.state.get("parked", ""), None)
        if parked is None:
            raise MCPError(INVALID_PARAMS, "This is no longer waiting; ask again from the start.")
        parked.expiry.cancel()
        running = parked.running
        running.answer(retry.responses)
        if running.questions:
            return self._park(running, parked.link, parked.finish)  # what is still open is asked again
        return await self.carry_on(context, running, parked.link, parked.finish)

    def _park(self, running: RunningWork, link: Link, finish: Finish) -> dict[str, Any]:
        while len(self._parked) >= PARKED_AT_MOST:
            self._drop(next(iter(self._parked)))
        token = secrets.token_hex(16)
        expiry = asyncio.get_running_loop().call_later(PARKED_SECONDS, self._drop, token)
        self._parked[token] = _Parked(running, link, finish, expiry)
        questions = {key: question.wire() for key, question in running.questions.items()}
        return input_required(questions, parked=token)

    def _drop(self, token: str) -> None:
        parked = self._parked.pop(token)
        parked.expiry.cancel()
        parked.running.cancel()

    def close(self) -> None:
        for token in tuple(self._parked):
            self._drop(token)


def input_required(questions: Mapping[str, Any], **state: str) -> dict[str, Any]:
    return {
        "resultType": "input_required",
        "inputRequests": questions,
        "requestState": orjson.dumps(state).decode(),
    }


def retry_of(params: InputResponseRequestParams) -> Retry | None:
    """None for a first request; its early answers, if any, are `responses_of`."""
    if params.request_state is None:
        return None
    return Retry(orjson.loads(params.request_state), responses_of(params))


def responses_of(params: InputResponseRequestParams) -> dict[str, Any]:
    given = params.input_responses or {}
    return {
        key: value.model_dump(by_alias=True, mode="json", exclude_none=True) for key, value in given.items()
    }


async def _outcome_or_question(running: RunningWork, seconds: float | None = None) -> None:
    asked = asyncio.ensure_future(running.asked.wait())
    try:
        await asyncio.wait((running.outcome, asked), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        asked.cancel()
    for _ in range(TICKS):
        if running.outcome.done():
            return
        await asyncio.sleep(0)
