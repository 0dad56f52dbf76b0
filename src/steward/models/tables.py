"""Tables that graphs have in common: left in the one file that has them, which the run time maps.

ONNX files are protocol buffers, and those merge what is appended. A graph that is stored without its word and
position tables, 13 of 25 MB, is completed with those of the graph it was taught from. Where they lie is said
instead of what they hold: a mapped file is in memory once and only as far as it is read. Knows only as much
of the format as that takes.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

SHARED = frozenset({"words", "words.scale", "positions"})
GRAPH = 7  # fields of ModelProto, GraphProto and TensorProto
INITIALISER = 5
_NAME, _CONTENT, _ELSEWHERE, _IS_ELSEWHERE = 8, 9, 13, b"\x70\x01"
_PLAIN, _SIZED = 0, 2  # wire types: a number, and what has its size before it
_FIXED = {1: 8, 5: 4}  # bytes of the others


@dataclass(frozen=True, slots=True)
class Field:
    number: int
    begin: int  # of the field, its tag included
    value: int  # where what it holds begins
    end: int


def without_tables(model: bytes, names: Collection[str] = SHARED) -> bytes:
    """The model less these tensors."""
    kept: list[bytes] = []
    for part in fields(model, 0, len(model)):
        if part.number != GRAPH:
            kept.append(model[part.begin : part.end])
            continue
        inner = fields(model, part.value, part.end)
        graph = b"".join(
            model[each.begin : each.end]
            for each in inner
            if each.number != INITIALISER or _name(model, each) not in names
        )
        kept.append(_field(GRAPH, graph))
    return b"".join(kept)


def tables_of(source: bytes, file: str, names: Collection[str] = SHARED) -> bytes:
    """These tensors of `source`, to be appended to a model that lacks them: `file` is where they are read."""
    tensors = [
        tensor
        for part in fields(source, 0, len(source))
        if part.number == GRAPH
        for tensor in fields(source, part.value, part.end)
        if tensor.number == INITIALISER and _name(source, tensor) in names
    ]
    return _field(GRAPH, b"".join(_field(INITIALISER, _elsewhere(source, each, file)) for each in tensors))


def _elsewhere(source: bytes, tensor: Field, file: str) -> bytes:
    """A tensor that says where its content lies."""
    parts = list(fields(source, tensor.value, tensor.end))
    content = next(part for part in parts if part.number == _CONTENT)
    said = b"".join(source[part.begin : part.end] for part in parts if part.number != _CONTENT)
    place = {"location": file, "offset": content.value, "length": content.end - content.value}
    for key, value in place.items():
        said += _field(_ELSEWHERE, _field(1, key.encode()) + _field(2, str(value).encode()))
    return said + _IS_ELSEWHERE


def _name(model: bytes, tensor: Field) -> str:
    parts = fields(model, tensor.value, tensor.end)
    return next((model[part.value : part.end].decode() for part in parts if part.number == _NAME), "")


def fields(data: bytes, at: int, end: int) -> Iterator[Field]:
    while at < end:
        begin = at
        tag, at = number(data, at)
        kind = tag & 7
        size = 0
        if kind == _SIZED:
            size, at = number(data, at)
        value = at
        at = number(data, at)[1] if kind == _PLAIN else at + _FIXED.get(kind, size)
        yield Field(tag >> 3, begin, value, at)


def number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def _field(number: int, content: bytes) -> bytes:
    return _as_number(number << 3 | _SIZED) + _as_number(len(content)) + content


def _as_number(value: int) -> bytes:
    written = bytearray()
    while value >= 0x80:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)
