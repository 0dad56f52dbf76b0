"""Models of a provider. Owns today's names for RES's AzureModel; imports only the client it needs."""

from urllib.parse import urlsplit, urlunsplit

from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model

from steward.contract.errors import ConfigError, ErrorCode
from steward.contract.extras import missing
from steward.models.catalog import AZURE, LOCAL_OLLAMA, OLLAMA, OPENAI, ModelConfig, ModelName

OTHER_PROVIDERS = ("anthropic", "bedrock", "cohere", "google", "groq", "mistral")  # each an extra of its name
NO_KEY = "none"  # servers of one's own want a key-shaped word, not a key


def provided(name: ModelName, config: ModelConfig) -> Model:
    return _of_openai(name, config) if name.provider in (AZURE, OPENAI, OLLAMA) else _inferred(name)


def _of_openai(name: ModelName, config: ModelConfig) -> Model:
    """Imports OpenAI's client, which is an extra: the catalog has looked whether it is there."""
    from pydantic_ai.models.ollama import OllamaModel  # noqa: PLC0415
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415
    from pydantic_ai.providers.azure import AzureProvider  # noqa: PLC0415
    from pydantic_ai.providers.ollama import OllamaProvider  # noqa: PLC0415
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415

    match name.provider:
        case x if x == AZURE and config.azure_endpoint:
            address = foundry_address(config.azure_endpoint)
            provider = AzureProvider(azure_endpoint=address, api_key=config.azure_api_key)
            return OpenAIChatModel(name.name, provider=provider)
        case x if x == OLLAMA:
            address = config.ollama_base_url or LOCAL_OLLAMA
            return OllamaModel(name.name, provider=OllamaProvider(base_url=address))
        case _:
            # Servers that imitate OpenAI speak its chat interface, so that is the one for all of them.
            key = config.openai_api_key or NO_KEY
            return OpenAIChatModel(
                name.name, provider=OpenAIProvider(base_url=config.openai_base_url, api_key=key)
            )


def _inferred(name: ModelName) -> Model:
    """Any other provider that Pydantic AI knows; it finds that provider's key by itself."""
    try:
        return infer_model(str(name))
    except (UserError, ValueError) as error:
        raise ConfigError(
            f"The model '{name}' cannot be used: {error}", fix="Correct STEWARD_MODEL or set what it needs."
        ) from None
    except ImportError as error:
        extra = next((each for each in OTHER_PROVIDERS if name.provider.startswith(each)), None)
        if extra is not None:
            lacking = missing(extra, f"The model '{name}'")
            raise ConfigError(lacking.message, code=lacking.code, fix=lacking.fix) from None
        raise ConfigError(
            f"The model '{name}' needs a package that is not installed: {error}",
            code=ErrorCode.EXTRA_MISSING,
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
