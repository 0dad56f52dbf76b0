"""The embedded server through a hard life: killed, shared, restarted, in odd folders, and gone at the end."""

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psutil
import pytest
from tests.integration.programs import program, servers
from tests.support.postgres import FAST, scratch_folder
from tests.support.waiting import until

from steward.contract.errors import StorageError
from steward.storage.database.embedded import EmbeddedServer
from steward.storage.database.host import Postmaster
from steward.storage.database.postgres import Database, Embedded

ASLEEP = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"


@pytest.fixture(scope="session")
def made() -> Iterator[Path]:
    """A folder that was used before: the first start syncs thousands of files."""
    with scratch_folder() as home:
        server = EmbeddedServer(home / "database", settings=FAST)
        server.join()
        server.leave()
        yield home / "database"


def copy(made: Path, folder: Path) -> None:
    subprocess.run(["cp", "-a", made, folder], check=True)


@pytest.fixture
def folder(made: Path, home: Path) -> Iterator[Path]:
    folder = home / "database"
    copy(made, folder)
    yield folder
    for pid in servers(folder):  # only after a failure
        os.kill(pid, signal.SIGKILL)


@pytest.fixture
async def kept(folder: Path) -> AsyncIterator[Database]:
    """An open database with a committed row."""
    async with Database(Embedded(folder)) as database:
        await database.execute("CREATE TABLE kept (n int)")
        await database.execute("INSERT INTO kept VALUES (42)")
        yield database


def postmaster(folder: Path) -> int:
    found = Postmaster.read(folder / "data")
    assert found is not None
    return found.pid


async def works_again(database: Database) -> None:
    """The call in flight fails, and a later one works: at once, or as soon as the news has arrived."""

    async def answers() -> bool:
        try:
            return await database.fetchval("SELECT n FROM kept") == 42
        except StorageError as error:
            if (error.code, error.retryable) != ("STORAGE_UNAVAILABLE", True):
                raise
            return False

    await until(answers)


async def test_closing_leaves_no_process_and_opening_again_finds_the_data(folder: Path) -> None:
    async with Database(Embedded(folder)) as database:
        await database.execute("CREATE TABLE kept AS SELECT 42 AS n")
        assert servers(folder)
    assert servers(folder) == []
    async with Database(Embedded(folder)) as database:
        assert await database.fetchval("SELECT n FROM kept") == 42
    assert servers(folder) == []


@pytest.mark.parametrize("first_out", [0, 1])
async def test_two_programs_share_a_server_and_the_last_one_out_stops_it(
    folder: Path, first_out: int
) -> None:
    async with program(folder) as one, program(folder) as other:
        assert await one.tell("query CREATE TABLE shared AS SELECT 7 AS n") == "None"
        assert await other.tell("query SELECT n FROM shared") == "7"
        first, last = (one, other) if first_out == 0 else (other, one)
        assert await first.leave() == 0
        assert await last.tell("query SELECT n FROM shared") == "7"
        assert await last.leave() == 0
        assert servers(folder) == []


async def test_programs_that_start_at_the_same_moment_make_one_server(folder: Path) -> None:
    databases = [Database(Embedded(folder)) for _ in range(4)]
    await asyncio.gather(*(database.__aenter__() for database in databases))
    pids = await asyncio.gather(*(d.fetchval("SELECT pg_postmaster_start_time()::text") for d in databases))
    assert len(set(pids)) == 1
    await asyncio.gather(*(database.__aexit__(None, None, None) for database in databases))
    assert servers(folder) == []


async def test_a_killed_program_leaves_a_server_that_the_next_one_adopts_and_stops(folder: Path) -> None:
    async with program(folder) as killed:
        await killed.tell("query CREATE TABLE kept AS SELECT 42 AS n")
        await killed.kill()
    alive = postmaster(folder)
    async with program(folder) as other:
        assert await other.tell("query SELECT n FROM kept") == "42"
        assert postmaster(folder) == alive
        assert await other.leave() == 0
    assert servers(folder) == []


async def test_a_killed_program_does_not_keep_the_server_of_another_alive(folder: Path) -> None:
    async with program(folder) as other, program(folder) as killed:
        await killed.kill()
        assert await other.leave() == 0
        assert servers(folder) == []


