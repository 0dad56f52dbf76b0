"""Turns the parts that train.py wrote into reader.onnx.

    python scripts/reader/build.py PARTS TAG src/steward/models/data [--mix GRAPH SHARE]

`--mix`: the mean of these weights and those of an earlier reader.onnx that they went on from. What was
learned last is kept, and less of what was known before is lost.

Eight bits a weight; the word and position tables are left out: those of minilm.onnx take their place when
it is loaded.
"""

import math
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, checker, helper, numpy_helper
from safetensors.numpy import load_file

sys.path.insert(0, str(Path(__file__).parents[1]))
from minilm_graph import MICROSOFT, Array, Graph

NOTE = "MiniLM-L6 that reads a request beside a tool's definition; training data in READER.md"
SHARED = ("words", "words.scale", "positions")
WIDTH = 192
INPUTS = {
    "ids": ["batch", "length"],
    "segments": ["batch", "length"],
    "asked": ["tokens"],
    "slots": ["slots"],
    "choices": ["choices"],
    "choice_slots": ["choices"],
}


class ReaderGraph(Graph):
    def __init__(self, weights: dict[str, Array], *, fine: bool) -> None:
        super().__init__(fine=fine)
        self.taught = weights

    def head(self, name: str, x: str) -> str:
        inner = self.linear(f"{name}.0", x, self.taught[f"{name}.0.weight"], self.taught[f"{name}.0.bias"])
        inner = self.node("Gelu", [inner], domain=MICROSOFT)
        return self.linear(f"{name}.2", inner, self.taught[f"{name}.2.weight"], self.taught[f"{name}.2.bias"])

    def small_head(self, name: str, x: str) -> str:
        """The same where so few numbers come out that eight bits save nothing."""
        inner = self.linear(f"{name}.0", x, self.taught[f"{name}.0.weight"], self.taught[f"{name}.0.bias"])
        inner = self.node("Gelu", [inner], domain=MICROSOFT)
        weight = self.constant(f"{name}.2.weight", self.taught[f"{name}.2.weight"].T.copy())
        bias = self.constant(f"{name}.2.bias", self.taught[f"{name}.2.bias"])
        return self.node("Add", [self.node("MatMul", [inner, weight]), bias])

    def scalar(self, name: str, value: float) -> str:
        return self.constant(name, np.array(value, np.float32))

    def outputs(self, hidden: str) -> dict[str, str]:
        def at(places: str) -> str:
            return self.node("Gather", [hidden, places], axis=1)

        def parted(name: str, x: str, turn: list[int]) -> str:
            three = self.constant(f"{name}.three", np.array([-1, 3, WIDTH]))
            return self.node("Transpose", [self.node("Reshape", [self.head(name, x), three])], perm=turn)

        asked, slots = at("asked"), at("slots")
        product = self.node("MatMul", [parted("slot", slots, [1, 0, 2]), parted("token", asked, [1, 2, 0])])
        scaled = self.node("Mul", [product, self.scalar("by", 1 / math.sqrt(WIDTH))])
        bias = self.constant("span_bias", self.taught["span_bias"].reshape(3, 1, 1))
        pairs = self.node(
            "Mul", [self.head("chooser", at("choice_slots")), self.head("choice", at("choices"))]
        )
        axis = self.constant("last", np.array([-1]))
        summed = self.node("ReduceSum", [pairs, axis], keepdims=0)
        chosen = self.node("Mul", [summed, self.scalar("by.choice", 1 / math.sqrt(WIDTH))])
        first = self.constant("first", np.array([0]))
        return {
            "spans": self.node("Add", [scaled, bias]),
            "there": self.small_head("there", slots),
            "whole": self.small_head("whole", at(first)),
            "chosen": self.node(
                "Add", [chosen, self.scalar("choice_bias", float(self.taught["choice_bias"]))]
            ),
            "calls": self.small_head("call", asked),
        }


def reader_graph(weights: dict[str, Array], *, fine: bool) -> ModelProto:
    body = {name.removeprefix("bert."): value for name, value in weights.items() if name.startswith("bert.")}
    body["embeddings.word_embeddings.weight"] = np.ones((1, 384), np.float32)
    body["embeddings.position_embeddings.weight"] = np.ones((1, 384), np.float32)
    graph = ReaderGraph(weights, fine=fine)
    hidden = graph.encode(body)
    outputs = graph.outputs(hidden) | {"hidden": hidden}
    graph.nodes += [helper.make_node("Identity", [made], [name]) for name, made in outputs.items()]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name, shape in INPUTS.items()]
    shapes = {"spans": 3, "there": 3, "whole": 3, "chosen": 2, "calls": 3, "hidden": 3}
    told = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [None] * size) for name, size in shapes.items()
    ]
    kept = [each for each in graph.weights if each.name not in SHARED]
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)]
    checked = helper.make_graph(graph.nodes, "reader", inputs, told, graph.weights)
    checker.check_model(helper.make_model(checked, opset_imports=opsets, ir_version=9))
    return helper.make_model(
        helper.make_graph(graph.nodes, "reader", inputs, told, kept),
        opset_imports=opsets,
        ir_version=9,
        doc_string=NOTE,
    )


def stored_in(graph: Path) -> dict[str, Array]:
    """The weights of a reader.onnx under the names that train.py gives them."""
    stored = {each.name: numpy_helper.to_array(each) for each in onnx.load(str(graph)).graph.initializer}
    found: dict[str, Array] = {}
    for name, value in stored.items():
        path, _, last = name.rpartition(".")
        if last == "weight":
            found[name] = (value.astype(np.float32) * stored.get(f"{path}.scale", np.float32(1))).T
        elif last in ("bias", "") or name in ("span_bias", "choice_bias"):
            found[name] = value.astype(np.float32)
        elif last in ("gamma", "beta"):
            place = "embeddings.LayerNorm" if path == "embeddings" else path
            found[f"{place}.{'weight' if last == 'gamma' else 'bias'}"] = value
    found["embeddings.token_type_embeddings.weight"] = stored["types"]
    return found


def mixed(weights: dict[str, Array], graph: Path, share: float) -> dict[str, Array]:
    """`share` of these weights, and the rest of the graph's."""
    earlier = stored_in(graph)
    found: dict[str, Array] = {}
    for name, value in weights.items():
        other = earlier.get(name.removeprefix("bert."))
        if other is None:
            raise SystemExit(f"{graph} has no {name}")
        found[name] = share * value + (1 - share) * other.reshape(value.shape)
    return found


def main() -> None:
    parts, tag, target = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    weights: dict[str, Array] = {}
    for path in sorted(parts.glob(f"{tag}-*.safetensors")):
        weights |= {name: value.astype(np.float32) for name, value in load_file(path).items()}
    if "--mix" in sys.argv:
        at = sys.argv.index("--mix")
        weights = mixed(weights, Path(sys.argv[at + 1]), float(sys.argv[at + 2]))
    model = reader_graph(weights, fine="--fine" in sys.argv)
    (target / "reader.onnx").write_bytes(model.SerializeToString())


if __name__ == "__main__":
    main()
