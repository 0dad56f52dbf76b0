"""Runs the MiniLM graphs with numpy, where onnxruntime is not installed.

Owns the few kinds of nodes that these graphs are made of (scripts/minilm_graph.py), and rounds as onnxruntime
does, so that both give the same answers but for the last digits.
"""

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steward.models.stored_graph import StoredGraph

Array = NDArray[Any]
Floats = NDArray[np.float32]
Attributes = Mapping[str, Any]
Kind = Callable[..., Array]
_PRODUCT = "DynamicQuantizeMatMul"


class PlainSession:
    """What is used of an `onnxruntime.InferenceSession`."""

    def __init__(self, graph: StoredGraph) -> None:
        # OpenBLAS ends its threads when a program forks, and a product that they work on then never ends.
        # Texts run side by side in threads of ours instead, one product in each.
        threads: Any = importlib.import_module("threadpoolctl")  # has no types
        threads.threadpool_limits(limits=1, user_api="blas")
        self._nodes = graph.nodes
        self._tensors = dict(graph.tensors)
        # The matrices are read as floats for good; all else stays as the file has it.
        factors = {node.inputs[1] for node in graph.nodes if node.kind == _PRODUCT}
        self._tensors |= {name: self._tensors[name].astype(np.float32) for name in factors}
        self._made_by = {node.outputs[0]: node for node in graph.nodes}

    def run(self, wanted: Sequence[str], feed: Mapping[str, Array]) -> list[Array]:
        values: dict[str, Any] = {"": None, **self._tensors, **feed}
        needed = self._needed(wanted)
        for node in self._nodes:
            (name,) = node.outputs
            if name in needed:
                values[name] = KINDS[node.kind](node.attributes, *(values[each] for each in node.inputs))
        return [values[name] for name in wanted]

    def _needed(self, wanted: Sequence[str]) -> set[str]:
        """These outputs, and what they are made from."""
        found: set[str] = set()
        left = list(wanted)
        while left:
            node = self._made_by.get(name := left.pop())
            if node is not None and name not in found:
                found.add(name)
                left += node.inputs
        return found


def _product(_: Attributes, x: Floats, weight: Floats, scale: Floats, zero: None, bias: Floats) -> Floats:
    """x @ weight + bias in whole numbers, which floats hold as they are; one scale for all of x."""
    del zero
    low, high = min(x.min(), np.float32(0)), max(x.max(), np.float32(0))
    step = (high - low) / np.float32(255) or np.float32(1)
    middle = np.rint(-low / step)
    whole = np.clip(np.rint(x / step) + middle, 0, 255) - middle
    rows = whole.reshape(-1, x.shape[-1]) @ weight
    return (rows * (step * scale) + bias).reshape(*x.shape[:-1], weight.shape[1])


def _attention(said: Attributes, *projected: Floats) -> Floats:
    heads = int(said["num_heads"])
    batch, length, width = projected[0].shape
    query, key, value = (each.reshape(batch, length, heads, -1).transpose(0, 2, 1, 3) for each in projected)
    scores = (query * np.float32(1 / math.sqrt(width // heads))) @ key.transpose(0, 1, 3, 2)
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    scores /= scores.sum(axis=-1, keepdims=True)
    return (scores @ value).transpose(0, 2, 1, 3).reshape(batch, length, width)


def _normalised(said: Attributes, x: Floats, gamma: Floats, beta: Floats) -> Floats:
    x = x - x.mean(axis=-1, keepdims=True)
    spread = np.sqrt((x * x).mean(axis=-1, keepdims=True) + np.float32(said["epsilon"]))
    return x / spread * gamma + beta


def _gelu(_: Attributes, x: Floats) -> Floats:
    return x * np.float32(0.5) * (1 + _error_function(x * np.float32(math.sqrt(0.5))))


def _error_function(x: Floats) -> Floats:
    """To seven digits (Abramowitz and Stegun, 7.1.26)."""
    size = np.abs(x)
    t = 1 / (1 + np.float32(0.3275911) * size)
    total = np.float32(1.061405429)
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        total = total * t + np.float32(factor)
    return np.copysign(1 - total * t * np.exp(-size * size), x)


def _added_and_normalised(said: Attributes, x: Floats, skip: Floats, gamma: Floats, beta: Floats) -> Floats:
    return _normalised(said, x + skip, gamma, beta)


def _gather(said: Attributes, x: Array, places: Array) -> Array:
    return np.take(x, places, axis=int(said.get("axis", 0)))


def _slice(_: Attributes, x: Array, first: Array, end: Array, axis: Array | None = None) -> Array:
    at = 0 if axis is None else int(axis[0])
    return x[(slice(None),) * at + (slice(int(first[0]), int(end[0])),)]


def _shape(_: Attributes, x: Array) -> Array:
    return np.array(x.shape)


def _cast(_: Attributes, x: Array) -> Floats:
    return x.astype(np.float32)


def _reshape(_: Attributes, x: Array, shape: Array) -> Array:
    return x.reshape(*map(int, shape))


def _transpose(said: Attributes, x: Array) -> Array:
    return x.transpose(said["perm"])


def _reduced(reduce: Callable[..., Any]) -> Kind:
    def run(said: Attributes, x: Floats, axes: Array) -> Array:
        return reduce(x, axis=tuple(map(int, axes)), keepdims=bool(said.get("keepdims", 1)))

    return run


def _length(x: Floats, **how: Any) -> Any:
    return np.sqrt(np.sum(x * x, **how))


def _plain(function: Callable[..., Any]) -> Kind:
    """A kind that needs nothing but its inputs."""

    def run(_: Attributes, *inputs: Array) -> Array:
        return function(*inputs)

    return run


KINDS: Mapping[str, Kind] = {
    _PRODUCT: _product,
    "MultiHeadAttention": _attention,
    "SkipLayerNormalization": _added_and_normalised,
    "LayerNormalization": _normalised,
    "Gelu": _gelu,
    "Gather": _gather,
    "Slice": _slice,
    "Shape": _shape,
    "Cast": _cast,
    "Reshape": _reshape,
    "Transpose": _transpose,
    "Identity": _plain(np.asarray),
    "Add": _plain(np.add),
    "Mul": _plain(np.multiply),
    "Div": _plain(np.divide),
    "MatMul": _plain(np.matmul),
    "Tanh": _plain(np.tanh),
    "ReduceMean": _reduced(np.mean),
    "ReduceSum": _reduced(np.sum),
    "ReduceL2": _reduced(_length),
}
