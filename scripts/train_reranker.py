"""Trains the cross-encoder that re-ranks search results, on one GPU in a few minutes.

Starts from the sentence embedder's weights and learns from openly licensed question-passage pairs (see
steward/models/data/RERANKER.md). Negatives are mined with BM25 and the embedder, inside each source, so
that the model learns to tell apart what both retrievers confuse.

    python scripts/train_reranker.py DATA OUT [--epochs 6]

DATA holds pairs.jsonl.gz, passages.jsonl.gz, minilm-fp16.safetensors and tokenizer.json, and may hold
eval_*.json.gz (queries with ranked candidates, scored after each epoch, never trained on). OUT receives
the weights in parts small enough to carry; `scripts/build_reranker.py` turns them into the ONNX file.
"""

import argparse
import functools
import gzip
import json
import math
import random
import re
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import Stemmer
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset
from transformers import BertConfig, BertModel

LEFT_OUT = {"sgd_synth", "memorybank"}
DIALOGUES = {"friendsqa", "molweni", "qmsum"}
# A whole group answers the question there, so its members are never negatives for one another.
RELEVANT_GROUPS = {"bioasq", "pubmedqa", "pubmedqa_concl"}
CLS, SEP = 101, 102
LENGTH, QUERY_LENGTH = 256, 64
DEVICE = "cuda"
WORD = re.compile(r"[^\W_]+")


@dataclass
class Passage:
    text: str
    source: str
    group: str
    order: int
    before: str = ""
    ids: list[int] = field(default_factory=list)
    with_before: list[int] = field(default_factory=list)


@dataclass
class Question:
    text: str
    source: str
    positives: set[int]
    ids: list[int] = field(default_factory=list)
    hard: list[int] = field(default_factory=list)
    near: list[int] = field(default_factory=list)


def read(data: Path, left_out: set[str]) -> tuple[list[Passage], list[Question]]:
    passages: list[Passage] = []
    at: dict[tuple[str, str], int] = {}
    last: dict[str, Passage] = {}
    with gzip.open(data / "passages.jsonl.gz", "rt") as lines:
        for row in map(json.loads, lines):
            if row["source"] in left_out:
                continue
            passage = Passage(row["text"], row["source"], row["group"], len(passages))
            previous = last.get(passage.group)
            if previous is not None and passage.source in DIALOGUES:
                passage.before = previous.text
            last[passage.group] = passage
            at[(passage.source, passage.text)] = len(passages)
            passages.append(passage)
    questions: dict[tuple[str, str, str], Question] = {}
    with gzip.open(data / "pairs.jsonl.gz", "rt") as lines:
        for row in map(json.loads, lines):
            if row["source"] in left_out:
                continue
            # The same words may be asked of two dialogues: only there does the group tell them apart.
            scope = row["group"] if row["source"] in DIALOGUES else ""
            key = (row["source"], scope, row["query"])
            question = questions.setdefault(key, Question(row["query"], row["source"], set()))
            question.positives.add(at[(row["source"], row["positive"])])
    return passages, list(questions.values())


def invent(passages: list[Passage], rng: random.Random, per_source: int) -> list[Question]:
    """A sentence taken out of a longer passage asks for that passage: topical search, not only answers."""
    made: list[Question] = []
    by_source: dict[str, list[int]] = defaultdict(list)
    for index, passage in enumerate(passages):
        by_source[passage.source].append(index)
    for source, members in by_source.items():
        if source in DIALOGUES or source.endswith("sent"):
            continue
        rng.shuffle(members)
        for index in members[:per_source]:
            sentences = re.split(r"(?<=[.!?])\s+", passages[index].text)
            if len(sentences) < 3:
                continue
            chosen = rng.randrange(len(sentences))
            words = sentences[chosen].split()
            if not 6 <= len(words) <= 50:
                continue
            rest = Passage(
                " ".join(sentences[:chosen] + sentences[chosen + 1 :]),
                source,
                passages[index].group,
                len(passages),
            )
            passages.append(rest)
            made.append(Question(" ".join(words), source, {index, len(passages) - 1}))
    return made


