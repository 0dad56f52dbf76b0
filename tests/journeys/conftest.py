"""Somebody to talk to: on the planner, and on a scripted language model over the wire."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.scripted_model import ScriptedModel, scripted_model
from tests.support.talking import TalkSetup, open_house, wire
from tests.support.websites import Web, small_web


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    async with small_web() as web:
        yield web


@pytest.fixture
async def house(tmp_path: Path, database_url: str, web: Web) -> AsyncIterator[TalkSetup]:
    """With the planner."""
    async with open_house(tmp_path, database_url, web) as house:
        yield house


@pytest.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as model:
        yield model


@pytest.fixture
async def wired(
    tmp_path: Path, database_url: str, web: Web, model: ScriptedModel
) -> AsyncIterator[TalkSetup]:
    """With a language model over the wire."""
    async with open_house(tmp_path, database_url, web, **wire(model)) as house:
        yield house
