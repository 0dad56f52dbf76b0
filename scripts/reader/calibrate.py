"""Fits how much each piece of evidence says for a tool, where request and tool are read apart or together.

    python scripts/reader/calibrate.py

Takes the hand-written requests of tools that were left out of teaching: each beside some tools of its
area and of others, with its own tool among them or without. Prints the weights for
steward/selection/fit.py and how well they do on every second row, which took no part.
"""

import random
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
import written
from examples import held_out

from steward.contract.ports import ReadText
from steward.language.slots import words_of
from steward.models.reader import TaughtReader, TextsApart
from steward.selection.fit import LOOKED_AT, SUREST, weigh

SIZES = (1, 2, 3, 5, 10)
REQUESTS = 420
STEPS, RATE, DECAY = 3000, 3.0, 1e-3


def rows(rng: random.Random) -> list[tuple[str, list[dict[str, Any]], bool]]:
    """Request, tools, and whether one of them serves it."""
    areas: dict[str, dict[str, dict[str, Any]]] = {}
    left_out: list[dict[str, Any]] = []
    for path in sorted((Path(__file__).parent / "written").glob("*.txt")):
        if not path.stem.startswith("own_"):
            read = list(written.read(path, []))
            areas[path.stem] = {row["tool"]["name"]: row["tool"] for row in read}
            left_out += [row for row in read if held_out(row["tool"]["name"])]
    strangers = [tool for tools in areas.values() for name, tool in tools.items() if held_out(name)]
    found: list[tuple[str, list[dict[str, Any]], bool]] = []
    for row in rng.sample(left_out, min(REQUESTS, len(left_out))):
        own = row["tool"]["name"]
        siblings = [tool for name, tool in areas[row["area"]].items() if name != own]
        for size in SIZES:
            beside = rng.sample(siblings, size // 2) + rng.sample(strangers, size - size // 2)
            beside = [tool for tool in beside if tool["name"] != own] or siblings[:1]
            found.append((row["request"], [row["tool"], *beside[1:]], bool(row["calls"])))
            if row["calls"]:
                found.append((row["request"], beside, False))
    return found


def evidence(read: dict[str, ReadText], request: str, tools: list[dict[str, Any]]) -> list[list[float]]:
    """Of the nearest tools, the nearest first; what the reader says of the pair comes last."""

    def text(words: str) -> ReadText:
        if words not in read:
            [read[words]] = APART.read([words])
        return read[words]

    told = [f"{words_of(tool['name']).lower()}: {tool['description'][:1000]}" for tool in tools]
    found = [(weigh(text(request), text(each)), tool) for each, tool in zip(told, tools, strict=True)]
    nearest = sorted(found, key=lambda each: -each[0].cosine)[:LOOKED_AT]
    texts = [TOGETHER.tool(t["name"], t["description"], t["inputSchema"]) for _, t in nearest]
    fits = [min(max(marks.fit, 1e-6), 1 - 1e-6) for _, marks in TOGETHER.mark(request, texts)]
    return [
        [each.cosine, each.tool_in_request, each.request_in_tool, float(np.log(fit / (1 - fit)))]
        for (each, _), fit in zip(nearest, fits, strict=True)
    ]


def fitted(features: np.ndarray, served: np.ndarray) -> tuple[np.ndarray, float]:
    """Logistic regression in which both kinds of rows weigh the same."""
    mean, spread = features.mean(0), features.std(0) + 1e-9
    scaled = (features - mean) / spread
    share = np.where(served, 1 / served.sum(), 1 / (~served).sum()) / 2
    weights, bias = np.zeros(features.shape[1]), 0.0
    for _ in range(STEPS):
        off = (1 / (1 + np.exp(-(scaled @ weights + bias))) - served) * share
        weights -= RATE * (scaled.T @ off + DECAY * weights)
        bias -= RATE * off.sum()
    return weights / spread, float(bias - (mean / spread * weights).sum())


def report(name: str, features: np.ndarray, truth: np.ndarray) -> None:
    half = np.arange(len(truth)) // 10 % 2 == 0  # rows of one request stay together
    by_weight, offset = fitted(features[half], truth[half])
    said = features[~half] @ by_weight + offset >= 0
    right = (said[truth[~half]].mean() + (~said[~truth[~half]]).mean()) / 2
    print(name, by_weight.round(2), "bias", round(offset, 2), "balanced accuracy", round(float(right), 3))


if __name__ == "__main__":
    APART, TOGETHER = TextsApart(), TaughtReader()
    made = rows(random.Random(3))
    known: dict[str, ReadText] = {}
    tables = [evidence(known, request, tools) for request, tools, _ in made]
    serves = np.array([each for _, _, each in made])
    print(len(serves), "rows, half of them took no part in fitting")
    apart = np.array([table[0][:3] for table in tables])
    best = np.array([max(table, key=lambda each: each[3]) for table in tables])
    report("apart (cosine, tool in request, request in tool):", apart, serves)
    heard = np.clip(best[:, 3], -SUREST, SUREST)
    report("together (cosine, reader):", np.c_[best[:, 0], heard], serves)
