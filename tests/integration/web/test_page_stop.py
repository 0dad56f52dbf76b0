"""Answers that take their time: stopped from the page, and out of the way of other conversations."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from tests.integration.web.conftest import Visiting
from tests.scripted_model import Hang, ScriptedModel, scripted_model
from tests.waiting import until
from tests.web_visits import Visit

from steward.bootstrap.home import initialise
from steward.settings import Settings, load_settings


@pytest.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as model:
        yield model


@pytest.fixture
def settings(tmp_path: Path, database_url: str, model: ScriptedModel) -> Settings:
    settings = load_settings(
        STEWARD_HOME=tmp_path / "home",
        DATABASE_URL=database_url,
        OTEL_EXPORTER_OTLP_ENDPOINT="none",
        STEWARD_MODEL="openai:m",
        OPENAI_BASE_URL=model.address,
        OPENAI_API_KEY="k",
    )
    initialise(settings)
    return settings


async def asked(page: Visit, model: ScriptedModel) -> None:
    """A question is on its way to a model that never answers, and the page can stop it."""
    model.answer(Hang())
    await page.draw()
    page.app.chat_input[0].set_value("think about it")
    await page.draw()
    await model.hanging.wait()

    async def stoppable() -> bool:
        await page.draw()
        return any(button.label == "Stop" and not button.disabled for button in page.app.button)

    await until(stoppable)


async def test_an_answer_is_stopped_and_the_conversation_goes_on(
    visiting: Visiting, api: httpx.AsyncClient, model: ScriptedModel
) -> None:
    page = visiting("chat")
    await asked(page, model)
    assert page.app.chat_input[0].disabled
    await page.press("Stop")

    async def ended() -> bool:
        await page.draw()
        return page.app.session_state["jobs"] == {}

    await until(ended)
    (kept,) = (await api.get("/v1/conversations")).json()["items"]
    (turn,) = (await api.get(f"/v1/conversations/{kept['id']}")).json()["turns"]
    assert (turn["said"], turn["answer"]["status"]) == ("think about it", "failed")
    assert "Stop" not in page.labels()
    assert not page.app.chat_input[0].disabled


async def test_another_conversation_is_free_while_an_answer_is_on_its_way(
    visiting: Visiting, api: httpx.AsyncClient, model: ScriptedModel
) -> None:
    page = visiting("chat")
    await asked(page, model)
    await page.press("New conversation")
    assert "What can I do for you?" in page.text()
    assert not page.app.chat_input[0].disabled
    assert any("works" in label for label in page.labels())
    (kept,) = (await api.get("/v1/conversations")).json()["items"]
    assert (await api.post(f"/v1/conversations/{kept['id']}/stop")).json() == {"stopped": True}
