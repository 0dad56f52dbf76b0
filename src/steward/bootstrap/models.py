"""Which model answers, chosen from the settings. Imports nothing heavy until somebody talks."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pydantic import SecretStr

from steward.contract.ports import Embedder
from steward.language.reading import ToolJudge
from steward.models.catalog import Catalog, ModelConfig
from steward.settings import Settings

if TYPE_CHECKING:
    from steward.models.planner.model import PlannerModel
    from steward.models.planner.procedures import Procedure
    from steward.models.planner.readers import DateReader, Interpreter
    from steward.models.runs import RunLimits


def catalog(
    settings: Settings,
    *,
    embedder: Callable[[], Embedder] | None = None,
    dates: "DateReader | None" = None,
    readers: "Callable[[], Mapping[str, Interpreter]] | None" = None,
    procedures: "Callable[[], Mapping[str, Procedure]] | None" = None,
    judge: ToolJudge | None = None,
) -> Catalog:
    """The configured models; the planner gets its helpers when it is first needed."""

    def planner() -> "PlannerModel":
        # Imported here: Pydantic AI takes seconds to load.
        from steward.models.planner.dates import spoken_dates  # noqa: PLC0415
        from steward.models.planner.model import PlannerModel  # noqa: PLC0415

        return PlannerModel(
            embedder=embedder() if embedder else None,
            dates=dates or spoken_dates,
            readers=readers() if readers else None,
            procedures=procedures() if procedures else None,
            judge=judge,
        )

    return Catalog(model_config(settings), planner=planner)


def model_config(settings: Settings) -> ModelConfig:
    return ModelConfig(
        choice=settings.model,
        azure_endpoint=settings.azure_endpoint,
        azure_api_key=_plain(settings.azure_api_key),
        azure_deployment=settings.azure_deployment,
        openai_base_url=settings.openai_base_url,
        openai_api_key=_plain(settings.openai_api_key),
        ollama_base_url=settings.ollama_base_url,
        request_seconds=settings.model_timeout,
    )


def run_limits(settings: Settings) -> "RunLimits":
    from steward.models.runs import RunLimits  # noqa: PLC0415  (Pydantic AI takes seconds to load)

    return RunLimits(steps=settings.run_steps, seconds=settings.run_seconds, cost_usd=settings.run_cost)


def _plain(secret: SecretStr | None) -> str | None:
    return None if secret is None else secret.get_secret_value()
