"""Conversations with the real house, and what became of each.

A row is `{id, kind, seed, turns: [{say, all, none}], after}`: what is there before, what is said and what
each answer
must hold, what is there at the end. `all` and `none` are regular expressions. A day is told as its distance
("+1"), its name ("fri") or its date ("11-30"); null is any day, "" none.

    python -m tests.conversing FILE [ID ...]     plays a file, or only these of it, and tells every turn
"""

import asyncio
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.support.deciders import deciding
from tests.support.postgres import running_server
from tests.support.talking import TalkSetup, open_house

from steward.contract.call import Caller, CallerKind, Done, ToolCall
from steward.conversations.model import Speaker
from steward.storage.database.postgres import Database, External

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
RIGHT, USELESS, WRONG_EFFECT, HARM = "right", "useless", "wrong effect", "harm"
KNOWLEDGE = ("kb_queries", "kb_project_collections", "kb_projects", "kb_documents", "kb_collections")


@dataclass
class Played:
    verdict: str
    why: list[str]
    transcript: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Held:
    """What a person owns at one moment."""

    tasks: Sequence[Mapping[str, Any]]
    memories: Sequence[str]

    @property
    def open(self) -> list[Mapping[str, Any]]:
        return [task for task in self.tasks if task["completed_at"] is None]

    @property
    def done(self) -> list[str]:
        return [task["title"] for task in self.tasks if task["completed_at"]]


class Conversing:
    def __init__(self, house: TalkSetup, database: Database, folder: Path) -> None:
        self._house = house
        self._database = database
        self._folder = folder

    async def play(self, row: Mapping[str, Any]) -> Played:
        user = f"u{row['id']}"
        speaker = Speaker(user=user, caller=Caller(CallerKind.PERSON, user), decider=deciding(user))
        await self._prepare(row.get("seed") or {}, speaker)
        before = await self._held(user)
        conversation, why, transcript = None, [], []
        chat = await self._house.platform.agents.chat()
        for turn in row["turns"]:
            answer = await chat.turn(
                turn["say"], speaker=speaker, agent="assistant", conversation=conversation
            )
            conversation = answer.conversation
            calls = "; ".join(
                f"{call.tool}({json.dumps(dict(call.arguments))[:160]})" for call in answer.tool_calls
            )
            transcript += [f"> {turn['say']}", f"< [{answer.status}] {answer.answer}", f"  {calls}"]
            why += _unheard(turn, answer.answer)
        after = await self._held(user)
        wanted = row.get("after") or {}
        why += _not_so(wanted, after)
        return Played(_verdict(wanted, before, after, why), why, transcript)

    async def _held(self, user: str) -> Held:
        tasks = await self._database.fetch(
            "SELECT * FROM tasks WHERE user_id = $1 ORDER BY created_at, id", user
        )
        kept = await self._database.fetch(
            "SELECT content FROM memories WHERE user_id = $1 AND superseded_at IS NULL"
            " AND source <> 'researcher' UNION ALL"
            " SELECT text FROM facts WHERE user_id = $1 AND removed_at IS NULL",
            user,
        )
        return Held([dict(each) for each in tasks], [each[0] for each in kept])

    async def _prepare(self, seed: Mapping[str, Any], speaker: Speaker) -> None:
        for table in KNOWLEDGE:
            await self._database.execute(f"DELETE FROM {table}")
        await self._database.execute("INSERT INTO users (id, name) VALUES ($1, $1)", speaker.user)
        # A list shows what was added last first, unless told otherwise: seeded so that it reads as it is
        # written.
        for task in seed.get("tasks", ()):
            given = {"title": task["title"]}
            if task.get("due"):
                given["due_date"] = day(task["due"]).isoformat()
            if task.get("priority"):
                given["priority"] = task["priority"]
            made = await self._call("add_task", speaker, user_id=speaker.user, **given)
            if task.get("done"):
                await self._call("complete_task", speaker, user_id=speaker.user, task_id=made["task"]["id"])
        for memory in seed.get("memories", ()):
            await self._call("store_memory", speaker, content=memory)
        if documents := seed.get("documents"):
            folder = Path(tempfile.mkdtemp(dir=self._folder))
            for name, text in documents.items():
                (folder / name).write_text(text)
            await self._call("manage_collections", speaker, action="create", collection_name="papers")
            await self._call("ingest_documents", speaker, path=str(folder), collection="papers")

    async def _call(self, tool: str, speaker: Speaker, **arguments: Any) -> Any:
        call = ToolCall(tool=tool, arguments=arguments, caller=speaker.caller, user=speaker.user)
        result = await self._house.platform.orchestrator.execute(call)
        assert isinstance(result, Done), result
        return result.data


def day(said: str) -> date:
    today = datetime.now(UTC).date()
    if said.startswith("+"):
        return today + timedelta(days=int(said))
    if said in DAYS:
        return today + timedelta(days=(DAYS.index(said) - today.weekday() - 1) % 7 + 1)
    month, number = map(int, said.split("-"))
    return date(today.year + ((month, number) < (today.month, today.day)), month, number)


def _fits(wanted: str | None, due: date | None) -> bool:
    if wanted is None:
        return True
    return due is None if wanted == "" else due == day(wanted)


