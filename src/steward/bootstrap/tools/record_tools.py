"""The record as a tool: what was changed, what waits for a yes, and why something was asked about.

Only what belongs to the caller. The words of a change are those that its undo keeps; of what is final, those
that the person read before they agreed; of an undo, its own.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, cast

from steward.bootstrap.record import RecordKeeper
from steward.contract.call import current_call
from steward.contract.errors import InputError
from steward.contract.tool import Effect, Origin, RiskLevel, ToolHints, ToolSpec
from steward.orchestrator.ports import ProposalStore
from steward.orchestrator.proposals import Proposal, state_name
from steward.policy.access import LOCAL_USER
from steward.providers.functions import FunctionTool, LegacyToolAgent
from steward.providers.human_input import SPEC as HUMAN_INPUT
from steward.storage.undo import PostgresUndoJournal

RECORD_AGENT = "record"
SHOW_RECORD = "show_record"
UNDO = "undo"
MOST = 500  # calls that are looked through
MOST_ASKED = 20
_ENDED = ("done", "failed", "interrupted")

FindTool = Callable[[str], ToolSpec | None]


def record_agent(
    record: RecordKeeper, journal: PostgresUndoJournal, proposals: ProposalStore, *, find: FindTool
) -> LegacyToolAgent:
    async def show(
        about: str = "changes", since: str | None = None, until: str | None = None
    ) -> dict[str, Any]:
        call = current_call.get()
        user = (call.user if call else None) or LOCAL_USER
        if about == "changes":
            items = await _changes(record, journal, proposals, user=user, since=_day(since), find=find)
            last = _day(until)
            kept = [each for each in items if last is None or datetime.fromisoformat(each["at"]) < last]
            return {"about": about, "items": kept}
        states = ("waiting",) if about == "waiting" else ()
        page = await proposals.list(states=states, user=user, limit=MOST_ASKED)
        return {"about": about, "items": [_asked(each) for each in page.items]}

    return LegacyToolAgent(
        RECORD_AGENT, [FunctionTool(_SPEC, show)], name="The record", capabilities=("record",)
    )


_SPEC = ToolSpec(
    name=SHOW_RECORD,
    description="What Steward itself did for this person, what waits for their approval, and what it asked "
    "about and why. Prefer list_tasks for tasks and search_memory for what was told.",
    input_schema={
        "type": "object",
        "properties": {
            "about": {
                "type": "string",
                "enum": ["changes", "waiting", "asked"],
                "description": "What was changed, what waits for a yes, or what was asked about and why.",
            },
            "since": {"type": ["string", "null"], "description": "Changes from this moment on, ISO 8601."},
            "until": {"type": ["string", "null"], "description": "Changes before this moment, ISO 8601."},
        },
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {
            "about": {"type": "string"},
            "items": {"type": "array", "items": {"type": "object"}},
        },
        "required": ["about", "items"],
    },
    origin=Origin.BUILTIN,
    risk=RiskLevel.REVERSIBLE,
    effect=Effect.READS,
    hints=ToolHints(read_only=True, destructive=False, idempotent=True, open_world=False),
    category="record",
)


async def _changes(
    record: RecordKeeper,
    journal: PostgresUndoJournal,
    proposals: ProposalStore,
    *,
    user: str,
    since: datetime | None,
    find: FindTool,
) -> list[dict[str, Any]]:
    """The oldest first. What only read, or was refused, changed nothing."""
    page = await record.list(owner=user, since=since, limit=MOST)
    words = {each.id: each.words for each in await journal.changes(user, standing=False, limit=MOST)}
    agreed = {each.call_id: each for each in (await proposals.list(user=user, limit=MOST)).items}
    kept = [line for line in page.items if line["status"] in _ENDED and _changed(line, find)]
    return [_told(line, words, agreed) for line in reversed(kept)]


def _changed(line: Mapping[str, Any], find: FindTool) -> bool:
    if line["tool"] == HUMAN_INPUT.name:  # a question does nothing
        return False
    spec = find(str(line["tool"]))
    return spec is None or (spec.effect is not Effect.READS and spec.hints.read_only is not True)


def _told(
    line: Mapping[str, Any], words: Mapping[str, str], agreed: Mapping[str, Proposal]
) -> dict[str, Any]:
    call = str(line.get("call_id"))
    proposal = agreed.get(call)
    effect = proposal.effect if proposal else None
    return {
        "at": line["at"],
        "tool": line["tool"],
        "status": line["status"],
        "what": words.get(call) or effect or _taken_back(line),
        "arguments": {} if line.get("erased") else dict(line.get("arguments") or {}),
    }


def _taken_back(line: Mapping[str, Any]) -> str:
    """What an undo said it did: a change of its own it is not, so it keeps no words."""
    output: Any = line.get("output") if line["tool"] == UNDO else None
    said = str(cast("Mapping[str, Any]", output).get("message") or "") if isinstance(output, Mapping) else ""
    return said[:1].lower() + said[1:].removesuffix(".")


def _asked(proposal: Proposal) -> dict[str, Any]:
    return {
        "id": proposal.id,
        "at": proposal.created_at.isoformat(),
        "tool": proposal.tool,
        "state": state_name(proposal.state),
        "what": proposal.effect or "",
        "why": proposal.reason,
    }


def _day(said: str | None) -> datetime | None:
    if not said:
        return None
    try:
        at = datetime.fromisoformat(said)
    except ValueError as error:
        raise InputError(
            f"'{said[:60]}' is no moment.", fix="Write it like 2026-11-18 or 2026-11-18T08:00."
        ) from error
    return at if at.tzinfo else at.replace(tzinfo=UTC)
