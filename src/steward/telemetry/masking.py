"""The one place that hides secrets in whatever is about to be written or sent.

Owns what counts as a secret: by the name it stands under, by its shape, by being a known value.
Pure, bounded and never raising: it stands in the way of every log line and span. Does not own where
values go, nor which of them are worth recording.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Any, cast
from urllib.parse import quote, urlsplit
from uuid import UUID

import orjson

from steward.telemetry.shapes import (
    LONGEST_LABEL,
    MASK,
    is_secret_name,
    markers_in,
    names_a_secret,
    shapes_for,
)
from steward.telemetry.tokens import hide_tokens, holds_token

MAX_DEPTH = 32
SHORTEST_SECRET = 6  # shorter registered values would mask ordinary words
WINDOW = 4096  # text looked at where the answer is cut anyway: a secret cut in half must still be known
MAX_NODES = 400

_PACKING = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_SUBCLASS

_CLIPPED = "…"


class Masker:
    """Hides secrets. One per process is enough: a known secret is known everywhere (`MASKER`)."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._known: tuple[str, ...] = ()
        self.register(secrets)

    def register(self, secrets: Iterable[str]) -> None:
        """Hide these values from now on, also where they stand percent-encoded or inside JSON."""
        known = set(self._known)
        for secret in [part for given in secrets for part in (given, _password_of(given))]:
            if len(secret) >= SHORTEST_SECRET:
                known |= {secret, quote(secret, safe=""), pack(secret).decode()[1:-1]}
        self._known = tuple(sorted(known, key=len, reverse=True))

    def text(self, text: str) -> str:
        """The text with every secret in it replaced."""
        for secret in self._known:
            if secret in text:
                text = text.replace(secret, MASK)
        if len(text) < SHORTEST_SECRET:
            return text
        text = hide_tokens(text, MASK)
        lowered = _lowered(text)
        markers = markers_in(lowered)
        if markers:
            for shape in shapes_for(markers):
                replaced = shape.replace(text, lowered)
                if replaced is not text:
                    text, lowered = replaced, _lowered(replaced)
        return text

    def value(self, value: Any) -> Any:
        """A copy made of JSON values, secrets replaced. What is not JSON becomes its type's name."""
        return self._walk(value, 0)

    def dumps(self, value: Any) -> bytes:
        """Masked JSON. A value without anything suspicious costs one serialisation and one scan."""
        try:
            packed = pack(value)
        except (TypeError, ValueError, RecursionError):  # huge integers, lone surrogates, cycles
            return pack(self._walk(value, 0))
        return pack(self._walk(value, 0)) if self.suspicious(packed) else packed

    def masked_json(self, packed: bytes) -> bytes:
        """The same for a value that was serialised before it was masked."""
        return pack(self._walk(orjson.loads(packed), 0)) if self.suspicious(packed) else packed

    def clip(self, value: Any, limit: int) -> str:
        """At most `limit` bytes of masked JSON (of the bare text for a string); work is bounded too."""
        if isinstance(value, str):
            shown = self.text(value[:WINDOW]).encode(errors="replace")
        else:
            shown = self.dumps(_pruned(value, [MAX_NODES], 0))
        if len(shown) <= limit and (not isinstance(value, str) or len(value) <= WINDOW):
            return shown.decode()
        return shown[: limit - len(_CLIPPED.encode())].decode(errors="ignore") + _CLIPPED

    def suspicious(self, packed: bytes) -> bool:
        """Whether a walk could find anything. Never a wrong no; a wrong yes costs that walk."""
        text = packed.decode()
        if any(secret in text for secret in self._known) or holds_token(text):
            return True
        lowered = _lowered(text)
        markers = markers_in(lowered)
        if not markers:
            return False
        if "\\" in text:  # inside an escaped string the shapes look different
            return True
        return names_a_secret(text, lowered) or any(
            shape.found(text, lowered) for shape in shapes_for(markers)
        )

    def _walk(self, value: Any, depth: int) -> Any:
        match value:
            case str():
                return self.text(_sound(value))
            case _ if depth >= MAX_DEPTH:
                return _CLIPPED
            case Mapping():
                return self._mapping(cast("Mapping[Any, Any]", value), depth + 1)
            case list() | tuple() | set() | frozenset():
                return self._sequence(list(cast("Iterable[Any]", value)), depth + 1)
            case _:
                return _plain(value)

    def _mapping(self, mapping: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        masked: dict[str, Any] = {}
        for key, value in mapping.items():
            name = _sound(key if type(key) is str else str(_plain(key)))
            masked[self.text(name)] = (
                _hidden(name, value) if is_secret_name(name) else self._walk(value, depth)
            )
        # {"name": "Authorization", "value": ...}: how headers and variables travel in lists
        label = mapping.get("name", mapping.get("key"))
        if "value" in masked and _labels_a_secret(label):
            masked["value"] = _hidden(label, mapping["value"])
        return masked

    def _sequence(self, items: list[Any], depth: int) -> list[Any]:
        masked: list[Any] = []
        follows = False  # the item before was a name: ("Authorization", ...) or --password ...
        for item in items:
            masked.append(_hidden("", item) if follows else self._walk(item, depth))
            first_of_two = len(items) == 2 and len(masked) == 1
            follows = _labels_a_secret(item) and (first_of_two or item.startswith("-")) and "=" not in item
        return masked


def _password_of(address: str) -> str:
    """The secret part of an address, which may show up without the rest of it."""
    with suppress(ValueError):
        return urlsplit(address).password or ""
    return ""


def _labels_a_secret(label: Any) -> bool:
    return isinstance(label, str) and len(label) <= LONGEST_LABEL and is_secret_name(label)


def _hidden(name: str, value: Any) -> Any:
    """What stands under a secret's name. Nothing to hide in nothing; counted tokens are a number."""
    if value is None or isinstance(value, bool) or value == "":
        return value
    if isinstance(value, int | float) and name.lower().endswith("tokens"):
        return value
    return MASK


def _plain(value: Any) -> Any:
    match value:
        case Enum():
            return _plain(value.value)
        case datetime() | date() | time() | UUID() | Decimal():
            return str(value) if isinstance(value, UUID | Decimal) else value.isoformat()
        case str():
            return str.__str__(value)
        case int() if not -(2**63) <= value < 2**64:
            return hex(value)[:WINDOW]  # JSON readers lose such numbers, and str() of a huge one may refuse
        case None | bool() | int() | float():
            return value
        case _:
            return f"<{type(value).__name__}>"


def _default(value: Any) -> Any:
    match value:
        case Mapping():
            return dict(cast("Mapping[Any, Any]", value))
        case set() | frozenset() | tuple() | list():
            return list(cast("Iterable[Any]", value))
        case _:
            return _plain(value)


def pack(value: Any) -> bytes:
    """JSON as it is, secrets included; `MASKER.masked_json` hides them later."""
    return orjson.dumps(value, default=_default, option=_PACKING)


def _lowered(text: str) -> str:
    """Lower case with every character at its old place."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := character.lower()) == 1 else character for character in text)


def _sound(text: str) -> str:
    """Text that can be written as UTF-8."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def _pruned(value: Any, left: list[int], depth: int) -> Any:
    """Enough of a value to show its beginning, without touching the rest of a huge one."""
    left[0] -= 1
    match value:
        case str():
            return value[:WINDOW]
        case _ if depth >= MAX_DEPTH:
            return _CLIPPED
        case Mapping():
            kept: dict[Any, Any] = {}
            for key, item in cast("Mapping[Any, Any]", value).items():
                if left[0] <= 0:
                    break
                kept[key] = _pruned(item, left, depth + 1)
            return kept
        case list() | tuple():
            items: list[Any] = []
            for item in cast("Sequence[Any]", value):
                if left[0] <= 0:
                    break
                items.append(_pruned(item, left, depth + 1))
            return items
        case _:
            return value


MASKER = Masker()
"""The process's own masker: `MASKER.register(...)` makes a secret known to every log and span."""
