"""A real platform on a database of its own, and clients of its API."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import httpx
import pytest

from steward.bootstrap import Platform, open_platform
from steward.settings import Settings, load_settings
from steward.surfaces.api.app import create_app


@pytest.fixture
def settings(tmp_path: Path, database_url: str) -> Settings:
    return load_settings(
        STEWARD_HOME=tmp_path / "home", DATABASE_URL=database_url, OTEL_EXPORTER_OTLP_ENDPOINT="none"
    )


@pytest.fixture
async def platform(settings: Settings) -> AsyncIterator[Platform]:
    async with open_platform(settings) as platform:
        yield platform


Connect = Callable[..., httpx.AsyncClient]


@pytest.fixture
async def connect(platform: Platform) -> AsyncIterator[Connect]:
    """Clients of one application: `connect(key=..., host=..., address=...)`."""
    app = create_app(platform)
    clients: list[httpx.AsyncClient] = []

    def make(
        *, key: str | None = None, host: str = "localhost:8700", address: str = "127.0.0.1"
    ) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(app=app, client=(address, 50_000), raise_app_exceptions=False)
        headers = {} if key is None else {"X-API-Key": key}
        client = httpx.AsyncClient(transport=transport, base_url=f"http://{host}", headers=headers)
        clients.append(client)
        return client

    yield make
    for client in clients:
        await client.aclose()


@pytest.fixture
def api(connect: Connect, platform: Platform) -> httpx.AsyncClient:
    """The owner."""
    return connect(key=platform.owner_token)