async def sleeps(database: Database) -> bool:
    """Asked again where the last kill is still felt: it is told as something to try again."""
    try:
        return bool(await database.fetchval(ASLEEP))
    except StorageError as error:
        if not error.retryable:
            raise
        return False


async def test_a_killed_server_comes_back_under_the_program(kept: Database, folder: Path) -> None:
    for _ in range(3):
        asleep = asyncio.create_task(kept.fetchval("SELECT pg_sleep(60)"))
        await until(lambda: sleeps(kept))
        os.kill(postmaster(folder), signal.SIGKILL)
        with pytest.raises(StorageError) as lost:
            await asleep
        assert (lost.value.code, lost.value.retryable) == ("STORAGE_UNAVAILABLE", True)
        await works_again(kept)


async def test_a_server_and_program_killed_together_come_back_with_the_data(folder: Path) -> None:
    async with program(folder) as killed:
        await killed.tell("query CREATE TABLE kept AS SELECT 42 AS n")
        os.kill(postmaster(folder), signal.SIGKILL)
        await killed.kill()
    async with Database(Embedded(folder)) as database:
        assert await database.fetchval("SELECT n FROM kept") == 42
    assert servers(folder) == []


async def test_a_server_restarted_under_two_programs_serves_both_again(kept: Database, folder: Path) -> None:
    async with program(folder) as other:
        assert await other.tell("query SELECT n FROM kept") == "42"
        await asyncio.gather(*(kept.fetchval("SELECT 1") for _ in range(10)))
        before = postmaster(folder)
        os.kill(before, signal.SIGINT)  # a fast shutdown, as an administrator would
        await until(lambda: before not in servers(folder))
        await works_again(kept)
        assert await asyncio.gather(*(kept.fetchval("SELECT n FROM kept") for _ in range(20))) == [42] * 20
        async with asyncio.timeout(30):
            while (heard := await other.tell("query SELECT n FROM kept")) != "42":
                assert heard == "STORAGE_UNAVAILABLE"
        assert await other.leave() == 0
    await works_again(kept)


async def test_a_call_during_a_transaction_fails_when_the_server_dies_and_nothing_of_it_stays(
    kept: Database, folder: Path
) -> None:
    async def interrupted() -> None:
        async with kept.transaction() as session:
            await session.execute("INSERT INTO kept VALUES (1)")
            os.kill(postmaster(folder), signal.SIGKILL)
            while True:
                await session.fetchval("SELECT 1")

    with pytest.raises(StorageError) as lost:
        await interrupted()
    assert lost.value.code == "STORAGE_UNAVAILABLE"
    await works_again(kept)
    assert await kept.fetchval("SELECT count(*) FROM kept") == 1


async def test_a_pid_file_whose_number_belongs_to_another_program_is_no_obstacle(folder: Path) -> None:
    async with Database(Embedded(folder)):
        left = (folder / "data" / "postmaster.pid").read_text()
    _, rest = left.split("\n", 1)
    (folder / "data" / "postmaster.pid").write_text(f"{os.getpid()}\n{rest}")
    async with Database(Embedded(folder)) as database:
        assert await database.fetchval("SELECT 1") == 1


async def test_a_first_start_that_was_killed_half_way_is_started_over(home: Path) -> None:
    folder = home / "database"
    (folder / "data.new" / "base").mkdir(parents=True)
    (folder / "data.new" / "PG_VERSION").write_text("18\n")
    async with Database(Embedded(folder)) as database:
        assert await database.fetchval("SELECT 1") == 1
    assert not (folder / "data.new").exists()


async def test_an_opening_that_is_cancelled_leaves_no_process(folder: Path) -> None:
    opening = asyncio.create_task(Database(Embedded(folder)).__aenter__())
    await until(lambda: servers(folder))
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert servers(folder) == []


