"""Passages that behave like text, made up but not random: for benchmarks of search and embedding.

Words are those of the embedder's own vocabulary, which stands in order of frequency, drawn by Zipf's law
(English common words first, so that the tokeniser drops about as many as in prose). A document has a topic
whose words it repeats, and one word in forty is a rare name of its own. Passages have 60 to 240 words, 1,000
characters in the middle: what the chunker makes of prose. Vectors come from a mixture of topics in 48
dimensions, turned into 384 with a little noise: as hard for an index as those of a real corpus, where
neighbours differ in few directions.
"""

import json
from dataclasses import dataclass

import numpy as np

from steward.knowledge.terms import STOP_WORDS
from steward.models.minilm import TOKENIZER

DIMENSIONS, LATENT, TOPICS = 384, 48, 400
DOCUMENT = 20  # passages


@dataclass(frozen=True, slots=True)
class Corpus:
    texts: list[str]
    vectors: np.ndarray
    questions: list[str]  # a few words out of a passage each
    near: np.ndarray  # vectors to look for


def made_up(size: int, questions: int) -> Corpus:
    rng = np.random.default_rng(7)
    texts = _texts(size, rng)
    vectors, near = _vectors(size, questions, rng)
    asked = [_question(texts[i], rng) for i in rng.integers(size, size=questions)]
    return Corpus(texts, vectors, asked, near)


def vocabulary() -> list[str]:
    known = json.loads(TOKENIZER.read_text())["model"]["vocab"]
    words = [w for w in sorted(known, key=known.__getitem__) if w.isascii() and w.isalpha() and len(w) > 1]
    common = [word for word in words if word in STOP_WORDS]
    return common + [word for word in words if word not in STOP_WORDS]


def _texts(size: int, rng: np.random.Generator) -> list[str]:
    words = vocabulary()
    weights = 1 / (np.arange(len(words)) + 2.7)
    cumulative = np.cumsum(weights / weights.sum())
    lengths = np.clip(rng.normal(175, 40, size), 60, 240).astype(int)
    texts: list[str] = []
    for start in range(0, size, DOCUMENT):
        topic = rng.integers(150, len(words), 60)
        for length in lengths[start : start + DOCUMENT]:
            picked = np.searchsorted(cumulative, rng.random(length))
            own = rng.random(length) < 0.15
            picked[own] = topic[rng.integers(len(topic), size=int(own.sum()))]
            said = [words[i] for i in picked.tolist()]
            for place in rng.integers(length, size=length // 40).tolist():
                said[place] = f"{said[place][:4]}{start // DOCUMENT % 997}x"
            texts.append(" ".join(said))
    return texts


def _question(text: str, rng: np.random.Generator) -> str:
    said = text.split()
    start = int(rng.integers(len(said) - 10))
    return " ".join(said[start : start + 10])


def _vectors(size: int, questions: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    centres = rng.normal(size=(TOPICS, LATENT))
    spread = rng.normal(size=(LATENT, DIMENSIONS)) / np.sqrt(LATENT)

    def near(topics: np.ndarray) -> np.ndarray:
        latent = centres[topics] + 1.0 * rng.normal(size=(len(topics), LATENT))
        vectors = latent @ spread + 0.25 * rng.normal(size=(len(topics), DIMENSIONS))
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)

    return near(np.arange(size) // DOCUMENT % TOPICS), near(rng.integers(TOPICS, size=questions))


if __name__ == "__main__":
    print(made_up(DOCUMENT, 1).texts[0])
