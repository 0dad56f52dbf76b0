"""Functions as agents: `LegacyToolAgent` makes any sync or async function a governed tool.

Owns running the function and turning what it returns or raises into a result. A synchronous function
runs in a thread, so that it never blocks other calls; when its deadline passes it cannot be killed, so
the call ends, the thread is counted as abandoned, and the outcome is reported as unknown.
"""

import asyncio
import contextvars
import dataclasses
import inspect
import json
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import orjson
from pydantic_core import PydanticSerializationError, to_jsonable_python

from steward.contract.agent import AgentManifest, Health
from steward.contract.call import Done, Failed, PendingApproval, ToolResult
from steward.contract.errors import ErrorCode, NotFoundError, ToolError
from steward.contract.tool import ToolSpec

ToolFunction = Callable[..., Any]


@dataclasses.dataclass(frozen=True, slots=True)
class FunctionTool:
    """A definition and the function behind it, called with the arguments as keywords."""

    spec: ToolSpec
    function: ToolFunction
    tell: Callable[..., Awaitable[str | None]] | None = None
    """What a call would do, in plain words; takes the same arguments."""


class LegacyToolAgent:
    def __init__(
        self,
        agent_id: str,
        tools: Sequence[FunctionTool],
        *,
        name: str | None = None,
        capabilities: tuple[str, ...] = (),
        requires_approval: bool = False,
    ) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        self._manifest = AgentManifest(
            id=agent_id,
            name=name or agent_id,
            tools=tuple(tool.spec for tool in tools),
            capabilities=capabilities,
            requires_approval=requires_approval,
        )
        self.abandoned_threads = 0

    async def initialize(self) -> None:
        """Functions need no preparation."""

    async def shutdown(self) -> None:
        """Functions hold nothing that would have to be let go."""

    def manifest(self) -> AgentManifest:
        return self._manifest

    async def health(self) -> Health:
        abandoned = self.abandoned_threads
        detail = f"{abandoned} call(s) did not end when told to" if abandoned else "ready"
        return Health(healthy=True, detail=detail, facts={"abandoned_threads": abandoned})

    async def execute(self, tool: str, params: Mapping[str, Any]) -> ToolResult:
        known = self._tools.get(tool)
        if known is None:
            raise NotFoundError(f"'{self._manifest.id}' has no tool '{tool}'.", code=ErrorCode.TOOL_NOT_FOUND)
        if inspect.iscoroutinefunction(known.function):
            return _result(tool, await known.function(**params))
        value = await self._in_thread(known.function, params)
        # A plain function may still hand back something to await (a partial, a bound callable).
        return _result(tool, await value if inspect.isawaitable(value) else value)

    async def tell(self, tool: str, params: Mapping[str, Any]) -> str | None:
        known = self._tools.get(tool)
        return None if known is None or known.tell is None else await known.tell(**params)

    async def _in_thread(self, function: ToolFunction, params: Mapping[str, Any]) -> Any:
        """A thread of its own per call: a pool would run dry when functions hang."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()
        context = contextvars.copy_context()

        def work() -> None:
            try:
                value = context.run(function, **params)
            except BaseException as error:  # noqa: BLE001 - carried over to the waiting call
                _deliver(loop, answer, error=error)
            else:
                _deliver(loop, answer, value=value)

        threading.Thread(target=work, name=f"tool-{self._manifest.id}", daemon=True).start()
        try:
            return await answer
        except asyncio.CancelledError:
            self.abandoned_threads += 1
            raise


def _deliver(
    loop: asyncio.AbstractEventLoop,
    answer: asyncio.Future[Any],
    *,
    value: Any = None,
    error: BaseException | None = None,
) -> None:
    def settle() -> None:
        if answer.done():  # the caller is gone
            return
        if error is None:
            answer.set_result(value)
        elif isinstance(error, Exception) and not isinstance(error, StopIteration):
            answer.set_exception(error)
        else:  # SystemExit, KeyboardInterrupt or StopIteration: none may reach the event loop
            answer.set_exception(RuntimeError(f"{type(error).__name__}: {error}"))

    try:
        loop.call_soon_threadsafe(settle)
    except RuntimeError:
        return  # the loop closed while the abandoned function still ran


def _result(tool: str, value: Any) -> ToolResult:
    if isinstance(value, Done | Failed | PendingApproval):
        return value
    return Done(data=_plain(tool, value))


def _plain(tool: str, value: Any) -> Any:
    """What a function returned, as JSON: models, dataclasses, dates and sets included, bytes as base64."""
    try:
        data = to_jsonable_python(value, bytes_mode="base64")
        try:
            orjson.dumps(data)
        except TypeError:  # numbers beyond 64 bits are JSON; half a character is not
            json.dumps(data, ensure_ascii=False).encode()
    except (PydanticSerializationError, ValueError) as error:
        raise ToolError(
            f"'{tool}' ran, but returned what is no JSON: {error}.", code=ErrorCode.INVALID_OUTPUT
        ) from error
    return data
