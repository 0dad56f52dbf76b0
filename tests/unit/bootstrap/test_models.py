"""Which model the settings choose."""

from decimal import Decimal
from typing import Any

import pytest

from steward.bootstrap.models import catalog, model_config, run_limits
from steward.models.planner.model import PlannerModel
from steward.models.runs import RunLimits
from steward.settings import load_settings


def settings(monkeypatch: pytest.MonkeyPatch, **variables: str) -> Any:
    for name in ("STEWARD_MODEL", "AZURE_AI_FOUNDRY_ENDPOINT", "AZURE_AI_FOUNDRY_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return load_settings(_env_file=None)


@pytest.mark.req("ORC-FR-012")
def test_without_any_setting_the_planner_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = catalog(settings(monkeypatch))
    assert (str(chosen), chosen.offline, isinstance(chosen.model(), PlannerModel)) == ("planner", True, True)


@pytest.mark.req("RES-ART-I.G")
@pytest.mark.req("RES-FR-001", "RES-FR-027")
def test_azures_variables_choose_azure(monkeypatch: pytest.MonkeyPatch) -> None:
    read = settings(
        monkeypatch,
        AZURE_AI_FOUNDRY_ENDPOINT="https://r.services.ai.azure.com",
        AZURE_AI_FOUNDRY_API_KEY="hush",
        AZURE_DEPLOYMENT_NAME="deepseek-v3",
    )
    model = catalog(read).model()
    assert (model_config(read).azure_api_key, model.model_name, model.system, model.base_url) == (
        "hush",
        "deepseek-v3",
        "azure",
        "https://r.services.ai.azure.com/openai/v1/",
    )


def test_limits_come_from_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    read = settings(monkeypatch, STEWARD_RUN_STEPS="3", STEWARD_RUN_SECONDS="9", STEWARD_RUN_COST="0.25")
    assert run_limits(read) == RunLimits(steps=3, seconds=9.0, cost_usd=Decimal("0.25"))


def test_keys_are_among_what_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "sk-hush" in settings(monkeypatch, OPENAI_API_KEY="sk-hush").secrets()
