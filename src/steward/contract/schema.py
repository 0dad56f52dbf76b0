"""JSON Schema 2020-12, compiled once and explained in words.

Owns compiling and the wording of violations. Never fetches a remote reference.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import jsonschema_rs
import orjson

from steward.contract.errors import InvalidArgumentsError, InvalidSchemaError
from steward.contract.schema_size import REFERRING, WRITTEN, refers, written_out

MAX_PROBLEMS = 5
MAX_SHOWN = 200
MAX_DEPTH = 50
LARGEST_KEPT = 8 * 1024
MOST_PARTS = 500_000
_SHARED = ("$defs", "definitions")  # where a schema keeps what it refers to


@dataclass(frozen=True, slots=True)
class Problem:
    """One violation: where, and what was expected there."""

    field: str
    expected: str

    def __str__(self) -> str:
        return f"{self.field}: {self.expected}" if self.field else self.expected


class CompiledSchema:
    """A schema ready to check values in about a microsecond."""

    def __init__(self, schema: Mapping[str, Any] | bool, *, refers: bool = True) -> None:
        """`refers`: whether anything in it may refer to something else in it."""
        written = written_out(schema) if refers and isinstance(schema, Mapping) else WRITTEN
        if written.parts > MOST_PARTS:
            raise InvalidSchemaError(
                f"This schema has more than {MOST_PARTS:,} parts once its references are written out.",
                fix="Refer to each part less often.",
            )
        try:
            self._validator = _validator(schema)
            # Where one leads back to itself, all that is wrong may be wrong in more ways than can be told.
            self._explaining = (
                _validator(_without_references(schema)) if written.circular else self._validator
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
            for error in self._explaining.iter_errors(value):
                found.append(Problem(_where(error), _expected(error)))
                if len(found) == MAX_PROBLEMS:
                    break
        except ValueError as error:
            return (Problem("", f"this is not a JSON value ({str(error)[:MAX_SHOWN]})"),)
        return tuple(found) or (Problem("", "it does not fit its schema"),)

    def check(self, value: Any, *, what: str) -> None:
        """Raise `InvalidArgumentsError` naming each wrong field and what was expected there."""
        problems = self.problems(value)
        if problems:
            raise InvalidArgumentsError(
                f"{what}: {'; '.join(map(str, problems))}.",
                details={"problems": [{"field": p.field, "expected": p.expected} for p in problems]},
            )


def compile_schema(schema: Mapping[str, Any] | bool) -> CompiledSchema:
    """The compiled form, shared between equal schemas; a huge one is nobody's to keep here."""
    try:
        key = orjson.dumps(schema, option=orjson.OPT_SORT_KEYS)
    except TypeError as error:
        raise InvalidSchemaError(
            f"This is not a JSON Schema: {error}", fix="Use JSON values only."
        ) from error
    return _compiled(key) if len(key) <= LARGEST_KEPT else _compiled.__wrapped__(key)


@lru_cache(maxsize=20_000)
def _compiled(key: bytes) -> CompiledSchema:
    return CompiledSchema(orjson.loads(key), refers=any(word in key for word in REFERRING))


def _validator(schema: Any) -> Any:
    schema = dict(cast("Mapping[str, Any]", schema)) if isinstance(schema, Mapping) else schema
    return jsonschema_rs.validator_for(schema, offline=True, validate_formats=False)


def _without_references(part: Any) -> Any:
    if isinstance(part, Mapping):
        members = cast("Mapping[str, Any]", part).items()
        return {name: _without_references(inner) for name, inner in members if not refers(name, inner)}
    return [_without_references(each) for each in cast("list[Any]", part)] if isinstance(part, list) else part


def without_nulls(schema: Mapping[str, Any], value: Any) -> Any:
    """`value` without nulls for optional properties that take none: clients send one for what was not said.

    A null that the schema accepts has a meaning and stays, as does one for what is required.
    """
    return _told(schema, value, schema, MAX_DEPTH)


def _told(schema: Any, value: Any, root: Mapping[str, Any], depth: int) -> Any:
    part = _resolved(schema, root)
    if not depth or not isinstance(value, list | Mapping):
        return value
    if isinstance(value, list):
        return [_told(part.get("items"), each, root, depth - 1) for each in cast("list[Any]", value)]
    properties: Mapping[str, Any] = part.get("properties") or {}
    required: Sequence[str] = part.get("required") or ()
    return {
        name: _told(properties.get(name), inner, root, depth - 1)
        for name, inner in cast("Mapping[str, Any]", value).items()
        if inner is not None
        or name in required
        or name not in properties
        or _nullable(properties[name], root)
    }


def _resolved(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema itself, or the one of this document that it refers to; of any other nothing is known."""
    if not isinstance(schema, Mapping):
        return {}
    part = cast("Mapping[str, Any]", schema)
    reference = part.get("$ref")
    if not isinstance(reference, str):
        return part
    home, _, name = reference.removeprefix("#/").partition("/")
    shared: Mapping[str, Any] = root.get(home, {}) if home in _SHARED else {}
    found = shared.get(name)
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}


def _nullable(schema: Any, root: Mapping[str, Any]) -> bool:
    if not isinstance(schema, Mapping):
        return bool(schema)
    shared = {home: root[home] for home in _SHARED if home in root}
    return compile_schema({**shared, **cast("Mapping[str, Any]", schema)}).accepts(None)


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
