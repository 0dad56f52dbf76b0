"""The OpenAPI document: what FastAPI derives, with examples and our one shape for what goes wrong."""

from typing import Any

from fastapi import FastAPI

from steward.surfaces.api.examples import EXAMPLES
from steward.surfaces.api.openai.wire import ERROR_SCHEMA

PROBLEM: dict[str, Any] = {
    "type": "object",
    "title": "Problem",
    "description": "RFC 9457 problem details with a stable `code` and, where there is one, a `fix`.",
    "required": ["type", "title", "status", "detail", "code"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What is wrong, for a person."},
        "code": {"type": "string", "description": "What is wrong, for a program; stable."},
        "fix": {"type": "string", "description": "What to do about it."},
        "retryable": {"type": "boolean"},
        "request_id": {"type": "string"},
        "details": {"type": "object"},
    },
    "examples": [
        {
            "type": "about:blank",
            "title": "Not Found",
            "status": 404,
            "detail": "There is no tool named 'web_serch'.",
            "code": "TOOL_NOT_FOUND",
            "fix": "Did you mean web_search?",
        }
    ],
}


def describe(app: FastAPI) -> None:
    """Replace FastAPI's own error shapes, which this API never sends."""
    derive = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = derive()
            schemas: dict[str, Any] = document.setdefault("components", {}).setdefault("schemas", {})
            for unused in ("HTTPValidationError", "ValidationError"):
                schemas.pop(unused, None)
            schemas["Problem"] = PROBLEM
            schemas["OpenAIError"] = ERROR_SCHEMA
            for name, example in EXAMPLES.items():
                schemas[name]["examples"] = [example]
            for path in document["paths"].values():
                for operation in path.values():
                    _describe_problems(operation["responses"])
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi


def _describe_problems(responses: dict[str, Any]) -> None:
    responses.pop("422", None)
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for status, meaning in (
        ("4XX", "The request cannot be served."),
        ("5XX", "Steward cannot serve it now."),
    ):
        responses.setdefault(status, {"description": meaning, "content": content})
