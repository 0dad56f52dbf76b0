"""Which tasks somebody wants to see: the call that lists them, and what is said about the list.

Owns filters only. Words for single tasks are task_words.py's.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from steward.agents.tasks import task_words as words
from steward.agents.tasks.task_choice import HELP_LISTING, matched, matched_in_part
from steward.models.planner.readers import InterpretedCall, Record
from steward.tasks.filters import Filters


def list_reading(filters: Filters, now: datetime, *, certainty: float) -> InterpretedCall:
    after, before = filters.due_after, filters.due_before
    arguments: dict[str, Any] = {
        "completed": filters.completed,
        "priority": filters.priority.value if filters.priority else None,
        # The tool's bounds are both exclusive days.
        "due_after": (after.date() - timedelta(days=1)).isoformat() if after else None,
        "due_before": before.date().isoformat() if before else None,
        "search": filters.search,
    }
    memo: dict[str, Any] = {"about": _about(filters, now)}
    if filters.overdue:
        arguments["due_before"] = now.isoformat()
    if filters.undated:
        memo["undated"] = True
        arguments |= HELP_LISTING
    if filters.nearest:
        memo["nearest"] = now.date().isoformat()
        arguments |= {**HELP_LISTING, "completed": False}
    if filters.done_after is not None or filters.done_before is not None:
        memo |= {
            "done_after": filters.done_after.isoformat() if filters.done_after else None,
            "done_before": filters.done_before.isoformat() if filters.done_before else None,
        }
        arguments["limit"] = 100
    return InterpretedCall(
        tool=words.LIST,
        arguments={name: value for name, value in arguments.items() if value is not None},
        certainty=certainty,
        memo={name: value for name, value in memo.items() if value},
    )


def looked_for(what: str, *, certainty: float) -> InterpretedCall:
    """ "When is the call with mom?": the task is named as it comes to mind, not as it is written."""
    memo = {"about": f"about '{what}'", "named": what}
    return InterpretedCall(tool=words.LIST, arguments=dict(HELP_LISTING), certainty=certainty, memo=memo)


def others(shown: Sequence[Record]) -> InterpretedCall:
    """ "And the rest?": every open task but those that were shown."""
    memo = {"about": "besides", "but": [each.get("id") for each in shown]}
    return InterpretedCall(tool=words.LIST, arguments={**HELP_LISTING, "completed": False}, memo=memo)


def _about(filters: Filters, now: datetime) -> str:
    parts = [f"with {filters.priority.value} priority"] if filters.priority else []
    if filters.undated:
        parts.append("without a date")
    if filters.nearest:
        return " ".join([*parts, "due next"])
    if filters.overdue:
        parts.append("overdue")
    elif filters.due_after or filters.due_before:
        parts.append(f"due {_window(filters.due_after, filters.due_before, now)}")
    if filters.done_after or filters.done_before:
        parts.append(f"completed {_window(filters.done_after, filters.done_before, now)}")
    elif filters.completed:
        parts.append("completed")
    elif filters.completed is False and not filters.overdue:
        parts.append("still open")
    if filters.search:
        parts.append(f"about '{filters.search}'")
    return " ".join(parts)


def _window(after: datetime | None, before: datetime | None, now: datetime) -> str:
    if after is not None and before is not None:
        last = before - timedelta(days=1)
        first = words.due_words(after.date().isoformat(), now)
        return (
            first
            if last.date() <= after.date()
            else f"{first} to {words.due_words(last.date().isoformat(), now)}"
        )
    if before is not None:
        return f"before {words.due_words(before.date().isoformat(), now)}"
    return f"from {words.due_words(after.date().isoformat(), now)} on" if after is not None else ""


def sifted(tasks: Sequence[Record], memo: Mapping[str, Any]) -> list[Record]:
    """Only those that were named, or done within the time asked about: the tool cannot filter by that.

    `but` are those that were shown already.
    """
    named = memo.get("named")
    if isinstance(named, str):
        return matched(named, tasks) or matched_in_part(named, tasks)
    if memo.get("undated"):
        return [each for each in tasks if not each.get("due_date")]
    if memo.get("nearest"):
        return _due_next(tasks, str(memo["nearest"]))
    if memo.get("but"):
        shown = set(memo["but"])
        return [each for each in tasks if each.get("id") not in shown]
    after, before = memo.get("done_after"), memo.get("done_before")
    if not after and not before:
        return list(tasks)
    kept: list[Record] = []
    for task in tasks:
        done = task.get("completed_at")
        at = datetime.fromisoformat(done) if isinstance(done, str) else None
        if at is None or (after and at < datetime.fromisoformat(after)):
            continue
        if not before or at < datetime.fromisoformat(before):
            kept.append(task)
    return kept


def _due_next(tasks: Sequence[Record], today: str) -> list[Record]:
    """What is due first from today on; where nothing is, what has waited longest. Of one moment all stay."""
    dated = [each for each in tasks if each.get("due_date") and not each.get("completed")]
    ahead = [each for each in dated if str(each["due_date"])[:10] >= today] or dated
    first = min((str(each["due_date"]) for each in ahead), default="")
    return [each for each in ahead if str(each["due_date"]) == first]


def headline(memo: Mapping[str, Any]) -> words.ListHeadline:
    about = str(memo.get("about") or "")
    return words.ListHeadline(about, filtered=bool(about))
