"""Dates that a document gave: "add a task to return the form by the day it says".

Owns which date is meant: that of the sentence, among those shown in the turns before, which says most of the
task. Pure.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from steward.agents.researcher.quotable import sentences
from steward.contract import linear_re as re
from steward.language.dates.find import find_dates
from steward.language.wishes import ORDERS
from steward.models.planner.dialogue import Dialogue, Step
from steward.models.planner.words import stems

TURNS = 3  # before this one, in which a document was spoken of
_TEXTS = (("passages", "text"), ("results", "content"))
_ITS_DAY = re.compile(
    r"^(?P<order>\S.*?)\s+(?P<by>by|on|before|for|until|at)\s+(?:the|that|its)\s+(?:day|date|deadline|"
    r"time|due date|closing date)"
    r"(?:\s+(?:that\s+)?(?:it|they|the [\w ]{1,30}?|that)\s+(?:says?|said|gives?|names?|mentions?|"
    r"states?|asks?(?: for)?|needs?|is due|sets?)"
    r"|\s+(?:given|mentioned|stated|in|on|from|of)(?:\s+(?:it|there|the [\w ]{1,30}))?)?$|"
    r"^(?P<order2>\S.*?)\s+(?:(?P<by2>by|before)\s+then|when(?:ever)?\s+(?:it|the [\w ]{1,30}?|"
    r"that)(?:'s| is)\s+due|(?:by|on) the due date)$",
    re.IGNORECASE,
)


_SAME_DAY = re.compile(
    r"\s+(?:(?:for|on|to) )?(?:the same|that same|that) day\b(?: too| as well)?", re.IGNORECASE
)


def dated(dialogue: Dialogue, said: str, now: datetime) -> str | None:
    """The same order with the date in words; None where no document gave one, or it is not clear which."""
    same = _SAME_DAY.search(said)
    if same is not None and not find_dates(said, now) and (day := _day_of_last(dialogue)):
        return f"{said[: same.start()]} on {day}{said[same.end() :]}"
    found = _ITS_DAY.match(said.strip(" .!?"))
    if found is None or said.split(maxsplit=1)[0].lower() not in ORDERS or find_dates(said, now):
        return None
    order = found["order"] or found["order2"]
    date = _date_for(order, dialogue, now)
    return None if date is None else f"{order} {found['by'] or found['by2'] or 'by'} {date}"


def _day_of_last(dialogue: Dialogue) -> str:
    """For when the thing is that was added or changed last."""
    for step in reversed([each for each in dialogue.earlier if not each.helper]):
        data: Any = step.data
        task: Any = cast("Mapping[str, Any]", data).get("task") if isinstance(data, Mapping) else None
        due = cast("Mapping[str, Any]", task).get("due_date") if isinstance(task, Mapping) else None
        return str(due or "")[:10]
    return ""


def _date_for(order: str, dialogue: Dialogue, now: datetime) -> str | None:
    wanted = set(stems(order))
    recent = [step for step in dialogue.earlier if step.turn > len(dialogue.said_earlier) - TURNS]
    rated: dict[str, int] = {}
    for text in dict.fromkeys(piece for step in recent for piece in _read(step)):
        dates = find_dates(text, now)
        if len(dates) == 1:
            start, end = dates[0].span
            said = text[start:end]
            rated[said] = max(rated.get(said, 0), len(wanted & set(stems(text))))
    most = max(rated.values(), default=0)
    best = [said for said, shared in rated.items() if shared == most]
    return _bare(best[0]) if most and len(best) == 1 else None


def _bare(date: str) -> str:
    return re.sub(r"^(?:by|on|until|before|at|for|from)\s+", "", date, flags=re.IGNORECASE)


def _read(step: Step) -> Sequence[str]:
    data: Any = step.data
    if not isinstance(data, Mapping):
        return ()
    shape = cast("Mapping[str, Any]", data)
    rows = [(row, name) for key, name in _TEXTS for row in cast("list[Any]", shape.get(key) or [])]
    return [
        piece
        for row, name in rows
        if isinstance(row, Mapping)
        for piece in sentences(str(cast("Mapping[str, Any]", row).get(name) or ""))
    ]
