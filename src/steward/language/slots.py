"""The slots of a tool: what its schema asks for, laid flat, each with the kind of value it takes.

Owns how a JSON Schema is read for a request. Objects are laid out field by field; nothing else knows of
nesting.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

Schema = Mapping[str, Any]
DEEPEST = 3  # objects inside objects that are still laid out
MOST = 24  # slots that are read of one tool
_SEAMS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_.\-\t/]+")


class SlotKind(StrEnum):
    TEXT = "text"
    INTEGER = "int"
    NUMBER = "num"
    BOOLEAN = "bool"
    CHOICE = "enum"
    LIST = "list"
    OBJECT = "obj"


_BY_TYPE = {
    "string": SlotKind.TEXT,
    "integer": SlotKind.INTEGER,
    "number": SlotKind.NUMBER,
    "boolean": SlotKind.BOOLEAN,
    "array": SlotKind.LIST,
    "object": SlotKind.OBJECT,
}


@dataclass(frozen=True, slots=True)
class Slot:
    """One value that a tool takes."""

    path: tuple[str, ...]
    kind: SlotKind
    schema: Schema
    required: bool
    item: SlotKind | None = None  # of a list

    @property
    def name(self) -> str:
        return ".".join(self.path)

    @property
    def described(self) -> str:
        return str(self.schema.get("description") or "")

    @property
    def choices(self) -> tuple[Any, ...]:
        """What the schema allows, where it names the values one by one."""
        if self.kind is SlotKind.BOOLEAN:
            return (True, False)
        source = self.schema if self.kind is SlotKind.CHOICE else plain(self.schema.get("items"))
        return tuple(each for each in _sequence(source.get("enum")) if each is not None)


def words_of(name: str) -> str:
    """A name as words: `createEvent`, `create_event` and `create-event` alike."""
    return " ".join(_SEAMS.sub(" ", name).split())


def plain(schema: object, root: Schema | None = None) -> Schema:
    """A schema without `$ref`, and without the null of an optional value."""
    found: dict[str, Any] = dict(cast("Schema", schema)) if isinstance(schema, Mapping) else {}
    reference = found.get("$ref")
    if isinstance(reference, str) and root is not None and reference.startswith("#/"):
        target: Any = root
        for part in reference[2:].split("/"):
            target = cast("Schema", target).get(part) if isinstance(target, Mapping) else None
        return {**plain(target), **{key: value for key, value in found.items() if key != "$ref"}}
    for union in ("anyOf", "oneOf", "allOf"):
        members = [plain(each, root) for each in _sequence(found.get(union))]
        real = [each for each in members if each.get("type") != "null"]
        if real:
            rest = {key: value for key, value in found.items() if key != union}
            return {**_widest(real), **rest}
    return found


def _widest(members: Sequence[Schema]) -> Schema:
    """Of several ways to say a value, the one that a person's words fill most easily."""
    order = ("string", "number", "integer", "boolean", "array", "object")

    def rank(member: Schema) -> int:
        kind = member.get("type")
        return order.index(kind) if kind in order else len(order)

    return min(members, key=rank)


def kind_of(schema: Schema) -> SlotKind:
    stated = schema.get("type")
    names = [each for each in _sequence(stated) if each != "null"] or [stated]
    kind = _BY_TYPE.get(str(names[0]), SlotKind.TEXT)
    if stated is None and isinstance(schema.get("properties"), Mapping):
        kind = SlotKind.OBJECT
    return SlotKind.CHOICE if _sequence(schema.get("enum")) and kind is not SlotKind.LIST else kind


def slots_of(schema: Schema) -> tuple[Slot, ...]:
    """The slots in the order of the schema, required or not."""
    return tuple(_flat(schema, schema, (), needed=True))[:MOST]


def _flat(schema: Schema, root: Schema, path: tuple[str, ...], *, needed: bool) -> Iterator[Slot]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return
    required = set(map(str, _sequence(schema.get("required"))))
    for name, stated in cast("Mapping[str, object]", properties).items():
        inner = plain(stated, root)
        kind = kind_of(inner)
        here, wanted = (*path, name), needed and name in required
        if kind is SlotKind.OBJECT and inner.get("properties") and len(here) < DEEPEST:
            yield from _flat(inner, root, here, needed=wanted)
        else:
            item = kind_of(plain(inner.get("items"), root)) if kind is SlotKind.LIST else None
            yield Slot(here, kind, inner, wanted, item)


def _sequence(value: object) -> Sequence[Any]:
    return cast("Sequence[Any]", value) if isinstance(value, list | tuple) else ()
