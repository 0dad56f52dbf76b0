"""Teaches the embedder to bring requests and the tools that serve them together, on one GPU in a few minutes.

Starts from all-MiniLM-L6-v2 as it ships and learns from openly licensed pairs and from those that were
written for it (steward/models/data/FIT.md). A request is compared with the tools of its batch, all of one
source, and with one tool that the frozen embedder confuses with the right one; a tool is compared with the
requests of the batch and with those that only sound as if it could serve them. Tools that say nearly the
same as the right one are no mistakes.

    python scripts/train_fit.py OUT TOOLS.jsonl.gz [...] [--without SOURCE,SOURCE]

TOOLS hold rows {query, positive, candidates, pool, gap}; scripts/fit_sources.py makes one of open
collections. OUT receives the weights in parts; `scripts/build_reranker.py OUT src/steward/models/data fit`
turns them into the ONNX file. Sources that gaps are measured on (`HELD_OUT`) are never trained on;
`--without` leaves out more, to calibrate on them.
"""

import argparse
import gzip
import json
import random
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional
from train_reranker import CLS, DEVICE, SEP, Encoder, pad, save

from steward.selection.definitions import name_words

WRITTEN = Path(__file__).parent / "fit/written.jsonl"
MODELS = Path(__file__).parent.parent / "src/steward/models/data"
RARITY = Path(__file__).parent.parent / "src/steward/selection/data/rarity.npy"
HELD_OUT = frozenset({"metatool", "bfcl"})
LEFT_OUT = frozenset({"apibench"})  # hundreds of models that do the same
LENGTH = 126
SAME = 0.75  # two tools nearer than this may both be right
OF_AN_AREA = 260  # tools in each of the five groups of areas that were written one after the other
MOST = {"tldr": 400}  # requests of a source in an epoch
MOST_OF_ANY = 700
EPOCHS, RATE, BATCH = 8, 3e-5, 32
MISSES, OF_A_TOOL = 16, 0.5  # near misses in a batch, and what a tool's choice of request counts
SCALES = (12.0, 10.0, 6.0)  # of the cosine, of the tool in the request, of the request in the tool


@dataclass
class Request:
    text: str
    source: str
    tools: list[str]
    missed: bool = False  # sounds as if these tools served it, and they do not
    confused: list[str] = field(default_factory=list)


def read(paths: list[str], without: frozenset[str]) -> tuple[list[Request], dict[str, list[str]]]:
    """Requests, and the tools of each source."""
    requests: list[Request] = []
    pools: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                if row["pool"] in HELD_OUT | LEFT_OUT | without:
                    continue
                tools = [_text(tool["name"], tool["description"] or "") for tool in row["positive"]]
                others = [_text(tool["name"], tool["description"] or "") for tool in row["candidates"]]
                pools[row["pool"]] |= dict.fromkeys(tools + others)
                if tools and not row["gap"]:
                    requests.append(Request(row["query"][:1500], row["pool"], tools))
    for number, line in enumerate(WRITTEN.read_text(encoding="utf-8").splitlines()):
        source, row = f"written{number // OF_AN_AREA}", json.loads(line)
        if source not in without:
            tool = _text(row["tool"], row["about"])
            pools[source][tool] = None
            requests += [Request(each, source, [tool]) for each in row["asks"]]
            requests += [Request(each, source, [tool], missed=True) for each in row["near"]]
    return requests, {source: list(tools) for source, tools in pools.items()}


def _text(name: str, description: str) -> str:
    return f"{name_words(name)}: {description[:1000]}"


def shipped() -> dict[str, torch.Tensor]:
    """The weights inside minilm.onnx."""
    graph = onnx.load(str(MODELS / "minilm.onnx")).graph
    stored = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    weights = {
        "embeddings.word_embeddings.weight": stored["words"].astype(np.float32) * stored["words.scale"],
        "embeddings.position_embeddings.weight": stored["positions"],
        "embeddings.token_type_embeddings.weight": stored["types"],
    }
    for name, value in stored.items():
        path, _, last = name.rpartition(".")
        if last == "weight":
            weights[name] = (value.astype(np.float32) * stored[f"{path}.scale"]).T
        elif last == "bias":
            weights[name] = value
        elif last in ("gamma", "beta"):
            place = "embeddings.LayerNorm" if path == "embeddings" else path
            weights[f"{place}.{'weight' if last == 'gamma' else 'bias'}"] = value
    return {name: torch.tensor(np.array(value, dtype=np.float32)) for name, value in weights.items()}


