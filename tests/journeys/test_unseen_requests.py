"""Requests of people who have not seen the program, to the default agent with six servers connected.

Written without sight of the code (tests/requests/). When the program first met them, .63 of the first set
were right, without the taught reader in front, .72 of the second, with it, .77 of the third, .69 of the
fourth, .61 of the fifth, .69 of the sixth and .70 of the seventh; half of these two was looked at once it had
been counted. They keep what they reached.
"""

import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from tests.conversing import KNOWLEDGE
from tests.support.talking import ANA, TalkSetup, open_house

from steward.agents.turn.toolset import reads_only
from steward.contract.call import Done, ToolCall
from steward.conversations.model import Answer, AnswerStatus, CallRecord
from steward.storage.database.postgres import Database, External

MONDAY = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)
WEDNESDAY = MONDAY + timedelta(days=2)
WRITTEN = {
    "first": MONDAY,
    "second": MONDAY,
    **dict.fromkeys(("third", "fourth", "fifth", "sixth", "seventh"), WEDNESDAY),
}  # the days they speak from
SETS = Path(__file__).parent.parent / "requests"
SERVER = Path(__file__).parent.parent / "programs" / "serve_definitions.py"
_LOOSE = re.compile(r"[\s,./\-_*^'\"?!:]")
_ARTICLE = re.compile(r"^(?:the|my|an?)\s+", re.IGNORECASE)
_MOMENT = re.compile(r"\d{8}(?:t?\d{4,6}(?:z|[+]?\d{4})?)?")


def plain(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return sorted(str(plain(each)) for each in value)
    text = str(value)
    try:
        return f"{float(text):g}"
    except ValueError:
        return _LOOSE.sub("", _ARTICLE.sub("", text)).lower()


def accepts(accepted: Sequence[object], given: object) -> bool:
    if given in (None, ""):
        return "" in accepted or None in accepted
    said = plain(given)
    return any(_same(said, plain(each)) for each in accepted if each not in ("", None))


def _same(said: object, wanted: object) -> bool:
    if said == wanted:
        return True
    if not (isinstance(said, str) and isinstance(wanted, str)):
        return False
    dated = _MOMENT.fullmatch(said) and _MOMENT.fullmatch(wanted)
    return bool(dated) and said[:8] == wanted[:8] and (len(wanted) == 8 or said[8:13] == wanted[8:13])


def meant(wanted: Mapping[str, Any], call: CallRecord, titles: Mapping[str, str]) -> bool:
    tools = wanted["tool"] if isinstance(wanted["tool"], list) else [wanted["tool"]]
    if call.tool not in [name.replace("files__", "filesystem__") for name in tools]:
        return False
    given = dict(call.arguments)
    if "task_id" in given:
        given["task_id"] = titles.get(str(given["task_id"]), given["task_id"])
    # What a list holds is told in the answer; how it was filtered is the planner's business.
    wanted_arguments = {} if call.tool == "list_tasks" else wanted.get("arguments", {})
    return all(accepts(accepted, given.get(name)) for name, accepted in wanted_arguments.items())


class Listener:
    """Plays one set against a house and counts what came of it."""

    def __init__(self, house: TalkSetup, database: Database, folder: Path) -> None:
        self._house = house
        self._database = database
        self._folder = folder
        self._titles: dict[str, str] = {}

    async def verdict(self, row: Mapping[str, Any]) -> str:
        await self._prepare(row.get("seed") or {})
        return self._judge(row["expect"], await self._house.ask(row["request"], agent="assistant"))

    async def _prepare(self, seed: Mapping[str, Any]) -> None:
        for table in ("tasks", "memories", "facts"):
            await self._database.execute(f"DELETE FROM {table}")
        self._titles.clear()
        for task in seed.get("tasks", ()):
            given = {name: task[name] for name in ("title", "due_date", "priority") if task.get(name)}
            made = await self._call("add_task", user_id="local", **given)
            task_id = str(made["task"]["id"])
            self._titles[task_id] = task["title"]
            if task.get("completed"):
                await self._call("complete_task", user_id="local", task_id=task_id)
        for memory in seed.get("memories", ()):
            await self._call("store_memory", content=memory)
        for name, text in (seed.get("files") or {}).items():
            path = self._folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        await self._keep(seed.get("documents") or {})

    async def _keep(self, documents: Mapping[str, str]) -> None:
        for table in KNOWLEDGE:
            await self._database.execute(f"DELETE FROM {table}")
        if not documents:
            return
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        for name, text in documents.items():
            (folder / name).write_text(text)
        await self._call("manage_collections", action="create", collection_name="papers")
        await self._call("ingest_documents", path=str(folder), collection="papers")

    async def _call(self, tool: str, **arguments: Any) -> Any:
        call = ToolCall(tool=tool, arguments=arguments, caller=ANA.caller, user="local")
        result = await self._house.platform.orchestrator.execute(call)
        assert isinstance(result, Done), result
        return result.data

    def _changes(self, call: CallRecord) -> bool:
        if call.tool == "request_human_input":  # a question to the person
            return False
        found = self._house.platform.orchestrator.registry.find(call.tool)
        return found is None or not reads_only(found.spec)

    def _judge(self, expect: Mapping[str, Any], answer: Answer) -> str:
        left = list(answer.tool_calls)
        if "calls" in expect:
            for wanted in expect["calls"]:
                found = next((call for call in left if meant(wanted, call, self._titles)), None)
                if found is None:
                    return "wrong effect" if any(map(self._changes, left)) else "wrong"
                left.remove(found)
            return "wrong effect" if any(map(self._changes, left)) else "right"
        if any(map(self._changes, left)):
            return "wrong effect"
        said = answer.answer.lower()
        gap = answer.status is AnswerStatus.GAP
        if "answer" in expect:
            return "right" if any(each.lower() in said for each in expect["answer"]) else "wrong"
        if "ask" in expect:
            return "right" if answer.status is AnswerStatus.QUESTION else "wrong"
        return "right" if gap == ("gap" in expect) else "wrong"


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("name", "right", "wrong_effects"),
    [
        ("first", 0.82, 0.06),
        ("second", 0.74, 0.12),
        ("third", 0.86, 0.05),
        ("fourth", 0.82, 0.08),
        ("fifth", 0.71, 0.13),
        ("sixth", 0.83, 0.08),
        ("seventh", 0.80, 0.09),
    ],
)
async def test_requests_that_were_written_without_sight_of_the_program(
    tmp_path: Path,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    right: float,
    wrong_effects: float,
) -> None:
    definitions = SETS / f"{name}_servers.json"
    servers = {
        "filesystem" if server == "files" else server: {
            "command": sys.executable,
            "args": [str(SERVER), str(definitions), server],
        }
        for server in json.loads(definitions.read_text())
    }
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    monkeypatch.chdir(tmp_path)
    rows = [json.loads(line) for line in (SETS / f"{name}.jsonl").read_text().splitlines()]
    counted: Counter[str] = Counter()
    missed: list[str] = []
    async with (
        open_house(tmp_path, database_url) as house,
        Database(External(database_url)) as database,
    ):
        for agent in servers:
            await house.platform.orchestrator.lifecycle.start(agent)
        listener = Listener(house, database, tmp_path)
        for row in rows:
            with time_machine.travel(WRITTEN[name]):
                verdict = await listener.verdict(row)
            counted[verdict] += 1
            missed += [f"{verdict}: {row['request']}"] if verdict != "right" else []
    assert counted["right"] / len(rows) >= right, "\n".join(missed)
    assert counted["wrong effect"] / len(rows) <= wrong_effects, "\n".join(missed)
