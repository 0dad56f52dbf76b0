"""Fits the relevance score of knowledge/relevance.py, so that it is a probability; says how well it holds.

    python scripts/fit_relevance.py DATA [--check FOLDER]

DATA holds pairs.jsonl.gz {query, positive, source, group} and passages.jsonl.gz {text, source, group}. Only
sources under CC BY, MIT or Apache-2.0 are used (BioASQ, PubMedQA, COVID-QA, MedQuAD, the documentation of
GitHub and Kubernetes, the Rust book); none of it is kept. Every question is asked twice with the product's
own models and arithmetic: of a library that holds its answer, and of one on another subject, where nothing is
relevant. What the search puts first is labelled and a logistic model is fitted to it. Each source is scored
by a model fitted to the others. `--check` takes a retrieval set (corpus, queries, qrels.jsonl) that plays no
part in the fit.
"""

import argparse
import gzip
import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from steward.knowledge import ranking
from steward.knowledge.relevance import relevance
from steward.knowledge.terms import term_counts
from steward.models.embedding import MiniLMEmbedder
from steward.models.rerank import CrossEncoder

SOURCES = ("bioasq", "pubmedqa", "covidqa", "medquad", "docs_github", "docs_k8s", "docs_rustbook")
GROUP_ANSWERS = {"bioasq"}  # there a whole group answers its question
QUESTIONS, OTHERS = 40, 260  # of each source; passages besides those with the answers
READ, READ_ELSEWHERE = 6, 3
RIDGE = 1.0

EMBEDDER, READER = MiniLMEmbedder(), CrossEncoder()


@dataclass(frozen=True)
class Seen:
    """One passage that a search put forward: what is known of it, and whether it answers."""

    source: str
    logit: float
    similarity: float
    covered: float
    right: bool


class Library:
    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self.vectors = EMBEDDER.embed(texts)
        self.counts = [term_counts(text) for text in texts]
        self.lengths = np.array([max(1, sum(count.values())) for count in self.counts], np.float64)
        frequency: defaultdict[str, int] = defaultdict(int)
        for count in self.counts:
            for term in count:
                frequency[term] += 1
        self.statistics = ranking.Statistics(len(texts), float(self.lengths.mean()), frequency)

    def ask(self, question: str, depth: int) -> list[tuple[int, float, float, float]]:
        """The first passages: index, log-odds, similarity and covered share of the query."""
        words = term_counts(question)
        counts = np.array([[count.get(term, 0) for term in words] for count in self.counts], np.float64)
        counts = counts.reshape(len(self.texts), len(words))
        similarity = (self.vectors @ EMBEDDER.embed([question])[0]).astype(np.float64)
        lexical = ranking.bm25(words, counts, self.lengths, self.statistics)
        fused = ranking.fuse(lexical, similarity, weight=ranking.DOCUMENTS.lexical)
        covered = ranking.coverage(words, counts, self.statistics)
        first = np.argsort(-fused, kind="stable")[:depth]
        logits = READER.score(question, [self.texts[i] for i in first])
        return [
            (int(i), float(logit), float(similarity[i]), float(covered[i]))
            for i, logit in zip(first, logits, strict=True)
        ]


