"""`/v1/embeddings`: the library's own vectors, for programs that keep an index of their own."""

import asyncio
import base64
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import Field

from steward.contract.errors import NotFoundError
from steward.surfaces.api.identity import Worker
from steward.surfaces.api.openai.asking import OpenAIBody
from steward.surfaces.api.openai.wire import ERRORS, UnservedParameterError, count
from steward.surfaces.api.state import Here

router = APIRouter(prefix="/v1", tags=["openai"])

MOST_TEXTS = 2_048
MOST_CHARACTERS = 2_000_000


class EmbeddingBody(OpenAIBody):
    model: str = Field(examples=["all-MiniLM-L6-v2"])
    input: str | list[Any] = Field(examples=["How hot for bread?"])
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None
    user: str | None = None


@router.post("/embeddings", responses=ERRORS)
async def create_embeddings(platform: Here, body: EmbeddingBody, _: Worker) -> dict[str, Any]:
    """One vector a text, in their order."""
    embedder = platform.library.embedder
    if not makes_vectors(embedder.name, body.model):
        raise NotFoundError(
            f"The model '{body.model[:80]}' does not exist.",
            code="model_not_found",
            fix=f"The model for vectors is '{embedder.name.partition('/')[0]}'.",
            details={"parameter": "model"},
        )
    if body.dimensions not in (None, embedder.dimensions):
        raise UnservedParameterError(
            "dimensions", f"Vectors have {embedder.dimensions} dimensions.", fix="Leave it out."
        )
    texts = _texts(body.input)
    vectors = await asyncio.to_thread(embedder.embed, texts)
    data = [
        {"object": "embedding", "index": at, "embedding": _coded(vector, body.encoding_format)}
        for at, vector in enumerate(vectors)
    ]
    read = await asyncio.to_thread(lambda: sum(map(count, texts)))
    usage = {"prompt_tokens": read, "total_tokens": read}
    return {"object": "list", "data": data, "model": body.model, "usage": usage}


def makes_vectors(name: str, asked: str) -> bool:
    """Whether this is what makes our vectors, with or without how it was packed."""
    return asked in (name, name.partition("/")[0])


def _texts(given: str | list[Any]) -> list[str]:
    texts = [given] if isinstance(given, str) else given
    fits = 1 <= len(texts) <= MOST_TEXTS and all(isinstance(text, str) and text.strip() for text in texts)
    if not fits or sum(map(len, texts)) > MOST_CHARACTERS:
        raise UnservedParameterError(
            "input",
            f"'input' is not 1 to {MOST_TEXTS} texts of at most {MOST_CHARACTERS:,} characters in all.",
            fix="Send texts that are not empty, no tokens.",
        )
    return texts


def _coded(vector: Any, form: str) -> Any:
    if form == "float":
        return vector.tolist()
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()
