"""From a name in the settings to a chain of models."""

import pytest
from pydantic_ai import Agent
from tests.support.scripted_model import Say, scripted_model

from steward.contract.errors import ConfigError
from steward.models.catalog import Catalog, ModelConfig, ModelName, read_choice
from steward.models.hosted import foundry_address

FOUNDRY = {"azure_endpoint": "https://r.services.ai.azure.com", "azure_api_key": "k"}


@pytest.mark.req("ORC-ASM-2")
@pytest.mark.req("RES-FR-034")
@pytest.mark.parametrize(
    ("config", "chain"),
    [
        (ModelConfig(), ["planner"]),
        (ModelConfig(choice="planner"), ["planner"]),
        (ModelConfig(choice=" , "), ["planner"]),
        (ModelConfig(**FOUNDRY), ["azure:deepseek-v3"]),
        (ModelConfig(**FOUNDRY, azure_deployment="mine"), ["azure:mine"]),
        (ModelConfig(choice="planner", **FOUNDRY), ["planner"]),
        (ModelConfig(choice="azure:deepseek-v3", **FOUNDRY), ["azure:deepseek-v3"]),
        (ModelConfig(choice="ollama:qwen3:30b-a3b"), ["ollama:qwen3:30b-a3b"]),
        (ModelConfig(choice="openai:gpt-5", openai_api_key="k"), ["openai:gpt-5"]),
        (ModelConfig(choice="anthropic:claude-sonnet-4-5"), ["anthropic:claude-sonnet-4-5"]),
        (
            ModelConfig(choice="azure:deepseek-v3, ollama:qwen3:30b-a3b,planner", **FOUNDRY),
            ["azure:deepseek-v3", "ollama:qwen3:30b-a3b", "planner"],
        ),
    ],
)
def test_a_name_means_one_chain_of_models(config: ModelConfig, chain: list[str]) -> None:
    assert [str(name) for name in read_choice(config)] == chain


@pytest.mark.parametrize(
    ("config", "code"),
    [
        (ModelConfig(choice="azure:deepseek-v3"), "CONFIG_MISSING"),
        (ModelConfig(choice="openai:gpt-5"), "CONFIG_MISSING"),
        (ModelConfig(choice="gpt-5"), "CONFIG_INVALID"),
        (ModelConfig(choice="ollama:"), "CONFIG_INVALID"),
    ],
)
def test_a_name_that_cannot_work_is_refused_before_anybody_is_asked(config: ModelConfig, code: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_choice(config)
    assert refused.value.code == code


@pytest.mark.parametrize("choice", ["nobody:x", "anthropic:claude-sonnet-4-5"])
def test_a_provider_that_cannot_be_made_is_a_plain_error(
    choice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(ConfigError):
        Catalog(ModelConfig(choice=choice), planner=_no_planner).model()


def test_keys_are_not_shown() -> None:
    config = ModelConfig(azure_endpoint="https://r", azure_api_key="hush", openai_api_key="hush")
    assert "hush" not in repr(config)


def test_a_catalog_says_its_chain_and_whether_it_is_offline() -> None:
    catalog = Catalog(ModelConfig(choice="planner"), planner=_no_planner)
    assert (str(catalog), catalog.offline) == ("planner", True)
    assert not Catalog(ModelConfig(**FOUNDRY), planner=_no_planner).offline


@pytest.mark.parametrize(
    ("endpoint", "address"),
    [
        ("https://r.services.ai.azure.com", "https://r.services.ai.azure.com/openai/v1"),
        ("https://r.services.ai.azure.com/models", "https://r.services.ai.azure.com/openai/v1"),
        ("https://r.openai.azure.com/openai/v1/", "https://r.openai.azure.com/openai/v1/"),
        ("https://x.eastus.models.ai.azure.com", "https://x.eastus.models.ai.azure.com"),
    ],
)
def test_the_address_a_foundry_page_shows_leads_to_its_openai_protocol(endpoint: str, address: str) -> None:
    assert foundry_address(endpoint) == address


def test_an_endpoint_without_a_scheme_is_refused() -> None:
    with pytest.raises(ConfigError):
        foundry_address("r.services.ai.azure.com")


@pytest.mark.req("RES-FR-001", "RES-FR-027")
async def test_azure_by_its_variables_talks_to_that_deployment_with_that_key() -> None:
    async with scripted_model(Say("Paris")) as server:
        endpoint = server.address.removesuffix("/v1")
        catalog = Catalog(ModelConfig(azure_endpoint=endpoint, azure_api_key="k-1"), planner=_no_planner)
        result = await Agent(catalog.model()).run("Capital of France?")
    assert (result.output, server.paths, server.requests[0]["model"], server.headers[0]["authorization"]) == (
        "Paris",
        ["/openai/v1/chat/completions"],
        "deepseek-v3",
        "Bearer k-1",
    )


@pytest.mark.req("RES-ART-I.G")
@pytest.mark.req("RES-FR-034")
@pytest.mark.parametrize("choice", ["openai:any", "ollama:qwen3:30b-a3b"])
async def test_the_same_agent_runs_on_another_provider_by_configuration_alone(choice: str) -> None:
    async with scripted_model(Say("hello")) as server:
        config = ModelConfig(choice=choice, openai_base_url=server.address, ollama_base_url=server.address)
        result = await Agent(Catalog(config, planner=_no_planner).model()).run("Hi")
    assert (result.output, server.requests[0]["model"]) == ("hello", ModelName(*choice.split(":", 1)).name)


async def test_a_catalog_makes_its_model_once() -> None:
    catalog = Catalog(ModelConfig(choice="ollama:x"), planner=_no_planner)
    assert catalog.model() is catalog.model()


def _no_planner() -> object:
    raise AssertionError("nobody asked for the planner")
