"""The page of built-in tools is what a new workspace has."""

from pathlib import Path

import pytest
from scripts.reference import TOOLS_PAGE, tools

from steward.bootstrap import open_platform
from steward.settings import blank_environment, load_settings


async def test_the_page_of_tools_is_current(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = {"STEWARD_HOME", "DATABASE_URL", "STEWARD_ALLOWED_ROOTS", "WEBSEARCH_TIMEOUT", "STEWARD_TIMEOUT"}
    for name in ours - blank_environment().keys():
        monkeypatch.delenv(name, raising=False)
    settings = load_settings(
        STEWARD_HOME=tmp_path / "home", DATABASE_URL=database_url, OTEL_EXPORTER_OTLP_ENDPOINT="none"
    )
    async with open_platform(settings) as platform:
        assert TOOLS_PAGE.read_text(encoding="utf-8") == tools(platform), "run 'make reference'"