class Reader:
    """Texts through the encoder: a vector each, one for every piece, and how rare the pieces are."""

    def __init__(self) -> None:
        self.encoder = Encoder(shipped()).to(DEVICE)
        # The file shares these with minilm.onnx (steward/models/tables.py).
        for table in ("word_embeddings", "position_embeddings"):
            getattr(self.encoder.bert.embeddings, table).weight.requires_grad_(False)
        self._tokenizer = Tokenizer.from_file(str(MODELS / "minilm-tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._rarity = torch.tensor(np.load(RARITY).astype(np.float32) / 255, device=DEVICE)

    def ids(self, texts: list[str]) -> list[list[int]]:
        coded = self._tokenizer.encode_batch(texts, add_special_tokens=False)
        return [[CLS, *code.ids[:LENGTH], SEP] for code in coded]

    def vectors(self, texts: list[str]) -> torch.Tensor:
        return self.encoder.embed([row[1:-1] for row in self.ids(texts)])

    def read(self, texts: list[str]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        rows = self.ids(texts)
        ids, mask = (each.to(DEVICE) for each in pad(rows))
        hidden = self.encoder.bert(ids, attention_mask=mask).last_hidden_state
        mean = (hidden * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
        inner = mask.clone()
        inner[:, 0] = 0
        inner[torch.arange(len(rows)), torch.tensor([len(row) - 1 for row in rows])] = 0
        vectors = functional.normalize(mean.float(), dim=-1)
        return vectors, functional.normalize(hidden.float(), dim=-1), self._rarity[ids] * inner


def alike(reader: Reader, requests: list[str], tools: list[str], scales: torch.Tensor) -> torch.Tensor:
    """What the judge will look at: both cosines of wholes, and each side's pieces found in the other."""
    asked, asked_pieces, asked_rarity = reader.read(requests)
    told, told_pieces, told_rarity = reader.read(tools)
    near = torch.einsum("aid,bjd->abij", asked_pieces, told_pieces)
    near = near.masked_fill((asked_rarity == 0)[:, None, :, None], -1)
    near = near.masked_fill((told_rarity == 0)[None, :, None, :], -1)
    tool = (near.max(2).values * told_rarity[None]).sum(-1) / told_rarity.sum(-1)[None].clamp(min=1e-6)
    request = (near.max(3).values * asked_rarity[:, None]).sum(-1)
    request = request / asked_rarity.sum(-1)[:, None].clamp(min=1e-6)
    return scales[0] * (asked @ told.T) + scales[1] * tool + scales[2] * request


def mine(reader: Reader, requests: list[Request], pools: dict[str, list[str]]) -> dict[str, torch.Tensor]:
    """Finds what is confused with the right tools; returns the frozen vectors of all tools."""
    frozen: dict[str, torch.Tensor] = {}
    for source, tools in pools.items():
        table = reader.vectors(tools)
        frozen |= dict(zip(tools, table, strict=True))
        own = [each for each in requests if each.source == source]
        asked = reader.vectors([each.text for each in own]) if own else []
        for request, vector in zip(own, asked, strict=True):
            right = torch.stack([frozen[tool] for tool in request.tools])
            score = table @ vector
            score[(table @ right.T).max(1).values > SAME] = -1
            best = score.topk(min(20, len(tools)))
            request.confused = [
                tools[i] for i, s in zip(best.indices.tolist(), best.values.tolist(), strict=True) if s > -1
            ]
    return frozen


def cut(text: str, rng: random.Random) -> str:
    """One request in five ends early, so that no length means anything."""
    words = text.split()
    return text if rng.random() > 0.2 else " ".join(words[: rng.randint(max(3, len(words) // 2), 500)])


def train(args: argparse.Namespace) -> None:
    rng = random.Random(args.seed)
    torch.manual_seed(args.seed)
    requests, pools = read(args.tools, frozenset(filter(None, args.without.split(","))))
    reader = Reader()
    reader.encoder.eval()
    frozen = mine(reader, requests, pools)
    by_source: defaultdict[str, list[Request]] = defaultdict(list)
    misses: defaultdict[str, list[Request]] = defaultdict(list)
    for request in requests:
        if request.missed:
            misses[request.tools[0]].append(request)
        else:
            by_source[request.source].append(request)
    reader.encoder.train()
    scales = nn.Parameter(torch.tensor(SCALES, device=DEVICE))
    optimiser = torch.optim.AdamW(
        [each for each in reader.encoder.bert.parameters() if each.requires_grad], lr=RATE, weight_decay=0.01
    )
    scaling = torch.optim.Adam([scales], lr=1e-2)
    average = {name: value.clone() for name, value in reader.encoder.state_dict().items()}
    steps = EPOCHS * sum(len(drawn(source, each, rng)) for source, each in by_source.items()) // BATCH
    step = 0
    for _ in range(EPOCHS):
        for batch in batches(by_source, rng):
            for group in optimiser.param_groups:
                group["lr"] = RATE * min(1, step / 40) * max(0.02, 1 - step / steps)
            loss = loss_of(reader, batch, misses=misses, frozen=frozen, scales=scales, rng=rng)
            optimiser.zero_grad(set_to_none=True)
            scaling.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(reader.encoder.parameters(), 1.0)
            optimiser.step()
            scaling.step()
            step += 1
            for name, value in reader.encoder.state_dict().items():
                if value.is_floating_point():
                    average[name].lerp_(value, max(0.01, 1 / (step + 1)))
    reader.encoder.load_state_dict(average)
    save(reader.encoder, Path(args.out), "fit")


def drawn(source: str, requests: list[Request], rng: random.Random) -> list[Request]:
    return rng.sample(requests, min(MOST.get(source, MOST_OF_ANY), len(requests)))


def batches(by_source: dict[str, list[Request]], rng: random.Random) -> list[list[Request]]:
    found: list[list[Request]] = []
    for source, requests in by_source.items():
        some = drawn(source, requests, rng)
        found += [some[start : start + BATCH] for start in range(0, len(some) - 7, BATCH)]
    rng.shuffle(found)
    return found


def loss_of(
    reader: Reader,
    batch: list[Request],
    *,
    misses: dict[str, list[Request]],
    frozen: dict[str, torch.Tensor],
    scales: torch.Tensor,
    rng: random.Random,
) -> torch.Tensor:
    """How surely each request finds its own tool among those of the batch, and each tool its request."""
    own = dict.fromkeys(tool for request in batch for tool in request.tools)
    missed = [each for tool in own for each in misses.get(tool, ())]
    asked = batch + rng.sample(missed, min(MISSES, len(missed)))
    tools = [rng.choice(request.tools) for request in batch]
    tools += [rng.choice(request.confused) for request in batch if request.confused]
    with torch.autocast(DEVICE, torch.bfloat16):
        score = alike(reader, [cut(request.text, rng) for request in asked], tools, scales).float()
    count, table = len(batch), torch.stack([frozen[tool] for tool in tools])
    also_right = (table[:count] @ table.T) > SAME
    for row, request in enumerate(batch):
        for column, tool in enumerate(tools):
            also_right[row, column] |= tool in request.tools
    also_right &= ~torch.eye(count, len(tools), dtype=torch.bool, device=DEVICE)
    target = torch.arange(count, device=DEVICE)
    by_request = functional.cross_entropy(score[:count].masked_fill(also_right, -1e4), target)
    asks_too = torch.zeros(count, len(asked), dtype=torch.bool, device=DEVICE)
    asks_too[:, :count] = also_right[:, :count].T
    by_tool = functional.cross_entropy(score[:, :count].T.masked_fill(asks_too, -1e4), target)
    return by_request + OF_A_TOOL * by_tool


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("tools", nargs="+")
    parser.add_argument("--without", default="")
    parser.add_argument("--seed", type=int, default=1)
    train(parser.parse_args())
