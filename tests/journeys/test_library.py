"""A researcher's library with real programs: create, ingest, ask, change, be interrupted, watch."""

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from tests.support.papers import docx_bytes, pdf_bytes
from tests.support.postgres import TestServer
from tests.support.waiting import until

ROOT = Path(__file__).parents[2]
SHOW = (
    "import asyncio, sys, asyncpg, json\n"
    "async def main():\n"
    "    c = await asyncpg.connect(sys.argv[1])\n"
    "    rows = await c.fetch('SELECT d.source, k.sequence, k.header_path, k.content, t.terms::text, "
    "v.embedding::text FROM kb_chunks k JOIN kb_documents d ON d.id = k.document_id "
    "JOIN kb_terms t ON t.chunk_id = k.id JOIN kb_vectors v ON v.chunk_id = k.id ORDER BY 1, 2')\n"
    "    print(json.dumps([list(row) for row in rows]))\n"
    "asyncio.run(main())\n"
)


class Desk:
    def __init__(self, url: str, home: Path, papers: Path) -> None:
        self.url = url
        self.papers = papers
        self.environment = {
            **os.environ,
            "STEWARD_HOME": str(home),
            "DATABASE_URL": url,
            "STEWARD_ALLOWED_ROOTS": str(papers),
            "OTEL_EXPORTER_OTLP_ENDPOINT": "none",
        }

    def command(self, *arguments: str) -> list[str]:
        return [
            sys.executable,
            "-c",
            "from steward.__main__ import research_agent; research_agent()",
            *arguments,
        ]

    def run(self, *arguments: str, code: int = 0) -> str:
        done = subprocess.run(
            self.command(*arguments),
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout

    def run_at_terminal(self, *arguments: str) -> tuple[str, str]:
        """What it prints, and what it shows meanwhile on the terminal that is its standard error."""
        terminal, screen = pty.openpty()
        process = subprocess.Popen(
            self.command(*arguments), env=self.environment, stdout=subprocess.PIPE, stderr=screen, text=True
        )
        os.close(screen)
        shown = b""
        with suppress(OSError):  # how a terminal says that nobody writes to it any more
            while piece := os.read(terminal, 65_536):
                shown += piece
        printed, _ = process.communicate(timeout=110)
        os.close(terminal)
        assert process.returncode == 0, shown.decode()
        return printed, shown.decode()

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self.command(*arguments), env=self.environment, stdout=subprocess.DEVNULL)

    def ask(self, query: str) -> dict[str, object]:
        return json.loads(self.run("query", query, "--json"))

    def contents(self) -> list[list[object]]:
        done = subprocess.run(
            [sys.executable, "-c", SHOW, self.url], capture_output=True, text=True, timeout=60, check=True
        )
        return json.loads(done.stdout)


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    (folder / "decisions").mkdir(parents=True)
    for page in sorted((ROOT / "docs" / "decisions").glob("*.md"))[:10]:  # enough to be killed in
        shutil.copy(page, folder / "decisions")
    (folder / "turbines.pdf").write_bytes(pdf_bytes([["Wind Turbines", "Gearboxes fail after seven years."]]))
    (folder / "bees.docx").write_bytes(docx_bytes())
    return folder


@pytest.fixture
async def desk(postgres: TestServer, tmp_path: Path, papers: Path):
    async with postgres.database_url() as url:
        yield Desk(url, tmp_path / "home", papers)


@pytest.mark.req("KB-2.1", "KB-7.2")
@pytest.mark.timeout(600)
async def test_a_new_user_builds_a_library_and_gets_the_right_passage(desk: Desk, papers: Path) -> None:
    assert "Created collection 'papers'" in desk.run("collections", "create", "papers")
    first, shown = desk.run_at_terminal("kb", "add-document", str(papers), "-c", "papers", "--recursive")
    assert "0 updated, 0 unchanged" in first
    count = first.split()[1]
    assert "Reading papers" in shown
    assert f"{count}/{count}" in shown
    swarm = desk.ask("when does a swarm leave")
    assert swarm["results"][0]["header_path"] == "Swarms"
    (papers / "new.md").write_text("# Coffee\n\n## Grinding\n\nGrind the beans just before brewing.\n")
    again = desk.run("kb", "add-document", str(papers), "--collection", "papers", "--recursive")
    assert "1 added, 0 updated" in again
    assert "Coffee > Grinding" in desk.run("query", "when should beans be ground", "--top-k", "1")
    asked = json.loads(desk.run("collections", "delete", "papers", "--json", code=3))
    assert asked["status"] == "pending_approval"
    desk.run("collections", "delete", "papers", "--yes")
    assert desk.run("collections", "list").strip() == "There are no collections yet."


