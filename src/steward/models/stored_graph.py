"""An ONNX file as nodes and tensors, read without onnxruntime. Owns as much of its format as we use."""

import math
import struct
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steward.models.tables import GRAPH, INITIALISER, SHARED, Field, fields, number

_NODE = 1
_TYPES = {1: np.float32, 2: np.uint8, 3: np.int8, 7: np.int64}


@dataclass(frozen=True, slots=True)
class StoredNode:
    kind: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StoredGraph:
    nodes: tuple[StoredNode, ...]
    tensors: Mapping[str, NDArray[Any]]


def stored_graph(own: bytes, tables: bytes) -> StoredGraph:
    """The graph in `own`, with the word and position tables of `tables`."""
    inner = list(_parts(own))
    nodes = tuple(_node(own, part) for part in inner if part.number == _NODE)
    tensors = dict(_tensors(own, inner, without=SHARED))
    shared = dict(_tensors(tables, _parts(tables), only=SHARED))
    return StoredGraph(nodes, tensors | shared)


def _parts(model: bytes) -> Iterator[Field]:
    for part in fields(model, 0, len(model)):
        if part.number == GRAPH:
            yield from fields(model, part.value, part.end)


def _tensors(
    model: bytes,
    parts: Collection[Field] | Iterator[Field],
    *,
    only: Collection[str] | None = None,
    without: Collection[str] = (),
) -> Iterator[tuple[str, NDArray[Any]]]:
    for part in parts:
        if part.number != INITIALISER:
            continue
        name, value = _tensor(model, part)
        if name not in without and (only is None or name in only):
            yield name, value


def _tensor(model: bytes, part: Field) -> tuple[str, NDArray[Any]]:
    """The content is a view of the file: what nobody looks at takes no memory of its own."""
    shape: list[int] = []
    name, kind, place = "", 0, (0, 0)
    for each in fields(model, part.value, part.end):
        match each.number:
            case 1:
                shape.append(_whole(model, each))
            case 2:
                kind = _whole(model, each)
            case 8:
                name = _text(model, each)
            case 9:
                place = (each.value, math.prod(shape))
            case _:
                pass
    at, count = place
    return name, np.frombuffer(model, _TYPES[kind], count, at).reshape(shape)


def _node(model: bytes, part: Field) -> StoredNode:
    parts = list(fields(model, part.value, part.end))
    return StoredNode(
        kind=next(_text(model, each) for each in parts if each.number == 4),
        inputs=tuple(_text(model, each) for each in parts if each.number == 1),
        outputs=tuple(_text(model, each) for each in parts if each.number == 2),
        attributes=dict(_attribute(model, each) for each in parts if each.number == 5),
    )


def _attribute(model: bytes, part: Field) -> tuple[str, Any]:
    name, value = "", None
    many: list[int] = []
    for each in fields(model, part.value, part.end):
        match each.number:
            case 1:
                name = _text(model, each)
            case 2:
                value = struct.unpack("<f", model[each.value : each.end])[0]
            case 3:
                value = _whole(model, each)
            case 8:
                many.append(_whole(model, each))
            case _:
                pass
    return name, tuple(many) if many else value


def _text(model: bytes, part: Field) -> str:
    return model[part.value : part.end].decode()


def _whole(model: bytes, part: Field) -> int:
    value = number(model, part.value)[0]
    return value - 2**64 if value >= 2**63 else value
