"""Turns of a conversation about tasks as the door's record shows them, for tests of what may be said."""

from typing import Any

from steward.agents.turn.ledger import Ledger
from steward.contract.errors import ErrorCode
from steward.conversations.model import CallRecord, CallStatus


def task(number: int, title: str, **more: Any) -> dict[str, Any]:
    base = {
        "id": f"task_{number}",
        "title": title,
        "description": None,
        "due_date": None,
        "priority": "medium",
    }
    stamps = {"completed": False, "created_at": "2026-11-10T09:00:00+00:00", "completed_at": None}
    return base | stamps | more


TASKS = [
    task(1, "buy milk"),
    task(2, "call mom", due_date="2026-11-16", priority="high"),
    task(3, "team meeting", due_date="2026-11-16"),
    task(4, "client meeting", due_date="2026-11-20"),
    task(5, "old reminder", completed=True, completed_at="2026-11-14T09:00:00+00:00"),
]


def _known(name: str) -> dict[str, Any]:
    return TASKS[int(name.removeprefix("t")) - 1]


def done(tool: str, arguments: dict[str, Any], **data: Any) -> CallRecord:
    envelope = {"success": True, "message": "", "timestamp": "2026-11-15T12:00:00+00:00", **data}
    return CallRecord(tool=tool, arguments=arguments, status=CallStatus.DONE, data=envelope)


def failed(tool: str, arguments: dict[str, Any], code: str) -> CallRecord:
    return CallRecord(
        tool=tool, arguments=arguments, status=CallStatus.FAILED, error=f"{code}: boom", error_code=code
    )


def listed(which: str = "") -> CallRecord:
    chosen = {
        "": TASKS,
        "none": [],
        "tomorrow": [each for each in TASKS if each["due_date"] == "2026-11-16"],
        "done": [each for each in TASKS if each["completed"]],
        "high": [each for each in TASKS if each["priority"] == "high"],
    }[which]
    return done("list_tasks", {}, tasks=chosen, count=len(chosen))


def turn(calls: str, *, seen: bool = True) -> Ledger:
    """The ledger of a turn: `calls` like "list complete:t1"; `seen` tasks were listed in an earlier turn."""
    ledger = Ledger(earlier=[listed()] if seen else [])
    for call in _split(calls):
        ledger.note(_record(*call))
    return ledger


def _split(calls: str) -> list[list[str]]:
    """Titles hold spaces, so a word without a known verb belongs to the call before it."""
    verbs = (
        "list",
        "add",
        "complete",
        "already",
        "update",
        "deleted",
        "kept",
        "broken",
        "refused",
        "pending",
    )
    found: list[str] = []
    for word in calls.split():
        if word.split(":")[0] in verbs or not found:
            found.append(word)
        else:
            found[-1] += f" {word}"
    return [each.split(":") for each in found]


def _record(verb: str, *rest: str) -> CallRecord:
    match verb:
        case "list":
            return listed(*rest)
        case "add":
            title, due, priority = (*rest, None, None)[:3]
            given = (
                {"title": title}
                | ({"due_date": due} if due else {})
                | ({"priority": priority} if priority else {})
            )
            return done(
                "add_task", given, task=task(9, title or "", due_date=due, priority=priority or "medium")
            )
        case "complete":
            known = _known(rest[0])
            shown = {
                "id": known["id"],
                "title": known["title"],
                "completed": True,
                "completed_at": "2026-11-15T12:00:00+00:00",
            }
            return done("complete_task", {"task_id": known["id"]}, task=shown)
        case "already":
            known = _known(rest[0])
            shown = {name: known[name] for name in ("id", "title", "completed", "completed_at")}
            return done("complete_task", {"task_id": known["id"]}, code="ALREADY_COMPLETED", task=shown)
        case "update":
            known = _known(rest[0])
            change = {rest[1]: rest[2]}
            return done(
                "update_task", {"task_id": known["id"], **change}, task={**known, **change}, changes=[rest[1]]
            )
        case "deleted":
            known = _known(rest[0])
            gone = {"id": known["id"], "title": known["title"]}
            return done("delete_task", {"task_id": known["id"]}, deleted_task=gone)
        case "kept":
            return failed("delete_task", {"task_id": _known(rest[0])["id"]}, ErrorCode.FORBIDDEN)
        case "refused":
            return CallRecord(
                tool=rest[0],
                arguments={"task_id": "task_77"},
                status=CallStatus.REFUSED,
                error_code="NOT_LISTED",
            )
        case "pending":
            return CallRecord(
                tool="delete_task",
                arguments={"task_id": _known(rest[0])["id"]},
                status=CallStatus.PENDING_APPROVAL,
                proposal_id="p1",
            )
        case _:
            arguments = {"task_id": _known(rest[1])["id"]} if len(rest) > 1 else {}
            return failed(rest[0], arguments, ErrorCode.SERVICE_UNAVAILABLE)
