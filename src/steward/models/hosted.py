"""Models of a provider. Owns today's names for what RES calls AzureModel; imports OpenAI's client."""

from urllib.parse import urlsplit, urlunsplit

from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model
from pydantic_ai.models.ollama import OllamaModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.azure import AzureProvider
from pydantic_ai.providers.ollama import OllamaProvider
from pydantic_ai.providers.openai import OpenAIProvider

from steward.contract.errors import ConfigError, ErrorCode
from steward.models.catalog import AZURE, LOCAL_OLLAMA, OLLAMA, OPENAI, ModelConfig, ModelName

NO_KEY = "none"  # servers of one's own want a key-shaped word, not a key


def provided(name: ModelName, config: ModelConfig) -> Model:
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
