"""What a model gets to see of a result, and where the rest of it waits.

Owns the shape of results in a conversation and trimming them to a model's context. Whole results are
kept for one run, up to a bound; a handle reads on where the trimmed part ended.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, assert_never, cast

import orjson

from steward.contract.call import Done, Failed
from steward.contract.errors import ErrorCode

SHOWN_CHARACTERS = 8_000  # about two thousand tokens
KEPT_CHARACTERS = 4_000_000
READ_RESULT = "read_result"


@dataclass(frozen=True, slots=True)
class ResultBounds:
    shown: int = SHOWN_CHARACTERS
    kept: int = KEPT_CHARACTERS


def as_text(value: Any) -> str:
    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:  # numbers beyond 64 bits and half a character are more than orjson takes
        return json.dumps(value, default=str)


def failure(code: str, error: str, *, retryable: bool = False, data: Any = None) -> dict[str, Any]:
    shape: dict[str, Any] = {"status": "failed", "code": str(code), "error": error, "retryable": retryable}
    return shape if data is None else shape | {"data": data}


class ResultShelf:
    """The whole results of one run."""

    def __init__(self, bounds: ResultBounds | None = None) -> None:
        self._bounds = bounds or ResultBounds()
        self._texts: dict[str, str] = {}
        self._made = 0

    def show(self, result: Done | Failed) -> dict[str, Any]:
        match result:
            case Done():
                return self._trimmed("done", result.data)
            case Failed():
                shape = failure(result.code, result.error, retryable=result.retryable)
                if result.outcome_unknown:
                    shape["outcome_unknown"] = True
                return shape if result.data is None else shape | self._trimmed("failed", result.data)
            case _:
                assert_never(result)

    def read(self, handle: Any, offset: Any) -> dict[str, Any]:
        """The part of a kept result that starts at `offset`, as text."""
        text = self._texts.get(str(handle))
        if text is None:
            return failure(
                ErrorCode.NOT_FOUND, "This result is no longer kept. Call the tool again if it is needed."
            )
        if not isinstance(offset, int) or isinstance(offset, bool) or not 0 <= offset < len(text):
            return failure(ErrorCode.INVALID_ARGUMENTS, f"offset: expected 0 to {len(text) - 1}.")
        end = min(offset + self._bounds.shown, len(text))
        following = {"next_offset": end} if end < len(text) else {}
        return {"status": "done", "data": text[offset:end], "total": len(text)} | following

    def _trimmed(self, status: str, data: Any) -> dict[str, Any]:
        text = as_text(data)
        if len(text) <= self._bounds.shown:
            return {"status": status, "data": data}
        handle = self._keep(text)
        shown = shorten(data, self._bounds.shown)
        note = {"handle": handle, "total_characters": len(text), "rest": f"{READ_RESULT}(handle, offset)"}
        return {"status": status, "data": shown, "trimmed": note}

    def _keep(self, text: str) -> str:
        self._made += 1
        handle = f"result-{self._made}"
        self._texts[handle] = text[: self._bounds.kept]
        while sum(map(len, self._texts.values())) > self._bounds.kept:
            self._texts.pop(next(iter(self._texts)))  # the oldest
        return handle


def shorten(data: Any, limit: int) -> Any:
    """As much of the data as fits, in its own shape where it is a list or holds one, else cut text."""
    match data:
        case str():
            return data[:limit]
        case list():
            return _first_items(cast("list[Any]", data), limit)
        case Mapping():
            return _with_shortest_list(cast("Mapping[str, Any]", data), limit)
        case _:
            return as_text(data)[:limit]


def _first_items(items: list[Any], limit: int) -> Any:
    kept: list[Any] = []
    used = 2
    for item in items:
        used += len(as_text(item)) + 1
        if used > limit:
            break
        kept.append(item)
    return kept or as_text(items)[:limit]


def _with_shortest_list(data: Mapping[str, Any], limit: int) -> Any:
    """An object is usually large because of one member: that one is shortened, the others stay."""
    sizes = {key: len(as_text(value)) for key, value in data.items()}
    largest = max(sizes, key=lambda key: sizes[key], default=None)
    if largest is None:
        return {}
    others = sum(size + len(str(key)) + 4 for key, size in sizes.items()) - sizes[largest]
    room = limit - others
    if room <= 0 or not isinstance(data[largest], str | list):
        return as_text(data)[:limit]
    return {**data, largest: shorten(data[largest], room)}
