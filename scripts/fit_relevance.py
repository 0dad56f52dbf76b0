"""Fits the relevance score of knowledge/relevance.py, so that it is a probability; says how well it holds.

    python scripts/fit_relevance.py VIEWS [--check FOLDER]

VIEWS holds what scripts/unseen_views.py wrote for each family of sources. Only sources under CC BY, MIT or
Apache-2.0 are fitted to; the others serve as a check. Each family is also scored by a model that was fitted
to the others. `--check` takes a retrieval set (corpus, queries, qrels.jsonl) that plays no part in the fit.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from relevance_library import COLUMNS, Library, rows

from steward.knowledge.model import relevance_label
from steward.knowledge.relevance import NOTHING, above_the_rest
from steward.models.embedding import MiniLMEmbedder
from steward.models.rerank import CrossEncoder

FITTED = ("bioasq", "pubmedqa", "covidqa", "medquad", "docs_github", "docs_k8s", "docs_rustbook")
ALL_JUDGED = "bioasq"  # the one source where every answer to a question is known
SHOWN, SHOWN_ELSEWHERE = 10, 5
RIDGE = 0.1


@dataclass(frozen=True)
class Views:
    """A row a passage: what is known of it, and whether it answers."""

    family: np.ndarray
    source: np.ndarray
    elsewhere: np.ndarray
    features: np.ndarray  # 1, above the rest, similarity, covered
    right: np.ndarray

    def where(self, inside: np.ndarray) -> "Views":
        return Views(*(getattr(self, name)[inside] for name in self.__dataclass_fields__))


def read(folder: Path) -> Views:
    parts = [
        views(path.stem.removeprefix("views-"), dict(np.load(path)))
        for path in sorted(folder.glob("views-*.npz"))
    ]
    return Views(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in Views.__dataclass_fields__)
    )


def views(family: str, data: dict[str, np.ndarray]) -> Views:
    """Log-odds become what stands above the rest of the question's list; then only what is shown is kept."""
    above = np.empty(len(data["right"]))
    lists = data["question"] * 2 + data["elsewhere"]
    for start, end in pairwise([0, *(np.flatnonzero(np.diff(lists)) + 1).tolist(), len(lists)]):
        above[start:end] = above_the_rest(data["logit"][start:end].astype(np.float64))
    shown = data["rank"] < np.where(data["elsewhere"] > 0, SHOWN_ELSEWHERE, SHOWN)
    features = np.stack([np.ones(len(above)), above, data["similarity"], data["covered"]], axis=1)
    right = data["right"] > 0
    return Views(np.full(len(above), family), data["source"], data["elsewhere"], features, right).where(shown)


def checking(folder: Path) -> Views:
    embedder, reader = MiniLMEmbedder(), CrossEncoder()
    corpus = [row for row in rows(folder / "corpus.jsonl") if row.get("text") or row.get("title")]
    library = Library([f"{row['title']}\n{row['text']}" for row in corpus], embedder)
    right = {(str(row["query"]), str(row["doc"])) for row in rows(folder / "qrels.jsonl") if row["score"] > 0}
    kept: list[tuple[float, ...]] = []
    for number, query in enumerate(rows(folder / "queries.jsonl")):
        first, seen = library.ask(query["text"])
        logits = reader.score(query["text"], [library.texts[i] for i in first])
        for rank, (i, logit, view) in enumerate(zip(first, logits, seen, strict=True)):
            kept.append((number, 0, rank, logit, *view, (str(query["_id"]), str(corpus[i]["_id"])) in right))
    data = dict(zip(COLUMNS, np.array(kept, np.float64).T, strict=True))
    return views("check", {**data, "source": np.full(len(kept), "check")})


def fit(seen: Views, *, reader: bool) -> np.ndarray:
    """Newton's method on the penalised likelihood."""
    x, y = seen.features * (1, reader, 1, 1), seen.right.astype(np.float64)
    weights = np.zeros(x.shape[1])
    penalty = np.diag([0.0, RIDGE, RIDGE, RIDGE])
    for _ in range(50):
        guess = 1 / (1 + np.exp(-x @ weights))
        hessian = (x.T * (guess * (1 - guess))) @ x + penalty + 1e-9 * np.eye(len(weights))
        weights = weights - np.linalg.solve(hessian, x.T @ (guess - y) + penalty @ weights)
    return weights


def unlabelled(seen: Views) -> float:
    """How much log-odds rise where all answers are known, not only the one a question was made from."""
    at_home = seen.elsewhere == 0

    def log_odds(inside: np.ndarray) -> float:
        share = float(seen.right[at_home & inside].mean())
        return float(np.log(share / (1 - share)))

    judged = seen.source == ALL_JUDGED
    return log_odds(judged) - log_odds(~judged)


def chance(seen: Views, weights: np.ndarray, *, reader: bool) -> np.ndarray:
    return 1 / (1 + np.exp(-(seen.features * (1, reader, 1, 1)) @ weights))


def judged(name: str, score: np.ndarray, right: np.ndarray) -> Iterator[str]:
    bins = np.clip((score * 10).astype(int), 0, 9)
    off = sum(
        (bins == b).mean() * abs(score[bins == b].mean() - right[bins == b].mean())
        for b in range(10)
        if (bins == b).any()
    )
    yield f"  {name}: {len(right)} passages, {right.mean():.3f} right, off by {off:.3f}"
    labels = np.array([relevance_label(value) if value >= NOTHING else "not shown" for value in score])
    for label in ("Highly Relevant", "Relevant", "Somewhat Relevant", "Marginal", "not shown"):
        inside = labels == label
        share = f"{right[inside].mean():.2f} right" if inside.any() else ""
        yield f"    {label:17} {int(inside.sum()):6} {share}"


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("views", type=Path)
    arguments.add_argument("--check", type=Path)
    options = arguments.parse_args()
    seen = read(options.views)
    checked = checking(options.check) if options.check else None
    lift = np.array([unlabelled(seen), 0, 0, 0])
    for reader in (True, False):
        weights = fit(seen.where(np.isin(seen.source, FITTED)), reader=reader) + lift
        print(f"\n{'with' if reader else 'without'} the cross-encoder: {np.round(weights, 2).tolist()}")
        held = np.empty(len(seen.right))
        for family in np.unique(seen.family):
            inside = seen.family == family
            by = fit(seen.where(~inside), reader=reader) + lift
            held[inside] = chance(seen.where(inside), by, reader=reader)
            print(*judged(f"{family}, by the others", held[inside], seen.right[inside]), sep="\n")
        print(*judged("all of them", held, seen.right), sep="\n")
        print(*judged("of these, elsewhere", *(x[seen.elsewhere > 0] for x in (held, seen.right))), sep="\n")
        if checked is not None:
            score = chance(checked, weights, reader=reader)
            print(*judged("the set to check with", score, checked.right), sep="\n")


if __name__ == "__main__":
    main()
