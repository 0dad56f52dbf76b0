"""A tool's parameters as the planner reads them: what kind of value each one wants."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

from steward.models.planner.words import split_name, stems

_IDENTIFIERS = frozenset({"id", "ids", "uuid", "identifier", "key", "ref", "handle"})
_DATES = frozenset({"date", "datetime", "deadline", "due", "when", "day", "until", "since", "timestamp"})
_MAX_DEPTH = 8


class ParameterKind(StrEnum):
    TEXT = "text"
    CHOICE = "choice"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"
    IDENTIFIER = "identifier"
    LIST = "list"
    OBJECT = "object"


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    kind: ParameterKind
    schema: Mapping[str, Any]
    required: bool

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(split_name(self.name))

    @property
    def label(self) -> str:
        return " ".join(self.words) or self.name

    @property
    def choices(self) -> tuple[Any, ...]:
        return tuple(self.schema.get("enum", ()))

    @property
    def described(self) -> str:
        return str(self.schema.get("description") or "")

    @property
    def noun(self) -> tuple[str, ...]:
        """What an identifier identifies: the stems of its name without 'id'."""
        return stems(" ".join(word for word in self.words if word not in _IDENTIFIERS))


def parameters_of(schema: Mapping[str, Any]) -> tuple[Parameter, ...]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return ()
    required = cast("Sequence[str]", schema.get("required", ()))
    found: list[Parameter] = []
    for name, inner in cast("Mapping[str, Any]", properties).items():
        plain = resolve(inner, schema)
        found.append(Parameter(name, _kind(name, plain), plain, name in required and "default" not in plain))
    return tuple(found)


def resolve(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema that counts: references followed, 'or null' and one-of-several reduced to the first."""
    merged: dict[str, Any] = {}
    current = schema
    for _ in range(_MAX_DEPTH):
        if not isinstance(current, Mapping):
            break
        given = cast("Mapping[str, Any]", current)
        merged = {**given, **merged}
        following = _reference(given, root) or _variant(given)
        if following is None:
            break
        current = following
    if "const" in merged and "enum" not in merged:
        merged["enum"] = [merged["const"]]
    return merged


def _reference(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    found: Any = root
    for part in reference[2:].split("/"):
        found = cast("Mapping[str, Any]", found).get(part) if isinstance(found, Mapping) else None
    return found


def _variant(schema: Mapping[str, Any]) -> Any:
    for key in ("anyOf", "oneOf", "allOf"):
        variants = schema.get(key)
        if isinstance(variants, list):
            for variant in cast("list[Any]", variants):
                if isinstance(variant, Mapping) and cast("Mapping[str, Any]", variant).get("type") != "null":
                    return cast("Any", variant)
    return None


def type_of(schema: Mapping[str, Any]) -> str:
    declared = schema.get("type")
    if isinstance(declared, list):
        return next((str(each) for each in cast("list[Any]", declared) if each != "null"), "string")
    return str(declared or ("object" if "properties" in schema else "string"))


def _kind(name: str, schema: Mapping[str, Any]) -> ParameterKind:
    declared = type_of(schema)
    words = split_name(name)
    if schema.get("enum"):
        return ParameterKind.CHOICE
    plain = {
        "boolean": ParameterKind.BOOLEAN,
        "object": ParameterKind.OBJECT,
        "array": ParameterKind.LIST,
    }.get(declared)
    if plain is not None:
        return plain
    if (words and words[-1] in _IDENTIFIERS) or schema.get("format") == "uuid":
        return ParameterKind.IDENTIFIER
    if declared in ("integer", "number"):
        return ParameterKind.NUMBER
    if schema.get("format") in ("date", "date-time") or (
        _DATES.intersection(words) and "format" not in schema
    ):
        return ParameterKind.DATE
    return ParameterKind.TEXT
