"""An embedder elsewhere, over a real HTTP server that says what the test scripted."""

import asyncio
import json
from collections.abc import Sequence

import numpy as np
import pytest
from tests.support.scripted_model import (
    BAD_KEY,
    RATE_LIMIT,
    SERVER_ERROR,
    Garbage,
    Refuse,
    Scripted,
    scripted_model,
)

from steward.contract.errors import ConfigError, ModelError
from steward.models.catalog import ModelConfig
from steward.models.hosted_embedding import HostedEmbedder, hosted_embedder


def vectors(rows: Sequence[Sequence[float]]) -> Garbage:
    data = [{"index": i, "embedding": list(row)} for i, row in enumerate(rows)]
    return Garbage(body=json.dumps({"data": data[::-1]}).encode())


async def embed(
    texts: Sequence[str], *script: Scripted
) -> tuple[np.ndarray, list[dict[str, object]], list[float]]:
    async with scripted_model(*script) as server:
        waited: list[float] = []
        embedder = HostedEmbedder(
            "openai:big", address=server.address, key="sk-1", seconds=10, sleep=waited.append
        )
        made = await asyncio.to_thread(embedder.embed, texts)
        assert {header["authorization"] for header in server.headers} == {"Bearer sk-1"}
        return made, server.requests, waited


async def test_vectors_come_in_the_order_of_the_texts_and_with_length_one() -> None:
    made, requests, _ = await embed(["a", "b"], vectors([[3, 4], [0, 2]]))
    assert made.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0, 1]]
    assert requests == [{"model": "big", "input": ["a", "b"], "encoding_format": "float"}]


async def test_many_texts_go_in_batches() -> None:
    made, requests, _ = await embed(["x"] * 130, lambda request: vectors([[1, 0, 0]] * len(request["input"])))
    assert made.shape == (130, 3)
    assert [len(request["input"]) for request in requests] == [64, 64, 2]


async def test_dimensions_are_those_of_an_answer() -> None:
    async with scripted_model(vectors([[1, 2, 3]])) as server:
        embedder = HostedEmbedder("openai:big", address=server.address, key=None, seconds=10)
        assert await asyncio.to_thread(lambda: (embedder.dimensions, embedder.dimensions)) == (3, 3)
        assert len(server.requests) == 1


@pytest.mark.parametrize("failure", [RATE_LIMIT, SERVER_ERROR])
async def test_a_passing_failure_is_tried_again(failure: Refuse) -> None:
    made, requests, waited = await embed(["a"], failure, failure, vectors([[1, 0]]))
    assert (made.tolist(), len(requests), waited) == ([[1, 0]], 3, [1.0, 2.0])


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (BAD_KEY, "MODEL_AUTHENTICATION"),
        (Refuse(404), "MODEL_NOT_FOUND"),
        (Refuse(400), "MODEL_REJECTED"),
        (SERVER_ERROR, "MODEL_UNAVAILABLE"),
        (Garbage(), "MODEL_ANSWER_INVALID"),
        (vectors([[1.0], [2.0]]), "MODEL_ANSWER_INVALID"),
        (Garbage(body=b'{"data": [{"index": 0, "embedding": ["no"]}]}'), "MODEL_ANSWER_INVALID"),
    ],
)
async def test_what_goes_wrong_has_its_code_and_hides_the_providers_words(
    answer: Scripted, code: str
) -> None:
    with pytest.raises(ModelError) as failed:
        await embed(["a"], answer)
    assert failed.value.code == code
    assert "sk-secret" not in failed.value.explain()


async def test_a_server_that_is_not_there_is_said() -> None:
    embedder = HostedEmbedder(
        "ollama:big", address="http://127.0.0.1:9", key=None, seconds=5, sleep=lambda _: None
    )
    with pytest.raises(ModelError) as failed:
        await asyncio.to_thread(embedder.embed, ["a"])
    assert (failed.value.code, failed.value.retryable) == ("MODEL_UNAVAILABLE", True)


def test_a_name_means_an_embedder() -> None:
    config = ModelConfig(openai_api_key="k")
    assert hosted_embedder(None, config) is None
    assert hosted_embedder("minilm", config) is None
    openai, ollama = hosted_embedder("openai:a", config), hosted_embedder("ollama:b:7b", config)
    assert openai is not None
    assert ollama is not None
    assert (openai.name, ollama.name) == ("openai:a", "ollama:b:7b")


@pytest.mark.parametrize(
    ("choice", "code"),
    [("openai:a", "CONFIG_MISSING"), ("openai:", "CONFIG_INVALID"), ("cohere:a", "CONFIG_INVALID")],
)
def test_a_name_that_cannot_work_is_refused(choice: str, code: str) -> None:
    with pytest.raises(ConfigError) as refused:
        hosted_embedder(choice, ModelConfig())
    assert refused.value.code == code
