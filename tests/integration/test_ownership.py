"""A user's data leaves and comes back: whole, once, nobody else's with it; and goes for good when erased."""

import hashlib
import json
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.deciders import deciding
from tests.support.postgres import TestServer

from steward.bootstrap import Platform, open_platform
from steward.bootstrap.workspace.ownership import export_user, import_user
from steward.contract.call import Caller, CallerKind, Done, PendingApproval, ToolCall
from steward.contract.errors import StewardError
from steward.policy.access import Role
from steward.settings import Settings, load_settings
from steward.storage.database.postgres import Database
from steward.storage.ownership import STAYS, owned_tables

ANA, BEN = "ana", "ben"


def configured(folder: Path, url: str) -> Settings:
    return load_settings(STEWARD_HOME=folder, DATABASE_URL=url, OTEL_EXPORTER_OTLP_ENDPOINT="none")


@pytest.fixture
async def platform(tmp_path: Path, database_url: str) -> AsyncIterator[Platform]:
    async with open_platform(configured(tmp_path / "home", database_url)) as platform:
        for user in (ANA, BEN):
            await platform.tasks.users.add(user, time_zone="Europe/Berlin")
        yield platform


@pytest.fixture
async def elsewhere(tmp_path: Path, postgres: TestServer) -> AsyncIterator[Platform]:
    """Another workspace, where nothing is known of the first."""
    async with (
        postgres.database_url() as url,
        open_platform(configured(tmp_path / "elsewhere", url)) as platform,
    ):
        await platform.tasks.users.add(ANA, time_zone="Europe/Berlin")
        yield platform


async def call(platform: Platform, user: str, tool: str, **arguments: Any) -> Any:
    person = Caller(CallerKind.PERSON, user)
    result = await platform.orchestrator.execute(
        ToolCall(tool=tool, arguments=arguments, caller=person, user=user)
    )
    if isinstance(result, PendingApproval):
        return result.proposal_id
    assert isinstance(result, Done), result
    return result.data


async def lived(platform: Platform, user: str) -> None:
    """Something of everything that is kept under a user's id."""
    milk = (await call(platform, user, "add_task", title=f"buy milk for {user}"))["task"]["id"]
    await call(platform, user, "update_task", task_id=milk, priority="high")
    await call(platform, user, "complete_task", task_id=milk)
    rent = (await call(platform, user, "add_task", title="pay the rent", due_date="2027-03-01"))["task"]["id"]
    await call(platform, user, "save_fact", text=f"The spare key of {user} is at Mia's.")
    await call(platform, user, "store_memory", content=f"{user} lives in Lisbon since 2024.")
    await call(platform, user, "store_memory", content=f"{user} lives in Porto since 2026.")
    await platform.questions.ask(user, f"Which bank, {user}?")
    person = Caller(CallerKind.PERSON, user)
    approved = await call(platform, user, "delete_task", task_id=rent)
    await platform.orchestrator.approvals.approve(approved, by=deciding(person.id))
    await call(platform, user, "delete_task", task_id=milk)  # still waits
    await platform.keys.add(f"key-of-{user}", Role.APPROVE, user=user)
    schedule = (await call(platform, user, "add_schedule", request="Show my tasks", when="every day"))["id"]
    run = "INSERT INTO schedule_runs (schedule_id, due, user_id, begun_at) VALUES ($1, now(), $2, now())"
    await platform.database.execute(run, schedule, user)
    for statement in LIVED:
        await platform.database.execute(statement, user)


# What only a conversation or a search leaves, as their rooms write it.
LIVED = (
    "INSERT INTO conversations (id, user_id, agent, title) VALUES ('talk of ' || $1, $1, 'tasks', 'Milk')",
    (
        "INSERT INTO conversation_turns (conversation_id, number, user_id, said, speaker, answer) "
        "VALUES ('talk of ' || $1, 1, $1, 'add milk', 'person', '{\"answer\":  \"Done.\"}')"
    ),
    (
        "INSERT INTO kb_queries (user_id, query, collections, results, refinement) "
        "VALUES ($1, 'bees of ' || $1, '{}', 0, 'optimal')"
    ),
    "INSERT INTO tool_requests (user_id, tool, request) VALUES ($1, 'add_task', 'add milk of ' || $1)",
    "INSERT INTO long_calls (id, caller, user_id) VALUES ('long of ' || $1, 'key', $1)",
    "INSERT INTO request_replays (caller, key, user_id, request) VALUES ('key of ' || $1, 'k', $1, 'x')",
    "INSERT INTO gaps (user_id, missing, task) VALUES ($1, 'financial_data_api', 'stocks of ' || $1)",
    (
        "INSERT INTO notices (id, user_id, kind, source, due, title, text, made_at) "
        "VALUES ('notice of ' || $1, $1, 'reminder', 'task of ' || $1, now(), 'milk', 'It is 5.', now())"
    ),
    "INSERT INTO notice_addresses (user_id, medium, address) VALUES ($1, 'email', $1 || '@example.org')",
)


