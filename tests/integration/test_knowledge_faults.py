"""The library when things go wrong midway: a bad file, a full disk, a database that dies, a tight memory."""

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest
from tests.support.library import open_base
from tests.support.papers import locked_pdf_bytes
from tests.support.postgres import FAST, TestServer
from tests.support.waiting import until

from steward.contract.errors import StewardError
from steward.knowledge.service import KnowledgeBase
from steward.storage.database.embedded import EmbeddedServer
from steward.storage.database.postgres import Database, External

PLACES = ("harbour", "market", "school", "station", "castle", "island", "forest", "garden", "bridge", "tower")
INTACT = """
    SELECT d.source, d.chunks, count(k.id) AS texts, count(v.chunk_id) AS vectors, count(t.chunk_id) AS terms
    FROM kb_documents d
    LEFT JOIN kb_chunks k ON k.document_id = d.id
    LEFT JOIN kb_vectors v ON v.chunk_id = k.id
    LEFT JOIN kb_terms t ON t.chunk_id = k.id
    GROUP BY d.id ORDER BY d.source"""
LIMITED = Path(__file__).parents[1] / "programs" / "ingest_within.py"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    library = tmp_path / "library"
    library.mkdir()
    for place in PLACES:
        text = f"The {place} opens at nine.\n\n" * 3
        (library / f"{place}.md").write_text(
            f"# {place.title()}\n\n{text}\n## Closing\n\nIt closes at six.\n"
        )
    return library


@asynccontextmanager
async def opened(url: str, folder: Path) -> AsyncIterator[tuple[KnowledgeBase, Database]]:
    async with Database(External(url)) as database, open_base(database, [folder], reading=False) as base:
        yield base, database


async def stored(database: Database) -> list[str]:
    """The names of what is there; whatever is there must be there whole."""
    rows = await database.fetch(INTACT)
    assert [row for row in rows if not row["chunks"] == row["texts"] == row["vectors"] == row["terms"]] == []
    return [Path(row["source"]).name for row in rows]


async def test_files_that_cannot_be_read_are_named_with_a_reason_and_the_rest_goes_on(
    database: Database, folder: Path
) -> None:
    (folder / "locked.pdf").write_bytes(locked_pdf_bytes())
    (folder / "program.md").write_bytes(b"\x7fELF\x02\x01\x01\0\0\0\0" + os.urandom(4096))
    (folder / "photo.txt").write_bytes(b"\xff\xd8\xff\xe0" + os.urandom(4096))
    (folder / "empty.md").write_text("\n")
    (folder / "forbidden.md").symlink_to("/proc/1/mem")
    with (folder / "line.txt").open("wb") as file:  # a line of a gigabyte
        file.truncate(1024**3)
    async with open_base(database, [folder], reading=False) as base:
        await base.create_collection("papers")
        report = await base.ingest(folder, "papers")
    assert (report.added, report.failures, dict(report.skipped)) == (10, 4, {"empty": 1})
    assert {Path(path).name: failure.code for path, failure in report.failed.items()} == {
        "locked.pdf": "KB_DOCUMENT",
        "program.md": "KB_DOCUMENT",
        "photo.txt": "KB_DOCUMENT",
        "line.txt": "KB_TOO_LARGE",
    }
    reasons = {Path(path).name: failure.reason for path, failure in report.failed.items()}
    assert reasons["locked.pdf"] == "locked.pdf is encrypted. Remove its password and ingest it again."


async def test_a_database_that_dies_midway_loses_nothing_half_and_the_next_run_completes(
    home: Path, folder: Path
) -> None:
    # Commits wait for the disk as they do for users: otherwise the collection itself may be lost.
    server = EmbeddedServer(home, settings={**FAST, "synchronous_commit": "on"})
    await asyncio.to_thread(server.join)
    try:
        async with opened(server.url, folder) as (base, database):
            await base.create_collection("papers")
            postmaster = psutil.Process(int((home / "data" / "postmaster.pid").read_text().split()[0]))

            async def kill_it(done: int, _total: int | None, _message: str) -> None:
                if done == 3:
                    postmaster.send_signal(signal.SIGKILL)
                    await until(lambda: not postmaster.is_running() or postmaster.status() == "zombie")

            with pytest.raises(StewardError) as stopped:
                await base.ingest(folder, "papers", progress=kill_it)
            assert (stopped.value.code, stopped.value.retryable) == ("STORAGE_UNAVAILABLE", True)
            await asyncio.to_thread(server.revive)
            before = await stored(database)
            assert len(before) < len(PLACES)
            report = await base.ingest(folder, "papers")
            assert report.added == len(PLACES) - len(before)
            assert await stored(database) == sorted(f"{place}.md" for place in PLACES)
            assert (await base.query("when does the castle open")).hits[0].citation.title == "Castle"
    finally:
        await asyncio.to_thread(server.leave)


async def test_a_full_disk_midway_has_its_code_and_leaves_nothing_half(
    postgres: TestServer, folder: Path
) -> None:
    async with postgres.database_url() as url:
        async with opened(url, folder) as (base, database):
            await base.create_collection("papers")
            await base.ingest(folder / "harbour.md", "papers")
            # A fresh file for the vectors, and in its place a disk that is full.
            await database.execute("TRUNCATE kb_chunks, kb_vectors, kb_terms, kb_documents CASCADE")
            place = Path(await database.fetchval("SHOW data_directory"))
            place /= await database.fetchval("SELECT pg_relation_filepath('kb_vectors')")
        place.unlink()
        place.symlink_to("/dev/full")
        async with opened(url, folder) as (base, database):
            with pytest.raises(StewardError) as full:
                await base.ingest(folder, "papers")
            assert full.value.code == "STORAGE_FULL"
            assert full.value.fix
            assert await stored(database) == []
        place.unlink()
        place.touch()
        os.chown(place, place.parent.stat().st_uid, place.parent.stat().st_gid)
        async with opened(url, folder) as (base, database):
            assert (await base.ingest(folder, "papers")).added == len(PLACES)
            assert len(await stored(database)) == len(PLACES)


