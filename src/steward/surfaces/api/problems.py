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
from steward.surfaces.api.openai import wire as openai

logger = logging.getLogger(__name__)

STATUS_BY_CODE = {
    ErrorCode.UNAUTHENTICATED: 401,
    ErrorCode.RATE_LIMITED: 429,
    ErrorCode.STORAGE_FULL: 507,
    ErrorCode.AGENT_NOT_FOUND: 404,
    ErrorCode.TOOL_DUPLICATE: 409,
    ErrorCode.AGENT_DUPLICATE: 409,
    ErrorCode.MODEL_CONTEXT_EXCEEDED: 400,
    ErrorCode.MODEL_RATE_LIMITED: 429,
    ErrorCode.MODEL_QUOTA_EXCEEDED: 429,
    ErrorCode.MODEL_TIMEOUT: 504,
    ErrorCode.MODEL_UNAVAILABLE: 503,
    ErrorCode.MODEL_AUTHENTICATION: 502,
    ErrorCode.MODEL_NOT_FOUND: 502,
    ErrorCode.MODEL_REJECTED: 502,
    ErrorCode.MODEL_ANSWER_INVALID: 502,
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
    if error.in_doubt:  # the database did not answer: unlike after a 503, it may have been done
        return 504
    for code, status in STATUS_BY_CODE.items():
        if error.code == code:
            return status
    return next((status for kind, status in STATUS_BY_CLASS if isinstance(error, kind)), 500)


def problem(
    status: int, detail: str, *, path: str = "", code: str, fix: str | None = None, **more: Any
) -> JSONResponse:
    """In the form of whoever asks: clients of OpenAI's protocol read theirs and no other."""
    if openai.is_ours(path):
        parameter = more.get("details", {}).get("parameter")
        return openai.error(status, f"{detail} {fix}" if fix else detail, code=code, param=parameter)
    body = {"type": "about:blank", "title": _title(status), "status": status, "detail": detail, "code": code}
    if fix:
        body["fix"] = fix
    return JSONResponse(body | more, status_code=status, media_type="application/problem+json")


def _title(status: int) -> str:
    from http import HTTPStatus  # noqa: PLC0415 - a name that would shadow nothing else here

    return HTTPStatus(status).phrase


async def _steward_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, StewardError)
    return explained(request, error)


def explained(request: Request, error: StewardError) -> JSONResponse:
    """The answer that an error is."""
    more: dict[str, Any] = {"request_id": _id(request)}
    if error.details:
        more["details"] = dict(error.details)
    if error.in_doubt:
        more["outcome_unknown"] = True
    response = problem(
        status_of(error),
        error.message,
        path=request.url.path,
        code=error.code,
        fix=error.fix,
        retryable=error.retryable and not error.in_doubt,
        **more,
    )
    if "retry_after" in error.details:
        response.headers["Retry-After"] = str(error.details["retry_after"])
    return response


async def _bad_request(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    path = request.url.path
    status = 400 if openai.is_ours(path) else 422  # as that protocol has it
    broken = next((item for item in error.errors() if item["type"] == "json_invalid"), None)
    if broken is not None:
        more: Mapping[str, object] = broken.get("ctx") or {}
        why = more.get("error", "it does not parse")
        return problem(
            status,
            f"The body is not valid JSON: {why}, at character {broken['loc'][-1]}.",
            code=ErrorCode.INVALID_INPUT,
            fix="Send JSON as /docs shows it.",
            path=path,
            request_id=_id(request),
        )
    problems = [
        {"field": ".".join(map(str, item["loc"][1:])), "expected": item["msg"]} for item in error.errors()
    ]
    detail = "; ".join(f"{item['field'] or 'The body'}: {item['expected']}" for item in problems)
    return problem(
        status,
        detail,
        path=path,
        code=ErrorCode.INVALID_INPUT,
        fix="See /docs.",
        request_id=_id(request),
        details={"problems": problems, "parameter": problems[0]["field"] or None},
    )


async def _http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    missing = error.status_code == 404
    code = ErrorCode.NOT_FOUND if missing else ErrorCode.INVALID_INPUT
    detail = f"There is nothing at '{request.url.path}'." if missing else str(error.detail)
    response = problem(
        error.status_code, detail, path=request.url.path, code=code, fix="See /docs.", request_id=_id(request)
    )
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
        path=request.url.path,
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
