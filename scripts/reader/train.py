"""Teaches the reader: one pass over a request and one tool gives fit, calls, spans, choices. Needs a GPU.

    python scripts/reader/train.py OUT --data FOLDER [--minutes 7] [--all] [--start GRAPH]

FOLDER holds calls.jsonl.xz and tools.jsonl.gz (their digests are checked); the hand-written files lie
beside this program. Starts from the weights inside minilm.onnx; its word and position tables stay as they
are, because the file shares them. OUT receives the weights in parts; `scripts/reader/build.py` turns them
into reader.onnx. `--all` teaches the left-out tools as well, for the weights that ship once the numbers
were seen.
"""

import argparse
import hashlib
import json
import math
import multiprocessing
import random
import sys
import time
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional
from transformers import BertConfig, BertModel

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
import made
from examples import (
    Example,
    Teacher,
    act_rows,
    fit_rows,
    from_collections,
    from_talk,
    from_writing,
    held_out,
)

from steward.language.slots import words_of as name_words

MODELS = Path(__file__).parents[2] / "src/steward/models/data"
RARITY = Path(__file__).parents[2] / "src/steward/selection/data/rarity.npy"
DIGESTS = {
    "calls.jsonl.xz": "faceddd5ef57c164d25e2d67d246bf3fa7ab22f6c8ab41075f04aae455a2c704",
    "tools.jsonl.gz": "9214f9d0787864fdf645cab4f44c998fc4ce1d4356fa2dcd71949d5ac756a871",
}
BATCH, RATE, WIDTH, HIDDEN = 256, 2.5e-4, 192, 384
STEPS_OF_A_WEIGHT = 63  # as in minilm_graph.py
BIASES = {"span_bias": (3,), "choice_bias": ()}
WEIGHTS = {
    "dstc8": 0.4,
    "Schema-Guided": 0.4,
    "written:own": 2.0,
    "written:spoken": 4.0,
    "written:several": 4.0,
    "written:formal": 3.5,
    "written:live": 3.5,
    "written:near": 3.5,
    "written:people": 2.0,
    "written:servers": 3.5,
    "written:shapes": 3.5,
    "written": 2.5,
    "talk": 2.5,
}
FIT_SHARE = 0.35  # rows that teach the judgement of fit alone
ACT_SHARE = 0.12  # and what is done by saying something
PAIR_SHARE, PAIR_STEPS = 0.5, 6  # what comparing requests and tools that are read apart counts, and how often


def check_digests(folder: Path) -> None:
    for name, digest in DIGESTS.items():
        found = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        if found != digest:
            raise SystemExit(f"{name} is not the file that the numbers were seen with: {found}")


def stored_in(graph: Path) -> dict[str, torch.Tensor]:
    """The weights inside one of our ONNX files, under the names that torch gives them."""
    stored = {each.name: numpy_helper.to_array(each) for each in onnx.load(str(graph)).graph.initializer}
    weights = {"embeddings.token_type_embeddings.weight": stored["types"]}
    if "words" in stored:
        weights["embeddings.word_embeddings.weight"] = (
            stored["words"].astype(np.float32) * stored["words.scale"]
        )
        weights["embeddings.position_embeddings.weight"] = stored["positions"]
    for name, value in stored.items():
        path, _, last = name.rpartition(".")
        if last == "weight":
            weights[name] = (value.astype(np.float32) * stored.get(f"{path}.scale", np.float32(1))).T
        elif last == "bias" or name in BIASES:
            weights[name] = value.reshape(BIASES.get(name, value.shape))
        elif last in ("gamma", "beta"):
            place = "embeddings.LayerNorm" if path == "embeddings" else path
            weights[f"{place}.{'weight' if last == 'gamma' else 'bias'}"] = value
    return {name: torch.tensor(np.array(value, dtype=np.float32)) for name, value in weights.items()}


