"""Writes MiniLM-L6 encoders as small ONNX files, straight from their weights (no tracing, no torch).

Weights are stored as 8-bit integers with a scale per output channel, or, where small differences were learned
that this would round away, one for every 32 inputs; the word table with a scale per row. Activations are
quantised as they come, one scale for all rows of a call: callers pass one text a call, so that a result never
depends on what else was asked for. There is no padding, hence no attention mask.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from onnx import ModelProto, NodeProto, TensorProto, checker, helper, numpy_helper

Array = npt.NDArray[np.float32]
HEADS = 12
LAYERS = 6
HIDDEN = 384
INTERMEDIATE = 1536
EPSILON = 1e-12
BLOCK = 32
MICROSOFT = "com.microsoft"


class Graph:
    """Collects nodes and initialisers; every method returns the name of the tensor that it makes."""

    def __init__(self, *, fine: bool = False) -> None:
        """`fine`: a scale for every block of a row instead of one for all of it."""
        self.linear = self._fine_linear if fine else self._coarse_linear
        self.nodes: list[NodeProto] = []
        self.weights: list[TensorProto] = []

    def constant(self, name: str, value: npt.NDArray[np.generic]) -> str:
        self.weights.append(numpy_helper.from_array(value, name))
        return name

    def node(self, kind: str, inputs: list[str], *, domain: str = "", **attributes: object) -> str:
        output = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [output], domain=domain, **attributes))
        return output

    def _coarse_linear(self, name: str, x: str, weight: Array, bias: Array) -> str:
        """x @ weight.T + bias in integers; weight is (outputs, inputs) as torch keeps it.

        Weights stay within 7 bits: processors without VNNI add pairs of products in 16 bits.
        """
        scale = np.maximum(np.abs(weight).max(axis=1), 1e-12) / 63
        return self.node(
            "DynamicQuantizeMatMul",
            [
                x,
                self.constant(f"{name}.weight", np.rint(weight / scale[:, None]).astype(np.int8).T.copy()),
                self.constant(f"{name}.scale", scale.astype(np.float32)),
                "",
                self.constant(f"{name}.bias", bias),
            ],
            domain=MICROSOFT,
        )

    def _fine_linear(self, name: str, x: str, weight: Array, bias: Array) -> str:
        """The same with 8 bits around 128 and a scale for every block of inputs."""
        outputs, inputs = weight.shape
        blocks = weight.reshape(outputs, inputs // BLOCK, BLOCK)
        scale = np.maximum(np.abs(blocks).max(axis=2), 1e-12) / 127
        whole = (np.rint(blocks / scale[:, :, None]) + 128).clip(0, 255).astype(np.uint8)
        product = self.node(
            "MatMulNBits",
            [
                x,
                self.constant(f"{name}.weight", whole),
                self.constant(f"{name}.scale", scale.astype(np.float32).reshape(-1)),
            ],
            domain=MICROSOFT,
            K=inputs,
            N=outputs,
            bits=8,
            block_size=BLOCK,
            accuracy_level=4,
        )
        return self.node("Add", [product, self.constant(f"{name}.bias", bias)])

    def add_and_normalise(self, name: str, x: str, skip: str, weights: Mapping[str, Array]) -> str:
        gamma = self.constant(f"{name}.gamma", weights[f"{name}.weight"])
        beta = self.constant(f"{name}.beta", weights[f"{name}.bias"])
        return self.node("SkipLayerNormalization", [x, skip, gamma, beta], domain=MICROSOFT, epsilon=EPSILON)

    def embed(self, weights: Mapping[str, Array]) -> str:
        """Word, position and type tables summed and normalised."""
        words = weights["embeddings.word_embeddings.weight"]
        scale = np.abs(words).max(axis=1, keepdims=True) / 127
        table = self.constant("words", np.rint(words / scale).astype(np.int8))
        rows = self.node("Cast", [self.node("Gather", [table, "ids"])], to=TensorProto.FLOAT)
        scales = self.node("Gather", [self.constant("words.scale", scale.astype(np.float32)), "ids"])
        word = self.node("Mul", [rows, scales])
        types = self.constant("types", weights["embeddings.token_type_embeddings.weight"])
        kind = self.node("Gather", [types, "segments"])
        table = self.constant("positions", weights["embeddings.position_embeddings.weight"])
        zero, one = (self.constant(f"i{n}", np.array([n], np.int64)) for n in (0, 1))
        length = self.node("Slice", [self.node("Shape", ["ids"]), one, self.constant("i2", np.array([2]))])
        position = self.node("Slice", [table, zero, length, zero])
        total = self.node("Add", [word, self.node("Add", [kind, position])])
        gamma = self.constant("embeddings.gamma", weights["embeddings.LayerNorm.weight"])
        beta = self.constant("embeddings.beta", weights["embeddings.LayerNorm.bias"])
        return self.node("LayerNormalization", [total, gamma, beta], axis=-1, epsilon=EPSILON)

    def layer(self, index: int, x: str, weights: Mapping[str, Array]) -> str:
        name = f"encoder.layer.{index}"

        def linear(part: str, value: str) -> str:
            path = f"{name}.{part}"
            return self.linear(path, value, weights[f"{path}.weight"], weights[f"{path}.bias"])

        projected = [linear(f"attention.self.{part}", x) for part in ("query", "key", "value")]
        attended = self.node("MultiHeadAttention", projected, domain=MICROSOFT, num_heads=HEADS)
        x = self.add_and_normalise(
            f"{name}.attention.output.LayerNorm", linear("attention.output.dense", attended), x, weights
        )
        inner = self.node("Gelu", [linear("intermediate.dense", x)], domain=MICROSOFT)
        return self.add_and_normalise(f"{name}.output.LayerNorm", linear("output.dense", inner), x, weights)

    def encode(self, weights: Mapping[str, Array]) -> str:
        x = self.embed(weights)
        for index in range(LAYERS):
            x = self.layer(index, x, weights)
        return x

    def finish(self, result: str, *, shape: list[str | int], note: str) -> ModelProto:
        self.nodes.append(helper.make_node("Identity", [result], ["result"]))
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
            for name in ("ids", "segments")
        ]
        output = helper.make_tensor_value_info("result", TensorProto.FLOAT, shape)
        graph = helper.make_graph(self.nodes, "minilm", inputs, [output], self.weights)
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=9, doc_string=note)
        checker.check_model(model)
        return model


def sentence_embedder(weights: Mapping[str, Array], *, note: str, fine: bool = False) -> ModelProto:
    """Mean over the tokens, scaled to length one."""
    graph = Graph(fine=fine)
    mean = graph.node(
        "ReduceMean", [graph.encode(weights), graph.constant("axis", np.array([1]))], keepdims=0
    )
    axis = graph.constant("last", np.array([-1]))
    length = graph.node("ReduceL2", [mean, axis], keepdims=1)
    return graph.finish(graph.node("Div", [mean, length]), shape=["batch", HIDDEN], note=note)


def cross_encoder(weights: Mapping[str, Array], *, note: str) -> ModelProto:
    """One relevance logit for a (query, passage) pair, read off the first token."""
    graph = Graph()
    zero = graph.constant("first", np.array(0))
    first = graph.node("Gather", [graph.encode(weights), zero], axis=1)
    pooled = graph.node(
        "Tanh",
        [graph.linear("pooler.dense", first, weights["pooler.dense.weight"], weights["pooler.dense.bias"])],
    )
    head = graph.constant("head.weight", weights["classifier.weight"].T.copy())
    logit = graph.node(
        "Add", [graph.node("MatMul", [pooled, head]), graph.constant("head.bias", weights["classifier.bias"])]
    )
    return graph.finish(logit, shape=["batch", 1], note=note)