def rows(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    return [json.loads(line) for line in text.splitlines()]


def training(data: Path) -> list[Seen]:
    rng = random.Random(7)
    passages, pairs = rows(data / "passages.jsonl.gz"), rows(data / "pairs.jsonl.gz")
    libraries: dict[str, Library] = {}
    asked: dict[str, list[tuple[str, set[str]]]] = {}
    for source in SOURCES:
        own = [row for row in passages if row["source"] == source]
        members: defaultdict[str, set[str]] = defaultdict(set)
        for row in own:
            members[row["group"]].add(row["text"])
        answers: defaultdict[str, set[str]] = defaultdict(set)
        for row in pairs:
            if row["source"] == source:
                answers[row["query"]].add(row["positive"])
                if source in GROUP_ANSWERS:
                    answers[row["query"]] |= members[row["group"]]
        questions = rng.sample(sorted(answers), min(QUESTIONS, len(answers)))
        asked[source] = [(question, answers[question]) for question in questions]
        texts = {text for question in questions for text in answers[question]}
        texts |= {row["text"] for row in rng.sample(own, min(OTHERS, len(own)))}
        libraries[source] = Library(sorted(texts))
        print(f"{source}: {len(texts)} passages, {len(questions)} questions", flush=True)
    seen: list[Seen] = []
    for number, source in enumerate(SOURCES):
        elsewhere = libraries[SOURCES[(number + 3) % len(SOURCES)]]
        for question, answers in asked[source]:
            for i, *views in libraries[source].ask(question, READ):
                seen.append(Seen(source, *views, right=libraries[source].texts[i] in answers))
            seen += [
                Seen(source, *views, right=False) for _, *views in elsewhere.ask(question, READ_ELSEWHERE)
            ]
        print(f"{source}: asked", flush=True)
    return seen


def checking(folder: Path, questions: int = 75) -> list[Seen]:
    corpus = [row for row in rows(folder / "corpus.jsonl") if row.get("text") or row.get("title")]
    library = Library([f"{row['title']}\n{row['text']}" for row in corpus])
    right = {(str(row["query"]), str(row["doc"])) for row in rows(folder / "qrels.jsonl") if row["score"] > 0}
    seen: list[Seen] = []
    for query in rows(folder / "queries.jsonl")[::3][:questions]:
        for i, *views in library.ask(query["text"], 10):
            seen.append(Seen("check", *views, right=(str(query["_id"]), str(corpus[i]["_id"])) in right))
    return seen


def features(seen: Sequence[Seen], *, reader: bool) -> np.ndarray:
    return np.array([(1.0, s.logit if reader else 0.0, s.similarity, s.covered) for s in seen])


def fit(seen: Sequence[Seen], *, reader: bool) -> np.ndarray:
    """Newton's method on the penalised likelihood."""
    x, y = features(seen, reader=reader), np.array([s.right for s in seen], np.float64)
    weights = np.zeros(x.shape[1])
    penalty = np.diag([0.0, RIDGE, RIDGE, RIDGE]) / 100
    penalty[1, 1] += 0.0 if reader else 1.0
    for _ in range(50):
        chance = 1 / (1 + np.exp(-x @ weights))
        hessian = (x.T * (chance * (1 - chance))) @ x + penalty + 1e-9 * np.eye(len(weights))
        weights = weights - np.linalg.solve(hessian, x.T @ (chance - y) + penalty @ weights)
    return weights


def shipped_fit(seen: Sequence[Seen], *, reader: bool) -> np.ndarray:
    """The cross-encoder was trained on these very pairs, so a fit to it trusts it too much elsewhere.

    What is shipped takes the middle between that fit and the one that never asks it.
    """
    alone = fit(seen, reader=False)
    return (fit(seen, reader=True) + alone) / 2 if reader else alone


def judged(chance: np.ndarray, seen: Sequence[Seen]) -> str:
    right = np.array([s.right for s in seen], np.float64)
    bins = np.clip((chance * 10).astype(int), 0, 9)
    error = sum(
        (bins == b).mean() * abs(chance[bins == b].mean() - right[bins == b].mean())
        for b in range(10)
        if (bins == b).any()
    )
    brier = ((chance - right) ** 2).mean()
    return f"n {len(seen)}, right {right.mean():.3f}, Brier {brier:.3f}, off by {error:.3f}"


def table(chance: np.ndarray, seen: Sequence[Seen], edges: Iterable[float]) -> None:
    right = np.array([s.right for s in seen], np.float64)
    for low, high in pairwise(edges):
        inside = (chance >= low) & (chance < high)
        share = f"{right[inside].mean():.2f} right" if inside.any() else ""
        print(f"    {low:.2f} to {high:.2f}: {int(inside.sum()):5} passages, {share}")


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("data", type=Path)
    arguments.add_argument("--check", type=Path)
    options = arguments.parse_args()
    seen = training(options.data)
    checked = checking(options.check) if options.check else []
    for reader in (True, False):
        weights = shipped_fit(seen, reader=reader)
        print(f"\n{'with' if reader else 'without'} the cross-encoder: {np.round(weights, 2).tolist()}")

        def chance(of: Sequence[Seen], by: np.ndarray, reader: bool = reader) -> np.ndarray:
            return 1 / (1 + np.exp(-features(of, reader=reader) @ by))

        held = np.empty(len(seen))
        for source in SOURCES:
            inside = np.array([s.source == source for s in seen])
            others = shipped_fit([s for s in seen if s.source != source], reader=reader)
            held[inside] = chance([s for s in seen if s.source == source], others)
        print("  held-out sources:", judged(held, seen))
        table(held, seen, (0, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.01))
        report(chance, weights, checked, reader=reader)


def report(
    chance: Callable[[Sequence[Seen], np.ndarray], np.ndarray],
    weights: np.ndarray,
    checked: Sequence[Seen],
    *,
    reader: bool,
) -> None:
    if not checked:
        return
    fitted = chance(checked, weights)
    print("  the set to check with:", judged(fitted, checked))
    table(fitted, checked, (0, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.01))
    views = np.array([(s.logit, s.similarity, s.covered) for s in checked]).T
    shipped = relevance(views[0] if reader else None, views[1], views[2])
    print("  as shipped:", judged(shipped, checked))


if __name__ == "__main__":
    main()
