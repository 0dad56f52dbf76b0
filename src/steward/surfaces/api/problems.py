"""Errors on the HTTP wire: problem+json with a stable code and a fix.

Owns which error has which status. Everything that is not a tool's own failure leaves here.
"""

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from steward.contract.errors import (
    AgentError,
    ConfigError,
    ConflictError,
    ErrorCode,
    ForbiddenError,
    InputError,
    InvalidArgumentsError,
    NotFoundError,
    StewardError,
    UnavailableError,
)
from steward.knowledge.model import CollectionError, DocumentError, QueryError

logger = logging.getLogger(__name__)

STATUS_BY_CODE = {
    ErrorCode.UNAUTHENTICATED: 401,
    ErrorCode.RATE_LIMITED: 429,
    ErrorCode.STORAGE_FULL: 507,
    ErrorCode.AGENT_NOT_FOUND: 404,
    ErrorCode.TOOL_DUPLICATE: 409,
    ErrorCode.AGENT_DUPLICATE: 409,
}

STATUS_BY_CLASS: tuple[tuple[type[StewardError], int], ...] = (
    (NotFoundError, 404),
    (CollectionError, 404),
    (DocumentError, 422),
    (QueryError, 422),
    (InvalidArgumentsError, 422),
    (InputError, 400),
    (ForbiddenError, 403),
    (ConflictError, 409),
    (AgentError, 503),
    (UnavailableError, 503),
    (ConfigError, 500),
)


def status_of(error: StewardError) -> int:
    for code, status in STATUS_BY_CODE.items():
        if error.code == code:
            return status
    return next((status for kind, status in STATUS_BY_CLASS if isinstance(error, kind)), 500)


def problem(status: int, detail: str, *, code: str, fix: str | None = None, **more: Any) -> JSONResponse:
    body = {"type": "about:blank", "title": _title(status), "status": status, "detail": detail, "code": code}
    if fix:
        body["fix"] = fix
    return JSONResponse(body | more, status_code=status, media_type="application/problem+json")


def _title(status: int) -> str:
    from http import HTTPStatus  # noqa: PLC0415 - a name that would shadow nothing else here

    return HTTPStatus(status).phrase


async def _steward_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, StewardError)
    more = {"request_id": _id(request)} | ({"details": dict(error.details)} if error.details else {})
    response = problem(
        status_of(error), error.message, code=error.code, fix=error.fix, retryable=error.retryable, **more
    )
    if "retry_after" in error.details:
        response.headers["Retry-After"] = str(error.details["retry_after"])
    return response


async def _bad_request(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    broken = next((item for item in error.errors() if item["type"] == "json_invalid"), None)
    if broken is not None:
        more: Mapping[str, object] = broken.get("ctx") or {}
        why = more.get("error", "it does not parse")
        return problem(
            422,
            f"The body is not valid JSON: {why}, at character {broken['loc'][-1]}.",
            code=ErrorCode.INVALID_INPUT,
            fix="Send JSON as /docs shows it.",
            request_id=_id(request),
        )
    problems = [
        {"field": ".".join(map(str, item["loc"][1:])), "expected": item["msg"]} for item in error.errors()
    ]
    detail = "; ".join(
        f"{item['field']}: {item['expected']}" if item["field"] else item["expected"] for item in problems
    )
    return problem(
        422,
        detail,
        code=ErrorCode.INVALID_INPUT,
        fix="See /docs.",
        request_id=_id(request),
        details={"problems": problems},
    )


async def _http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    missing = error.status_code == 404
    code = ErrorCode.NOT_FOUND if missing else ErrorCode.INVALID_INPUT
    detail = f"There is nothing at '{request.url.path}'." if missing else str(error.detail)
    response = problem(error.status_code, detail, code=code, fix="See /docs.", request_id=_id(request))
    response.headers.update(error.headers or {})
    return response


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    name = _id(request)
    logger.error(
        "request_failed_unexpectedly", exc_info=error, extra={"path": request.url.path, "request_id": name}
    )
    return problem(
        500,
        "Something went wrong inside Steward.",
        code=ErrorCode.INTERNAL,
        fix=f"The log has the details under request {name}.",
        request_id=name,
    )


def _id(request: Request) -> str | None:
    return request.scope.get("request_id")


def install(app: FastAPI) -> None:
    app.add_exception_handler(StewardError, _steward_error)
    app.add_exception_handler(RequestValidationError, _bad_request)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _unexpected)