async def test_closing_does_not_wait_for_ever_for_a_query(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steward.storage.database.postgres.CLOSE_DEADLINE", 0.2)
    async with Database(Embedded(folder)) as database:
        asleep = asyncio.create_task(database.fetchval("SELECT pg_sleep(600)"))
        await until(lambda: database.fetchval(ASLEEP))
    with pytest.raises(StorageError):
        await asleep
    assert servers(folder) == []


@pytest.mark.parametrize(
    "name", ["with space", "quo'te", 'quo"te', "a,b", "$HOME `id` ; x", "ä☃", "long" * 30]
)
async def test_any_folder_name_will_do(made: Path, home: Path, name: str) -> None:
    folder = home / name
    copy(made, folder)
    async with Database(Embedded(folder)) as database:
        assert await database.fetchval("SELECT 1") == 1
    assert servers(folder) == []


async def test_a_folder_that_cannot_be_made_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError) as refused:
        await Database(Embedded(tmp_path / "file" / "database")).__aenter__()
    assert (refused.value.code, refused.value.retryable) == ("STORAGE_FAILED", False)
    assert "STEWARD_HOME" in (refused.value.fix or "")


async def test_a_disk_that_is_full_at_the_start_is_named(folder: Path) -> None:
    (folder / "data" / "postmaster.opts").unlink()
    (folder / "data" / "postmaster.opts").symlink_to("/dev/full")  # the first file that a start writes
    with pytest.raises(StorageError) as refused:
        await Database(Embedded(folder)).__aenter__()
    assert refused.value.code == "STORAGE_FULL"
    assert refused.value.fix


async def test_a_folder_that_is_deleted_under_the_program_ends_quietly(folder: Path) -> None:
    async with Database(Embedded(folder)):
        (pid,) = [postmaster(folder)]
        shutil.rmtree(folder)
    await until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)


async def test_a_server_that_cannot_start_says_why_and_where_to_look(folder: Path) -> None:
    server = EmbeddedServer(folder, settings={"shared_buffers": "nonsense"})
    with pytest.raises(StorageError) as refused:
        await asyncio.to_thread(server.join)
    assert refused.value.code == "STORAGE_UNAVAILABLE"
    assert "shared_buffers" in refused.value.message
    assert "server.log" in (refused.value.fix or "")
    assert servers(folder) == []


async def test_a_server_that_ends_without_a_word_of_its_own_is_explained_by_its_last_ones(
    folder: Path,
) -> None:
    (folder / "data" / "postgresql.conf").unlink()
    with pytest.raises(StorageError) as refused:
        await Database(Embedded(folder)).__aenter__()
    assert "configuration file" in str(refused.value)


async def test_a_lost_write_ahead_log_names_the_way_back(folder: Path) -> None:
    async with Database(Embedded(folder)):
        pass
    for segment in (folder / "data" / "pg_wal").glob("0*"):
        segment.unlink()
    with pytest.raises(StorageError) as refused:
        await Database(Embedded(folder)).__aenter__()
    assert refused.value.code == "STORAGE_FAILED"
    assert "steward restore" in (refused.value.fix or "")


async def test_the_data_folder_of_another_version_is_left_alone(folder: Path) -> None:
    async with Database(Embedded(folder)):
        pass
    (folder / "data" / "PG_VERSION").write_text("16\n")
    with pytest.raises(StorageError) as refused:
        await Database(Embedded(folder)).__aenter__()
    assert (refused.value.code, refused.value.retryable) == ("STORAGE_FAILED", False)


async def test_the_variables_of_other_postgresql_programs_do_not_matter(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"PGPORT": "6543", "PGHOST": "nowhere", "PGUSER": "x", "PGDATABASE": "y"}.items():
        monkeypatch.setenv(name, value)
    async with Database(Embedded(folder)) as database:
        assert await database.fetchval("SELECT current_user || current_database()") == "postgrespostgres"


async def test_nobody_else_can_reach_the_server(kept: Database, folder: Path) -> None:
    assert await kept.fetchval("SHOW listen_addresses") == ""
    assert (folder / "data").stat().st_mode & 0o077 == 0


async def test_a_query_on_a_closed_database_says_so() -> None:
    database = Database(Embedded(Path("never-opened")))
    with pytest.raises(StorageError) as refused:
        await database.fetchval("SELECT 1")
    assert refused.value.code == "STORAGE_UNAVAILABLE"


async def test_the_server_gets_none_of_our_secrets(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEWARD_API_KEY", "very secret")
    async with Database(Embedded(folder)):
        given = psutil.Process(postmaster(folder)).environ()
    assert "PATH" in given
    assert "very secret" not in given.values()
