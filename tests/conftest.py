import os
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from tests.support.parsing import parse_undisturbed
from tests.support.postgres import TestServer, running_server, scratch_folder

from steward.storage.database.postgres import Database, External

pytest_plugins = ["tests.support.fixtures_telemetry"]
parse_undisturbed()

# Started by nohup or in the background, a run ignores these signals, and its programs would as well.
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number is signal.SIGINT else signal.SIG_DFL)

# A test's commands leave nothing running behind them; one that is about that says so.
os.environ["STEWARD_DAEMON"] = "off"

# No test is timed: a busy machine makes an example slow, not wrong.
settings.register_profile("steward", deadline=None)
settings.load_profile("steward")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Journeys and attacks start programs again and again: `make test-all` takes the time for them."""
    for item in items:
        if {"journeys", "attacks"} & set(item.path.parts):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def postgres() -> Iterator[TestServer]:
    """The PostgreSQL of this test run; most tests want `database` instead."""
    with running_server() as server:
        yield server


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder for a Steward with an embedded database of its own.

    Not pytest's tmp_path: every start of pytest closes that to other users, and root's PostgreSQL is one.
    """
    with scratch_folder() as folder:
        yield folder


@pytest.fixture
async def database_url(postgres: TestServer) -> AsyncIterator[str]:
    """The address of a fresh, migrated database."""
    async with postgres.database_url() as url:
        yield url


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """A fresh, migrated database, open."""
    async with Database(External(database_url)) as database:
        yield database


@pytest.fixture
def tea_and_bread(tmp_path: Path) -> Path:
    """A folder with two short documents."""
    library = tmp_path / "library"
    library.mkdir()
    (library / "tea.md").write_text("# Tea\n\n## Brewing\n\nGreen tea is brewed at eighty degrees.\n")
    (library / "bread.md").write_text("# Bread\n\n## Oven\n\nBake the loaf at 230 degrees.\n")
    return library
