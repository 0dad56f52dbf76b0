"""The models a setting names, as one Pydantic AI model. Owns fallbacks and retries; imports Pydantic AI."""

from collections.abc import Callable
from typing import cast

from pydantic_ai.models import Model
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.settings import ModelSettings

from steward.contract.errors import ModelError
from steward.models.catalog import PLANNER, ModelConfig, ModelName
from steward.models.resilient import Patience, ResilientModel


def build_chain(
    names: tuple[ModelName, ...],
    config: ModelConfig,
    *,
    planner: Callable[[], Model],
    patience: Patience | None = None,
) -> Model:
    models = [_build(name, config, planner=planner, patience=patience) for name in names]
    if len(models) == 1:
        return models[0]
    return FallbackModel(models[0], *models[1:], fallback_on=(ModelError,))


def _build(
    name: ModelName, config: ModelConfig, *, planner: Callable[[], Model], patience: Patience | None
) -> Model:
    if name.provider == PLANNER:
        return planner()
    # Imported only where a model is hosted: OpenAI's client takes half a second to load.
    from steward.models.hosted import provided  # noqa: PLC0415

    model = provided(name, config)
    # The client's own retries are off: two layers of them would try nine times instead of three.
    wanted = ModelSettings(timeout=config.request_seconds, max_retries=0)
    known = {key: value for key, value in wanted.items() if key not in model.unsupported_settings}
    return ResilientModel(
        model, patience=patience, shown_name=str(name), defaults=cast("ModelSettings", known)
    )
