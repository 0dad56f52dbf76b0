"""A call that waits or was decided, as a person reads it: who asks, what would run, what it changes.

Owns how a proposal becomes a card. The words of the call come from the one renderer (contract/showing); here
they are only laid out. Does not own the inbox, nor decisions (approvals.py).
"""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from fastapi import Request

from steward.contract.deciding import Role
from steward.contract.differences import changed_lines
from steward.contract.errors import ErrorCode
from steward.contract.showing import in_one_line, show_arguments
from steward.policy.approval import assess, needs_person
from steward.surfaces.api.identity import Identity
from steward.surfaces.api.routes import proposals as routes
from steward.surfaces.api.shapes import ProposalShape
from steward.surfaces.api.state import platform_of
from steward.surfaces.web.display.fields import SchemaField, fields_of_call
from steward.surfaces.web.display.look import counted
from steward.surfaces.web.doing import call

# Parameters by which editing tools name the text before and after.
BEFORE_AND_AFTER = (
    ("oldText", "newText"),
    ("old_string", "new_string"),
    ("old_str", "new_str"),
    ("old", "new"),
)
# Those by which tools name a file, and all of its new text.
FILES = ("path", "file_path", "filepath", "filename", "file", "target_file")
TEXTS = ("content", "contents", "text", "file_text", "new_content")
_TAKES_AWAY = re.compile(r"(?:^|_)(?:delete|remove|unlink|erase|rm)(?:_|$)")
_WORD_BEGINS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
READER = "read_file"
DELETES_A_TASK = "delete_task"
CODE = frozenset({"code", "script", "source", "command", "sql"})  # arguments that are read as code
LONG = 80  # characters; a longer text stands in lines of its own
AROUND = 3  # lines that stand around a change
MOST_FILE = 200_000  # characters of a file that are compared
WAYS = {
    "page": "this page",
    "cli": "the command line",
    "api": "the API",
    "chat": "a conversation",
    "elicitation": "a client's question",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """One argument of a call: a value, or a text in its lines."""

    name: str
    value: str
    lines: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """A call that writes a whole file or takes one away."""

    path: str
    after: str | None  # None: it goes


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A proposal with everything that a person needs to decide on it."""

    proposal: ProposalShape
    taken: Sequence[Taken]  # every argument, whole
    fields: Sequence[SchemaField]  # the same, to be edited
    changes: Sequence[str]  # text that would be replaced, as a difference
    file: FileChange | None  # shown beside what the file holds now
    task: str | None  # the task that it would delete, shown as it is now
    before: str  # what was decided about such calls, in words
    alike: int  # how many wait that the same caller wants of the same tool
    may_decide: bool
    edited: Sequence[str]  # how the arguments that ran differ from those proposed
    way: str  # by which the yes came


async def card_of(request: Request, identity: Identity, proposal_id: str) -> Card:
    proposal = await routes.get_proposal(platform_of(request), proposal_id, identity)
    return (await cards_of(request, identity, [proposal]))[0]


async def cards_of(request: Request, identity: Identity, proposals: Sequence[ProposalShape]) -> list[Card]:
    past = await routes.list_proposals(
        platform_of(request), identity, state=["finished", "rejected"], limit=200
    )
    schemas = {each.tool: schema_of(request, each.tool) for each in proposals}
    # In a thread: arguments may be megabytes, and every character of them is looked at.
    return await asyncio.to_thread(
        lambda: [_card(each, proposals, past.items, identity, schemas[each.tool]) for each in proposals]
    )


def schema_of(request: Request, tool: str) -> Mapping[str, Any]:
    """What a tool takes; nothing is known of one that is gone."""
    registered = platform_of(request).orchestrator.registry.find(tool)
    return {} if registered is None else registered.spec.input_schema


def _card(
    proposal: ProposalShape,
    among: Sequence[ProposalShape],
    past: Sequence[ProposalShape],
    identity: Identity,
    schema: Mapping[str, Any],
) -> Card:
    receipt = proposal.receipt
    may_decide = (
        proposal.state == "waiting"
        and identity.role >= Role.APPROVE
        and identity.only in (None, proposal.user)
    )
    return Card(
        proposal=proposal,
        taken=[_taken(name, value) for name, value in proposal.arguments.items()],
        fields=fields_of_call(schema, proposal.arguments) if may_decide else (),
        changes=list(changes_in(proposal.arguments)),
        file=file_change(proposal.tool, proposal.arguments) if may_decide else None,
        task=_deleted_task(proposal) if may_decide and identity.user == proposal.user else None,
        before=_before(proposal, past),
        alike=sum(alike(each, proposal) for each in among if each.state == "waiting"),
        may_decide=may_decide,
        edited=[]
        if receipt is None or not receipt.edited
        else difference(proposal.arguments, receipt.arguments),
        way="" if receipt is None else WAYS.get(receipt.via, receipt.via),
    )


def _deleted_task(proposal: ProposalShape) -> str | None:
    task = proposal.arguments.get("task_id")
    return task if proposal.tool == DELETES_A_TASK and isinstance(task, str) else None


def _taken(name: str, value: Any) -> Taken:
    label = show_arguments({name: None})[0].removesuffix(" = null")
    first, *more = show_arguments({name: value})
    said = first.removeprefix(f"{label} =").strip()
    if more:
        return Taken(name=label, value=said, lines=[line.removeprefix("  ") for line in more])
    if isinstance(value, str) and (name in CODE or len(value) > LONG):
        return Taken(name=label, value=said, lines=[in_one_line(value)])
    return Taken(name=label, value=said)


def alike(one: ProposalShape, other: ProposalShape) -> bool:
    return (one.tool, one.caller, one.user) == (other.tool, other.caller, other.user)


def _before(proposal: ProposalShape, past: Sequence[ProposalShape]) -> str:
    same = [each for each in past if alike(each, proposal) and each.id != proposal.id]
    yes = sum(each.state == "finished" for each in same)
    counts = [
        counted(yes, "approval") if yes else "",
        counted(len(same) - yes, "rejection") if len(same) > yes else "",
    ]
    return ", ".join(each for each in counts if each)


def changes_in(arguments: Mapping[str, Any]) -> Iterator[str]:
    """Every pair of text before and after among the arguments, as a difference."""
    for before, after in BEFORE_AND_AFTER:
        old, new = arguments.get(before), arguments.get(after)
        if isinstance(old, str) and isinstance(new, str):
            yield from changed_lines(_visible(old), _visible(new), around=AROUND)
    for value in arguments.values():
        for item in cast("list[Any]", value) if isinstance(value, list) else ():
            if isinstance(item, dict):
                yield from changes_in(cast("dict[str, Any]", item))


def file_change(tool: str, arguments: Mapping[str, Any]) -> FileChange | None:
    """The file that a call would write whole or take away, by what its tool and arguments are called."""
    path = next((arguments[name] for name in FILES if isinstance(arguments.get(name), str)), None)
    text = next((arguments[name] for name in TEXTS if isinstance(arguments.get(name), str)), None)
    words = _WORD_BEGINS.sub("_", tool).lower()
    if path is None or (text is None and not _TAKES_AWAY.search(words)):
        return None
    return FileChange(path=path, after=text)


async def file_difference(request: Request, identity: Identity, change: FileChange) -> list[str] | None:
    """What the file holds now beside what it would hold; None where that may not be seen.

    It is read by the reading tool, through the door, and never where reading would itself have to be asked.
    """
    platform = platform_of(request)
    arguments = {"path": change.path}
    reader = platform.orchestrator.registry.find(READER)
    if reader is None:
        return None
    assessed = assess(reader.spec, arguments, platform.rules.known, user=identity.user)
    if assessed.refused or needs_person(assessed, confidence=1.0):
        return None
    read = await call(request, identity, READER, arguments, incidental=True)
    if read.success:
        now = str(read.data["result"])
    elif read.error_code == ErrorCode.NOT_FOUND and change.after is not None:
        now = ""
    else:
        return None
    if max(len(now), len(change.after or "")) > MOST_FILE:
        return None
    return await asyncio.to_thread(_file_lines, now, change.after or "")


def _file_lines(now: str, after: str) -> list[str]:
    return list(changed_lines(_lines_of_file(now), _lines_of_file(after), around=AROUND, places=True))


def _lines_of_file(text: str) -> list[str]:
    if not text:
        return []
    return _visible(text.removesuffix("\n")) + ([] if text.endswith("\n") else ["⟨no line end here⟩"])


def _visible(text: str) -> list[str]:
    lines = [line.removeprefix("  ") for line in show_arguments({"text": f"{text}\n"})[1:]]
    return lines[:-1] if not lines[-1] else lines


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    return list(changed_lines(show_arguments(before), show_arguments(after), around=AROUND))
