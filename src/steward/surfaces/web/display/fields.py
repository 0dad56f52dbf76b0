"""A tool's arguments as a form: what its schema takes as fields, and what was filled in as arguments.

Pure: schemas and forms in, fields and arguments out. What a schema says is somebody else's text.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, cast

from steward.contract.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaField:
    """One argument of a tool as a field of a form."""

    name: str
    kind: str  # text, number, boolean, choice or json
    required: bool
    about: str
    choices: Sequence[str] = ()
    default: str = ""
    value: str = ""  # what stands there, where there is something already
    given: bool = False


def fields_of(
    schema: Mapping[str, Any], filled: Mapping[str, str] = MappingProxyType({})
) -> list[SchemaField]:
    """A form for a tool's arguments; those that are `filled` stand there already."""
    known = cast("Mapping[str, Any]", schema.get("properties") or {})
    required = cast("Sequence[str]", schema.get("required") or ())
    fields = [_field(name, about, name in required) for name, about in known.items()]
    return [replace(field, value=filled.get(field.name, "")) for field in fields]


def _field(name: str, given: Any, required: bool) -> SchemaField:
    about = cast("Mapping[str, Any]", given if isinstance(given, dict) else {})
    kinds = _types(about)
    choices = [str(each) for each in cast("Sequence[Any]", about.get("enum") or ())]
    kind = "json"
    if choices:
        kind = "choice"
    elif "boolean" in kinds:
        kind = "boolean"
    elif kinds & {"integer", "number"} and not kinds & {"string", "object", "array"}:
        kind = "number"
    elif "string" in kinds and not kinds & {"object", "array"}:
        kind = "text"
    default = about.get("default")
    return SchemaField(
        name=name,
        kind=kind,
        required=required,
        about=str(about.get("description") or ""),
        choices=choices,
        default="" if default is None else default if isinstance(default, str) else json.dumps(default),
    )


def _types(about: Mapping[str, Any]) -> set[str]:
    given = about.get("type")
    found = {str(given)} if isinstance(given, str) else {str(each) for each in given or ()}
    for option in cast("Sequence[Any]", about.get("anyOf") or ()):
        found |= _types(cast("Mapping[str, Any]", option)) if isinstance(option, dict) else set[str]()
    return found - {"null"}


def fields_of_call(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[SchemaField]:
    """A call's arguments as a form that is filled in, with what else its tool takes below them."""
    known = {field.name: field for field in fields_of(schema)}
    given = [
        replace(
            known.get(name) or _field(name, {}, False),
            kind=_kind_of(value, known.get(name)),
            value=_written(value),
            given=True,
        )
        for name, value in arguments.items()
    ]
    return [*given, *(field for name, field in known.items() if name not in arguments)]


def _kind_of(value: Any, known: SchemaField | None) -> str:
    """As its schema says where the value is one of those, and otherwise as the value is."""
    if isinstance(value, str):
        return "choice" if known is not None and value in known.choices else "text"
    fits = {"boolean": bool, "number": int | float}.get("" if known is None else known.kind)
    return known.kind if known is not None and fits is not None and isinstance(value, fits) else "json"


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)


def read_arguments(
    fields: Sequence[SchemaField], form: Mapping[str, str], before: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """What a person filled in, as the tool's arguments; fields left empty are left out.

    What stood there `before` and was not touched stays exactly as it was.
    """
    arguments: dict[str, Any] = {}
    for field in fields:
        text = form[f"arg-{field.name}"].replace("\r\n", "\n")
        if field.given and before is not None and _same(field, text, f"arg-{field.name}" in form):
            arguments[field.name] = before[field.name]
        elif text.strip() or (field.given and field.required and field.kind == "text"):
            arguments[field.name] = text if field.kind in ("text", "choice") else _read(field.name, text)
    return arguments


def _same(field: SchemaField, text: str, sent: bool) -> bool:
    return not sent or text == field.value.replace("\r\n", "\n").replace("\r", "\n")


def _read(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise InputError(f"'{name}' is not JSON yet.", fix="A text stands in double quotes.") from None