async def test_a_collection_deleted_midway_ends_the_ingest(database: Database, folder: Path) -> None:
    async with open_base(database, [folder], reading=False) as base:
        await base.create_collection("papers")

        async def delete_it(done: int, _total: int | None, _message: str) -> None:
            if done == 1:
                await base.delete_collection("papers")

        with pytest.raises(StewardError) as stopped:
            await base.ingest(folder, "papers", progress=delete_it)
        assert stopped.value.code == "KB_COLLECTION"
        assert await stored(database) == []


async def test_a_file_that_moved_is_followed_and_one_that_is_gone_stays(
    database: Database, folder: Path
) -> None:
    async with open_base(database, [folder], reading=False) as base:
        await base.create_collection("papers")
        await base.ingest(folder, "papers")
        (folder / "tower.md").rename(folder / "spire.md")
        moved = await base.ingest(folder, "papers")
        assert (moved.added, moved.removed, moved.missing) == (1, 1, 0)
        (folder / "spire.md").unlink()
        assert (await base.ingest(folder, "papers")).missing == 1
        assert "spire.md" in await stored(database)


async def test_a_file_that_was_emptied_counts_as_missing(database: Database, folder: Path) -> None:
    async with open_base(database, [folder], reading=False) as base:
        await base.create_collection("papers")
        await base.ingest(folder, "papers")
        (folder / "tower.md").write_text("\n")
        kept = await base.ingest(folder, "papers")
        assert (kept.missing, kept.removed, "tower.md" in await stored(database)) == (1, 0, True)
        report = await base.ingest(folder, "papers", remove_missing=True)
        assert (report.removed, report.unchanged, dict(report.skipped)) == (1, 9, {"empty": 1})
        assert "tower.md" not in await stored(database)
        with pytest.raises(StewardError) as refused:
            await base.ingest(folder / "tower.md", "papers")
        assert refused.value.code == "KB_DOCUMENT"


async def test_a_file_that_goes_is_noticed_whichever_folder_is_read_again(
    database: Database, folder: Path
) -> None:
    deep = folder / "deep"
    deep.mkdir()
    (deep / "well.md").write_text("# Well\n\nThe well is thirty metres deep.\n")
    (deep / "mine.md").write_text("# Mine\n\nThe mine was closed in 1950.\n")
    async with open_base(database, [folder], reading=False) as base:
        await base.create_collection("papers")
        await base.ingest(folder, "papers", recursive=True)
        (deep / "well.md").unlink()
        assert (await base.ingest(deep, "papers")).missing == 1
        assert (await base.ingest(deep, "papers", remove_missing=True)).removed == 1
        (folder / ".stewardignore").write_text("deep/\n")
        assert (await base.ingest(folder, "papers")).missing == 0  # not its business without --recursive
        assert (await base.ingest(folder, "papers", recursive=True, remove_missing=True)).removed == 1
        assert await stored(database) == sorted(f"{place}.md" for place in PLACES)


async def test_a_path_that_is_gone_takes_along_what_was_read_from_it_where_that_is_wanted(
    database: Database, folder: Path
) -> None:
    deep = folder / "deep"
    deep.mkdir()
    (deep / "well.md").write_text("# Well\n\nThe well is thirty metres deep.\n")
    async with open_base(database, [folder.parent], reading=False) as base:
        await base.create_collection("papers")
        await base.ingest(folder, "papers", recursive=True)
        (deep / "mine.md").write_text("# Mine\n\nThe mine was closed in 1950.\n")
        await base.ingest(deep / "mine.md", "papers")
        (folder / "tower.md").unlink()
        kept = await base.ingest(folder / "tower.md", "papers")
        assert (kept.missing, kept.removed) == (1, 0)
        report = await base.ingest(folder / "tower.md", "papers", remove_missing=True)
        assert (report.removed, report.unchanged) == (1, 0)
        deep.rename(folder.parent / "elsewhere")
        assert (await base.ingest(deep, "papers", remove_missing=True)).removed == 2
        with pytest.raises(StewardError) as unknown:
            await base.ingest(deep, "papers")
        assert unknown.value.code == "KB_DOCUMENT"
        shutil.move(
            folder, folder.parent / "unmounted"
        )  # what was ingested as a whole may come back as a whole
        with pytest.raises(StewardError) as away:
            await base.ingest(folder, "papers", recursive=True)
        assert away.value.code == "KB_DOCUMENT"
        assert len(await stored(database)) == len(PLACES) - 1


@pytest.mark.slow
@pytest.mark.req("KB-7.3")
async def test_memory_stays_within_a_limit_whatever_the_folder_holds(database_url: str, folder: Path) -> None:
    """A process that may take 96 MB beyond what it holds after a few documents reads a large folder."""
    many = folder / "many"
    many.mkdir()
    for number in range(1_500):
        (many / f"{number}.md").write_text(f"Note {number} is short.")
        (many / f"program{number}.md").write_bytes(b"\0\1\2")
    for name in ("a.txt", "b.csv", "c.md"):  # each more text than is read
        (many / name).write_text("word " * 5_000_000)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(LIMITED), database_url, str(folder), "96"),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(LIMITED.parents[2])},
    )
    said, _ = await process.communicate()
    assert process.returncode == 0
    assert said.decode().split() == ["added", "1500", "failures", "1503", "named", "1000"]
