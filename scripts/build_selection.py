"""Makes what tool selection ships in steward/selection/data.

    python scripts/build_selection.py phrases                  vectors of the capabilities' phrases
    python scripts/build_selection.py rarity TOOLS.jsonl.gz    how rare word pieces are in tools' descriptions

TOOLS holds rows {pool, positive, candidates} with {name, description}; data/README.md says whose. Pools that
gap detection is measured on (`HELD_OUT`) are left out.
"""

import gzip
import json
import sys
from collections import Counter

import numpy as np

from steward.models.embedding import MiniLMEmbedder
from steward.models.minilm import DATA as MODEL_DATA
from steward.models.minilm import MiniLM
from steward.selection.capabilities import DATA, phrases
from steward.selection.definitions import name_words

HELD_OUT = frozenset({"metatool", "bfcl"})
VOCABULARY = 30_522


def write_phrases() -> None:
    embedder = MiniLMEmbedder()
    vectors = embedder.embed(phrases())
    scale = np.abs(vectors).max() / 127
    np.savez_compressed(
        DATA / "capabilities.npz",
        embedder=np.array(embedder.name),
        vectors=np.rint(vectors / scale).astype(np.int8),
        scale=np.float32(scale),
    )


def write_rarity(path: str) -> None:
    texts: set[str] = set()
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["pool"] not in HELD_OUT:
                tools = row["positive"] + row["candidates"]
                texts |= {f"{name_words(t['name'])}: {(t['description'] or '')[:1000]}" for t in tools}
    seen: Counter[int] = Counter()
    for pieces in MiniLM(MODEL_DATA / "minilm.onnx").token_ids(sorted(texts)):
        seen.update(set(pieces))
    rare = np.log((len(texts) + 1) / (np.array([seen[i] for i in range(VOCABULARY)]) + 0.5))
    np.save(DATA / "rarity.npy", np.rint(np.clip(rare / rare.max(), 0, 1) * 255).astype(np.uint8))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["phrases"]:
            write_phrases()
        case ["rarity", tools]:
            write_rarity(tools)
        case _:
            raise SystemExit(__doc__)