@pytest.mark.timeout(600)
async def test_an_ingest_that_was_killed_ends_like_one_that_was_not(desk: Desk, papers: Path) -> None:
    desk.run("collections", "create", "papers")
    arguments = ("kb", "add-document", str(papers), "--collection", "papers", "--recursive")
    killed = desk.start(*arguments)
    await until(lambda: len(desk.contents()) > 0 or killed.poll() is not None, seconds=90)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    desk.run(*arguments)
    resumed = desk.contents()
    desk.run("collections", "delete", "papers", "--yes")
    desk.run("collections", "create", "papers")
    desk.run(*arguments)
    undisturbed = desk.contents()
    assert len(undisturbed) > 20
    different = [
        (row[0], [left for left, right in zip(row, other, strict=True) if left != right])
        for row, other in zip(resumed, undisturbed, strict=True)
        if row != other
    ]
    assert different == []


@pytest.mark.req("ORC-FR-013", "ORC-SC-006", "ORC-Q22")
@pytest.mark.timeout(600)
async def test_a_watched_folder_reaches_its_collection_whatever_the_agents_do(
    desk: Desk, tmp_path: Path, papers: Path
) -> None:
    notes = papers / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# A\n\nThe first note is about cheese.\n")
    desk.run("collections", "create", "notes")
    dead = {"command": sys.executable, "args": ["-c", "raise SystemExit(1)"]}
    (tmp_path / "home" / "mcp.json").write_text(json.dumps({"mcpServers": {"dead": dead}}))
    watcher = desk.start("kb", "watch", str(notes), "--collection", "notes")

    def sources() -> set[str]:
        return {Path(str(row[0])).name for row in desk.contents()}

    try:
        await until(lambda: sources() == {"a.md"}, seconds=90)
        (notes / "b.md").write_text("# B\n\nThe second note is about wine.\n")
        await until(lambda: sources() == {"a.md", "b.md"}, seconds=60)
        (notes / "b.md").rename(notes / "c.md")
        await until(lambda: sources() == {"a.md", "c.md"}, seconds=60)
        (notes / "a.md").unlink()  # its text stays until a person has it removed
        (papers / "more").mkdir()
        (papers / "more" / "d.md").write_text("# D\n\nThe fourth note is about bread.\n")
        (papers / "more").rename(notes / "more")
        await until(lambda: sources() == {"a.md", "c.md", "d.md"}, seconds=60)
        (notes / "more" / "d.md").rename(notes / "e.md")
        await until(lambda: sources() == {"a.md", "c.md", "e.md"}, seconds=60)
    finally:
        watcher.send_signal(signal.SIGINT)
        watcher.wait(30)


@pytest.mark.timeout(600)
async def test_what_changes_while_a_watched_folder_is_first_read_is_not_lost(
    desk: Desk, papers: Path
) -> None:
    notes = papers / "notes"
    notes.mkdir()
    desk.run("collections", "create", "notes")
    watcher = desk.start("kb", "watch", str(notes), "--collection", "notes")
    written: set[str] = set()

    def write_and_look() -> set[str]:
        name = f"{len(written)}.md"
        (notes / name).write_text(f"# Note {name}\n\nIt was written while others were read.\n")
        written.add(name)
        return {Path(str(row[0])).name for row in desk.contents()}

    try:
        await until(lambda: len(write_and_look()) > 0, seconds=90)
        write_and_look()
        await until(lambda: {Path(str(row[0])).name for row in desk.contents()} == written, seconds=90)
    finally:
        watcher.send_signal(signal.SIGINT)
        watcher.wait(30)
