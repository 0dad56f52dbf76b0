from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from steward.contract.errors import ConfigError
from steward.models.embedding import MiniLMEmbedder
from steward.models.minilm import DATA, MiniLM, Row
from steward.models.rerank import CrossEncoder

TEXTS = [
    "A cat sat on the mat.",
    "yes",
    "",
    "The stock market fell sharply today. " * 40,
    "😀 ünïcode",
    "yes no",
]


@pytest.fixture(scope="module")
def embedder() -> MiniLMEmbedder:
    return MiniLMEmbedder()


def test_vectors_have_length_one(embedder: MiniLMEmbedder) -> None:
    vectors = embedder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.dimensions)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert embedder.embed([]).shape == (0, embedder.dimensions)


def test_a_text_has_the_same_vector_to_the_bit_in_any_company(embedder: MiniLMEmbedder) -> None:
    together = embedder.embed(TEXTS * 3)
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    assert (together == np.tile(alone, (3, 1))).all()


def test_meaning_decides_what_is_near(embedder: MiniLMEmbedder) -> None:
    cat, kitten, bank = embedder.embed(["a cat", "a small kitten", "interest rates of a bank"])
    assert cat @ kitten > cat @ bank + 0.3


def test_endless_text_is_cut_before_it_costs_anything(embedder: MiniLMEmbedder) -> None:
    assert embedder.embed(["word " * 1_000_000]).shape == (1, 384)


def test_the_cross_encoder_prefers_the_answer() -> None:
    reader = CrossEncoder()
    assert reader.installed
    answer, other = reader.score(
        "When does a swarm leave?",
        ["A swarm leaves with the old queen in May.", "Bread is baked at 230 degrees."],
    )
    assert answer > other + 2


def test_the_cross_encoder_finds_the_answer_at_the_end_of_a_long_passage() -> None:
    long = "The shelf is made of oak and stands beside the window of the hall. " * 14
    with_it, without = CrossEncoder().score(
        "When does a swarm leave?", [long + "A swarm leaves with the old queen in May.", long]
    )
    assert with_it > without + 2


def test_the_cross_encoder_reads_no_further_when_its_time_is_over() -> None:
    assert CrossEncoder().score("When?", ["In May."] * 3, seconds=0).shape == (0,)


def test_a_missing_model_file_is_named() -> None:
    model = MiniLM(DATA / "nothing.onnx")
    assert not model.installed
    with pytest.raises(ConfigError) as refused:
        model.run([([101, 102], [0, 0])])
    assert refused.value.code == "CONFIG_MISSING"


class CountingModel(MiniLM):
    def __init__(self) -> None:
        super().__init__(DATA / "minilm.onnx")
        self.ran = 0

    def run(self, rows: Sequence[Row]) -> list[NDArray[np.float32]]:
        self.ran += len(rows)
        return super().run(rows)


def test_a_page_that_several_ask_about_is_embedded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder, model = MiniLMEmbedder(), CountingModel()
    monkeypatch.setattr(embedder, "_model", model)
    page = "The stock market fell sharply today. " * 800
    first = embedder.embed([page])
    assert (embedder.embed([page, page + "More."]) == first).all()
    assert model.ran == 1
