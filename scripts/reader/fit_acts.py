"""Fits the rows of weights that say talk, wish or question, from what the reader makes of a text.

    python scripts/reader/fit_acts.py [OUT]

Reads acts/{talk,wish,ask}.txt, tells how much is right of lines that were left out (five parts), and writes
the weights of all of them. A minute on one core; the encoder itself is left as it is.
"""

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
from steward.models.acts import WEIGHTS, seen_beside_talk

ACTS = ("talk", "wish", "ask")
PARTS, STEPS, RATE, PENALTY = 5, 400, 0.03, 1e-2
Rows = NDArray[np.float64]


def shares(rows: Rows, weights: Rows) -> Rows:
    raised = rows @ weights[:-1] + weights[-1]
    raised = np.exp(raised - raised.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


def fit(rows: Rows, acts: NDArray[np.int64]) -> Rows:
    """Logistic regression by Adam; each act counts as much as the others, however many lines it has."""
    middle, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    given = np.hstack([(rows - middle) / spread, np.ones((len(rows), 1))])
    wanted = np.eye(len(ACTS))[acts]
    counts = (wanted * (len(rows) / len(ACTS) / wanted.sum(axis=0))).sum(axis=1, keepdims=True)
    weights = np.zeros((given.shape[1], len(ACTS)))
    slope, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        error = (shares(given[:, :-1], weights) - wanted) * counts / len(rows)
        gradient = given.T @ error
        gradient[:-1] += PENALTY * weights[:-1]
        slope = 0.9 * slope + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        weights -= RATE * (slope / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    weights[:-1] /= spread[:, None]
    weights[-1] -= middle @ weights[:-1]
    return weights


def main(out: Path) -> None:
    lines = [(Path(__file__).parent / "acts" / f"{act}.txt").read_text().splitlines() for act in ACTS]
    acts = np.repeat(np.arange(len(ACTS)), [len(each) for each in lines])
    rows = seen_beside_talk([line for each in lines for line in each]).astype(np.float64)
    part = np.random.default_rng(0).integers(0, PARTS, len(rows))
    told = np.zeros((len(rows), len(ACTS)))
    for number in range(PARTS):
        told[part == number] = shares(rows[part == number], fit(rows[part != number], acts[part != number]))
    talks = told[:, 0] >= 0.5
    print(
        f"{len(rows)} lines; left out: {(told.argmax(axis=1) == acts).mean():.3f} right, "
        f"talk heard {talks[acts == 0].mean():.3f}, taken for talk {talks[acts != 0].mean():.3f}"
    )
    np.save(out, fit(rows, acts).astype(np.float32))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else WEIGHTS)
