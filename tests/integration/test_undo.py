"""Whatever a reversible call changed can be taken back, in words, by count or by id, and done again."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import time_machine
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.support.deciders import deciding

from steward.bootstrap import Platform, open_platform
from steward.contract.call import Caller, CallerKind, Done, Failed, PendingApproval, ToolCall, ToolResult
from steward.contract.deciding import Role
from steward.knowledge.memory import Scope
from steward.policy.rules import Rule
from steward.providers.scripts.registry_writer import AddTool
from steward.providers.scripts.tools_config import parse_entry
from steward.settings import Settings, load_settings

MODEL = Caller(CallerKind.AGENT, "model")
TABLES = {
    "tasks": ("updated_at",),
    "facts": (),
    "memories": (),
    "schedules": ("next_at",),
    "kb_collections": ("counted_chunks", "average_length", "settled_at"),
    "kb_projects": (),
    "kb_project_collections": (),
    "kb_documents": (),
}


def configured(home: Path, database_url: str, **more: Any) -> Settings:
    vault = home.parent / "vault"
    vault.mkdir(exist_ok=True)
    return load_settings(
        STEWARD_HOME=home,
        DATABASE_URL=database_url,
        OTEL_EXPORTER_OTLP_ENDPOINT="none",
        STEWARD_OBSIDIAN_VAULT=vault,
        **more,
    )


class Person:
    """Somebody who acts through the door, and what everybody has at a moment."""

    def __init__(self, platform: Platform, name: str) -> None:
        self.platform, self.name = platform, name

    async def __call__(self, tool: str, /, *, role: Role | None = None, **given: Any) -> ToolResult:
        call = ToolCall(tool=tool, arguments=given, caller=MODEL, user=self.name, role=role)
        return await self.platform.orchestrator.execute(call)

    async def done(self, tool: str, /, **given: Any) -> Any:
        result = await self(tool, **given)
        assert isinstance(result, Done), result
        return result.data

    async def state(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for table, moving in TABLES.items():
            rows = await self.platform.database.fetch(f"SELECT to_jsonb(t) AS row FROM {table} t")
            kept = [{k: v for k, v in row["row"].items() if k not in moving} for row in rows]
            found[table] = sorted(map(str, kept))
        passages = (
            "SELECT document_id, sequence, content FROM kb_chunks WHERE collection_id > 0 ORDER BY 1, 2"
        )
        found["passages"] = [tuple(row) for row in await self.platform.database.fetch(passages)]
        vault = self.platform.settings.obsidian_vault
        assert vault is not None
        found["notes"] = {str(note): note.read_text() for note in vault.rglob("*.md")}
        return found


async def person(platform: Platform) -> Person:
    name = f"ana-{uuid.uuid4().hex[:8]}"
    await platform.tasks.users.add(name, name="Ana")
    return Person(platform, name)


@pytest.fixture
async def platform(tmp_path: Path, database_url: str) -> AsyncIterator[Platform]:
    async with open_platform(configured(tmp_path / "home", database_url)) as platform:
        yield platform


@pytest.fixture
async def ana(platform: Platform) -> Person:
    return await person(platform)


async def approved(ana: Person, waits: ToolResult) -> None:
    assert isinstance(waits, PendingApproval)
    await ana.platform.orchestrator.approvals.approve(waits.proposal_id, by=deciding(ana.name))


WORDS = st.sampled_from(["Ana likes tea", "Ana likes coffee", "The key is at Bea's", "The car is blue"])
NUMBER = st.integers(0, 5)
CALLS = st.one_of(
    st.tuples(st.just("add_task"), WORDS, st.sampled_from([None, "FREQ=DAILY"])),
    st.tuples(st.just("update_task"), NUMBER, WORDS),
    st.tuples(st.just("complete_task"), NUMBER),
    st.tuples(st.sampled_from(["save_fact", "store_memory", "log_to_obsidian"]), WORDS),
    st.tuples(st.just("add_schedule"), WORDS),
    st.tuples(st.just("collection"), NUMBER),
    st.tuples(st.just("project"), NUMBER, NUMBER),
    st.tuples(st.sampled_from(["link", "unlink", "set-defaults"]), NUMBER, NUMBER),
    st.tuples(st.just("augment_knowledge"), NUMBER, WORDS),
)


async def make(ana: Person, step: tuple[Any, ...]) -> None:
    """One reversible call. Where it is refused it changes nothing, which is as good."""
    kind, *rest = step
    match kind:
        case "add_task":
            due = {} if rest[1] is None else {"recurrence": rest[1], "due_date": "2031-01-05"}
            await ana("add_task", title=rest[0], **due)
        case "update_task" | "complete_task":
            listed = (await ana.done("list_tasks"))["tasks"]
            task = listed[rest[0] % len(listed)]["id"] if listed else "task_none"
            await ana(kind, task_id=task, **({"title": rest[1]} if rest[1:] else {}))
        case "save_fact" | "log_to_obsidian":
            await ana(kind, text=rest[0])
        case "store_memory":
            await ana(kind, content=rest[0])
        case "add_schedule":
            await ana(kind, request=rest[0], when="every day at 8")
        case "collection":
            await ana("manage_collections", action="create", collection_name=f"c{rest[0]}")
        case "project":
            await ana(
                "manage_projects", action="create", project_name=f"p{rest[0]}", collections=f"c{rest[1]}"
            )
        case "augment_knowledge":
            await ana(kind, content=rest[1], source="a note", collection=f"c{rest[0]}")
        case _:
            await ana("manage_projects", action=kind, project_name=f"p{rest[0]}", collections=f"c{rest[1]}")


@pytest.fixture
def world(tmp_path: Path, database_url: str) -> Iterator[tuple[asyncio.Runner, Platform]]:
    """One platform for all examples: each leaves it as it was."""
    with asyncio.Runner() as runner:
        opening = open_platform(configured(tmp_path / "home", database_url))
        platform = runner.run(opening.__aenter__())
        try:
            yield runner, platform
        finally:
            runner.run(opening.__aexit__(None, None, None))


async def undone_in_reverse(platform: Platform, story: list[tuple[Any, ...]], *, at_once: bool) -> None:
    ana = await person(platform)
    before = await ana.state()
    for step in story:
        await make(ana, step)
    after = await ana.state()
    changes = len(await platform.undoing.journal.changes(ana.name, limit=1_000))
    undos = [await ana.done("undo", count=changes)] if at_once and changes else []
    if not at_once:
        undos = [await ana.done("undo") for _ in range(changes)]
    assert await ana.state() == before
    for undo in reversed(undos):
        await ana.done("undo", id=undo["id"])
    assert len(after["tasks"]) == len((await ana.state())["tasks"])
    while await platform.undoing.journal.changes(ana.name):
        await ana.done("undo")
    assert await ana.state() == before


@settings(
    max_examples=20,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
@given(story=st.lists(CALLS, min_size=1, max_size=12), at_once=st.booleans())
def test_reversible_calls_undone_in_reverse_leave_everything_as_it_was(
    world: tuple[asyncio.Runner, Platform], story: list[tuple[Any, ...]], at_once: bool
) -> None:
    runner, platform = world
    runner.run(undone_in_reverse(platform, story, at_once=at_once))


async def test_an_addition_that_was_changed_since_stays_and_says_so(ana: Person) -> None:
    added = await ana.done("add_task", title="Buy milk")
    change = (await ana.platform.undoing.journal.changes(ana.name))[0]
    await ana.done("update_task", task_id=added["task"]["id"], title="Buy oats")
    refused = await ana("undo", id=change.id)
    assert isinstance(refused, Failed)
    assert refused.code == "CANNOT_UNDO"
    assert "changed since" in refused.error


async def test_nobody_takes_back_what_somebody_else_changed(ana: Person) -> None:
    await ana.done("save_fact", text="The spare key is at Bea's.")
    change = (await ana.platform.undoing.journal.changes(ana.name))[0]
    bob = await person(ana.platform)
    by_id, last = await bob("undo", id=change.id), await bob("undo")
    assert isinstance(by_id, Failed)
    assert isinstance(last, Failed)
    assert (by_id.code, last.code) == ("NOT_FOUND", "NOTHING_TO_UNDO")


@pytest.mark.parametrize("hours", [0, -3, 3])
async def test_what_is_final_is_said_before_anything_older_is_taken_back(ana: Person, hours: int) -> None:
    """Also where the database's clock is another one."""
    with time_machine.travel(datetime.now(UTC) + timedelta(hours=hours)):
        await ana.done("add_task", title="stays")
        old = await ana.done("add_task", title="old")
        waits = await ana("delete_task", task_id=old["task"]["id"])
        await approved(ana, waits)
        told = await ana("undo")
    assert isinstance(told, Failed)
    assert (told.code, "delete_task" in told.error, "stays" in told.error) == ("CANNOT_UNDO", True, True)
    assert "stays" in (await ana.done("undo"))["message"]