class RoundedLinear(nn.Linear):
    """Computes with the weights as `build.py` will round them, and is taught as if they were exact."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scale = self.weight.detach().abs().amax(dim=1, keepdim=True).clamp(min=1e-12) / STEPS_OF_A_WEIGHT
        rounded = (self.weight.detach() / scale).round() * scale
        return functional.linear(x, self.weight + (rounded - self.weight.detach()), self.bias)


class Reader(nn.Module):
    """The encoder and what is read off it. Outputs are logits."""

    def __init__(self) -> None:
        super().__init__()
        config = BertConfig(
            hidden_size=HIDDEN,
            num_hidden_layers=6,
            num_attention_heads=12,
            intermediate_size=1536,
            layer_norm_eps=1e-12,
            max_position_embeddings=512,
        )
        self.bert = BertModel(config, add_pooling_layer=False)
        missing = self.bert.load_state_dict(stored_in(MODELS / "minilm.onnx"), strict=False)
        assert not missing.unexpected_keys, missing
        for table in ("word_embeddings", "position_embeddings"):
            getattr(self.bert.embeddings, table).weight.requires_grad_(False)

        def head(size: int) -> nn.Sequential:
            return nn.Sequential(nn.Linear(HIDDEN, 512), nn.GELU(), nn.Linear(512, size))

        self.slot, self.token = head(3 * WIDTH), head(3 * WIDTH)
        self.chooser, self.choice = head(WIDTH), head(WIDTH)
        self.there, self.call, self.whole = head(1), head(2), head(9)
        self.span_bias = nn.Parameter(torch.tensor([-4.0, -4.0, -3.0]))
        self.choice_bias = nn.Parameter(torch.tensor(-2.0))
        for each in self.modules():
            if isinstance(each, nn.Linear) and each.out_features > 16:  # small heads keep their weights
                each.__class__ = RoundedLinear

    def go_on_from(self, graph: Path) -> None:
        found = stored_in(graph)
        heads = {name.split(".")[0] for name, _ in self.named_parameters() if not name.startswith("bert.")}
        named = {
            (name if name.split(".")[0] in heads else f"bert.{name}"): each for name, each in found.items()
        }
        missing = self.load_state_dict(named, strict=False)
        assert not missing.unexpected_keys, missing
        assert all("word_emb" in name or "position_emb" in name for name in missing.missing_keys), missing

    def forward(self, batch: dict[str, Any]) -> tuple[torch.Tensor, ...]:
        hidden = self.bert(
            batch["ids"], attention_mask=batch["mask"], token_type_ids=batch["segments"]
        ).last_hidden_state
        rows, tokens = hidden.shape[0], batch["tokens"]
        marks = hidden.gather(1, batch["slots"][:, :, None].expand(-1, -1, HIDDEN))
        asked = hidden[:, 1 : 1 + tokens]
        wanted = self.slot(marks).view(rows, -1, 3, WIDTH)
        offered = self.token(asked).view(rows, tokens, 3, WIDTH)
        spans = torch.einsum("bpcd,btcd->bptc", wanted, offered) / math.sqrt(WIDTH) + self.span_bias
        row, mark, choice = batch["choices"].unbind(1)
        choices = (self.chooser(hidden[row, mark]) * self.choice(hidden[row, choice])).sum(-1)
        return (
            spans.float(),
            self.there(marks).squeeze(-1).float(),
            self.whole(hidden[:, 0]).float(),
            (choices / math.sqrt(WIDTH) + self.choice_bias).float(),
            self.call(asked).float(),
        )


def collate(examples: list[Example]) -> dict[str, Any]:
    rows = len(examples)
    length = max(len(each.layout.ids) for each in examples)
    tokens = max(1, *(each.layout.request_tokens for each in examples))
    slots = max(1, *(len(each.layout.slots) for each in examples))
    batch: dict[str, Any] = {
        "ids": np.zeros((rows, length), np.int32),
        "mask": np.zeros((rows, length), np.int8),
        "segments": np.zeros((rows, length), np.int8),
        "slots": np.zeros((rows, slots), np.int64),
        "slot_mask": np.zeros((rows, slots), np.float32),
        "known": np.zeros((rows, slots), np.float32),
        "there": np.zeros((rows, slots), np.float32),
        "spans": np.zeros((rows, slots, tokens, 3), np.uint8),
        "token_mask": np.zeros((rows, tokens), np.float32),
        "call": np.zeros((rows, tokens, 2), np.float32),
        "fits": np.array([each.fits for each in examples], np.float32),
        "calls": np.array([each.calls - 1 for each in examples], np.int64),
        "total": np.array([each.total - 1 for each in examples], np.int64),
        "counted": np.array([float(each.fits and each.about_slots) for each in examples], np.float32),
    }
    choices, chosen, weights = [], [], []
    for at, each in enumerate(examples):
        layout = each.layout
        size, count = len(layout.ids), len(layout.slots)
        batch["ids"][at, :size] = layout.ids
        batch["mask"][at, :size] = 1
        batch["segments"][at, layout.tool_at : size] = 1
        batch["slots"][at, :count] = layout.slot_marks
        batch["slot_mask"][at, :count] = float(each.about_slots or not each.fits)
        batch["known"][at, :count] = each.known if each.about_slots else [1.0 - each.fits] * count
        batch["there"][at, :count] = each.there
        batch["token_mask"][at, : layout.request_tokens] = 1
        for slot, first, last in each.spans:
            batch["spans"][at, slot, first, 0] = 1
            batch["spans"][at, slot, last, 1] = 1
            batch["spans"][at, slot, first : last + 1, 2] = 1
        batch["call"][at, each.starts, 0] = 1
        for first, last in each.shared:
            batch["call"][at, first : last + 1, 1] = 1
        choices += [
            (at, mark, place) for mark, place in zip(layout.choice_slots, layout.choice_marks, strict=True)
        ]
        chosen += each.chosen
        weights += [1.0 if each.about_slots else 0.15] * len(each.chosen)
    batch["choices"] = np.array(choices, np.int64).reshape(-1, 3)
    batch["chosen"] = np.array(chosen, np.float32)
    batch["choice_weight"] = np.array(weights, np.float32)
    batch["tokens"] = tokens
    return batch


def feed(
    seed: int, rows: list[dict[str, Any]], fits: list[dict[str, Any]], acts: list[dict[str, Any]], queue: Any
) -> None:
    """Makes batches without end, in a process of its own; rows of about one length together."""
    rng = random.Random(seed)
    tokenizer = Tokenizer.from_file(str(MODELS / "minilm-tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tools = [row["tools"][0] for row in rows if row["tools"]]
    teacher = Teacher(lambda text: tokenizer.encode(text, add_special_tokens=False), tools, rng)
    weights = [next((w for key, w in WEIGHTS.items() if row["source"].startswith(key)), 1.0) for row in rows]
    buffer: list[Example] = []
    for row in made.varied(rows, weights, rng):
        buffer += teacher.about(row)
        if rng.random() < FIT_SHARE:
            buffer += teacher.about_fit(rng.choice(fits))
        if rng.random() < ACT_SHARE:
            buffer += teacher.about_fit(made.mistyped(rng.choice(acts), rng))
        if len(buffer) >= BATCH * 12:
            buffer.sort(key=lambda each: len(each.layout.ids))
            batches = [collate(buffer[at : at + BATCH]) for at in range(0, len(buffer) - BATCH + 1, BATCH)]
            rng.shuffle(batches)
            buffer = []
            for batch in batches:
                queue.put(batch)


def on_device(batch: dict[str, Any]) -> dict[str, Any]:
    moved = {name: torch.from_numpy(v).cuda() for name, v in batch.items() if isinstance(v, np.ndarray)}
    for name in ("ids", "mask", "segments"):
        moved[name] = moved[name].long()
    return moved | {"tokens": batch["tokens"]}


def ahead(queue: Any) -> "Queue[dict[str, Any]]":
    """Batches on the device before they are asked for: fetching one takes as long as a step."""
    ready: Queue[dict[str, Any]] = Queue(8)

    def fetch() -> None:
        while True:
            ready.put(on_device(queue.get()))

    for _ in range(3):
        Thread(target=fetch, daemon=True).start()
    return ready


def loss_of(model: Reader, batch: dict[str, Any]) -> torch.Tensor:
    with torch.autocast("cuda", torch.bfloat16):
        spans, there, whole, choices, call = model(batch)
    binary, fits = functional.binary_cross_entropy_with_logits, batch["fits"]
    loss = binary(whole[:, 0], fits)
    counted = batch["counted"]
    several = functional.cross_entropy(whole[:, 1:5], batch["calls"], reduction="none")
    total = functional.cross_entropy(whole[:, 5:9], batch["total"], reduction="none")
    loss = loss + (0.3 * (several * counted).sum() + 0.2 * (total * counted).sum()) / counted.sum().clamp(
        min=1
    )
    slots = batch["slot_mask"]
    tokens = batch["token_mask"][:, None, :, None]
    masked = (slots * batch["known"])[:, :, None, None] * tokens
    span_loss = binary(spans, batch["spans"].float(), reduction="none") * masked
    loss = loss + 0.5 * span_loss.sum() / slots.sum().clamp(min=1)
    weight = slots * torch.where(fits > 0, 1.0, 0.1)[:, None]
    loss = loss + (binary(there, batch["there"], reduction="none") * weight).sum() / weight.sum().clamp(min=1)
    if len(batch["chosen"]):
        by_choice = binary(choices, batch["chosen"], reduction="none") * batch["choice_weight"]
        loss = loss + by_choice.sum() / batch["choice_weight"].sum().clamp(min=1)
    of_calls = (
        binary(call, batch["call"], reduction="none") * (batch["token_mask"] * counted[:, None])[:, :, None]
    )
    return loss + 0.5 * of_calls.sum() / counted.sum().clamp(min=1)


class Pairs:
    """Requests and the tools that serve them, apart: both are read alone, and found again by their pieces.

    That is how a tool is judged where there are hundreds. A request is compared with the tools of its
    batch, all of one source, and with tools that are easily taken for the right one; tools that say nearly
    the same are no mistakes.
    """

    SAME = 0.75
    SIZE = 48

    def __init__(
        self, rows: list[dict[str, Any]], fits: list[dict[str, Any]], model: "Reader", rng: random.Random
    ) -> None:
        self._rng, self._model = rng, model
        self._tokenizer = Tokenizer.from_file(str(MODELS / "minilm-tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._rarity = torch.tensor(np.load(RARITY).astype(np.float32) / 255, device="cuda")
        self._by_source: dict[str, list[tuple[str, list[str], list[str]]]] = {}
        self._missed: dict[str, list[str]] = {}
        for row in fits:
            right = [_told(each) for each in row["right"]]
            wrong = [_told(each) for each in row["wrong"]]
            self._take(row["source"], row["request"], right, wrong)
        for row in rows:
            if row["source"].startswith("written"):
                names = {call["name"] for call in row["calls"]} or {row["tools"][0]["name"]}
                right = [_told(each) for each in row["tools"] if each["name"] in names]
                wrong = (
                    right
                    if row.get("near")
                    else [_told(each) for each in row["tools"] if each["name"] not in names]
                )
                self._take(row["source"], row["request"], [] if row.get("near") else right, wrong)
        self._by_source = {name: each for name, each in self._by_source.items() if len(each) >= 16}
        self._names = list(self._by_source)
        self._weights = [min(len(each), 700) for each in self._by_source.values()]
        self._frozen: dict[str, torch.Tensor] = {}
        self.scales = nn.Parameter(torch.tensor([12.0, 10.0, 6.0], device="cuda"))
        self._freeze()

    def _take(self, source: str, request: str, right: list[str], wrong: list[str]) -> None:
        if right:
            self._by_source.setdefault(source, []).append((request, right, wrong))
        else:
            for tool in wrong:
                self._missed.setdefault(tool, []).append(request)

    @torch.no_grad()
    def _freeze(self) -> None:
        tools = sorted(
            {tool for rows in self._by_source.values() for _, *both in rows for part in both for tool in part}
        )
        for at in range(0, len(tools), 256):
            vectors, _, _ = self._read(tools[at : at + 256])
            self._frozen |= dict(zip(tools[at : at + 256], vectors, strict=True))

    def _read(self, texts: list[str]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        coded = [
            [101, *each.ids[:126], 102]
            for each in self._tokenizer.encode_batch(texts, add_special_tokens=False)
        ]
        length = max(map(len, coded))
        ids = torch.tensor([each + [0] * (length - len(each)) for each in coded], device="cuda")
        mask = torch.tensor([[1] * len(each) + [0] * (length - len(each)) for each in coded], device="cuda")
        hidden = self._model.bert(ids, attention_mask=mask).last_hidden_state
        mean = (hidden * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
        inner = mask.clone()
        inner[:, 0] = 0
        inner[torch.arange(len(coded)), torch.tensor([len(each) - 1 for each in coded])] = 0
        return (
            functional.normalize(mean.float(), dim=-1),
            functional.normalize(hidden.float(), dim=-1),
            self._rarity[ids] * inner,
        )

    def _alike(self, requests: list[str], tools: list[str]) -> torch.Tensor:
        asked, asked_pieces, asked_rarity = self._read(requests)
        told, told_pieces, told_rarity = self._read(tools)
        near = torch.einsum("aid,bjd->abij", asked_pieces, told_pieces)
        near = near.masked_fill((asked_rarity == 0)[:, None, :, None], -1)
        near = near.masked_fill((told_rarity == 0)[None, :, None, :], -1)
        tool = (near.max(2).values * told_rarity[None]).sum(-1) / told_rarity.sum(-1)[None].clamp(min=1e-6)
        request = (near.max(3).values * asked_rarity[:, None]).sum(-1)
        request = request / asked_rarity.sum(-1)[:, None].clamp(min=1e-6)
        return self.scales[0] * (asked @ told.T) + self.scales[1] * tool + self.scales[2] * request

    def loss(self) -> torch.Tensor:
        rng = self._rng
        source = rng.choices(self._names, self._weights)[0]
        rows = self._by_source[source]
        if source.startswith("written"):  # an area is small: three of them together
            rows = rows + [
                row for name in rng.choices(self._names, self._weights, k=2) for row in self._by_source[name]
            ]
        batch = rng.sample(rows, min(self.SIZE, len(rows)))
        tools = [rng.choice(right) for _, right, _ in batch]
        tools += [rng.choice(wrong) for _, _, wrong in batch if wrong][:24]
        missed = [each for tool in tools[: len(batch)] for each in self._missed.get(tool, ())]
        asked = [request for request, _, _ in batch] + rng.sample(missed, min(16, len(missed)))
        with torch.autocast("cuda", torch.bfloat16):
            score = self._alike(asked, tools).float()
        count, table = len(batch), torch.stack([self._frozen[tool] for tool in tools])
        also = (table[:count] @ table.T) > self.SAME
        for row, (_, right, _) in enumerate(batch):
            for column, tool in enumerate(tools):
                also[row, column] |= tool in right
        also &= ~torch.eye(count, len(tools), dtype=torch.bool, device="cuda")
        target = torch.arange(count, device="cuda")
        by_request = functional.cross_entropy(score[:count].masked_fill(also, -1e4), target)
        too = torch.zeros(count, len(asked), dtype=torch.bool, device="cuda")
        too[:, :count] = also[:, :count].T
        by_tool = functional.cross_entropy(score[:, :count].T.masked_fill(too, -1e4), target)
        return by_request + 0.5 * by_tool


def _told(tool: dict[str, Any]) -> str:
    return f"{name_words(tool['name'])}: {(tool.get('description') or '')[:1000]}"


def save(model: Reader, out: Path, tag: str) -> None:
    """In parts of at most 15 MB; the shared tables stay behind."""
    kept = {
        name: value.half().contiguous().cpu()
        for name, value in model.state_dict().items()
        if "word_embeddings" not in name and "position_embeddings" not in name and "position_ids" not in name
    }
    parts: list[dict[str, torch.Tensor]] = [{}]
    size = 0
    for name, value in kept.items():
        if size + value.numel() * 2 > 15e6:
            parts.append({})
            size = 0
        parts[-1][name] = value
        size += value.numel() * 2
    for number, part in enumerate(parts):
        save_file(part, str(out / f"{tag}-{number}.safetensors"))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=7)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--tag", default="reader")
    parser.add_argument("--workers", type=int, default=12)
    parser.add_argument("--start", type=Path, help="reader.onnx to go on from, at a lower rate")
    args = parser.parse_args()
    check_digests(args.data)
    torch.manual_seed(args.seed)
    rng = random.Random(args.seed)
    rows = [
        *from_collections(args.data / "calls.jsonl.xz"),
        *from_writing(Path(__file__).parent / "written", rng),
        *from_talk(Path(__file__).parent / "talk"),
    ]
    if not args.all:
        rows = [
            row
            for row in rows
            if not row["tools"]
            or not held_out(
                row["tools"][0]["name"] if row.get("near") else (row["calls"] or row["tools"])[0]["name"]
            )
        ]
    fits = list(fit_rows(args.data / "tools.jsonl.gz"))
    acts = act_rows(Path(__file__).parent / "acts", rows, rng)
    print(len(rows), "rows,", len(fits), "rows for fit,", len(acts), "for acts", flush=True)
    context = multiprocessing.get_context("fork")
    queue = context.Queue(64)
    feeders = [
        context.Process(target=feed, args=(args.seed * 100 + number, rows, fits, acts, queue), daemon=True)
        for number in range(args.workers)
    ]
    for each in feeders:
        each.start()
    torch.backends.cuda.matmul.allow_tf32 = True
    ready = ahead(queue)
    model = Reader().cuda()
    pairs = Pairs(rows, fits, model, rng)
    if args.start:
        model.go_on_from(args.start)
    heads = [value for name, value in model.named_parameters() if not name.startswith("bert")]
    body = [value for value in model.bert.parameters() if value.requires_grad]
    optimiser = torch.optim.AdamW(
        [{"params": body, "lr": RATE}, {"params": [*heads, pairs.scales], "lr": 4 * RATE}],
        weight_decay=0.01,
        fused=True,
    )
    rates = [group["lr"] * (0.6 if args.start else 1.0) for group in optimiser.param_groups]
    model.train()
    start, step, smooth = time.time(), 0, 0.0
    while (gone := (time.time() - start) / (args.minutes * 60)) < 1:
        batch = ready.get()
        warm = min(1.0, (step + 1) / 200) * max(0.01, 0.5 * (1 + math.cos(math.pi * gone)))
        for group, rate in zip(optimiser.param_groups, rates, strict=True):
            group["lr"] = rate * warm
        loss = loss_of(model, batch)
        (loss + PAIR_SHARE * pairs.loss() if step % PAIR_STEPS == 0 else loss).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        step += 1
        if step % 100 == 0:
            smooth = loss.item() if not smooth else 0.9 * smooth + 0.1 * loss.item()
            if step % 500 == 0:
                print(
                    args.tag,
                    step,
                    round(smooth, 4),
                    f"{time.time() - start:.0f} s",
                    queue.qsize(),
                    flush=True,
                )
    for each in feeders:
        each.terminate()
    save(model, args.out, args.tag)
    (args.out / f"{args.tag}.json").write_text(
        json.dumps({"steps": step, "loss": smooth, "minutes": args.minutes})
    )


if __name__ == "__main__":
    main()