async def shelve(platform: Platform) -> None:
    await call(platform, ANA, "manage_collections", action="create", collection_name="bees")
    content = "# Swarms\n\nScout bees choose a home by dancing.\n\n# Honey\n\nHoney keeps for years."
    await call(platform, ANA, "augment_knowledge", content=content, source="bees.md", collection="bees")
    await call(platform, ANA, "manage_projects", action="create", project_name="hive", collections="bees")


async def rows_of(database: Database, user: str) -> dict[str, list[str]]:
    """Every row under this id in any table, as information_schema knows them."""
    tables = await database.fetch(
        "SELECT table_name FROM information_schema.columns WHERE column_name = 'user_id' "
        "AND table_schema = 'public' ORDER BY 1"
    )
    return {
        name: [
            row[0]
            for row in await database.fetch(
                f'SELECT t::text FROM "{name}" t WHERE user_id = $1 ORDER BY 1', user
            )
        ]
        for (name,) in (tuple(row) for row in tables)
    }


async def content_of(platform: Platform, user: str) -> dict[str, list[str]]:
    """The rows as they travel: without the numbers that each database gives out itself."""
    content: dict[str, list[str]] = {}
    for table in await owned_tables(platform.database):
        columns = ", ".join(f'"{name}"' for name in table.columns)
        query = (
            f'SELECT row_to_json(r)::text FROM (SELECT {columns} FROM "{table.name}" WHERE user_id = $1) r'
        )
        content[table.name] = sorted(row[0] for row in await platform.database.fetch(query, user))
    return content


async def test_everything_comes_back_in_another_workspace_and_nothing_of_others(
    platform: Platform, elsewhere: Platform, tmp_path: Path
) -> None:
    await lived(platform, ANA)
    await lived(platform, BEN)
    await shelve(platform)
    file = tmp_path / "ana.zip"
    await export_user(platform, ANA, file)
    assert file.stat().st_mode & 0o777 == 0o600

    with zipfile.ZipFile(file) as archive:
        everything = b"".join(archive.read(name) for name in archive.namelist()).decode()
    assert ("buy milk for ana" in everything, "Honey keeps" in everything) == (True, True)
    assert ("for ben" in everything, "of ben" in everything, "ben lives" in everything) == (False,) * 3

    moved = await import_user(elsewhere, ANA, file)
    assert await content_of(elsewhere, ANA) == await content_of(platform, ANA)
    assert {name for name, count in moved.added.items() if count} >= {
        "tasks",
        "task_events",
        "facts",
        "memories",
        "proposals",
        "questions",
        "library/collections",
        "library/projects",
        "library/documents",
    }
    assert [rows for rows in (await rows_of(elsewhere.database, BEN)).values() if rows] == []
    found = await call(elsewhere, ANA, "query_knowledge_base", query="how do scout bees choose a home")
    assert found["results"][0]["header_path"].endswith("Swarms")
    recalled = await call(elsewhere, ANA, "search_memory", query="where does ana live")
    assert recalled["items"]


async def test_importing_again_changes_nothing(
    platform: Platform, elsewhere: Platform, tmp_path: Path
) -> None:
    await lived(platform, ANA)
    await shelve(platform)
    await export_user(platform, ANA, tmp_path / "ana.zip")
    await import_user(elsewhere, ANA, tmp_path / "ana.zip")
    before = await content_of(elsewhere, ANA)
    again = await import_user(elsewhere, ANA, tmp_path / "ana.zip")
    home = await import_user(platform, ANA, tmp_path / "ana.zip")
    assert ({*again.added.values()}, {*home.added.values()}) == ({0}, {0})
    assert await content_of(elsewhere, ANA) == before == await content_of(platform, ANA)


async def test_rows_of_somebody_else_can_neither_be_taken_nor_touched(
    platform: Platform, tmp_path: Path
) -> None:
    """Ben imports Ana's file into the workspace where Ana's rows are: they stay hers and as they are."""
    await lived(platform, ANA)
    await export_user(platform, ANA, tmp_path / "ana.zip", library=False)
    before = await rows_of(platform.database, ANA)
    await import_user(platform, BEN, tmp_path / "ana.zip")
    assert await rows_of(platform.database, ANA) == before
    tasks = (await call(platform, BEN, "list_tasks"))["tasks"]
    assert tasks == []


