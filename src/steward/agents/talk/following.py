"""Follow-ups, without a language model: a procedure for the planner.

Owns what "the other one", "same for bread" and "change it back" refer to: the last thing that was done or
shown in this conversation. A correction takes back what was done and does the right thing; what cannot be
told apart is asked. Which sentences these are is said by `followups`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from itertools import takewhile
from typing import Any, cast
from zoneinfo import ZoneInfo

from steward.agents.talk.amending import counted, replaced, shifted, slip
from steward.agents.talk.followups import (
    FollowUp,
    Instead,
    Naming,
    Repeating,
    SameFor,
    Valued,
    read_follow_up,
)
from steward.agents.talk.own_things import choice
from steward.agents.talk.taking_back import TakeBack, without_reasons
from steward.agents.talk.whole import AFTERWARDS, REST, in_full
from steward.agents.tasks import task_words as words
from steward.agents.tasks.task_changes import due_text
from steward.agents.tasks.task_choice import HELP_LISTING, matched
from steward.agents.tasks.task_lists import list_reading, others
from steward.agents.tasks.task_reader import TaskReader, addition
from steward.contract import linear_re as re
from steward.language.corrections import without_joints
from steward.language.dates.find import find_dates
from steward.language.dates.mention import DateMention
from steward.models.planner.decisions import Ask, Call, Decision, Tell
from steward.models.planner.dialogue import Dialogue, Step
from steward.models.planner.ranking import KnownTool, Scored
from steward.models.planner.readers import Record
from steward.models.planner.words import bare_of_one, is_all, is_cancel, places
from steward.tasks.envelopes import TaskCode
from steward.tasks.filters import Filters, read_filters
from steward.tasks.matching import stems
from steward.tasks.new_tasks import read_new_tasks
from steward.tasks.priority import find_priority
from steward.tasks.repeats import first_due
from steward.tasks.verbs import TASK_VERBS

FOLLOW_UPS = "follow-ups"
NAME, URGENCY = "title", "priority"  # what is said to have been wrong
UNDO = "undo"
TOUCHING = (words.COMPLETE, words.UPDATE, words.DELETE)
LEFT = "All right, I leave it as it is."
FINAL = "Its deletion was final, so I added it anew."
CANNOT_UNDO = "CANNOT_UNDO"
KEPT = ("title", "due_date", "priority", "description", "recurrence")  # of a task that is added anew
NOTHING_CHANGED = "Nothing was changed just now, so there is nothing to take back."
_LED = re.compile(r"^(?:(?:up|out|in|off|the|a|an|some|my|with|for|to|at|back)\s+)+", re.IGNORECASE)
_SAID_TO_US = re.compile(r"\b(?:me|you|us|let's)\b", re.IGNORECASE)
_FILLED = re.compile(
    r"^(?:give me|let's (?:say|do|make it)|let us say|can we (?:do|say|make it)|say|better|"
    r"rather)\s+",
    re.IGNORECASE,
)
_AT = re.compile(r"^(?:(?:and|also)\s+)?(?:(?:for|on|at|by|to|until|in|due)\s+)+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FollowUps:
    """Implements the planner's `Procedure` and `Completing`."""

    def complete(self, dialogue: Dialogue, now: datetime) -> Dialogue:
        plainly = None if dialogue.asked else without_reasons(dialogue.utterance)
        return replace(dialogue, utterance=plainly) if plainly else in_full(dialogue, now)

    def decide(
        self,
        dialogue: Dialogue,
        tools: Sequence[KnownTool],
        *,
        ranked: Sequence[Scored],  # noqa: ARG002 - the interface's
        now: datetime,
    ) -> Decision | None:
        asked = dialogue.asked or {}
        chosen = isinstance(asked.get("chosen_among"), list)
        followed = None if dialogue.asked else read_follow_up(dialogue.utterance)
        last = _asked_about(asked) if chosen else _last_act(dialogue)
        if last is None or not (chosen or followed):
            return None
        turn = _FollowUp(dialogue, last, {tool.name for tool in tools}, now)
        return turn.follow(followed) if followed else turn.chosen(asked)


