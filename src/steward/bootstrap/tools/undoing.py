"""Taking changes back: the tool `undo`, and who takes back which kind of change.

Owns which change is meant, whether the caller may, and what the person is told. A call that could not be
taken back stands between: nothing older is taken back in its place without the person's knowing. Does not own
the journal (storage/undo.py), nor what the rooms do.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from steward.bootstrap.record import RecordKeeper
from steward.bootstrap.rules import WatchedRules
from steward.contract.call import current_call, new_id
from steward.contract.deciding import Role
from steward.contract.errors import ConflictError, ErrorCode, ForbiddenError, InputError, StewardError
from steward.contract.tool import Effect, Origin, RiskLevel, ToolHints, ToolSpec
from steward.contract.undoing import (
    MOST_AT_ONCE,
    UNDO,
    CannotUndoError,
    TakenBack,
    UndoableChange,
    UndoStep,
    changed_since,
)
from steward.knowledge.obsidian import Vault, put_entry_in, take_entry_out
from steward.policy.access import LOCAL_USER
from steward.providers.functions import FunctionTool, LegacyToolAgent
from steward.providers.scripts.registry_writer import (
    AddTool,
    Applied,
    Change,
    RegistryWriter,
    RemoveTool,
    UpdateTool,
)
from steward.providers.scripts.tools_config import ToolEntry, parse_entry
from steward.storage.database.postgres import Session
from steward.storage.undo import PostgresUndoJournal, Taker

UNDO_AGENT = "undo"
NOTE, POLICY, TOOL = "note", "policy", "tool"
Line = Mapping[str, Any]
LOOKED_BACK = 200  # calls
_FINAL = (RiskLevel.IRREVERSIBLE.value, RiskLevel.REVERSIBLE_WITH_DELAY.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnedBack:
    """What an undo did."""

    id: str  # taking this one back does all of it again
    changes: tuple[UndoableChange, ...]
    again: bool = False  # whether it did something again that an earlier undo took back
    stopped: StewardError | None = None  # why it did not go on

    @property
    def message(self) -> str:
        done = "; ".join(change.words for change in self.changes)
        told = f"{'Done again' if self.again else 'Taken back'}: {done}."
        return told if self.stopped is None else f"{told} {self.stopped.explain()}"


class Undoing:
    """Every change of a workspace that can be taken back."""

    def __init__(
        self, journal: PostgresUndoJournal, *, record: RecordKeeper | None, bin_days: int | None = None
    ) -> None:
        self.journal = journal
        self._record = record
        self._bin_days = bin_days
        self._takers: dict[str, Taker] = {}

    def add(self, kind: str, taker: Taker) -> None:
        self._takers[kind] = taker

    async def sweep(self, _run: object = None) -> None:
        """What is too old to be taken back goes."""
        await self.journal.sweep(bin_days=self._bin_days)

    async def undo(
        self,
        user: str,
        *,
        count: int = 1,
        only: str | None = None,
        role: Role = Role.USE,
        by: str | None = None,
    ) -> TurnedBack:
        """The last changes of this user, or the one with this id; the id of an undo does it again."""
        await self.sweep()
        by = by or new_id()
        if only is not None:
            return await self._one(user, only, role=role, by=by)
        done: list[UndoableChange] = []
        while len(done) < count:
            try:
                change = await self._take_next(user, until=done[-1] if done else None, role=role, by=by)
            except StewardError as error:
                if not done:
                    raise
                return TurnedBack(id=by, changes=tuple(done), stopped=error)
            done.append(change)
        return TurnedBack(id=by, changes=tuple(done))

    async def _take_next(
        self, user: str, *, until: UndoableChange | None, role: Role, by: str
    ) -> UndoableChange:
        """The last change that stands; where another undo was faster, the one before it."""
        while True:
            change = await self._next(user, until=until)
            try:
                return await self._turn(user, change, role=role, by=by)
            except StewardError as error:
                if error.code not in (ErrorCode.ALREADY_UNDONE, ErrorCode.NOT_FOUND):
                    raise

    async def _next(self, user: str, *, until: UndoableChange | None) -> UndoableChange:
        found = await self.journal.changes(user)
        await self._require_nothing_between(user, found[0] if found else None, until=until)
        if not found:
            raise ConflictError("There is nothing to undo.", code=ErrorCode.NOTHING_TO_UNDO)
        return found[0]

    async def _require_nothing_between(
        self, user: str, change: UndoableChange | None, *, until: UndoableChange | None
    ) -> None:
        """Raise where something final was done since; once the person knows, the next undo goes on."""
        if self._record is None:
            return
        page = await self._record.list(owner=user, limit=LOOKED_BACK)
        since = _before(_after(page.items, change), until)
        known = await self.journal.known([str(line["call_id"]) for line in since])
        for line in since:
            if line["tool"] == UNDO and line.get("code") == ErrorCode.CANNOT_UNDO:
                return
            if line["status"] == "done" and line.get("risk") in _FINAL and line["call_id"] not in known:
                raise CannotUndoError(
                    f"The last thing done, {line['tool']}, cannot be taken back.",
                    fix=change and f"Undo again to take back what came before: {change.words}.",
                )

    async def _one(self, user: str, wanted: str, *, role: Role, by: str) -> TurnedBack:
        again = await self.journal.undone_by(user, wanted)
        if again:
            done = [await self._turned(user, change, role=role, by=None) for change in again]
            return TurnedBack(id=by, changes=tuple(done), again=True)
        change = await self.journal.change(user, wanted)
        if change is None:
            raise InputError(
                f"There is no change '{wanted[:80]}' of yours.",
                code=ErrorCode.NOT_FOUND,
                fix="See 'steward undo --list'.",
            )
        if change.undone_by is not None:
            raise ConflictError(
                "It was taken back already.",
                code=ErrorCode.ALREADY_UNDONE,
                fix=f"To do it again, undo that: {change.undone_by}.",
            )
        return TurnedBack(id=by, changes=(await self._turn(user, change, role=role, by=by),))

    async def _turned(self, user: str, wanted: str, *, role: Role, by: str | None) -> UndoableChange:
        change = await self.journal.change(user, wanted)
        if change is None:
            raise ConflictError("There is nothing to undo.", code=ErrorCode.NOTHING_TO_UNDO)
        return await self._turn(user, change, role=role, by=by)

    async def _turn(self, user: str, change: UndoableChange, *, role: Role, by: str | None) -> UndoableChange:
        if role < change.role:
            raise ForbiddenError(
                f"The last change ({change.words}) needs the role '{change.role.word}'.",
                fix="Take it back with 'steward undo', on the page or with such a key.",
            )
        return await self.journal.turn(user, change.id, self._takers, by=by)

    # --- changes of files, which their routes tell of ---

    async def change_policy(
        self, rules: WatchedRules, change: Callable[[], Awaitable[object]], *, user: str
    ) -> None:
        """Change policy.toml so that it can be taken back."""
        before = await asyncio.to_thread(rules.text)
        await change()
        after = await asyncio.to_thread(rules.text)
        if before != after:
            step = UndoStep(kind=POLICY, thing=POLICY, data={"before": before, "after": after})
            words = "changed policy.toml"
            await self.journal.note(step, user=user, words=words, role=Role.ADMIN, tool="policy")

    async def change_tool(self, writer: RegistryWriter, change: Change, *, user: str) -> Applied:
        """Change tools.json so that it can be taken back."""
        name = change.name if isinstance(change, RemoveTool) else change.entry.name
        script = None if isinstance(change, RemoveTool) else change.entry
        before = await asyncio.to_thread(ToolState.now, writer, name, script=script)
        applied = await writer.submit(change)
        after = await asyncio.to_thread(ToolState.now, writer, name, script=applied.entry)
        if before != after:
            await self._note_tool(before, after, user=user)
        return applied

    async def _note_tool(self, before: "ToolState", after: "ToolState", *, user: str) -> None:
        name = before.name
        word = "added" if before.entry is None else "removed" if after.entry is None else "changed"
        data = {"name": name, "before": before.data, "after": after.data}
        step = UndoStep(kind=TOOL, thing=f"tools:{name}", data=data)
        words = f"{word} the tool '{name}'"
        await self.journal.note(step, user=user, words=words, role=Role.ADMIN, tool="tools")

    async def note_entry(self, written: Mapping[str, str]) -> None:
        """An entry in a daily note."""
        call = current_call.get()
        step = UndoStep(kind=NOTE, thing=f"{NOTE}:{written['note']}", data={**written, "there": True})
        user = (call.user if call else None) or LOCAL_USER
        await self.journal.note(step, user=user, words=f"wrote into {written['note']}")


def _after(lines: Sequence[Line], change: UndoableChange | None) -> Sequence[Line]:
    """What was recorded after this change, the newest first: by its own line, for clocks may differ."""
    if change is None:
        return lines
    place = _place(lines, change)
    return lines[:place] if place is not None else [each for each in lines if _at(each) > change.at]


def _before(lines: Sequence[Line], change: UndoableChange | None) -> Sequence[Line]:
    if change is None:
        return lines
    place = _place(lines, change)
    return lines[place + 1 :] if place is not None else [each for each in lines if _at(each) < change.at]


def _place(lines: Sequence[Line], change: UndoableChange) -> int | None:
    return next((place for place, line in enumerate(lines) if line["call_id"] == change.id), None)


def _at(line: Line) -> datetime:
    return datetime.fromisoformat(str(line["at"]))


# --- who takes back what is no row ---


def note_taker(vault: Path | None) -> Taker:
    async def take(_session: Session, _user: str, step: UndoStep) -> TakenBack:
        data = step.data
        if vault is None:
            raise CannotUndoError("No Obsidian vault is configured any more.")
        if not data["there"]:
            await asyncio.to_thread(put_entry_in, Vault(vault), data["note"], data["entry"])
        elif not await asyncio.to_thread(take_entry_out, Vault(vault), data["note"], data["entry"]):
            raise changed_since(f"the entry in {data['note']}")
        return TakenBack({**data, "there": not data["there"]})

    return take


def policy_taker(rules: WatchedRules) -> Taker:
    async def take(_session: Session, _user: str, step: UndoStep) -> TakenBack:
        before, after = step.data["before"], step.data["after"]
        try:
            await rules.rewrite(before, before=after)
        except ConflictError as error:
            raise changed_since("policy.toml") from error
        return TakenBack({"before": after, "after": before})

    return take


@dataclass(frozen=True, slots=True)
class ToolState:
    """A tool of tools.json with its script, as it is; without an entry there is none of this name."""

    name: str
    entry: ToolEntry | None
    source: str | None

    @classmethod
    def now(cls, writer: RegistryWriter, name: str, *, script: ToolEntry | None = None) -> "ToolState":
        """`script`: the entry that will name the script, where there is none yet. Reads a file."""
        entry = writer.entry(name)
        named = entry or script
        return cls(name, entry, None if named is None else writer.source(named))

    @property
    def data(self) -> dict[str, Any]:
        return {"entry": None if self.entry is None else self.entry.shape(), "source": self.source}


def tool_taker(writer: RegistryWriter) -> Taker:
    async def take(_session: Session, _user: str, step: UndoStep) -> TakenBack:
        name, before, after = step.data["name"], step.data["before"], step.data["after"]
        stands = None if after["entry"] is None else parse_entry(after["entry"])
        wanted = None if before["entry"] is None else parse_entry(before["entry"])
        now = await asyncio.to_thread(ToolState.now, writer, name, script=stands or wanted)
        if now.data != after:
            raise changed_since(f"the tool '{name}'")
        if wanted is None:
            await writer.submit(RemoveTool(name, with_script=before["source"] is None))
        elif now.entry is None:
            await writer.submit(AddTool(wanted, before["source"]))
        else:
            await writer.submit(UpdateTool(wanted, before["source"]))
        return TakenBack({"name": name, "before": after, "after": before})

    return take


# --- the tool ---


_UNDO_SPEC = ToolSpec(
    name=UNDO,
    description="Take back what was done last, or the last few changes: put it back as it was. "
    "What cannot be taken back is said. Prefer update_task for a change that the person describes.",
    input_schema={
        "type": "object",
        "properties": {
            "count": {
                "type": "integer",
                "minimum": 1,
                "maximum": MOST_AT_ONCE,
                "description": "How many changes to take back; 1 by default.",
            },
            "id": {
                "type": ["string", "null"],
                "description": "Only this change. The id of an undo does again what it took back.",
            },
        },
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {
            "message": {"type": "string"},
            "id": {"type": "string"},
            "undone": {"type": "array", "items": {"type": "object"}},
        },
        "required": ["message", "id", "undone"],
    },
    origin=Origin.BUILTIN,
    risk=RiskLevel.REVERSIBLE,
    effect=Effect.WRITES_STORE,
    hints=ToolHints(read_only=False, destructive=False, idempotent=False, open_world=False),
    examples=("Undo that.", "Undo the last two.", "Put it back.", "Take that back."),
    category="undo",
    parallel=False,
)


def undo_agent(undoing: Undoing) -> LegacyToolAgent:
    async def undo(count: int = 1, id: str | None = None) -> dict[str, Any]:  # noqa: A002 - public name
        call = current_call.get()
        user = (call.user if call else None) or LOCAL_USER
        role = (call.role if call else None) or Role.USE
        done = await undoing.undo(
            user, count=count, only=id, role=role, by=None if call is None else call.call_id
        )
        return {
            "message": done.message,
            "id": done.id,
            "undone": [change_shape(change) for change in done.changes],
        }

    tool = FunctionTool(_UNDO_SPEC, undo)
    return LegacyToolAgent(UNDO_AGENT, [tool], name="Undo", capabilities=("undo",))


def change_shape(change: UndoableChange) -> dict[str, Any]:
    return {
        "id": change.id,
        "at": change.at.isoformat(),
        "tool": change.tool,
        "what": change.words,
        "undone_by": change.undone_by,
    }
