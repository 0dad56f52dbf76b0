"""What every server of ours shares: typed tools, and errors that keep their code on the way out.

Owns the translation of our errors into MCP results. Does not own any tool.
"""

import logging
from typing import Any

import mcp_types
from fastmcp import FastMCP
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import ToolResult

from steward.contract.errors import StewardError

CallContext = MiddlewareContext[mcp_types.CallToolRequestParams]
NextCall = CallNext[mcp_types.CallToolRequestParams, Any]
READS = mcp_types.ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True)


class ExplainedErrors(Middleware):
    """A `StewardError` raised by a tool answers as `isError` with its words, code and retryability."""

    async def on_call_tool(self, context: CallContext, call_next: NextCall) -> Any:
        try:
            return await call_next(context)
        except StewardError as error:
            return failure(error)
        except Exception as error:
            # FastMCP wraps what a tool raises; ours is then the cause.
            if isinstance(error.__cause__, StewardError):
                return failure(error.__cause__)
            raise


class Unsurprised(logging.Filter):
    """What a tool explains to its caller is no news for the log, least of all with a stack trace."""

    def filter(self, record: logging.LogRecord) -> bool:
        raised = record.exc_info[1] if record.exc_info else None
        return not isinstance(raised, StewardError)


def failure(error: StewardError) -> ToolResult:
    return ToolResult(content=error.explain(), structured_content=told(error), is_error=True)


def told(error: StewardError) -> dict[str, Any]:
    """An error as the data of an answer."""
    shape = {"code": error.code, "message": error.explain(), "retryable": error.retryable}
    return shape | {"retryable": False, "outcome_unknown": True} if error.in_doubt else shape


class Stateless:
    """A session's state, as FastMCP asks for it: our servers keep none, and its own store is slow to load."""

    async def get(self, *, key: str) -> None:
        del key


class OwnServer(FastMCP):
    """A server whose tools are the same for every session."""

    @property
    def _state_store(self) -> Any:
        return Stateless()


def new_server(name: str, instructions: str, *, errors: Middleware | None = None) -> FastMCP:
    """`errors`: how they leave, where `ExplainedErrors` is not the way."""
    log = logging.getLogger("fastmcp.server.server")
    if not any(isinstance(known, Unsurprised) for known in log.filters):
        log.addFilter(Unsurprised())
    return OwnServer(name, instructions=instructions, middleware=[errors or ExplainedErrors()])
