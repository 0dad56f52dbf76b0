"""From a name in the settings to a model that answers.

Owns what the names mean and what each needs. Reading a name imports nothing heavy; making the model
imports Pydantic AI, which takes seconds, so `Catalog.model()` is called when somebody talks.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from steward.contract.errors import ConfigError, ErrorCode
from steward.contract.extras import EXTRAS, missing

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from steward.models.resilient import Patience

PLANNER = "planner"
AZURE = "azure"
OPENAI = "openai"
OLLAMA = "ollama"
LOCAL_OLLAMA = "http://localhost:11434/v1"
REQUEST_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """What the settings say about models. Keys are plain text here and nowhere shown."""

    choice: str | None = None  # STEWARD_MODEL
    azure_endpoint: str | None = None
    azure_api_key: str | None = field(default=None, repr=False)
    azure_deployment: str = "deepseek-v3"
    openai_base_url: str | None = None
    openai_api_key: str | None = field(default=None, repr=False)
    ollama_base_url: str | None = None
    request_seconds: float = REQUEST_SECONDS

    @property
    def azure_is_set(self) -> bool:
        return bool(self.azure_endpoint and self.azure_api_key)


@dataclass(frozen=True, slots=True)
class ModelName:
    """One link of the chain: a provider and what that provider calls the model."""

    provider: str
    name: str

    def __str__(self) -> str:
        return f"{self.provider}:{self.name}" if self.name else self.provider


def read_choice(config: ModelConfig) -> tuple[ModelName, ...]:
    """The chain of models that the settings name, checked as far as that goes without asking anybody."""
    names = [part.strip() for part in (config.choice or "").split(",") if part.strip()]
    if not names:
        names = [AZURE if config.azure_is_set else PLANNER]
    return tuple(_read_name(name, config) for name in names)


def _read_name(text: str, config: ModelConfig) -> ModelName:
    provider, colon, name = text.partition(":")
    if provider == PLANNER:
        return ModelName(PLANNER, "")
    if provider in (AZURE, OPENAI, OLLAMA) and not EXTRAS["openai"].installed:
        lacking = missing("openai", f"The model '{text}'")
        raise ConfigError(lacking.message, code=lacking.code, fix=lacking.fix)
    if provider == AZURE:
        if not config.azure_is_set:
            raise ConfigError(
                f"The model '{text}' needs Azure AI Foundry.",
                code=ErrorCode.CONFIG_MISSING,
                fix="Set AZURE_AI_FOUNDRY_ENDPOINT and AZURE_AI_FOUNDRY_API_KEY.",
            )
        return ModelName(AZURE, name or config.azure_deployment)
    if not colon or not name:
        raise ConfigError(
            f"'{text}' in STEWARD_MODEL is not a model.",
            fix="Write planner, azure:NAME, openai:NAME, ollama:NAME or PROVIDER:NAME.",
        )
    if provider == OPENAI and not (config.openai_api_key or config.openai_base_url):
        raise ConfigError(
            f"The model '{text}' needs a key.",
            code=ErrorCode.CONFIG_MISSING,
            fix="Set OPENAI_API_KEY, or OPENAI_BASE_URL for a compatible server of your own.",
        )
    return ModelName(provider, name)


class Catalog:
    """Makes the configured model once and hands it out."""

    def __init__(
        self, config: ModelConfig, *, planner: "Callable[[], Model]", patience: "Patience | None" = None
    ) -> None:
        self.names = read_choice(config)
        self._config = config
        self._planner = planner
        self._patience = patience
        self._model: Model | None = None

    @property
    def offline(self) -> bool:
        """Whether the first choice is the planner, so that nobody expects a language model's words."""
        return self.names[0].provider == PLANNER

    def __str__(self) -> str:
        return ",".join(map(str, self.names))

    def model(self) -> "Model":
        if self._model is None:
            # Imported here: Pydantic AI takes seconds to load, and most commands never talk to a model.
            from steward.models.building import build_chain  # noqa: PLC0415

            self._model = build_chain(
                self.names, self._config, planner=self._planner, patience=self._patience
            )
        return self._model
