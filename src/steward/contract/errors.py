"""The error tree and its stable codes.

    StewardError                     anything Steward can explain to a person
    ├── InputError                   the caller sent something wrong; asking again unchanged fails again
    │   ├── InvalidArgumentsError    arguments that a tool's JSON Schema forbids
    │   ├── InvalidSchemaError       a JSON Schema that is not one
    │   └── NotFoundError            a named thing that does not exist
    ├── ConfigError                  a configuration file or setting that cannot be used
    ├── AgentError                   an agent that will not start, stop, answer or be found
    ├── ToolError                    a tool that ran and failed; tools raise it to choose their own code
    ├── ConflictError                the thing changed meanwhile, or was already decided
    ├── ForbiddenError               the caller may not do this
    ├── ModelError                   a language model that does not answer, or may not go on
    └── UnavailableError             a service that cannot be reached now; worth another try later
        └── StorageError             the database

Owns what an error says: code, message, how to fix it, whether a retry can help.
Does not own how it is shown: surfaces render it, the orchestrator turns it into a result.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar


class ErrorCode(StrEnum):
    """Codes that callers may rely on. Tools add codes of their own as plain strings."""

    AGENT_INIT_FAILED = "AGENT_INIT_FAILED"
    AGENT_SHUTDOWN_FAILED = "AGENT_SHUTDOWN_FAILED"
    AGENT_NOT_FOUND = "AGENT_NOT_FOUND"
    AGENT_UNAVAILABLE = "AGENT_UNAVAILABLE"
    AGENT_DUPLICATE = "AGENT_DUPLICATE"
    TOOL_EXECUTION_TIMEOUT = "TOOL_EXECUTION_TIMEOUT"
    TOOL_EXECUTION_ERROR = "TOOL_EXECUTION_ERROR"
    TOOL_NOT_FOUND = "TOOL_NOT_FOUND"
    TOOL_DUPLICATE = "TOOL_DUPLICATE"
    TOOL_QUARANTINED = "TOOL_QUARANTINED"
    TOOL_CHANGED = "TOOL_CHANGED"
    SERVICE_UNAVAILABLE = "SERVICE_UNAVAILABLE"
    CANCELLED = "CANCELLED"
    INTERRUPTED = "INTERRUPTED"
    INVALID_ARGUMENTS = "INVALID_ARGUMENTS"
    INVALID_OUTPUT = "INVALID_OUTPUT"
    INVALID_SCHEMA = "INVALID_SCHEMA"
    INVALID_INPUT = "INVALID_INPUT"
    NOT_FOUND = "NOT_FOUND"
    CONFIG_INVALID = "CONFIG_INVALID"
    CONFIG_MISSING = "CONFIG_MISSING"
    CONFIG_DIFFERS = "CONFIG_DIFFERS"
    EXTRA_MISSING = "EXTRA_MISSING"
    POLICY_FAILED = "POLICY_FAILED"
    PROPOSAL_NOT_FOUND = "PROPOSAL_NOT_FOUND"
    PROPOSAL_ALREADY_DECIDED = "PROPOSAL_ALREADY_DECIDED"
    PROPOSAL_REJECTED = "PROPOSAL_REJECTED"
    HUMAN_INPUT_PENDING = "HUMAN_INPUT_PENDING"
    PROPOSAL_EXPIRED = "PROPOSAL_EXPIRED"
    PROPOSAL_OUTDATED = "PROPOSAL_OUTDATED"
    WAITS_ELSEWHERE = "WAITS_ELSEWHERE"
    ALWAYS_REFUSED = "ALWAYS_REFUSED"
    CONFLICT = "CONFLICT"
    FORBIDDEN = "FORBIDDEN"
    UNAUTHENTICATED = "UNAUTHENTICATED"
    RATE_LIMITED = "RATE_LIMITED"
    SESSION_UNKNOWN = "SESSION_UNKNOWN"
    STORAGE_UNAVAILABLE = "STORAGE_UNAVAILABLE"
    STORAGE_FULL = "STORAGE_FULL"
    STORAGE_FAILED = "STORAGE_FAILED"
    ARCHIVE_INVALID = "ARCHIVE_INVALID"
    NOTHING_TO_UNDO = "NOTHING_TO_UNDO"
    CANNOT_UNDO = "CANNOT_UNDO"
    ALREADY_UNDONE = "ALREADY_UNDONE"
    NOT_CALCULATED = "NOT_CALCULATED"
    RECORD_FAILED = "RECORD_FAILED"
    OUTCOME_UNKNOWN = "OUTCOME_UNKNOWN"
    MODEL_UNAVAILABLE = "MODEL_UNAVAILABLE"
    MODEL_TIMEOUT = "MODEL_TIMEOUT"
    MODEL_RATE_LIMITED = "MODEL_RATE_LIMITED"
    MODEL_QUOTA_EXCEEDED = "MODEL_QUOTA_EXCEEDED"
    MODEL_AUTHENTICATION = "MODEL_AUTHENTICATION"
    MODEL_NOT_FOUND = "MODEL_NOT_FOUND"
    MODEL_REJECTED = "MODEL_REJECTED"
    MODEL_CONTEXT_EXCEEDED = "MODEL_CONTEXT_EXCEEDED"
    MODEL_ANSWER_INVALID = "MODEL_ANSWER_INVALID"
    RUN_LIMIT_REACHED = "RUN_LIMIT_REACHED"
    RUN_TIMEOUT = "RUN_TIMEOUT"
    INTERNAL = "INTERNAL"


class StewardError(Exception):
    """An error with a stable code, a plain message, and what the reader can do about it.

    `in_doubt`: what was asked for may have happened all the same; only what is safe twice may be tried again.
    """

    default_code: ClassVar[str] = ErrorCode.INTERNAL
    default_retryable: ClassVar[bool] = False

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        fix: str | None = None,
        retryable: bool | None = None,
        details: Mapping[str, Any] | None = None,
        in_doubt: bool = False,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = str(code or self.default_code)
        self.fix = fix
        self.retryable = self.default_retryable if retryable is None else retryable
        self.details: Mapping[str, Any] = details or {}
        self.in_doubt = in_doubt

    def explain(self) -> str:
        """The message and the fix in one line, as a person reads it."""
        return f"{self.message} {self.fix}" if self.fix else self.message


class InputError(StewardError):
    default_code = ErrorCode.INVALID_INPUT


class InvalidArgumentsError(InputError):
    default_code = ErrorCode.INVALID_ARGUMENTS


class InvalidSchemaError(InputError):
    default_code = ErrorCode.INVALID_SCHEMA


class NotFoundError(InputError):
    default_code = ErrorCode.NOT_FOUND


class ConfigError(StewardError):
    default_code = ErrorCode.CONFIG_INVALID


class AgentError(StewardError):
    default_code = ErrorCode.AGENT_UNAVAILABLE


class ToolError(StewardError):
    default_code = ErrorCode.TOOL_EXECUTION_ERROR


class ConflictError(StewardError):
    default_code = ErrorCode.CONFLICT


class ForbiddenError(StewardError):
    default_code = ErrorCode.FORBIDDEN


class ModelError(StewardError):
    default_code = ErrorCode.MODEL_UNAVAILABLE


class UnavailableError(StewardError):
    default_code = ErrorCode.SERVICE_UNAVAILABLE
    default_retryable = True


class StorageError(UnavailableError):
    default_code = ErrorCode.STORAGE_UNAVAILABLE
