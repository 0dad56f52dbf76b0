"""Peers take their time, and share one `steward up` with a note to read and a tool to give up on."""

import sys
from collections.abc import Iterator

import pytest
from tests.attacks.conftest import Victim, running_victim
from tests.peers.setup import FIXTURES
from tests.support.postgres import TestServer

pytestmark = pytest.mark.timeout(600)

SLOW = {
    "mcpServers": {
        "slow": {
            "command": sys.executable,
            "args": [str(FIXTURES / "slow_server.py")],
            "risk": {"wait": "reversible"},
        }
    }
}


@pytest.fixture(scope="session")
def house(postgres: TestServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Victim]:
    folder = tmp_path_factory.mktemp("clients")
    (folder / "note.txt").write_text("hello from the note", encoding="utf-8")
    with running_victim(postgres, folder, files={"mcp.json": SLOW}) as running:
        yield running


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item.add_marker(pytest.mark.timeout(600))
