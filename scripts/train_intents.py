"""Trains the intent classifier that ships with Steward and reports how well it carries over.

    python scripts/train_intents.py --data FOLDER [--background FILE] [--write]

FOLDER holds `hwu64_lists.jsonl`, `clinc150_todo.jsonl` and `clinc150_other.jsonl` ({text, intent} a line),
which are CC BY and not part of the repository. FILE (gzipped, {query, ...} a line) holds questions to all
kinds of tools, MIT and Apache-2.0: speech that is not about tasks. `intent_phrases.py` generates the rest.
Without `--write` it only reports: trained on one source and tested on the other, on generated speech alone,
and by five folds.
"""

import argparse
import gzip
import json
import random
import re
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from intent_phrases import generate

from steward.tasks.intents.classify import LABELS, Intent, Model, probabilities
from steward.tasks.intents.features import BUCKETS, features

Row = tuple[str, str]
MUTATING = (Intent.ADD, Intent.COMPLETE, Intent.DELETE, Intent.UPDATE)
NOISE = 0.1
TARGET = Path(__file__).parent.parent / "src/steward/tasks/intents/model.npz"


def read(path: Path) -> list[Row]:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [(row["text"], row["intent"]) for row in rows]


ABOUT_TASKS = re.compile(
    r"remind|to-?do|task|\blists?\b|\bnote|grocer|shopping|chore|errand|agenda", re.IGNORECASE
)


def read_background(path: Path, *, most: int = 3000) -> list[Row]:
    """Short questions that are surely about something else."""
    with gzip.open(path, "rt") as lines:
        queries = {json.loads(line)["query"] for line in lines}
    short = sorted(query for query in queries if len(query) < 110 and not ABOUT_TASKS.search(query))
    return [(query, "other") for query in random.Random(11).sample(short, min(most, len(short)))]


def mask(intent: str) -> np.ndarray:
    """Which labels a row allows: `mutating` allows four."""
    allowed = MUTATING if intent == "mutating" else (Intent(intent),)
    return np.array([label in allowed for label in LABELS], dtype=np.float32)


def train(
    rows: list[Row], *, weights: list[float], epochs: int = 14, decay: float = 1e-5, seed: int = 3
) -> Model:
    """Adam on the log likelihood of the allowed labels, one bucket row at a time."""
    rng = np.random.default_rng(seed)
    inputs = [features(text) for text, _ in rows]
    masks = np.stack([mask(intent) for _, intent in rows])
    share = np.array(weights, dtype=np.float32)
    w = np.zeros((BUCKETS, len(LABELS)), dtype=np.float32)
    m, v = np.zeros_like(w), np.zeros_like(w)
    for epoch in range(epochs):
        rate = 0.02 * (1 - epoch / epochs) + 0.001
        order = rng.permutation(len(rows))
        for batch in np.array_split(order, max(1, len(rows) // 64)):
            picked = [x[rng.random(len(x)) > 0.1] for x in (inputs[n] for n in batch)]  # dropout
            lengths = np.array([len(x) for x in picked])
            flat = np.concatenate(picked)
            scores = np.add.reduceat(w[flat], np.r_[0, np.cumsum(lengths)[:-1]], axis=0)
            p = np.exp(scores - scores.max(axis=1, keepdims=True))
            p /= p.sum(axis=1, keepdims=True)
            allowed = p * masks[batch]
            target = allowed / np.maximum(allowed.sum(axis=1, keepdims=True), 1e-9)
            delta = (p - target) * share[batch][:, None] / len(batch)
            buckets, where = np.unique(flat, return_inverse=True)
            g = np.zeros((len(buckets), len(LABELS)), dtype=np.float32)
            np.add.at(g, where, np.repeat(delta, lengths, axis=0))
            g += decay * w[buckets]
            m[buckets] = 0.9 * m[buckets] + 0.1 * g
            v[buckets] = 0.99 * v[buckets] + 0.01 * g * g
            w[buckets] -= rate * m[buckets] / (np.sqrt(v[buckets]) + 1e-6)
    scale = float(np.abs(w).max()) / 127
    return Model(np.round(w / scale).astype(np.int8), scale)


def accuracy(model: Model, rows: list[Row], *, show: int = 0) -> float:
    right = 0
    for text, intent in rows:
        shares = probabilities(text, model)
        best = max(shares, key=lambda label: shares[label])
        hit = best == intent or (intent == "mutating" and best in MUTATING)
        right += hit
        if not hit and show > 0:
            show -= 1
            print(f"    {text!r}: {intent}, read as {best} ({shares[best]:.2f})")
    return right / len(rows)


def fit(generated: list[Row], real: list[Row]) -> Model:
    return train(generated + real, weights=[1.0] * len(generated) + [1.5] * len(real))


def without_noise(generated: list[Row], real: list[Row]) -> list[Row]:
    """Leaves out rows whose label a model that never saw them finds absurd; some rows are mislabelled."""
    kept: list[Row] = []
    for fold in range(5):
        model = fit(generated, [row for k, row in enumerate(real) if k % 5 != fold])
        for text, intent in (row for k, row in enumerate(real) if k % 5 == fold):
            shares = probabilities(text, model)
            allowed = mask(intent)
            if sum(share for share, ok in zip(shares.values(), allowed, strict=True) if ok) >= NOISE:
                kept.append((text, intent))
    return kept


def report(generated: list[Row], sources: dict[str, list[Row]], *, show: int) -> None:
    hwu = sources["hwu64_lists"]
    clinc = sources["clinc150_todo"] + sources["clinc150_other"]
    for name, real in (("generated speech alone", []), ("and CLINC150", clinc), ("and HWU64", hwu)):
        model = fit(generated, real)
        print(f"trained on {name}:")
        for source, rows in sources.items():
            seen = rows[0] in real
            if not seen:
                print(f"  {source}: {accuracy(model, rows, show=show):.4f}")
    everything = [(source, row) for source, rows in sources.items() for row in rows]
    random.Random(5).shuffle(everything)
    hits = {source: [0, 0] for source in sources}
    for fold in range(5):
        model = fit(generated, [row for k, (_, row) in enumerate(everything) if k % 5 != fold])
        for source, row in (one for k, one in enumerate(everything) if k % 5 == fold):
            hits[source][0] += accuracy(model, [row]) == 1
            hits[source][1] += 1
    print("five folds:", {source: round(right / n, 4) for source, (right, n) in hits.items()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--background", type=Path)
    parser.add_argument("--write", action="store_true", help="train on everything and write the model")
    parser.add_argument("--show", type=int, default=0, help="print so many errors of each set")
    options = parser.parse_args()
    sources = {
        name: read(options.data / f"{name}.jsonl")
        for name in ("hwu64_lists", "clinc150_todo", "clinc150_other")
    }
    generated = generate() + (read_background(options.background) if options.background else [])
    if not options.write:
        report(generated, sources, show=options.show)
        return
    real = [row for rows in sources.values() for row in rows]
    clean = without_noise(generated, real)
    print(f"{len(real) - len(clean)} of {len(real)} rows left out as mislabelled")
    model = fit(generated, clean)
    np.savez_compressed(TARGET, weights=model.weights, scale=np.float32(model.scale))
    for source, rows in sources.items():
        print(f"{source}: {accuracy(model, rows, show=options.show):.4f} (trained on it)")
    print(f"{TARGET.name}: {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
