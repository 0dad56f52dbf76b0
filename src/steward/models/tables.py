"""Tables that graphs have in common: kept in one file, and given to the other when it is loaded.

ONNX files are protocol buffers, and those merge what is appended. A graph that is stored without its word and
position tables, 13 of 25 MB, is completed with those of the graph it was taught from. Knows only as much of
the format as that takes.
"""

from collections.abc import Iterator, Sequence

SHARED = ("words", "words.scale", "positions")
_GRAPH = 7  # fields of ModelProto, GraphProto and TensorProto
_INITIALISER = 5
_NAME = 8
_PLAIN, _SIZED = 0, 2  # wire types: a number, and what has its size before it
_FIXED = {1: 8, 5: 4}  # bytes of the others


def with_tables(graph: bytes, source: bytes, names: Sequence[str] = SHARED) -> bytes:
    """`graph` with these tensors of `source`."""
    tensors = [tensor for tensor in _initialisers(memoryview(source)) if _name(tensor) in names]
    added = b"".join(_field(_INITIALISER, bytes(tensor)) for tensor in tensors)
    return graph + _field(_GRAPH, added)


def _initialisers(model: memoryview) -> Iterator[memoryview]:
    for number, graph in _fields(model):
        if number == _GRAPH:
            yield from (tensor for inner, tensor in _fields(graph) if inner == _INITIALISER)


def _name(tensor: memoryview) -> str:
    return next((bytes(value).decode() for number, value in _fields(tensor) if number == _NAME), "")


def _fields(data: memoryview) -> Iterator[tuple[int, memoryview]]:
    """The fields that have a size: messages, texts and raw data."""
    at = 0
    while at < len(data):
        tag, at = _number(data, at)
        kind = tag & 7
        if kind == _PLAIN:
            _, at = _number(data, at)
        elif kind == _SIZED:
            size, at = _number(data, at)
            yield tag >> 3, data[at : at + size]
            at += size
        else:
            at += _FIXED[kind]


def _number(data: memoryview, at: int) -> tuple[int, int]:
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
