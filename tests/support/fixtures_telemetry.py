"""Fixtures for whoever wants to see what telemetry sends."""

from collections.abc import Iterator

import pytest
from tests.support.otlp_collector import Collector, running_collector


@pytest.fixture
def collector() -> Iterator[Collector]:
    """A real OTLP gRPC endpoint (`collector.endpoint`) that keeps what it receives."""
    with running_collector() as collector:
        yield collector
