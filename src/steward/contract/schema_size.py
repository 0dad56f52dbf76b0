"""How large a JSON Schema is once its references are written out, and whether one leads back into itself.

A part that refers twice to the next one, and so on, is checked twice as often with every step: forty such
parts keep a validator busy for years. Schemas are other people's. Owns the count; errs towards too much.
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import unquote

NAMES = ("$ref", "$dynamicRef", "$recursiveRef")
REFERRING = tuple(f'"{name}"'.encode() for name in NAMES)  # as they stand in the schema's JSON
UNKNOWN = 10_000  # parts, for a reference by a name: where it leads is not worked out here


@dataclass(frozen=True, slots=True)
class WrittenOut:
    parts: int = 0
    circular: bool = False


WRITTEN = WrittenOut()  # there is nothing to write out


def refers(name: str, value: Any) -> bool:
    return name in NAMES and isinstance(value, str)


def written_out(schema: Mapping[str, Any]) -> WrittenOut:
    count = _Count(schema)
    try:
        return WrittenOut(count.of(schema), count.circular)
    except RecursionError:
        return WrittenOut(sys.maxsize, circular=True)


class _Count:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        # An address within moves the place from which others are counted: then none is followed.
        names = ("$id", "id") if "draft-0" in str(root.get("$schema")) else ("$id",)
        self._moved = any(isinstance(each.get(name), str) for each in _parts_below(root) for name in names)
        self._sizes: dict[int, int] = {}
        self._open: set[int] = set()
        self.circular = False

    def of(self, part: Any) -> int:
        if isinstance(part, list):
            return sum(map(self.of, cast("list[Any]", part)))
        if not isinstance(part, Mapping):
            return 0
        if id(cast("object", part)) in self._open:
            self.circular = True
            return 1
        known = self._sizes.get(id(cast("object", part)))
        return self._counted(cast("Mapping[str, Any]", part)) if known is None else known

    def _counted(self, part: Mapping[str, Any]) -> int:
        self._open.add(id(part))
        size = 1 + sum(
            self._followed(inner) if refers(name, inner) else self.of(inner) for name, inner in part.items()
        )
        self._open.remove(id(part))
        self._sizes[id(part)] = size
        return size

    def _followed(self, reference: str) -> int:
        target = None if self._moved else _pointed(self._root, reference)
        if target is None:
            self.circular = True  # as far as can be told
            return UNKNOWN
        return self.of(target)


def _parts_below(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    stack: list[Any] = list(schema.values())
    while stack:
        part = stack.pop()
        if isinstance(part, Mapping):
            yield cast("Mapping[str, Any]", part)
            stack.extend(cast("Mapping[str, Any]", part).values())
        elif isinstance(part, list):
            stack.extend(cast("list[Any]", part))


def _pointed(root: Mapping[str, Any], reference: str) -> Any:
    """The part of this document that a pointer names; None for every other reference."""
    if reference != "#" and not reference.startswith("#/"):
        return None
    found: Any = root
    steps = unquote(reference[2:]).split("/") if len(reference) > 1 else []
    for step in (each.replace("~1", "/").replace("~0", "~") for each in steps):
        if isinstance(found, list) and step.isdecimal() and int(step) < len(cast("list[Any]", found)):
            found = cast("list[Any]", found)[int(step)]
        elif isinstance(found, Mapping) and step in found:
            found = cast("Mapping[str, Any]", found)[step]
        else:
            return None
    return found
