"""numpy runs the graphs as onnxruntime does: the base install reads what an install with `speed` reads."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from steward.contract.extras import EXTRAS, Extra
from steward.models import minilm
from steward.models.embedding import MiniLMEmbedder
from steward.models.plain_graph import PlainSession
from steward.models.reader import TaughtReader
from steward.models.rerank import CrossEncoder

SHORT = ["A cat sat on the mat.", "yes", "", "what time is it in Tokyo?", "😀 ünïcode"]
LONG = "The stock market fell sharply today, and nobody knew why it had risen before. " * 12
TASK = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "priority": {"enum": ["low", "high"]},
        "due_date": {"type": "string", "format": "date"},
    },
}


@pytest.fixture
def without_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where onnxruntime is not installed; models loaded before are loaded anew, and again after it."""
    minilm._session_of.cache_clear()
    monkeypatch.setitem(EXTRAS, "speed", Extra("", "no_such_module"))  # pyright: ignore[reportArgumentType]
    monkeypatch.setattr(minilm, "_session_of", minilm._session_of.__wrapped__)


@pytest.fixture(scope="module")
def usual() -> dict[str, Any]:
    """What onnxruntime answers."""
    reader = TaughtReader()
    tools = [reader.tool("add_task", "Add a task to the list.", TASK)]
    return {
        "short": MiniLMEmbedder().embed(SHORT),
        "long": MiniLMEmbedder().embed([LONG]),
        "ranked": CrossEncoder().score("when does the market fall", ["It fell today.", "Cats sit."]),
        "marks": reader.mark("add buy milk tomorrow, it is important", tools)[0][1],
    }


def test_short_texts_have_the_same_vectors_but_for_a_rounding(
    usual: dict[str, Any], without_speed: None
) -> None:
    """A last digit may tip one rounding, and its neighbours after it: most are the same to five digits."""
    embedder = MiniLMEmbedder()
    assert isinstance(embedder._model._session, PlainSession)
    found = embedder.embed(SHORT)
    assert (found * usual["short"]).sum(axis=1).min() > 0.99
    assert (np.abs(found - usual["short"]).max(axis=1) < 1e-5).sum() >= 3


def test_a_long_text_has_the_same_direction(usual: dict[str, Any], without_speed: None) -> None:
    assert float((MiniLMEmbedder().embed([LONG]) @ usual["long"].T)[0, 0]) > 0.99


def test_passages_are_ranked_with_the_same_numbers(usual: dict[str, Any], without_speed: None) -> None:
    found = CrossEncoder().score("when does the market fall", ["It fell today.", "Cats sit."])
    assert np.allclose(found, usual["ranked"], atol=0.3)


def test_a_request_is_marked_in_the_same_way(usual: dict[str, Any], without_speed: None) -> None:
    reader = TaughtReader()
    marks = reader.mark(
        "add buy milk tomorrow, it is important", [reader.tool("add_task", "Add a task to the list.", TASK)]
    )[0][1]
    assert marks.fit == pytest.approx(usual["marks"].fit, abs=0.02)
    assert np.allclose(marks.spans, usual["marks"].spans, atol=0.05)


def test_texts_read_side_by_side_are_read_while_programs_start(without_speed: None) -> None:
    """OpenBLAS's own threads end when a program forks, and what they worked on would never end."""
    embedder = MiniLMEmbedder()
    starts = [[sys.executable, "-c", ""]] * 6
    with ThreadPoolExecutor(2) as pool:
        programs = pool.map(lambda command: subprocess.run(command, check=True, close_fds=False), starts)
        vectors = embedder.embed([f"{LONG} {n}" for n in range(12)])
        assert len(list(programs)) == len(starts)
    assert vectors.shape == (12, embedder.dimensions)
