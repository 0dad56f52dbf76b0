"""What OpenAI's protocol looks like on the wire: errors, usage, and where an answer is cut."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fastapi.responses import JSONResponse

from steward.contract import linear_re as re
from steward.contract.errors import InputError
from steward.surfaces.api.events import EVENTS

PATHS = ("/v1/chat/completions", "/v1/models", "/v1/responses", "/v1/embeddings")
_KINDS = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
_PIECE = re.compile(r"\s?\w{1,6}|\s?[^\w\s]|\s")  # about what models call a token

STREAMED: dict[str, Any] = {  # with "stream": true the answer comes as events
    "description": "The answer, or its events.",
    "content": {"application/json": {}, **EVENTS},
}
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {
        "description": meaning,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/OpenAIError"}}},
    }
    for status, meaning in (
        ("4XX", "The request cannot be served."),
        ("5XX", "Steward cannot serve it now."),
    )
}
ERROR_SCHEMA: dict[str, Any] = {
    "type": "object",
    "title": "OpenAIError",
    "description": "An error in OpenAI's form; `code` is Steward's own and stable.",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type", "param", "code"],
            "properties": {
                "message": {"type": "string"},
                "type": {"type": "string"},
                "param": {"type": ["string", "null"]},
                "code": {"type": ["string", "null"]},
            },
        }
    },
}


class UnservedParameterError(InputError):
    """A request asks for something by name that cannot be done."""

    def __init__(self, parameter: str, message: str, *, fix: str) -> None:
        super().__init__(message, fix=fix, details={"parameter": parameter})


def is_ours(path: str) -> bool:
    return any(path == each or path.startswith(f"{each}/") for each in PATHS)


def error_body(status: int, message: str, *, code: str | None, param: str | None = None) -> dict[str, Any]:
    kind = _KINDS.get(status, "invalid_request_error" if status < 500 else "server_error")
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def error(status: int, message: str, *, code: str | None, param: str | None = None) -> JSONResponse:
    return JSONResponse(error_body(status, message, code=code, param=param), status_code=status)


def count(text: str) -> int:
    """Tokens, about; for answers that no language model wrote or counted."""
    return sum(1 for _ in _PIECE.finditer(text))


@dataclass(frozen=True, slots=True)
class Cut:
    """Where an answer ends: before one of these words, or after so many tokens."""

    stop: Sequence[str] = ()
    most: int | None = None

    def __call__(self, text: str) -> str:
        places = [at for at in (text.find(each) for each in self.stop) if at >= 0]
        kept = text[: min(places)] if places else text
        if self.most is None:
            return kept
        pieces = [piece for _, piece in zip(range(self.most), _PIECE.finditer(kept), strict=False)]
        return kept[: pieces[-1].end()] if pieces else ""

    def finish(self, text: str) -> str:
        """Why it ended there."""
        before_length = Cut(self.stop)(text)
        return "length" if len(self(text)) < len(before_length) else "stop"