def _asked_about(asked: Mapping[str, Any]) -> Step:
    """The call whose thing was asked for, as it is to be made again."""
    return Step(tool=str(asked.get("tool")), arguments=dict(asked.get("arguments") or {}))


def _undone_last(dialogue: Dialogue) -> list[Step]:
    """The undos after which nothing else was done or shown, the latest first."""
    acts = (step for step in reversed(dialogue.earlier) if not step.helper)
    return list(takewhile(_is_undo, acts))


def _is_undo(step: Step) -> bool:
    return step.tool == UNDO and step.failure is None and not step.arguments.get("id")


def _changes_in(undo: Step) -> int:
    return len(_data(undo).get("undone") or ()) or 1


def _last_act(dialogue: Dialogue) -> Step | None:
    """What was done or shown last, in the turns before this one."""
    return next((step for step in reversed(dialogue.earlier) if not step.helper and step.tool != UNDO), None)


class _FollowUp:
    """One decision of one turn; lives for that decision only."""

    def __init__(self, dialogue: Dialogue, last: Step, there: set[str], now: datetime) -> None:
        self._dialogue = dialogue
        self._last = last
        self._there = there
        self._now = now
        self._made = [step for step in dialogue.steps if not step.helper]

    def follow(self, followed: FollowUp) -> Decision | None:
        match followed:
            case TakeBack():
                return self._take_back(followed)
            case Naming(title=title):
                return self._update(self._touched, {"title": title}) if self._nameable else None
            case Valued():
                return self._valued_as(followed)
            case Repeating(rule=rule):
                return self._repeating(rule)
            case Instead():
                return self._instead(followed)
            case SameFor():
                return self._same_for(followed)

    # --- taking back ---

    def _take_back(self, said: TakeBack) -> Decision | None:  # noqa: PLR0911 - one line a case
        undone = _undone_last(self._dialogue)
        if said.again and undone and UNDO in self._there:
            return self._done_again(said, undone)
        if said.next_one:
            again = bool(undone) and UNDO in self._there
            return (self._told() if self._made else self._call(UNDO, {})) if again else None
        if self._last.failure is not None or UNDO not in self._there or not self._changed:
            return None
        if self._last.tool == words.DELETE:
            return self._brought_back() if said.wanted else None
        wanted = words.ADD if said.added else words.COMPLETE if said.done else self._last.tool
        if self._last.tool != wanted:
            return None
        if self._made:
            return self._told()
        count = said.count or self._done_with_it
        if count == 1 and self._came_to_nothing:  # the change before it was not spoken of
            return Tell(text=NOTHING_CHANGED, confidence=1.0)
        return self._call(UNDO, {"count": count} if count > 1 else {})

    def _done_again(self, said: TakeBack, undone: Sequence[Step]) -> Decision:
        """What was taken back just now is done again, undo by undo, the last one first."""
        done = {step.arguments.get("id") for step in self._made}
        failed = any(step.failure is not None for step in self._made)
        wanted = said.count or sum(map(_changes_in, undone))
        for step in undone:
            if wanted <= 0 or failed:
                break
            wanted -= _changes_in(step)
            if _data(step).get("id") not in done:
                return self._call(UNDO, {"id": _data(step).get("id")})
        return self._told()

    @property
    def _done_with_it(self) -> int:
        """How many changes the turn made that made the last one; else how many of its kind came in a row."""
        acts = [step for step in self._dialogue.earlier if not step.helper]
        same = sum(
            step.turn == self._last.turn and step.tool in words.CHANGING and step.failure is None
            for step in acts
        )
        kind = takewhile(lambda step: step.tool == self._last.tool and step.failure is None, reversed(acts))
        return same if same > 1 else max(1, sum(1 for _ in kind))

    def _brought_back(self) -> Decision | None:
        """What was deleted is undone where it is kept; where it is final, the task is added anew."""
        undone = next((step for step in self._made if step.tool == UNDO), None)
        added = next((step for step in self._made if step.tool == words.ADD), None)
        if added is not None:
            told = TaskReader().tell([added], self._dialogue.all_steps, self._now)
            return Tell(text=f"{FINAL} {told}", confidence=1.0 if added.failure is None else 0.0)
        if undone is None:
            return self._call(UNDO, {})
        record = self._record(self._touched or "")
        if undone.failure is None or undone.code != CANNOT_UNDO or not record.get("title"):
            return self._told()
        known = {name: record[name] for name in KEPT if record.get(name)}
        return self._call(words.ADD, known)

    @property
    def _came_to_nothing(self) -> bool:
        data = _data(self._last)
        return data.get("changes") == [] or data.get("code") == TaskCode.ALREADY_COMPLETED

    @property
    def _changed(self) -> bool:
        return self._last.tool in words.CHANGING or self._last.tool in ("store_memory", "save_fact")

    # --- something else instead ---

    def _instead(self, followed: Instead) -> Decision | None:  # noqa: PLR0911 - one line a case
        task_id = self._touched
        if followed.did and self._last.tool != words.COMPLETE:
            return None
        named = followed.field == NAME
        value = {} if followed.other or named else self._value(followed.rest, field=followed.field)
        if value:
            movable = self._last.tool in (words.ADD, words.UPDATE) and self._last.failure is None
            return self._update(task_id, value) if movable and task_id else None
        title = None if followed.other else self._retitled(followed)
        if title is not None:
            return self._update(task_id, {"title": title})
        if followed.field:
            return None
        if self._last.tool not in TOUCHING or not (followed.sure or followed.other):
            return None
        if self._made:
            return self._corrected()
        found = self._others() if followed.other else self._candidates(followed.rest, hint=followed.did)
        if isinstance(found, Call):
            return found
        if not found:
            return None
        if len(found) > 1:
            return self._which(found, instead=True)
        return self._take_other(found[0])

    @property
    def _nameable(self) -> bool:
        return self._touched is not None and self._last.failure is None and self._last.tool != words.DELETE

    def _retitled(self, followed: Instead) -> str | None:
        """The title of what was added or renamed last, as it should be."""
        renames = self._last.tool == words.UPDATE and bool(self._last.arguments.get("title"))
        named = self._last.tool == words.ADD or renames or followed.field == NAME
        if self._last.tool not in (words.ADD, words.UPDATE) or not self._nameable:
            return None
        if followed.field not in ("", NAME):
            return None
        title = str(self._last.arguments.get("title") or self._title(self._touched or ""))
        if followed.old:
            return replaced(title, followed.rest, followed.old)
        if _SAID_TO_US.search(followed.rest) or find_dates(followed.rest, self._now):
            return None  # a sentence with a date of its own, and no name
        near = slip(followed.rest, title) or counted(followed.rest, title)
        if near is not None or not (followed.sure and named):
            return near
        first = followed.rest.split(maxsplit=1)[0].lower()
        return followed.rest if renames or first in TASK_VERBS else renamed(title, followed.rest)

    def _valued_as(self, followed: Valued) -> Decision | None:
        if followed.count is not None:
            return self._each_valued(followed.value, followed.count)
        return None if followed.bare and self._last.tool != words.ADD else self._valued(followed.value)

    def _each_valued(self, said: str, count: int) -> Decision | None:
        """What was added or changed last, all of it or so many, is for then or so urgent."""
        value = self._value(said)
        acts = [step for step in reversed(self._dialogue.earlier) if not step.helper]
        row = takewhile(lambda step: step.tool in (words.ADD, words.UPDATE) and step.failure is None, acts)
        ids = list(dict.fromkeys(str(step.arguments.get("task_id") or _made_by(step)) for step in row))
        if not value or len(ids) < max(count, 2):
            return None
        done = {step.arguments.get("task_id") for step in self._made}
        left = [each for each in (ids[:count] if count else ids) if each not in done]
        return self._call(words.UPDATE, {"task_id": left[-1], **value}) if left else self._told()

    def _valued(self, said: str) -> Decision | None:
        value = self._value(said)
        task_id = self._touched
        return self._update(task_id, value) if value and task_id and self._nameable else None

    def _value(self, said: str, *, field: str = "") -> dict[str, str]:
        """What these words alone give a task: a date, a priority or both; empty where they name a thing.

        `field`: what they were said of, where that was said.
        """
        moved = shifted(said, str(self._record(self._touched or "").get("due_date") or ""))
        if moved:
            return {"due_date": moved}
        due = self._date(said)
        if due is not None:
            return {"due_date": self._on_its_day(due)}
        urged = field == URGENCY or self._last.arguments.get("priority") is not None
        urgency = find_priority(said) or (find_priority(f"{said} priority") if urged else None)
        if urgency is None:
            return {}
        said = said if urgency.span[1] <= len(said) else f"{said} priority"
        given = {"priority": urgency.priority.value}
        beside = without_joints(f"{said[: urgency.span[0]]} {said[urgency.span[1] :]}")
        if not beside:
            return given
        due = self._date(beside)
        return {**given, "due_date": self._on_its_day(due)} if due is not None else {}

    def _on_its_day(self, due: DateMention) -> str:
        """A time alone keeps the day that the task has."""
        day = str(self._record(self._touched or "").get("due_date") or "")[:10]
        if not due.time_only or not day:
            return due_text(due)
        return datetime.combine(date.fromisoformat(day), due.start.timetz()).isoformat()

    def _take_other(self, record: Record) -> Decision:
        """First what was wrongly done is taken back. A deletion is final, and nothing else stands to be."""
        undone = any(step.tool == UNDO for step in self._made)
        stands = self._last.failure is None and self._last.tool != words.DELETE
        if stands and not undone and UNDO in self._there:
            return self._call(UNDO, {}, memo={"then": record.get("id")})
        return self._again(record)

    def _corrected(self) -> Decision:
        """On with it once the wrong one is back as it was; what could not be taken back is told instead."""
        latest = self._made[-1]
        then = latest.memo.get("then")
        if latest.tool != UNDO or then is None or latest.failure is not None:
            return self._told()
        return self._again({"id": then})

    def _others(self) -> list[Record] | Call:
        """What else the words before could have meant: it shares most with them, and was not taken."""
        listed = self._listed()
        if isinstance(listed, Call):
            return listed
        said = stems(self._dialogue.said_before) | stems(self._title(self._touched or ""))
        left = [each for each in listed if each.get("id") != self._touched and not each.get("completed")]
        shared = [len(said & stems(str(each.get("title") or ""))) for each in left]
        most = max(shared, default=0)
        fitting = [each for each, count in zip(left, shared, strict=True) if count == most]
        return fitting if most or len(left) == 1 else []

    # --- the same for something more ---

    def _same_for(self, followed: SameFor) -> Decision | None:  # noqa: PLR0911 - one line a case
        rest = followed.rest
        if self._last.failure is not None or (followed.does and self._last.tool != words.ADD):
            return None
        if followed.more and self._last.tool in TOUCHING:
            return self._each_of(followed.more)
        if self._made:
            return self._told()
        if self._last.tool == words.LIST:
            return self._other_list(rest)
        due = self._date(rest)
        if self._last.tool == words.ADD:
            return self._another(rest, due, does=followed.does)
        if self._last.tool == words.UPDATE and (value := self._value(rest)):
            return self._update(self._touched, value)
        if self._last.tool not in TOUCHING or due is not None:
            return None
        if _undone_last(self._dialogue):
            return self._undone_too(rest)
        found = self._others() if followed.other and not rest else self._candidates(rest)
        if isinstance(found, Call):
            return found
        if not found:
            return None
        return self._again(found[0]) if len(found) == 1 else self._which(found)

    def _each_of(self, named: Sequence[str]) -> Decision | None:
        """The same for several things: each by itself, where each is one thing beyond doubt."""
        found = [self._candidates(each) for each in named]
        listing = next((each for each in found if isinstance(each, Call)), None)
        if listing is not None:
            return listing
        if not all(len(cast("list[Record]", each)) == 1 for each in found):
            return self._told() if self._made else None
        done = {step.arguments.get("task_id") for step in self._made}
        left = [each for [each] in cast("list[list[Record]]", found) if each.get("id") not in done]
        return self._again(left[0]) if left else self._told()

    def _undone_too(self, rest: str) -> Decision | None:
        """After an undo, for what was done before that, where it is that which is named."""
        acts = [
            step for step in self._dialogue.earlier if step.tool in words.CHANGING and step.failure is None
        ]
        taken = sum(map(_changes_in, _undone_last(self._dialogue)))
        before = acts[-taken - 1] if len(acts) > taken else None
        title = (
            "" if before is None else self._title(str(before.arguments.get("task_id") or _made_by(before)))
        )
        return self._call(UNDO, {}) if title and matched(rest, [{"title": title}]) else None

    def _other_list(self, rest: str) -> Decision | None:
        if REST.match(rest):
            reading = others(TaskReader().shown(self._last) or ())
            return self._call(words.LIST, reading.arguments, memo=reading.memo)
        if AFTERWARDS.match(rest) and self._last.arguments.get("due_before"):
            end = datetime.fromisoformat(str(self._last.arguments["due_before"])[:10]) - timedelta(days=1)
            later = Filters(due_after=end + timedelta(days=1), completed=False)
            reading = list_reading(later, self._now, certainty=1.0)
            return self._call(words.LIST, reading.arguments, memo=reading.memo)
        filters = read_filters(f"show my tasks {rest}", self._now)
        if filters == Filters():
            return None
        reading = list_reading(filters, self._now, certainty=1.0)
        return self._call(words.LIST, reading.arguments, memo=reading.memo)

    def _another(self, rest: str, due: DateMention | None, *, does: bool) -> Decision:
        """One more task like the last, on another day or of another name."""
        known = {name: value for name, value in self._last.arguments.items() if name != "idempotency_key"}
        if due is not None:
            return self._call(words.ADD, {**known, "due_date": due_text(due)})
        items = read_new_tasks(f"add {rest}", self._now)
        if does and items:
            return self._call(words.ADD, addition(items[0], self._now).arguments)
        title = renamed(str(known.get("title") or ""), items[0].title if items else rest)
        more = {"due_date": due_text(items[0].due)} if items and items[0].due else {}
        return self._call(words.ADD, {**known, "title": title, **more})

    # --- again and again ---

    def _repeating(self, rule: str) -> Decision | None:
        task_id = self._touched
        items = read_new_tasks(f"add x {rule}", self._now)
        recurrence = items[0].recurrence if items else None
        if task_id is None or recurrence is None or self._last.failure is not None:
            return None
        first = first_due(recurrence, now=self._now.replace(tzinfo=UTC), zone=ZoneInfo("UTC"))
        when = {} if first is None else {"due_date": first.on.isoformat()}
        return self._update(task_id, {"recurrence": recurrence, **when})

    # --- what was asked back ---

    def _which(self, found: Sequence[Record], *, instead: bool = False) -> Ask:
        text, lines = TaskReader().which(self._last.tool, "that", found, self._now)
        numbered = "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))
        state = choice(self._last.tool, self._last.arguments, found, instead=instead)
        return Ask(question=f"{text}\n{numbered}", state=state)

    def chosen(self, asked: Mapping[str, Any]) -> Decision | None:
        options: list[Record] = list(asked["chosen_among"])
        said = self._dialogue.utterance
        if self._made and asked.get("instead"):
            return self._corrected()
        if is_cancel(said):
            return Tell(text=LEFT, confidence=1.0)
        at = places(said)
        fits = all(1 <= place <= len(options) or place == -1 for place in at)
        picked = [options[place - 1 if place > 0 else place] for place in at] if at and fits else []
        several = bool(picked) or is_all(said)
        picked = picked or (options if several else matched(bare_of_one(said), options))
        if not picked or (len(picked) > 1 and not several):
            return None
        if asked.get("instead"):
            return self._take_other(picked[0])
        done = {step.arguments.get("task_id") for step in self._made}
        left = [each for each in picked if each.get("id") not in done]
        return self._again(left[0]) if left else self._told()

    # --- calls ---

    def _again(self, record: Record) -> Call:
        """The last call, on another thing."""
        kept = {
            name: value for name, value in self._last.arguments.items() if name not in ("task_id", "user_id")
        }
        return self._call(self._last.tool, {**kept, "task_id": record.get("id")})

    def _update(self, task_id: str | None, changes: Mapping[str, Any]) -> Decision:
        return self._told() if self._made else self._call(words.UPDATE, {"task_id": task_id, **changes})

    def _call(
        self, tool: str, arguments: Mapping[str, Any], *, memo: Mapping[str, Any] | None = None
    ) -> Call:
        return Call(tool=tool, arguments=dict(arguments), goal=0, confidence=1.0, memo=memo or {})

    def _told(self) -> Tell:
        undone = [_undo_words(step) for step in self._made if step.tool == UNDO]
        ours = [step for step in self._made if step.tool != UNDO]
        told = TaskReader().tell(ours, self._dialogue.all_steps, self._now) if ours else ""
        sure = all(step.failure is None for step in self._made)
        return Tell(text="\n".join([*undone, *([told] if told else [])]), confidence=1.0 if sure else 0.0)

    # --- what is there ---

    @property
    def _touched(self) -> str | None:
        """The task of the last call."""
        given = self._last.arguments.get("task_id")
        shown = TaskReader().shown(self._last)
        if shown is not None:  # of several that were shown none was touched
            return str(shown[0].get("id")) if len(shown) == 1 else None
        made = next(iter(_records(self._last)), None)
        found = given or (made.get("id") if made else None)
        return None if found is None else str(found)

    def _title(self, task_id: str) -> str:
        return str(self._record(task_id).get("title") or "")

    def _record(self, task_id: str) -> Record:
        """A task as it was shown last."""
        records = [record for step in self._dialogue.all_steps for record in _records(step)]
        shown = (each for each in reversed(records) if each.get("id") == task_id and each.get("title"))
        return next(shown, cast("Record", {}))

    def _listed(self) -> list[Record] | Call:
        """Every task as it is now: listed anew in this turn."""
        for step in self._dialogue.steps:
            if step.tool == words.LIST and step.failure is None:
                return _records(step)
        return Call(tool=words.LIST, arguments=dict(HELP_LISTING), goal=0, helper=True)

    def _candidates(self, rest: str, *, hint: str = "") -> list[Record] | Call:
        listed = self._listed()
        if isinstance(listed, Call):
            return listed
        state = self._last.tool == words.UPDATE and self._last.arguments.get("completed") is False
        left = [each for each in listed if each.get("id") != self._touched]
        first = [each for each in left if bool(each.get("completed")) is state]
        named = bare_of_one(rest)
        exactly = matched(f"{hint} {named}", first) if hint else []
        return exactly or matched(named, first, hint=hint) or matched(named, left, hint=hint)

    def _date(self, rest: str) -> DateMention | None:
        """A date and nothing else."""
        said = _AT.sub("", _FILLED.sub("", rest.strip()))
        for mention in find_dates(said, self._now):
            start, end = mention.span
            if not (said[:start] + said[end:]).strip(" ,.!"):
                return mention
        return None


def renamed(title: str, said: str) -> str:
    """A title with what was named now: "buy milk" and "bread" make "buy bread"."""
    name = re.sub(r"^(?:the|some|a|an)\s+", "", said, flags=re.IGNORECASE)
    first, _, rest = title.partition(" ")
    if not rest or stems(first) & stems(name):
        return name
    if first.lower() not in TASK_VERBS:
        return name
    led = _LED.match(rest)
    return f"{first} {led[0] if led else ''}{name}"


def _made_by(step: Step) -> str:
    return str(next(iter(_records(step)), cast("Record", {})).get("id") or "")


def _data(step: Step) -> Record:
    known: Any = step.data
    return cast("Record", known) if isinstance(known, Mapping) else {}


def _records(step: Step) -> list[Record]:
    data = _data(step)
    tasks: Any = data.get("tasks")
    found = cast("list[Any]", tasks) if isinstance(tasks, list) else [data.get("task")]
    return [cast("Record", each) for each in found if isinstance(each, Mapping)]


def _undo_words(step: Step) -> str:
    if step.failure is not None:
        return f"I could not take that back: {step.failure}"
    known: Any = step.data
    said = cast("Record", known).get("message") if isinstance(known, Mapping) else None
    return str(said or "Taken back.")
