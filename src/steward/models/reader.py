"""The taught reader: one pass of an encoder over a request and a tool says what fits and which words fill it.

Implements the port of the room `language`. Weights: data/reader.onnx (scripts/reader/, data/READER.md).
"""

from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from steward.contract.ports import ReadText
from steward.language.filling import Marks
from steward.language.layout import Encoded, Layout, ToolText, lay_out, tool_text
from steward.language.slots import Schema
from steward.models.minilm import CLS, DATA, SEP, MiniLM

KEPT = 4_000  # tools whose layout is remembered
MARKED_BEFORE = 256  # pairs of a request and a tool: whoever looks for gaps asks first, the planner next
GRAPH, TABLES = DATA / "reader.onnx", DATA / "minilm.onnx"
NAME = "reader-1"
DIMENSIONS = 384
MARKED = ("spans", "there", "whole", "chosen", "calls")
_NONE = np.zeros(1, np.int64)


class TaughtReader:
    def __init__(self, model: MiniLM | None = None) -> None:
        self._model = model or MiniLM(GRAPH, tables=TABLES)
        self._tools: OrderedDict[tuple[str, str, bytes], ToolText] = OrderedDict()
        self._marked: OrderedDict[tuple[str, int], tuple[ToolText, Layout, Marks]] = OrderedDict()
        self._lock = Lock()

    @property
    def installed(self) -> bool:
        return self._model.installed

    def encode(self, text: str) -> Encoded:
        return self._model.encode(text)

    def tool(self, name: str, description: str, schema: Schema) -> ToolText:
        key = (name, description, orjson.dumps(schema, default=dict, option=orjson.OPT_NON_STR_KEYS))
        with self._lock:
            known = self._tools.get(key)
        if known is not None:
            return known
        made = tool_text(name, description, schema, self.encode)
        with self._lock:
            self._tools[key] = made
            while len(self._tools) > KEPT:
                self._tools.popitem(last=False)
        return made

    def mark(self, request: str, tools: Sequence[ToolText]) -> list[tuple[Layout, Marks]]:
        """CPU-bound: async callers run it in a thread."""
        with self._lock:
            known = {id(tool): self._marked.get((request, id(tool))) for tool in tools}
        new = [tool for tool in tools if known[id(tool)] is None]
        asked = self.encode(request) if new else None
        layouts = [lay_out(asked, tool) for tool in new] if asked is not None else []
        answers = self._model.run_feeds([_feed(layout) for layout in layouts], MARKED)
        for tool, layout, answer in zip(new, layouts, answers, strict=True):
            known[id(tool)] = (tool, layout, _marks(layout, answer))
        with self._lock:
            for tool in tools:
                if (found := known[id(tool)]) is not None:
                    self._marked[request, id(tool)] = found
            while len(self._marked) > MARKED_BEFORE:
                self._marked.popitem(last=False)
        return [found[1:] for tool in tools if (found := known[id(tool)]) is not None]

    def seen(self, requests: Sequence[str], tool: ToolText) -> NDArray[np.float32]:
        """What it makes of each request beside this tool before it judges, as one row of numbers."""
        feeds = [_feed(lay_out(self.encode(request), tool)) for request in requests]
        return np.stack([hidden[0, 0] for (hidden,) in self._model.run_feeds(feeds, ["hidden"])])


@lru_cache(maxsize=1)
def taught_reader() -> TaughtReader:
    """The one of this program: what it has read for one asker, it need not read for the next."""
    return TaughtReader()


class TextsApart:
    """Implements `TextReader` on the same weights: request and tool are read alone, and compared by pieces.

    That judges hundreds of tools, because a tool is read once; the reader itself looks at the best of them.
    """

    def __init__(self, model: MiniLM | None = None) -> None:
        self._model = model or MiniLM(GRAPH, tables=TABLES)

    @property
    def name(self) -> str:
        return NAME

    @property
    def dimensions(self) -> int:
        return DIMENSIONS

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return (
            np.stack([each.vector for each in self.read(texts)])
            if texts
            else np.empty((0, DIMENSIONS), np.float32)
        )

    def read(self, texts: Sequence[str]) -> list[ReadText]:
        pieces = self._model.token_ids(texts)
        feeds = [_alone([CLS, *ids, SEP]) for ids in pieces]
        answers = self._model.run_feeds(feeds, ["hidden"])
        return [
            ReadText(_unit(hidden[0].mean(axis=0)), tuple(ids), _unit(hidden[0, 1:-1]))
            for ids, (hidden,) in zip(pieces, answers, strict=True)
        ]


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-9)


def _alone(ids: list[int]) -> dict[str, NDArray[np.int64]]:
    places = dict.fromkeys(("asked", "slots", "choices", "choice_slots"), _NONE)
    return {"ids": np.array([ids], np.int64), "segments": np.zeros((1, len(ids)), np.int64), **places}


def _feed(layout: Layout) -> dict[str, NDArray[np.int64]]:
    segments = np.zeros((1, len(layout.ids)), np.int64)
    segments[:, layout.tool_at :] = 1
    return {
        "ids": np.array([layout.ids], np.int64),
        "segments": segments,
        "asked": np.arange(1, 1 + max(1, layout.request_tokens), dtype=np.int64),
        "slots": np.array(layout.slot_marks, np.int64) if layout.slot_marks else _NONE,
        "choices": np.array(layout.choice_marks, np.int64) if layout.choice_marks else _NONE,
        "choice_slots": np.array(layout.choice_slots, np.int64) if layout.choice_slots else _NONE,
    }


def _marks(layout: Layout, answer: Sequence[Any]) -> Marks:
    spans, there, whole, chosen, calls = answer
    logits = whole[0, 0]
    slots, tokens = len(layout.slots), layout.request_tokens
    return Marks(
        fit=float(_logistic(logits[0])),
        calls=_softmax(logits[1:5]),
        total=_softmax(logits[5:9]),
        spans=_logistic(spans[:, :slots, :tokens]),
        there=_logistic(there[0, :slots, 0]),
        chosen=_logistic(chosen[0, : len(layout.choices)]),
        starts=_logistic(calls[0, :tokens, 0]),
        shared=_logistic(calls[0, :tokens, 1]),
    )


def _logistic(values: Any) -> Any:
    return 1 / (1 + np.exp(-np.clip(values, -30, 30)))


def _softmax(values: Any) -> Any:
    raised = np.exp(values - values.max())
    return raised / raised.sum()
