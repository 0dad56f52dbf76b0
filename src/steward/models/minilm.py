"""Runs the MiniLM graphs that ship with the package: token ids in, one row of numbers out.

onnxruntime runs them where it is installed (the extra `speed`), numpy where it is not (plain_graph.py).

Each text is a call of its own on one thread, so that a result depends on nothing but its text: there is no
padding, and neither a neighbour nor the number of cores can change a bit. On processors of today that is as
fast as batches, because one text's tokens already fill the matrix kernels; texts run side by side in threads.
"""

import importlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from steward.contract.errors import ConfigError, ErrorCode
from steward.contract.extras import EXTRAS
from steward.models.plain_graph import PlainSession
from steward.models.stored_graph import stored_graph
from steward.models.tables import tables_of, without_tables
from steward.models.wordpiece import Pieces, WordPieces

DATA = Path(__file__).parent / "data"
TOKENIZER = DATA / "minilm-tokenizer.json"
CLS, SEP = 101, 102
TOKENS = 256
# No word of the vocabulary is longer: what is cut here could not have reached the model.
CHARACTERS = TOKENS * 40
_WORKERS = min(8, os.cpu_count() or 1)
_LOADING = Lock()
R = TypeVar("R")
T = TypeVar("T")
Row = tuple[Sequence[int], Sequence[int]]
"""The ids of a text and the segment that each belongs to."""


class MiniLM:
    """A graph and its tokenizer, both loaded on first use, once in a program however many read with them."""

    def __init__(
        self, graph: Path, *, inner: str | None = None, tables: Path | None = None, threads: int = _WORKERS
    ) -> None:
        """`inner` names a tensor inside the graph that `run_inside` answers with as well.

        `tables` is the graph that this one shares its word and position tables with.
        """
        self._graph = graph
        self._inner = inner
        self._tables = tables
        self._workers = threads

    @property
    def installed(self) -> bool:
        needed = (self._graph, TOKENIZER, *(() if self._tables is None else (self._tables,)))
        return all(each.is_file() for each in needed)

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Word pieces without special tokens."""
        return [self.encode(text).ids[: TOKENS - 2] for text in texts]

    def encode(self, text: str) -> Pieces:
        """Word pieces with their places in the text, without special tokens."""
        return self._tokenizer.encode(text[:CHARACTERS])

    def run_feeds(
        self, feeds: Sequence[dict[str, NDArray[np.int64]]], wanted: Sequence[str]
    ) -> list[list[NDArray[np.float32]]]:
        """These outputs of a graph for each of these inputs, side by side."""
        return list(self._side_by_side(lambda feed: self._session.run(list(wanted), feed), feeds))

    def run(self, rows: Sequence[Row]) -> list[NDArray[np.float32]]:
        """The graph's answer for each row."""
        return [answer for (answer,) in self._run(rows, ["result"])]

    def run_inside(self, rows: Sequence[Row]) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """The graph's answer for each row, and the inner tensor that it was made from."""
        return [(answer, inside) for answer, inside in self._run(rows, ["result", self._inner or "result"])]

    def run_within(self, rows: Sequence[Row], seconds: float) -> list[NDArray[np.float32]]:
        """The answers for the first rows, as many as could be begun in time."""
        end = time.monotonic() + seconds

        def in_time(row: Row) -> NDArray[np.float32] | None:
            return self._answer(row, ["result"])[0] if time.monotonic() < end else None

        answers: list[NDArray[np.float32]] = []
        for answer in self._side_by_side(in_time, rows):
            if answer is None:
                break
            answers.append(answer)
        return answers

    def _run(self, rows: Sequence[Row], wanted: Sequence[str]) -> list[list[NDArray[np.float32]]]:
        # Longest first: the threads finish together.
        order = sorted(range(len(rows)), key=lambda i: -len(rows[i][0]))
        answers = self._side_by_side(lambda row: self._answer(row, wanted), [rows[i] for i in order])
        results = dict(zip(order, answers, strict=True))
        return [results[i] for i in range(len(rows))]

    def _answer(self, row: Row, wanted: Sequence[str]) -> list[NDArray[np.float32]]:
        ids, segments = row
        feed = {"ids": np.array([ids], np.int64), "segments": np.array([segments], np.int64)}
        return [found[0] for found in self._session.run(wanted, feed)]

    def _side_by_side(self, work: Callable[[R], T], rows: Sequence[R]) -> Iterator[T]:
        return map(work, rows) if len(rows) < 2 or self._workers == 1 else self._threads.map(work, rows)

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._workers, thread_name_prefix="minilm")

    @cached_property
    def _session(self) -> Any:
        with _LOADING:
            self._check()
            return _session_of(self._graph, self._inner, self._tables)

    @cached_property
    def _tokenizer(self) -> WordPieces:
        with _LOADING:
            self._check()
            return _loaded_tokenizer()

    def _check(self) -> None:
        if not self.installed:
            raise ConfigError(
                f"The model file {self._graph.name} is missing from the installation.",
                code=ErrorCode.CONFIG_MISSING,
                fix="Install Steward again.",
            )


@lru_cache
def _session_of(graph: Path, inner: str | None, tables: Path | None) -> Any:
    own, source = graph.read_bytes(), tables or graph
    if not EXTRAS["speed"].installed:
        return PlainSession(stored_graph(own, own if tables is None else source.read_bytes()))
    # 0.2 s, only when a text is embedded
    runtime: Any = importlib.import_module("onnxruntime")  # has no types

    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.enable_cpu_mem_arena = (
        False  # it keeps what the longest text took, and is no faster on one thread
    )
    options.add_session_config_entry(
        "session.model_external_initializers_file_folder_path", str(graph.parent)
    )
    model = without_tables(own) + tables_of(own if tables is None else source.read_bytes(), source.name)
    if inner is not None:
        model = _with_output(model, inner)
    session = runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    # It would keep the file as well as what it made of it, to start over on another kind of processor.
    session.disable_fallback()
    session._model_bytes = None  # noqa: SLF001
    return session


@lru_cache
def _loaded_tokenizer() -> WordPieces:
    return WordPieces.from_file(TOKENIZER)


def _with_output(graph: bytes, tensor: str) -> bytes:
    """The graph with one more output. Protocol buffers merge what is appended, so the file stays as it is."""
    name = tensor.encode()
    floats = b"\x12\x04\x0a\x02\x08\x01"  # ValueInfoProto.type, a tensor of floats
    value = b"\x0a" + bytes([len(name)]) + name + floats
    output = b"\x62" + bytes([len(value)]) + value  # GraphProto.output
    return graph + b"\x3a" + bytes([len(output)]) + output  # ModelProto.graph