async def test_a_call_that_was_running_elsewhere_is_not_running_here(
    platform: Platform, elsewhere: Platform, tmp_path: Path
) -> None:
    await lived(platform, ANA)
    await platform.database.execute(
        "UPDATE proposals SET state = 'running', approver = 'a', instance = 7 WHERE state = 'waiting'"
    )
    await export_user(platform, ANA, tmp_path / "ana.zip", library=False)
    await import_user(elsewhere, ANA, tmp_path / "ana.zip")
    states = await elsewhere.database.fetch("SELECT state, instance FROM proposals ORDER BY state")
    assert [tuple(row) for row in states] == [("finished", None), ("unknown", None)]


def rewritten(file: Path, target: Path, change: Any) -> Path:
    """An export that somebody edited, with checksums that fit again."""
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(parts.pop("manifest.json"))
    change(parts, manifest)
    for name, data in parts.items():
        manifest["parts"][name]["sha256"] = hashlib.sha256(data).hexdigest()
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
        archive.writestr("manifest.json", json.dumps(manifest))
    return target


def _bad_row(parts: dict[str, bytes], _: Any) -> None:
    parts["questions.jsonl"] += b'{"id": "x", "text": null, "choices": 7}\n'


def _bad_line(parts: dict[str, bytes], _: Any) -> None:
    parts["task_events.jsonl"] += b"[1, 2]\n"


def _bad_document(parts: dict[str, bytes], _: Any) -> None:
    parts["library/documents.jsonl"] += b'{"collection": "nowhere"}\n'


@pytest.mark.parametrize("change", [_bad_row, _bad_line, _bad_document])
async def test_a_bad_line_at_the_end_leaves_nothing_of_the_good_ones(
    platform: Platform, elsewhere: Platform, tmp_path: Path, change: Any
) -> None:
    await lived(platform, ANA)
    await shelve(platform)
    await export_user(platform, ANA, tmp_path / "ana.zip")
    edited = rewritten(tmp_path / "ana.zip", tmp_path / "edited.zip", change)
    before = await content_of(elsewhere, ANA)
    with pytest.raises(StewardError) as refused:
        await import_user(elsewhere, ANA, edited)
    assert refused.value.code == "ARCHIVE_INVALID"
    assert await content_of(elsewhere, ANA) == before
    assert await elsewhere.library.base.collections() == []


def _foreign(file: Path) -> None:
    file.write_bytes(b"not a zip at all")


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


def _flipped(file: Path) -> None:
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["facts.jsonl"] = parts["facts.jsonl"].replace(b"Mia", b"Eve")
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)


def _newer(file: Path) -> None:
    rewritten(file, file, lambda parts, manifest: manifest.update(version=99))


def _another_kind(file: Path) -> None:
    rewritten(file, file, lambda parts, manifest: manifest.update(format="steward-backup"))


@pytest.mark.parametrize("spoil", [_foreign, _cut, _flipped, _newer, _another_kind])
async def test_a_file_that_is_not_whole_and_ours_is_refused(
    platform: Platform, tmp_path: Path, spoil: Any
) -> None:
    await call(platform, ANA, "save_fact", text="The spare key is at Mia's.")
    file = tmp_path / "ana.zip"
    await export_user(platform, ANA, file, library=False)
    spoil(file)
    with pytest.raises(StewardError) as refused:
        await import_user(platform, BEN, file)
    assert refused.value.code == "ARCHIVE_INVALID"


async def test_nothing_of_an_erased_user_is_left_in_any_table(platform: Platform) -> None:
    await lived(platform, ANA)
    await lived(platform, BEN)
    before = await rows_of(platform.database, ANA)
    kept = await rows_of(platform.database, BEN)
    assert [name for name, rows in before.items() if not rows] == [], "whatever is new must be lived as well"
    await platform.tasks.users.erase(ANA)
    left = await rows_of(platform.database, ANA)
    assert {name: rows for name, rows in left.items() if rows} == {}
    assert await rows_of(platform.database, BEN) == kept
    assert await platform.database.fetchval("SELECT count(*) FROM users WHERE id = $1", ANA) == 0


async def test_every_table_with_rows_of_users_is_exported_or_named(platform: Platform) -> None:
    everything = set(await rows_of(platform.database, ANA))
    assert {table.name for table in await owned_tables(platform.database)} | STAYS == everything
