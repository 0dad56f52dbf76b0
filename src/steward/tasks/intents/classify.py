"""The intent classifier: a softmax regression over hashed features, shipped as one small file."""

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from steward.tasks.intents.features import features


class Intent(StrEnum):
    ADD = "add"
    LIST = "list"
    COMPLETE = "complete"
    DELETE = "delete"
    UPDATE = "update"
    OTHER = "other"
    ASK = "ask"  # a thing without a verb: only a question can tell what to do with it


LABELS = tuple(Intent)


@dataclass(frozen=True, slots=True)
class Model:
    """One row of weights per feature bucket, one column per intent, in eighths of `scale`."""

    weights: NDArray[np.int8]
    scale: float


@dataclass(frozen=True, slots=True)
class Guess:
    intent: Intent
    confidence: float


@cache
def load_model() -> Model:
    data = files("steward.tasks.intents").joinpath("model.npz").read_bytes()
    with np.load(BytesIO(data)) as stored:
        return Model(stored["weights"], float(stored["scale"]))


def probabilities(utterance: str, model: Model | None = None) -> dict[Intent, float]:
    model = model or load_model()
    picked = model.weights[features(utterance)].astype(np.float32)
    scores = picked.sum(axis=0) * model.scale
    shares = np.exp(scores - scores.max())
    shares /= shares.sum()
    return {label: float(share) for label, share in zip(LABELS, shares, strict=True)}


def classify(utterance: str, model: Model | None = None) -> Guess:
    shares = probabilities(utterance, model)
    best = max(shares, key=lambda label: shares[label])
    return Guess(best, shares[best])