class Encoder(nn.Module):
    def __init__(self, weights: dict[str, torch.Tensor]) -> None:
        super().__init__()
        config = BertConfig(
            hidden_size=384,
            num_hidden_layers=6,
            num_attention_heads=12,
            intermediate_size=1536,
            layer_norm_eps=1e-12,
        )
        self.bert = BertModel(config)
        self.bert.load_state_dict({k: v.float() for k, v in weights.items()}, strict=False)
        self.classifier = nn.Linear(384, 1)

    def forward(self, ids: torch.Tensor, segments: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        pooled = self.bert(ids, attention_mask=mask, token_type_ids=segments).pooler_output
        return self.classifier(functional.dropout(pooled, 0.1, self.training)).squeeze(-1)

    @torch.no_grad()
    def embed(self, rows: list[list[int]]) -> torch.Tensor:
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        vectors = torch.empty(len(rows), 384, device=DEVICE)
        for start in range(0, len(order), 512):
            part = order[start : start + 512]
            ids, mask = (x.to(DEVICE) for x in pad([[CLS, *rows[i][: LENGTH - 2], SEP] for i in part]))
            with torch.autocast(DEVICE, torch.bfloat16):
                hidden = self.bert(ids, attention_mask=mask).last_hidden_state.float()
            mean = (hidden * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
            vectors[part] = functional.normalize(mean, dim=-1)
        return vectors


def pad(rows: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    width = -(-max(map(len, rows)) // 8) * 8
    ids = np.zeros((len(rows), width), np.int64)
    mask = np.zeros((len(rows), width), np.int64)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = row
        mask[i, : len(row)] = 1
    return torch.from_numpy(ids), torch.from_numpy(mask)


def pair_batch(pairs: list[tuple[list[int], list[int]]]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    rows = [
        [CLS, *q[:QUERY_LENGTH], SEP, *p[: LENGTH - 3 - min(len(q), QUERY_LENGTH)], SEP] for q, p in pairs
    ]
    ids, mask = pad(rows)
    segments = torch.zeros_like(ids)
    for i, (q, _) in enumerate(pairs):
        segments[i, min(len(q), QUERY_LENGTH) + 2 : len(rows[i])] = 1
    return ids, segments, mask


_stemmer = Stemmer.Stemmer("english")


@functools.cache
def stem(word: str) -> str:
    return _stemmer.stemWord(word)


def terms(text: str) -> list[str]:
    return [stem(word) for word in WORD.findall(text.lower())]


def lexical_scores(questions: list[str], texts: list[str]) -> torch.Tensor:
    """BM25 of every question against every text, as one sparse product."""
    vocabulary: dict[str, int] = {}
    counts = [Counter(vocabulary.setdefault(t, len(vocabulary)) for t in terms(x)) for x in texts]
    lengths = np.array([max(1, sum(c.values())) for c in counts])
    frequency = Counter(t for c in counts for t in c)
    rows, columns, values = [], [], []
    for i, count in enumerate(counts):
        norm = 1.2 * (0.25 + 0.75 * lengths[i] / lengths.mean())
        for t, f in count.items():
            idf = math.log(1 + (len(texts) - frequency[t] + 0.5) / (frequency[t] + 0.5))
            rows.append(t)
            columns.append(i)
            values.append(idf * f * 2.2 / (f + norm))
    weights = torch.sparse_coo_tensor(
        torch.tensor([rows, columns]),
        torch.tensor(values, dtype=torch.float32),
        (len(vocabulary), len(texts)),
    ).to(DEVICE)
    asked = torch.zeros(len(questions), len(vocabulary), device=DEVICE)
    for i, question in enumerate(questions):
        for t in terms(question):
            if t in vocabulary:
                asked[i, vocabulary[t]] = 1
    return torch.sparse.mm(weights.t(), asked.t()).t()


def mine(encoder: Encoder, passages: list[Passage], questions: list[Question], depth: int = 40) -> None:
    by_source: dict[str, list[int]] = defaultdict(list)
    by_group: dict[str, list[int]] = defaultdict(list)
    for index, passage in enumerate(passages):
        by_source[passage.source].append(index)
        by_group[passage.group].append(index)
    asked: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        asked[question.source].append(question)
    for source, members in by_source.items():
        if not asked[source]:
            continue
        vectors = encoder.embed([passages[i].ids for i in members])
        part = asked[source]
        dense = encoder.embed([q.ids for q in part]) @ vectors.T
        sparse = lexical_scores([q.text for q in part], [passages[i].text for i in members])
        total = sum((s - s.mean(1, keepdim=True)) / (s.std(1, keepdim=True) + 1e-6) for s in (dense, sparse))
        best = total.topk(min(depth + 10, len(members)), dim=1).indices.tolist()
        for question, ranked in zip(part, best, strict=True):
            allowed = negatives_rule(question, passages)
            question.hard = [members[i] for i in ranked if allowed(members[i])][:depth]
            groups = {passages[p].group for p in question.positives}
            question.near = [i for g in groups for i in by_group[g] if allowed(i)]


def negatives_rule(question: Question, passages: list[Passage]):
    groups = {passages[p].group for p in question.positives}
    texts = {passages[p].text for p in question.positives}
    orders = [passages[p].order for p in question.positives]

    def allowed(index: int) -> bool:
        passage = passages[index]
        if index in question.positives or passage.text in texts:
            return False
        if passage.group in groups:
            if passage.source in RELEVANT_GROUPS:
                return False
            if passage.source == "qmsum" and min(abs(passage.order - o) for o in orders) <= 4:
                return False
        return True

    return allowed


class Sampler:
    def __init__(
        self, passages: list[Passage], questions: list[Question], *, negatives: int, seed: int
    ) -> None:
        self.passages, self.questions, self.negatives = passages, questions, negatives
        self.rng = random.Random(seed)

    def text(self, index: int, context: bool) -> list[int]:
        passage = self.passages[index]
        return passage.with_before if context and passage.with_before else passage.ids

    def draw(self, question: Question) -> list[int]:
        positive = self.rng.choice(tuple(question.positives))
        near = self.rng.sample(question.near, min(len(question.near), self.negatives // 3))
        chosen = dict.fromkeys(near)
        for index in self.rng.sample(question.hard, len(question.hard)):
            if len(chosen) >= self.negatives - 1:
                break
            chosen[index] = None
        while len(chosen) < self.negatives:
            index = self.rng.randrange(len(self.passages))
            if index not in question.positives:
                chosen[index] = None
        return [positive, *chosen]

    def epoch(self, size: int) -> "Batches":
        """Batches of questions from passages of like length, in random order."""
        keyed = sorted(
            self.questions,
            key=lambda q: len(self.passages[next(iter(q.positives))].ids) * self.rng.uniform(0.7, 1.4),
        )
        batches = [keyed[i : i + size] for i in range(0, len(keyed), size)]
        self.rng.shuffle(batches)
        return Batches(self, batches)


class Batches(Dataset):
    """Drawn and padded in worker processes, so that the GPU never waits."""

    def __init__(self, sampler: Sampler, batches: list[list[Question]]) -> None:
        self.sampler, self.batches = sampler, batches

    def __len__(self) -> int:
        return len(self.batches)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        sampler = self.sampler
        sampler.rng = random.Random(hash((sampler.rng.random(), index)))
        pairs = []
        for question in self.batches[index]:
            context = sampler.rng.random() < 0.75
            pairs += [(question.ids, sampler.text(i, context)) for i in sampler.draw(question)]
        return pair_batch(pairs)


@torch.no_grad()
def score(model: Encoder, tokenizer: Tokenizer, rows: list[dict]) -> list[np.ndarray]:
    model.eval()
    flat = []
    for row in rows:
        query = tokenizer.encode(row["query"], add_special_tokens=False).ids
        flat += [(query, e.ids) for e in tokenizer.encode_batch(row["docs"], add_special_tokens=False)]
    order = sorted(range(len(flat)), key=lambda i: len(flat[i][1]))
    values = np.empty(len(flat))
    for start in range(0, len(order), 1024):
        part = order[start : start + 1024]
        with torch.autocast(DEVICE, torch.bfloat16):
            batch = [x.to(DEVICE) for x in pair_batch([flat[i] for i in part])]
            values[part] = model(*batch).float().cpu().numpy()
    model.train()
    return np.split(values, np.cumsum([len(row["docs"]) for row in rows])[:-1])


def judge(model: Encoder, tokenizer: Tokenizer, data: Path) -> None:
    for path in sorted(data.glob("eval_*.json.gz")):
        with gzip.open(path, "rt") as lines:
            rows = json.load(lines)
        logits = score(model, tokenizer, rows)
        out = []
        for weight in (0, 0.3, 0.5, 0.7, 1):
            total = 0.0
            for row, logit in zip(rows, logits, strict=True):
                base = np.array(row["base"])
                z = (logit - logit.mean()) / (logit.std() + 1e-9)
                mixed = weight * z + (1 - weight) * (base - base.mean()) / (base.std() + 1e-9)
                gains = np.array(row["gain"])[np.argsort(-mixed, kind="stable")]
                if "ideal" in row:
                    discount = 1 / np.log2(np.arange(2, 12))
                    total += (gains[:10] * discount).sum() / (
                        np.array(row["ideal"]) * discount[: len(row["ideal"])]
                    ).sum()
                else:
                    total += float(gains[:5].max() > 0)
            out.append(f"{weight}: {total / len(rows):.4f}")
        print(path.name, " ".join(out), flush=True)


def train(args: argparse.Namespace) -> tuple[Encoder, Tokenizer]:
    torch.manual_seed(args.seed)
    started = time.time()
    data = Path(args.data)
    tokenizer = Tokenizer.from_file(str(data / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    passages, questions = read(data, LEFT_OUT | set(args.without.split(",")))
    questions += invent(passages, random.Random(args.seed), args.invented)
    for items in (passages, questions):
        for item, code in zip(
            items, tokenizer.encode_batch([x.text for x in items], add_special_tokens=False), strict=True
        ):
            item.ids = code.ids[:LENGTH]
    spoken = [p for p in passages if p.before]
    for p, code in zip(
        spoken,
        tokenizer.encode_batch([f"{p.before}\n{p.text}" for p in spoken], add_special_tokens=False),
        strict=True,
    ):
        p.with_before = code.ids[-(LENGTH - 32) :]
    weights = load_file(data / "minilm-fp16.safetensors")
    model = Encoder(weights).to(DEVICE)
    model.eval()
    mine(model, passages, questions)
    print(
        f"{len(passages)} passages, {len(questions)} questions, mined after {time.time() - started:.0f} s",
        flush=True,
    )
    model.train()
    sampler = Sampler(passages, questions, negatives=args.negatives, seed=args.seed)
    steps = args.epochs * math.ceil(len(questions) / args.batch)
    optimiser = torch.optim.AdamW(model.parameters(), lr=args.rate, weight_decay=0.01, fused=True)
    average = {k: v.detach().clone() for k, v in model.state_dict().items()}
    step, began = 0, time.time()
    for epoch in range(args.epochs):
        loader = DataLoader(sampler.epoch(args.batch), batch_size=None, num_workers=args.workers)
        for batch in loader:
            # Linear in whichever runs out first, steps or time.
            spent = max(step / steps, (time.time() - began) / (args.seconds - (began - started)))
            for group in optimiser.param_groups:
                group["lr"] = args.rate * min(step / 100, max(0.0, 1 - spent))
            with torch.autocast(DEVICE, torch.bfloat16):
                logits = (
                    model(*(x.to(DEVICE, non_blocking=True) for x in batch))
                    .float()
                    .view(-1, args.negatives + 1)
                )
            target = torch.zeros(len(logits), dtype=torch.long, device=DEVICE)
            truth = torch.zeros_like(logits)
            truth[:, 0] = 1
            loss = functional.cross_entropy(
                logits, target
            ) + 0.3 * functional.binary_cross_entropy_with_logits(
                logits, truth, pos_weight=torch.tensor(3.0, device=DEVICE)
            )
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            step += 1
            decay = min(0.998, 1 - 10 / (10 + step))
            with torch.no_grad():
                for k, v in model.state_dict().items():
                    if v.is_floating_point():
                        average[k].lerp_(v, 1 - decay)
            if step % 100 == 0:
                print(
                    f"epoch {epoch} step {step}/{steps} loss {loss.item():.3f} {time.time() - started:.0f} s",
                    flush=True,
                )
            if time.time() - started > args.seconds:
                break
        kept = {k: v.clone() for k, v in model.state_dict().items()}
        model.load_state_dict(average)
        judge(model, tokenizer, data)
        if epoch + 1 < args.epochs and time.time() - started < args.seconds:
            model.load_state_dict(kept)
        else:
            break
    return model, tokenizer


def save(model: Encoder, out: Path, name: str) -> None:
    """Half-precision parts of at most 15 MB each."""
    state = {k.removeprefix("bert."): v.half().cpu().contiguous() for k, v in model.state_dict().items()}
    words = "embeddings.word_embeddings.weight"
    half = state[words].shape[0] // 2
    parts = [
        {f"{words}.0": state[words][:half].clone()},
        {f"{words}.1": state[words][half:].clone()},
        {k: v for k, v in state.items() if k.startswith("encoder.layer") and int(k.split(".")[2]) < 3},
        {
            k: v
            for k, v in state.items()
            if (not k.startswith("encoder.layer") and k != words)
            or (k.startswith("encoder.layer") and int(k.split(".")[2]) >= 3)
        },
    ]
    out.mkdir(parents=True, exist_ok=True)
    for i, part in enumerate(parts):
        save_file(part, out / f"{name}-{i}.safetensors")


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("out")
    parser.add_argument("--name", default="reranker")
    parser.add_argument("--without", default="", help="sources not to learn from, by commas")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--negatives", type=int, default=15)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--invented", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=480)
    parser.add_argument("--workers", type=int, default=12)
    parser.add_argument("--seed", type=int, default=7)
    return parser


if __name__ == "__main__":
    arguments = options().parse_args()
    save(train(arguments)[0], Path(arguments.out), arguments.name)
