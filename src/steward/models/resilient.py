"""A model that is tried again when that can help.

Owns retries, their pace, and handing out our errors instead of Pydantic AI's. Does not own which
models there are (catalog.py) or moving on to another one (Pydantic AI's FallbackModel).
"""

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from pydantic_ai import exceptions as theirs
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings, merge_model_settings
from pydantic_ai.tools import RunContext

from steward.models.failures import explain, uncategorised

RETRIES = 2  # RES-FR-004
_TRANSIENT = (
    theirs.ModelRateLimitError,
    theirs.ModelQuotaExceededError,  # two more tries and then the plain words (RES-EDGE-05)
    theirs.ModelUnavailableError,
    theirs.ModelServerError,
    theirs.ModelConnectionError,
    theirs.ModelRequestTimeout,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How often and how fast to try again."""

    retries: int = RETRIES
    first_wait: float = 0.5
    longest_wait: float = 20.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = random.random  # 0 to 1

    def wait_before(self, attempt: int, *, asked: float | None) -> float | None:
        """Seconds before this attempt (1 is the first retry); None when waiting that long makes no sense."""
        if asked is not None and asked > self.longest_wait:
            return None
        wait = self.first_wait * 2 ** (attempt - 1) * (1 + self.jitter() / 2)
        return min(max(wait, asked or 0.0), self.longest_wait)


class ResilientModel(WrapperModel):
    def __init__(
        self,
        wrapped: Model,
        *,
        patience: Patience | None = None,
        shown_name: str | None = None,
        defaults: ModelSettings | None = None,
    ) -> None:
        super().__init__(wrapped)
        self._defaults = defaults
        self._patience = patience or Patience()
        self._shown_name = shown_name or wrapped.model_name

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        settings = merge_model_settings(self._defaults, model_settings)

        async def once() -> ModelResponse:
            return await self.wrapped.request(messages, settings, model_request_parameters)

        return await self._patiently(once)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """Opening the stream is tried again; once words have come out, a failure is final."""
        settings = merge_model_settings(self._defaults, model_settings)
        async with AsyncExitStack() as stack:

            async def open_stream() -> StreamedResponse:
                stream = self.wrapped.request_stream(
                    messages, settings, model_request_parameters, run_context
                )
                return await stack.enter_async_context(stream)

            streamed = await self._patiently(open_stream)
            try:
                yield streamed
            except theirs.AgentRunError as error:
                if isinstance(error, theirs.ModelAPIError | theirs.UnexpectedModelBehavior):
                    raise explain(error, model=self._shown_name) from None
                raise

    async def _patiently(self, once: Callable[[], Awaitable[Any]]) -> Any:
        attempt = 0
        while True:
            try:
                return await once()
            except (theirs.ModelAPIError, theirs.UnexpectedModelBehavior) as error:
                attempt += 1
                wait = self._wait(error, attempt)
                if wait is None:
                    # The cause is dropped on purpose: its text may quote the prompt or a key.
                    raise explain(error, model=self._shown_name) from None
            await self._patience.sleep(wait)

    def _wait(self, error: theirs.AgentRunError, attempt: int) -> float | None:
        if attempt > self._patience.retries:
            return None
        if isinstance(error, theirs.ModelAPIError):
            worth_it = isinstance(error, _TRANSIENT) or uncategorised(error)
            return self._patience.wait_before(attempt, asked=error.retry_after) if worth_it else None
        return self._patience.wait_before(attempt, asked=None)  # garbage: another answer may be fine
