"""A hosted or larger model as an Embedder, over the `/embeddings` of OpenAI's protocol.

Owns the wire, its retries and what goes wrong on it. The provider's own words are left out of errors: they
may quote the text.
"""

import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray

from steward.contract.errors import ConfigError, ErrorCode, ModelError
from steward.models.catalog import LOCAL_OLLAMA, OLLAMA, OPENAI, ModelConfig

BUILT_IN = "minilm"
_OPENAI_ADDRESS = "https://api.openai.com/v1"
_BATCH = 64
_TRIES = 3
_FIX = "Check STEWARD_EMBEDDER and the provider, or unset it to use the built-in one."


class HostedEmbedder:
    """Vectors come back with length one, whatever the provider sends."""

    def __init__(
        self,
        name: str,
        *,
        address: str,
        key: str | None,
        seconds: float,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._name = name
        self._url = f"{address.rstrip('/')}/embeddings"
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._seconds = seconds
        self._sleep = sleep

    @property
    def name(self) -> str:
        return self._name

    @property
    def dimensions(self) -> int:
        return self._dimensions

    @cached_property
    def _dimensions(self) -> int:
        return self.embed(["dimensions"]).shape[1]

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        parts = [self._part(texts[start : start + _BATCH]) for start in range(0, len(texts), _BATCH)]
        vectors = np.concatenate(parts) if parts else np.empty((0, 0), np.float32)
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)

    def _part(self, texts: Sequence[str]) -> NDArray[np.float32]:
        body = {"model": self._name.partition(":")[2], "input": list(texts), "encoding_format": "float"}
        for attempt in range(1, _TRIES + 1):
            try:
                answer = httpx.post(self._url, json=body, headers=self._headers, timeout=self._seconds)
                if answer.is_success:
                    return self._vectors(answer, len(texts))
                failure = self._refused(answer.status_code)
            except httpx.HTTPError as error:
                failure = self._unreachable(error)
            if not failure.retryable or attempt == _TRIES:
                raise failure
            self._sleep(0.5 * 2**attempt)
        raise AssertionError  # pragma: no cover - the last try raised

    def _vectors(self, answer: httpx.Response, expected: int) -> NDArray[np.float32]:
        try:
            rows: list[dict[str, Any]] = sorted(answer.json()["data"], key=lambda row: row["index"])
            vectors = np.array([row["embedding"] for row in rows], np.float32)
        except (ValueError, KeyError, TypeError):
            vectors = np.empty(0, np.float32)
        if vectors.ndim != 2 or len(vectors) != expected or not np.isfinite(vectors).all():
            raise ModelError(
                f"The embedder '{self._name}' did not answer with a vector for each text.",
                code=ErrorCode.MODEL_ANSWER_INVALID,
                fix=_FIX,
            )
        return vectors

    def _refused(self, status: int) -> ModelError:
        code = {
            401: ErrorCode.MODEL_AUTHENTICATION,
            403: ErrorCode.MODEL_AUTHENTICATION,
            404: ErrorCode.MODEL_NOT_FOUND,
            429: ErrorCode.MODEL_RATE_LIMITED,
        }.get(status, ErrorCode.MODEL_UNAVAILABLE if status >= 500 else ErrorCode.MODEL_REJECTED)
        return ModelError(
            f"The embedder '{self._name}' was refused (HTTP {status}).",
            code=code,
            fix=_FIX,
            retryable=status == 429 or status >= 500,
        )

    def _unreachable(self, error: httpx.HTTPError) -> ModelError:
        timed_out = isinstance(error, httpx.TimeoutException)
        return ModelError(
            f"The embedder '{self._name}' {'took too long' if timed_out else 'cannot be reached'}.",
            code=ErrorCode.MODEL_TIMEOUT if timed_out else ErrorCode.MODEL_UNAVAILABLE,
            fix=_FIX,
            retryable=True,
        )


def hosted_embedder(choice: str | None, config: ModelConfig) -> HostedEmbedder | None:
    """The embedder that STEWARD_EMBEDDER names; None for the built-in one."""
    text = (choice or BUILT_IN).strip()
    if text == BUILT_IN:
        return None
    provider, _, name = text.partition(":")
    if not name or provider not in (OPENAI, OLLAMA):
        raise ConfigError(
            f"'{text}' in STEWARD_EMBEDDER is not an embedder.",
            fix=f"Write openai:NAME, ollama:NAME or {BUILT_IN}.",
        )
    if provider == OPENAI and not (config.openai_api_key or config.openai_base_url):
        raise ConfigError(
            f"The embedder '{text}' needs a key.",
            code=ErrorCode.CONFIG_MISSING,
            fix="Set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own.",
        )
    openai = provider == OPENAI
    return HostedEmbedder(
        text,
        address=(config.openai_base_url or _OPENAI_ADDRESS)
        if openai
        else (config.ollama_base_url or LOCAL_OLLAMA),
        key=config.openai_api_key if openai else None,
        seconds=config.request_seconds,
    )
