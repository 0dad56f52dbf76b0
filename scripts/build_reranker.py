"""Turns the parts that train_reranker.py wrote into the ONNX file that ships in steward/models/data.

python scripts/build_reranker.py PARTS src/steward/models/data
"""

import sys
from pathlib import Path

import numpy as np
from minilm_graph import cross_encoder
from safetensors.numpy import load_file

NOTE = "MiniLM-L6 cross-encoder for passage re-ranking; training data in RERANKER.md"
WORDS = "embeddings.word_embeddings.weight"


def main() -> None:
    parts, target = Path(sys.argv[1]), Path(sys.argv[2])
    weights: dict[str, np.ndarray] = {}
    for path in sorted(parts.glob("reranker-*.safetensors")):
        weights |= {key: value.astype(np.float32) for key, value in load_file(path).items()}
    weights[WORDS] = np.concatenate([weights.pop(f"{WORDS}.0"), weights.pop(f"{WORDS}.1")])
    model = cross_encoder(weights, note=NOTE)
    (target / "reranker.onnx").write_bytes(model.SerializeToString())


if __name__ == "__main__":
    main()
