"""JSON Schema 2020-12, compiled once and explained in words.

Owns compiling and the wording of violations. Never fetches a remote reference.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jsonschema_rs
import orjson

from steward.contract.errors import InvalidArgumentsError, InvalidSchemaError

MAX_PROBLEMS = 5
MAX_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Problem:
    """One violation: where, and what was expected there."""

    field: str
    expected: str

    def __str__(self) -> str:
        return f"{self.field}: {self.expected}" if self.field else self.expected


class CompiledSchema:
    """A schema ready to check values in about a microsecond."""

    def __init__(self, schema: Mapping[str, Any] | bool) -> None:
        try:
            self._validator = jsonschema_rs.validator_for(
                dict(schema) if isinstance(schema, Mapping) else schema, offline=True, validate_formats=False
            )
        except (
            ValueError,
            TypeError,
            jsonschema_rs.ValidationError,
            jsonschema_rs.ReferencingError,
        ) as error:
            raise InvalidSchemaError(
                f"This is not a JSON Schema: {str(error)[:MAX_SHOWN]}",
                fix="Correct the schema; references to other documents are not followed.",
            ) from error

    def accepts(self, value: Any) -> bool:
        try:
            return self._validator.is_valid(value)
        except ValueError:  # not JSON at all: NaN keys, foreign objects, integers beyond the wire
            return False

    def problems(self, value: Any) -> tuple[Problem, ...]:
        try:
            if self._validator.is_valid(value):
                return ()
            found: list[Problem] = []
            for error in self._validator.iter_errors(value):
                found.append(Problem(_where(error), _expected(error)))
                if len(found) == MAX_PROBLEMS:
                    break
        except ValueError as error:
            return (Problem("", f"this is not a JSON value ({str(error)[:MAX_SHOWN]})"),)
        return tuple(found)

    def check(self, value: Any, *, what: str) -> None:
        """Raise `InvalidArgumentsError` naming each wrong field and what was expected there."""
        problems = self.problems(value)
        if problems:
            raise InvalidArgumentsError(
                f"{what}: {'; '.join(map(str, problems))}.",
                details={"problems": [{"field": p.field, "expected": p.expected} for p in problems]},
            )


def compile_schema(schema: Mapping[str, Any] | bool) -> CompiledSchema:
    """The compiled form, shared between equal schemas."""
    try:
        key = orjson.dumps(schema, option=orjson.OPT_SORT_KEYS)
    except TypeError as error:
        raise InvalidSchemaError(
            f"This is not a JSON Schema: {error}", fix="Use JSON values only."
        ) from error
    return _compiled(key)


@lru_cache(maxsize=20_000)
def _compiled(key: bytes) -> CompiledSchema:
    return CompiledSchema(orjson.loads(key))


def _where(error: jsonschema_rs.ValidationError) -> str:
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.instance_path)
    return path.removeprefix(".")


def _expected(error: jsonschema_rs.ValidationError) -> str:
    """The library's wording, without echoing a huge or secret value back."""
    kind = error.kind
    match kind:
        case jsonschema_rs.ValidationErrorKind.Required():
            return f"'{kind.property}' is required"
        case jsonschema_rs.ValidationErrorKind.AdditionalProperties():
            return f"unknown field {', '.join(map(repr, kind.unexpected))}"[:MAX_SHOWN]
        case jsonschema_rs.ValidationErrorKind.Type():
            return f"expected {_types(kind.as_dict())}, got {_type_of(error.instance)}"
        case jsonschema_rs.ValidationErrorKind.Enum():
            return f"expected one of {_shown(kind.as_dict().get('options'))}"
        case _:
            return f"does not satisfy {kind.name} {_shown(_limit(kind.as_dict()))}".rstrip()


def _types(kind: Mapping[str, Any]) -> str:
    types = kind.get("types", kind.get("type", "another type"))
    return " or ".join(types) if isinstance(types, list) else str(types)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _limit(kind: Mapping[str, Any]) -> Any:
    return next((kind[name] for name in ("limit", "pattern", "format", "expected_value") if name in kind), "")


def _shown(value: Any) -> str:
    return "" if value == "" else orjson.dumps(value, default=str).decode()[:MAX_SHOWN]


def _type_of(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"
