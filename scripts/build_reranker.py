"""Turns the parts that a training wrote into the ONNX file that ships in steward/models/data.

python scripts/build_reranker.py PARTS src/steward/models/data        what train_reranker.py wrote
python scripts/build_reranker.py PARTS src/steward/models/data fit    what train_fit.py wrote
"""

import sys
from pathlib import Path

import numpy as np
from minilm_graph import cross_encoder, sentence_embedder
from safetensors.numpy import load_file

NOTE = "MiniLM-L6 cross-encoder for passage re-ranking; training data in RERANKER.md"
FIT_NOTE = "MiniLM-L6 that reads requests and tools' definitions; training data in FIT.md"
SHARED = ("words", "words.scale", "positions")
WORDS = "embeddings.word_embeddings.weight"


def main() -> None:
    parts, target = Path(sys.argv[1]), Path(sys.argv[2])
    name = sys.argv[3] if len(sys.argv) > 3 else "reranker"
    weights: dict[str, np.ndarray] = {}
    for path in sorted(parts.glob(f"{name}-*.safetensors")):
        weights |= {key: value.astype(np.float32) for key, value in load_file(path).items()}
    weights[WORDS] = np.concatenate([weights.pop(f"{WORDS}.0"), weights.pop(f"{WORDS}.1")])
    model = (
        sentence_embedder(weights, note=FIT_NOTE, fine=True)
        if name == "fit"
        else cross_encoder(weights, note=NOTE)
    )
    if name == "fit":  # it gets these of minilm.onnx when it is loaded
        kept = [each for each in model.graph.initializer if each.name not in SHARED]
        del model.graph.initializer[:]
        model.graph.initializer.extend(kept)
    (target / f"{name}.onnx").write_bytes(model.SerializeToString())


if __name__ == "__main__":
    main()
