"""Spans around model requests. Owns what they may carry: names, counts and cost, never what was said."""

from typing import Any

from pydantic_ai import InstrumentationSettings
from pydantic_ai.capabilities import AbstractCapability, Instrumentation


def model_spans(provider: Any) -> AbstractCapability[Any]:
    """A capability for `run_agent`; `provider` is telemetry's `Tracing.provider`."""
    return Instrumentation(
        InstrumentationSettings(
            tracer_provider=provider, include_content=False, include_model_request_parameters=False
        )
    )
