"""What a request needs, asked of a language model over the real wire."""

import json
from collections.abc import AsyncIterator

import pytest
from fastmcp import Client, FastMCP
from tests.support.scripted_model import BAD_KEY, Garbage, Say, ScriptedModel, scripted_model

from steward.agents.assistant.model_needs import ModelExtractor, read_capabilities
from steward.contract.ports import Capability
from steward.models.catalog import Catalog, ModelConfig
from steward.models.embedding import MiniLMEmbedder
from steward.selection.capabilities import LexiconExtractor
from steward.selection.gaps import GapFinder

READER = MiniLMEmbedder()
TASK = "Get the seismograph ready for tomorrow"
SAID = {"capabilities": [{"name": "seismograph_control", "description": "Calibrate a seismograph"}]}


@pytest.fixture
async def server() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as server:
        yield server


def extractor(server: ScriptedModel) -> ModelExtractor:
    config = ModelConfig(choice="openai:m", openai_base_url=server.address)
    models = Catalog(config, planner=lambda: pytest.fail("no planner here"))
    return ModelExtractor(models.model, known=["email_sending"], otherwise=LexiconExtractor(READER))


@pytest.mark.req("RES-FR-011")
async def test_the_model_says_what_a_request_needs(server: ScriptedModel) -> None:
    server.answer(Say(f"```json\n{json.dumps(SAID)}\n```"))
    found = await extractor(server).extract(TASK)
    [request] = server.requests
    told = json.dumps(request["messages"])
    assert found == (Capability("seismograph_control", "Calibrate a seismograph"),)
    assert ("email_sending" in told, TASK in told, request.get("tools")) == (True, True, None)


@pytest.mark.req("RES-FR-011", "RES-FR-012")
async def test_what_the_model_names_is_compared_with_the_tools(server: ScriptedModel) -> None:
    server.answer(Say(json.dumps(SAID)))
    tools: FastMCP = FastMCP("clock")

    @tools.tool
    def get_current_time(timezone: str = "UTC") -> str:
        """Get the current time in a timezone."""
        return timezone

    async with Client(tools) as session:
        detector = GapFinder(session, reader=READER, extractor=extractor(server))
        report = await detector.detect_missing_tools(TASK)
    assert report is not None
    assert report.missing_tools == ["seismograph_control"]


@pytest.mark.parametrize("answer", [BAD_KEY, Garbage(), Say("I would rather write a poem.")])
async def test_a_model_that_fails_leaves_it_to_the_lexicon(
    server: ScriptedModel, answer: Say | Garbage
) -> None:
    server.answer(answer)
    found = await extractor(server).extract("Send an email to the whole team")
    assert [each.name for each in found] == ["email_sending"]


async def test_a_request_that_needs_nothing_is_no_gap(server: ScriptedModel) -> None:
    server.answer(Say('{"capabilities": []}'))
    assert await extractor(server).extract("Write a haiku") == ()


@pytest.mark.parametrize(
    "text", ["", "[]", '{"capabilities": 3}', '{"capabilities": ["x"]}', '{"capabilities": [{"name": ""}]}']
)
def test_what_is_no_list_of_abilities_is_no_answer(text: str) -> None:
    assert read_capabilities(text) is None
