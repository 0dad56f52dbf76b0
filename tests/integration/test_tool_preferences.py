"""Steward's own tools say when to prefer which, to the planner and to a language model alike."""

from pathlib import Path

import pytest
from tests.support.scripted_model import Say, scripted_model
from tests.support.talking import open_house, wire

from steward.contract.preferences import preferences
from steward.contract.tool import Origin


@pytest.mark.req("SKL-Q07")
async def test_every_tool_of_ours_says_when_to_prefer_it_or_another_that_exists(
    tmp_path: Path, database_url: str
) -> None:
    async with open_house(tmp_path, database_url) as house:
        specs = [tool.spec for tool in house.platform.orchestrator.registry]
    ours = {spec.name: preferences(spec.description) for spec in specs if spec.origin is Origin.BUILTIN}
    silent = [name for name, said in ours.items() if not said]
    named = {each.other for said in ours.values() for each in said if each.other is not None}
    assert (silent, named - set(ours), "web_search" in named) == ([], set(), True)


@pytest.mark.req("SKL-Q07")
async def test_a_language_model_reads_the_instructions(tmp_path: Path, database_url: str) -> None:
    async with scripted_model() as model:
        model.answer(Say("Hello."))
        async with open_house(tmp_path, database_url, **wire(model)) as house:
            await house.ask("Search the web for tides", "assistant")
        offered = {each["function"]["name"]: each["function"] for each in model.requests[0]["tools"]}
    assert "Prefer search_memory for what was found out before." in offered["web_search"]["description"]
