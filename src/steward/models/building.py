"""Making Pydantic AI models. Owns today's names for what RES calls AzureModel; imports Pydantic AI."""

from collections.abc import Callable
from typing import cast
from urllib.parse import urlsplit, urlunsplit

from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.ollama import OllamaModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.azure import AzureProvider
from pydantic_ai.providers.ollama import OllamaProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings

from steward.contract.errors import ConfigError, ErrorCode, ModelError
from steward.models.catalog import AZURE, LOCAL_OLLAMA, OLLAMA, OPENAI, PLANNER, ModelConfig, ModelName
from steward.models.resilient import Patience, ResilientModel

NO_KEY = "none"  # servers of one's own want a key-shaped word, not a key


def build_chain(
    names: tuple[ModelName, ...],
    config: ModelConfig,
    *,
    planner: Callable[[], Model],
    patience: Patience | None = None,
) -> Model:
    models = [_build(name, config, planner=planner, patience=patience) for name in names]
    if len(models) == 1:
        return models[0]
    return FallbackModel(models[0], *models[1:], fallback_on=(ModelError,))


def _build(
    name: ModelName, config: ModelConfig, *, planner: Callable[[], Model], patience: Patience | None
) -> Model:
    if name.provider == PLANNER:
        return planner()
    model = _provided(name, config)
    # The client's own retries are off: two layers of them would try nine times instead of three.
    wanted = ModelSettings(timeout=config.request_seconds, max_retries=0)
    known = {key: value for key, value in wanted.items() if key not in model.unsupported_settings}
    return ResilientModel(
        model, patience=patience, shown_name=str(name), defaults=cast("ModelSettings", known)
    )


def _provided(name: ModelName, config: ModelConfig) -> Model:
    match name.provider:
        case x if x == AZURE and config.azure_endpoint:
            address = foundry_address(config.azure_endpoint)
            provider = AzureProvider(azure_endpoint=address, api_key=config.azure_api_key)
            return OpenAIChatModel(name.name, provider=provider)
        case x if x == OPENAI:
            # Servers that imitate OpenAI speak its chat interface, so that is the one for all of them.
            key = config.openai_api_key or NO_KEY
            return OpenAIChatModel(
                name.name, provider=OpenAIProvider(base_url=config.openai_base_url, api_key=key)
            )
        case x if x == OLLAMA:
            address = config.ollama_base_url or LOCAL_OLLAMA
            return OllamaModel(name.name, provider=OllamaProvider(base_url=address))
        case _:
            return _inferred(name)


def _inferred(name: ModelName) -> Model:
    """Any other provider that Pydantic AI knows; it finds that provider's key by itself."""
    try:
        return infer_model(str(name))
    except (UserError, ValueError) as error:
        raise ConfigError(
            f"The model '{name}' cannot be used: {error}", fix="Correct STEWARD_MODEL or set what it needs."
        ) from None
    except ImportError as error:
        raise ConfigError(
            f"The model '{name}' needs a package that is not installed: {error}",
            code=ErrorCode.CONFIG_MISSING,
            fix="Install it beside Steward, or set STEWARD_MODEL to another model.",
        ) from None


def foundry_address(endpoint: str) -> str:
    """Where a Foundry resource speaks OpenAI's protocol, from the address its page shows.

    The page shows the bare resource or its `/models` interface; the protocol lives under `/openai/v1`.
    """
    parts = urlsplit(endpoint.strip())
    if not parts.scheme or not parts.netloc:
        raise ConfigError(
            f"AZURE_AI_FOUNDRY_ENDPOINT is '{endpoint}'.", fix="Write it with https://, as its page shows it."
        )
    path = parts.path.rstrip("/")
    if path.endswith("/v1") or parts.netloc.endswith(".models.ai.azure.com"):
        return endpoint.strip()
    if path in ("", "/models", "/openai"):
        path = "/openai/v1"
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))