async def test_policy_is_taken_back_by_an_admin_only(ana: Person) -> None:
    rules = ana.platform.rules
    before = rules.text()
    add = partial(rules.add, Rule(tool="notes__append", trust=True), note="Ana said always")
    await ana.platform.undoing.change_policy(rules, add, user=ana.name)
    refused = await ana("undo")
    assert isinstance(refused, Failed)
    assert (refused.code, rules.text() == before) == ("FORBIDDEN", False)
    assert isinstance(await ana("undo", role=Role.ADMIN), Done)
    assert rules.text() == before


async def test_a_forgotten_memory_leaves_nothing_to_bring_back(ana: Person) -> None:
    kept = await ana.done("store_memory", content="Ana's locker code is 4471.")
    await ana.platform.library.memories.forget(Scope(user=ana.name), kept)
    assert await ana.platform.undoing.journal.changes(ana.name, standing=False) == []


async def test_a_deleted_task_comes_back_with_its_history_while_the_bin_keeps_it(
    tmp_path: Path, database_url: str
) -> None:
    async with open_platform(configured(tmp_path / "home", database_url, STEWARD_BIN_DAYS=7)) as platform:
        ana = await person(platform)
        task = (await ana.done("add_task", title="Buy milk"))["task"]
        await ana.done("update_task", task_id=task["id"], title="Buy oats")
        waits = await ana("delete_task", task_id=task["id"])
        await approved(ana, waits)
        await ana.done("undo")
        log = await platform.tasks.desk.history(ana.name, task["id"])
        assert [event["action"] for event in log] == ["added", "updated"]
        await platform.database.execute("UPDATE undo_steps SET at = now() - interval '8 days'")
        await platform.undoing.journal.sweep(bin_days=7)
        assert len(await platform.undoing.journal.changes(ana.name, standing=False, limit=9)) == 3


async def test_a_tool_of_the_registry_is_taken_back_with_its_script(ana: Person) -> None:
    platform = ana.platform
    entry = parse_entry({"name": "hello", "description": "Greets.", "script": "hello.py"})
    source = "def run():\n    return {}\n"
    await platform.undoing.change_tool(platform.writer, AddTool(entry, source), user=ana.name)
    script = platform.settings.tools_folder / "hello.py"
    assert script.is_file()
    undo = await ana("undo", role=Role.ADMIN)
    assert isinstance(undo, Done)
    assert (platform.writer.entry("hello"), script.exists()) == (None, False)
    await ana("undo", role=Role.ADMIN, id=undo.data["id"])
    assert (platform.writer.entry("hello"), script.read_text()) == (entry, source)
