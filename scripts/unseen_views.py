"""What search sees of passages that its cross-encoder was never trained on: the ground of the relevance fit.

    python scripts/unseen_views.py DATA OUT FAMILY [--seconds 260]

The cross-encoder that ships has read all of DATA, so that its opinion of those pairs is too good to be fitted
to. Here one is trained like it (train_reranker.py, one GPU, DATA as described there) on every source outside
the family, and asks that family's questions with the product's own arithmetic: of a library that holds the
answers, and of one on another subject, where nothing is relevant. OUT/views-FAMILY.npz receives a row for
each passage that would be read; `scripts/fit_relevance.py` takes it from there.
"""

import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import train_reranker
from relevance_library import COLUMNS, Library, rows

from steward.models.embedding import MiniLMEmbedder

FAMILIES = {
    "medicine": ("bioasq", "pubmedqa", "pubmedqa_concl", "covidqa", "medquad"),
    "manuals": ("docs_github", "docs_k8s", "docs_rustbook", "docs_mdn"),
    "encyclopedia": ("squad_para", "xquad_en_para", "nq_qed", "squad_sent", "squad_nqg_sent"),
}
ELSEWHERE = {"medicine": "docs_k8s", "manuals": "covidqa", "encyclopedia": "medquad"}
NOT_ASKED = {"squad_sent", "squad_nqg_sent", "pubmedqa_concl"}  # the others' questions once more
GROUP_ANSWERS = {"bioasq", "pubmedqa"}  # there a whole group answers its question
QUESTIONS = 150  # of each source


def questions(source: str, pairs: list[dict[str, Any]], own: list[dict[str, Any]]) -> dict[str, set[str]]:
    """Some of a source's questions, each with the texts that answer it."""
    members: defaultdict[str, set[str]] = defaultdict(set)
    for row in own:
        members[row["group"]].add(row["text"])
    answers: defaultdict[str, set[str]] = defaultdict(set)
    for row in pairs:
        if row["source"] == source:
            answers[row["query"]].add(row["positive"])
            if source in GROUP_ANSWERS:
                answers[row["query"]] |= members[row["group"]]
    chosen = random.Random(7).sample(sorted(answers), min(QUESTIONS, len(answers)))
    return {question: answers[question] for question in chosen}


def main() -> None:
    parser = train_reranker.options()
    parser.add_argument("family", choices=FAMILIES)
    args = parser.parse_args()
    data, family = Path(args.data), args.family
    pairs, passages = rows(data / "pairs.jsonl.gz"), rows(data / "passages.jsonl.gz")
    embedder = MiniLMEmbedder()

    def library(source: str) -> Library:
        texts = sorted({row["text"] for row in passages if row["source"] == source})
        print(f"{source}: {len(texts)} passages", flush=True)
        return Library(texts, embedder)

    elsewhere = library(ELSEWHERE[family])
    asked: list[dict[str, Any]] = []
    found: list[tuple[str, list[bool], bool, np.ndarray]] = []
    for source in FAMILIES[family]:
        if source in NOT_ASKED:
            continue
        own = library(source)
        known = questions(source, pairs, [row for row in passages if row["source"] == source])
        for question, answers in known.items():
            for place, away in ((own, False), (elsewhere, True)):
                first, views = place.ask(question)
                texts = [place.texts[i] for i in first]
                asked.append({"query": question, "docs": texts})
                found.append((source, [text in answers and not away for text in texts], away, views))
    args.without = ",".join(FAMILIES[family])
    model, tokenizer = train_reranker.train(args)
    logits = train_reranker.score(model, tokenizer, asked)
    sources: list[str] = []
    kept: list[tuple[float, ...]] = []
    for number, ((source, right, away, views), read) in enumerate(zip(found, logits, strict=True)):
        for rank, (logit, view) in enumerate(zip(read, views, strict=True)):
            sources.append(source)
            kept.append((number // 2, away, rank, logit, *view, right[rank]))
    Path(args.out).mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        Path(args.out) / f"views-{family}.npz",
        source=np.array(sources),
        **dict(zip(COLUMNS, np.array(kept, np.float32).T, strict=True)),
    )


if __name__ == "__main__":
    main()