def _like(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None


def _unheard(turn: Mapping[str, Any], answer: str) -> list[str]:
    missed = [f"{turn['say']!r}: not said: {each}" for each in turn.get("all", ()) if not _like(each, answer)]
    return missed + [f"{turn['say']!r}: said: {each}" for each in turn.get("none", ()) if _like(each, answer)]


def _not_so(wanted: Mapping[str, Any], held: Held) -> list[str]:
    why: list[str] = []
    if (pairs := wanted.get("open_due")) is not None:
        why += _pairs_missed([(title, due) for title, due in pairs], held)
    if (entries := wanted.get("open")) is not None:
        why += _pairs_missed(list(entries.items()), held)
    if (patterns := wanted.get("done")) is not None:
        why += _texts_missed("done", patterns, held.done)
    if (patterns := wanted.get("memories")) is not None:
        why += _texts_missed("remembered", patterns, held.memories)
    for pattern, priority in (wanted.get("priority") or {}).items():
        if not any(_like(pattern, task["title"]) and task["priority"] == priority for task in held.tasks):
            why.append(f"'{pattern}' is not of {priority} priority")
    for pattern in wanted.get("recurring") or ():
        if not any(_like(pattern, task["title"]) and task["recurrence"] for task in held.tasks):
            why.append(f"'{pattern}' does not repeat")
    return why


def _pairs_missed(wanted: Sequence[tuple[str, str | None]], held: Held) -> list[str]:
    left = list(held.open)
    why: list[str] = []
    for pattern, due in wanted:
        found = next(
            (task for task in left if _like(pattern, task["title"]) and _fits(due, task["due_on"])), None
        )
        if found is None:
            why.append(f"not open: {pattern} {due or ''}")
        else:
            left.remove(found)
    return why + [f"open: {task['title']} {task['due_on'] or ''}" for task in left]


def _texts_missed(what: str, wanted: Sequence[str], texts: Sequence[str]) -> list[str]:
    left = list(texts)
    why: list[str] = []
    for pattern in wanted:
        found = next((text for text in left if _like(pattern, text)), None)
        if found is None:
            why.append(f"not {what}: {pattern}")
        else:
            left.remove(found)
    return why + [f"{what}: {text}" for text in left]


def _verdict(wanted: Mapping[str, Any], before: Held, after: Held, why: Sequence[str]) -> str:
    """Harm: something is gone that was to stay. A wrong effect is any other change nobody asked for."""
    if not why:
        return RIGHT
    kept = [*(wanted.get("open") or {}), *(title for title, _ in wanted.get("open_due") or ())]
    were = {task["id"]: task for task in before.tasks}
    are = {task["id"]: task for task in after.tasks}
    for task in were.values():
        meant_to_stay = any(_like(each, task["title"]) for each in [*kept, *(wanted.get("done") or ())])
        if meant_to_stay and task["id"] not in are:
            return HARM
    if any(
        _like(each, memory)
        for each in wanted.get("memories") or ()
        for memory in before.memories
        if memory not in after.memories and not any(_like(each, left) for left in after.memories)
    ):
        return HARM
    if _changed_otherwise(wanted, before, after):
        return WRONG_EFFECT
    return USELESS


def _changed_otherwise(wanted: Mapping[str, Any], before: Held, after: Held) -> bool:
    were = {task["id"]: task for task in before.tasks}
    wants_open = [
        *(wanted.get("open") or {}).items(),
        *(tuple(each) for each in wanted.get("open_due") or ()),
    ]
    looked_at = "open" in wanted or "open_due" in wanted
    for task in after.tasks:
        old = were.get(task["id"])
        if old and all(old[name] == task[name] for name in ("title", "due_on", "completed_at")):
            continue
        if task["completed_at"] is not None:
            if not any(_like(each, task["title"]) for each in wanted.get("done") or ()):
                return looked_at or "done" in wanted
        elif looked_at and not any(
            _like(name, task["title"]) and _fits(due, task["due_on"]) for name, due in wants_open
        ):
            return True
    if "memories" in wanted:
        fresh = [each for each in after.memories if each not in before.memories]
        return any(not any(_like(each, memory) for each in wanted["memories"]) for memory in fresh)
    return False


async def play_all(rows: Sequence[Mapping[str, Any]], folder: Path, database_url: str) -> list[Played]:
    async with open_house(folder, database_url) as house, Database(External(database_url)) as database:
        conversing = Conversing(house, database, folder)
        return [await conversing.play(row) for row in rows]


async def _main(rows: Sequence[Mapping[str, Any]], *, every: bool) -> None:
    with running_server() as server, tempfile.TemporaryDirectory() as folder:
        async with server.database_url() as url:
            played = await play_all(rows, Path(folder), url)
    for row, each in zip(rows, played, strict=True):
        if every or each.verdict != RIGHT:
            print(f"\n=== {row['id']} {row['kind']}: {each.verdict}", *each.transcript, *each.why, sep="\n")
    counted = Counter(each.verdict for each in played)
    print(f"\n{len(rows)} conversations:", ", ".join(f"{name} {n}" for name, n in counted.items()))


if __name__ == "__main__":
    chosen = sys.argv[2:]
    read = [json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines()]
    asyncio.run(_main([row for row in read if not chosen or str(row["id"]) in chosen], every=bool(chosen)))
