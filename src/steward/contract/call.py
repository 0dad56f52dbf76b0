"""One call through the door and its three possible answers.

Owns the request, the answer and their wire shape. Does not own how a call is governed (orchestrator).
"""

import os
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from steward.contract.errors import ErrorCode, StewardError
from steward.contract.federation import Decision, Elsewhere
from steward.contract.runs import RunRecord
from steward.contract.tool import RiskLevel

if TYPE_CHECKING:
    from steward.contract.deciding import Role


def new_id() -> str:
    """128 random bits as text."""
    return os.urandom(16).hex()


class CallerKind(StrEnum):
    PERSON = "person"  # typed at the CLI, the page, or the API with a key
    AGENT = "agent"  # one of our LLM agents
    CLIENT = "client"  # another program through MCP
    SYSTEM = "system"  # Steward itself


@dataclass(frozen=True, slots=True)
class Caller:
    kind: CallerKind
    id: str


@dataclass(frozen=True, slots=True)
class ElicitAnswer:
    action: Literal["accept", "decline", "cancel"]
    content: Mapping[str, Any] = field(default_factory=dict[str, Any])


class Channel(Protocol):
    """The way back to whoever waits for a call: progress out, questions to the person behind it."""

    async def progress(self, done: float, total: float | None, message: str | None) -> None: ...

    async def elicit(self, message: str, schema: Mapping[str, Any]) -> ElicitAnswer | None:
        """Ask the person on the other side; None when nobody there can be asked."""
        ...


@runtime_checkable
class SamplingChannel(Channel, Protocol):
    """A channel whose other side lends its model to servers that ask for one."""

    async def sample(self, request: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """MCP's `sampling/createMessage`, parameters in and result out; None when that is not possible."""
        ...


@runtime_checkable
class ClientChannel(Channel, Protocol):
    """A channel whose other side speaks MCP: a server's own questions and log lines pass as they are."""

    @property
    def log_level(self) -> str | None:
        """The lowest level of log lines that is wanted; None for none."""
        ...

    async def log(self, level: str, data: Any, logger: str | None) -> None: ...

    async def ask(
        self, method: str, params: Mapping[str, Any], *, key: str | None = None
    ) -> Mapping[str, Any] | None:
        """`elicitation/create`, `sampling/createMessage` or `roots/list`, parameters in and result out.

        `key` is what the server calls this question. None when the client cannot answer such questions.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    tool: str
    arguments: Mapping[str, Any]
    caller: Caller
    user: str | None = None
    utterance: str | None = None  # what the person said, where there is one
    confidence: float = 0.0  # computed by our code; absent means none
    call_id: str = field(default_factory=new_id)
    correlation_id: str = field(default_factory=new_id)
    timeout: float | None = None  # seconds the caller is willing to wait; can only shorten the tool's own
    channel: Channel | None = field(default=None, compare=False, repr=False)
    run: RunRecord | None = field(default=None, compare=False, repr=False)  # what was read before it
    session: str | None = None  # a client's session, within which the same call waits only once
    role: "Role | None" = None  # what whoever asked may do, where a surface vouches for it
    definition: str | None = (
        None  # the hash of the definition it was judged by, where that may change meanwhile
    )
    incidental: bool = False  # a look to show something: nobody asked for it, and nobody is asked about it
    decision: Decision | None = field(default=None, compare=False)  # a person's, for a Steward behind it


current_call: ContextVar[ToolCall | None] = ContextVar("current_call", default=None)
"""The call being run, so that an agent can reach its correlation id, user and channel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    data: Any = None
    call_id: str = ""
    correlation_id: str = ""
    duration_ms: float = 0.0
    native: Any = field(default=None, compare=False, repr=False)
    """The provider's own answer, so that a gateway forwards it instead of modelling it again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    error: str
    code: str = ErrorCode.TOOL_EXECUTION_ERROR
    retryable: bool = False
    outcome_unknown: bool = False  # the call may have run; it is not sent again on its own
    data: Any = None
    call_id: str = ""
    correlation_id: str = ""
    duration_ms: float = 0.0
    native: Any = field(default=None, compare=False, repr=False)
    fix: str | None = field(default=None, compare=False)
    """What helps, for a wire that tells it on its own; it stands at the end of `error` as well."""

    @classmethod
    def from_error(cls, error: StewardError) -> "Failed":
        return cls(
            error=error.explain(),
            code=error.code,
            retryable=error.retryable and not error.in_doubt,
            outcome_unknown=error.in_doubt,
            fix=error.fix,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingApproval:
    proposal_id: str
    reason: str
    risk: RiskLevel
    call_id: str = ""
    correlation_id: str = ""
    duration_ms: float = 0.0
    elsewhere: Elsewhere | None = None  # it waits at a Steward behind this one; the door makes it wait here


ToolResult = Done | Failed | PendingApproval


def envelope(result: ToolResult) -> dict[str, Any]:
    """The one shape of a tool result on every wire."""
    shape: dict[str, Any] = {
        "status": "done",
        "success": False,
        "data": None,
        "error": None,
        "error_code": None,
        "retryable": False,
        "outcome_unknown": False,
        "proposal_id": None,
        "call_id": result.call_id,
        "correlation_id": result.correlation_id,
        "duration_ms": round(result.duration_ms, 3),
    }
    match result:
        case Done():
            shape |= {"success": True, "data": result.data}
        case Failed():
            shape |= {
                "status": "failed",
                "data": result.data,
                "error": result.error,
                "error_code": result.code,
                "retryable": result.retryable,
                "outcome_unknown": result.outcome_unknown,
            }
        case _:  # pending approval, the last of the three
            shape |= {
                "status": "pending_approval",
                "error": result.reason,
                "proposal_id": result.proposal_id,
            }
    return shape
