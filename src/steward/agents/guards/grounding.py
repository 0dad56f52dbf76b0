"""What an answer about tasks may rest on: the records of this conversation and the person's own words.

Pure. Finds what no tool returned and nobody said: titles, ids, details, counts, and content from nowhere.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from steward.agents.guards.sentences import Sentence, words_of
from steward.agents.guards.vocabulary import BASIC
from steward.agents.tasks import task_words as words
from steward.agents.tasks.task_words import Record
from steward.agents.turn.ledger import Ledger
from steward.contract import linear_re as re
from steward.conversations.model import CallStatus
from steward.language.dates.calendar import OutOfCalendarError
from steward.language.dates.find import find_dates
from steward.tasks.matching import stem, stems

_ID = re.compile(
    r"\btask_[a-z0-9]+\b|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{4,}\b|\bid[:#\s]+\w*\d\w*", re.IGNORECASE
)
_COUNT = re.compile(
    r"\b(?P<n>\d{1,4}|no|zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a\s+dozen)\s+"
    r"(?:(?!of\b|more\b|other\b)[a-z-]+\s+){0,3}?(?:tasks?|items?|to-?dos?|things|reminders|entries)\b",
    re.IGNORECASE,
)
_NUMBERS = {
    word: n
    for n, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ]
    )
} | {"a dozen": 12, "no": 0}
_PRIORITY = re.compile(
    r"\b(?P<level>high|medium|low|normal|top|urgent)(?:\s*-?\s*priority|\s+importance)\b"
    r"|\bpriority\s*(?:is|of|to|set\s+to|as|:)?\s*(?:now\s+|set\s+to\s+)?(?P<after>high|medium|low|normal|urgent)\b"
    r"|\b(?P<mark>urgent|important)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:open|pending|outstanding|incomplete|unfinished|not\s+(?:yet\s+)?(?:done|complete[d]?|finished)|still\s+to\s+do)\b"
)
_EMPTY = re.compile(
    r"\b(?:(?:don't|do\s+not)\s+(?:currently\s+)?have\s+any|have\s+no|no)\s+(?:[\w-]+\s+){0,3}(?:tasks?|to-?dos?|items?|reminders?)\b"
    r"|\blist\s+is\s+(?:currently\s+|now\s+)?(?:empty|clear)\b|\bnothing\s+(?:is\s+)?(?:due|on\s+your\s+list|left|pending|to\s+do)\b"
    r"|\ball\s+caught\s+up\b|\byou\s+have\s+nothing\b",
)


@dataclass(frozen=True, slots=True)
class Ground:
    """All that may be spoken of: what was seen, what was said, and what this turn saw."""

    tasks: Sequence[Record]  # in their latest state, deleted ones included
    gone: frozenset[Any]  # ids of those that were deleted
    listings: Sequence[Sequence[Record]]  # what this turn's listing calls returned
    said: str
    now: datetime
    grounded: frozenset[str]

    @classmethod
    def of(cls, ledger: Ledger, *, said: str, now: datetime) -> "Ground":
        records = ledger.everything
        ids = dict.fromkeys(task.get("id") for record in records for task in words.tasks_in(record))
        gone = {t.get("id") for r in records if r.tool == words.DELETE for t in words.tasks_in(r)}
        tasks = [words.known_task(each, records) for each in ids]
        texts = [said]
        texts += [str(value) for task in tasks for value in task.values() if isinstance(value, str)]
        texts += [str(words.data_of(record).get("message", "")) for record in records]
        words_seen = {stem(word.removesuffix("'s")) for text in texts for word in words_of(text)}
        listings = [each for record in ledger.calls if (each := words.listed(record)) is not None]
        return cls(tasks, frozenset(gone), listings, said, now, frozenset(words_seen))

    @property
    def titles(self) -> tuple[str, ...]:
        return tuple(str(task.get("title", "")) for task in self.tasks)

    def spoken_of(self, sentence: Sentence) -> list[Record]:
        """The tasks that a sentence speaks of: by their whole title, else by its words."""
        quoted = {quote.strip().lower() for quote in sentence.quotes}
        exact = [task for task in self.tasks if str(task.get("title", "")).strip().lower() in quoted]
        return exact or [
            task for task in self.tasks if words.mentions_title(sentence.text, str(task.get("title", "")))
        ]

    def touches(self, sentence: Sentence) -> bool:
        """Whether a sentence uses any telling word of a task's title that the person did not use."""
        said = {stem(word) for word in words_of(self.said)}
        telling = {each for title in self.titles for each in stems(title)} - said
        return bool(telling & {stem(word.removesuffix("'s")) for word in words_of(sentence.text)})


def unknown_names(sentence: Sentence, ground: Ground) -> Iterator[str]:
    """Quoted titles and ids that no tool returned and nobody said."""
    for quote in sentence.quotes:
        inside = [word for word in words_of(quote) if not word.isdigit()]
        if not _is_known(quote, ground) and any(not _grounded(word, ground) for word in inside):
            yield quote
    known = {str(task.get("id", "")).lower() for task in ground.tasks}
    for found in _ID.findall(sentence.text):
        if found.lower() not in known and found.lower() not in ground.said.lower():
            yield found


def _is_known(quote: str, ground: Ground) -> bool:
    wanted = " ".join(words_of(quote))
    return any(wanted == " ".join(words_of(title)) for title in ground.titles)


def _grounded(word: str, ground: Ground) -> bool:
    plain = word.removesuffix("'s")
    return plain in BASIC or stem(plain) in ground.grounded or word in BASIC


def from_nowhere(sentence: Sentence, ground: Ground) -> list[str]:
    """The words of a sentence that neither a record, nor the person, nor everyday talk accounts for."""
    return [
        word
        for word in sentence.words
        if not any(part.isdigit() for part in word) and len(word) > 1 and not _grounded(word, ground)
    ]


def wrong_details(sentence: Sentence, ground: Ground) -> bool:
    """Whether a date, priority or state is said of a task whose record says another."""
    spoken = ground.spoken_of(sentence)
    if len(spoken) != 1 or sentence.question:
        return False
    task = spoken[0]
    rest = sentence.plain
    return _wrong_date(rest, task, ground.now) or _wrong_priority(rest, task) or _wrong_state(rest, task)


def _wrong_date(text: str, task: Record, now: datetime) -> bool:
    try:
        found = find_dates(text, now, prefer_future=True)
        past = find_dates(text, now, prefer_future=False)
    except (ValueError, OverflowError, OutOfCalendarError):
        return False
    if not found:
        return False
    stamps = [task.get(name) for name in ("due_date", "completed_at", "created_at", "updated_at")]
    days = {_day(each) for each in stamps if isinstance(each, str)}
    due = task.get("due_date")
    at = datetime.fromisoformat(due) if isinstance(due, str) and "T" in due else None
    for mention, other in zip(found, past, strict=False):
        if mention.time_only:
            if at is None or (mention.value.hour, mention.value.minute) != (at.hour, at.minute):
                return True
        elif not {mention.start.date(), other.start.date()} & days and not _spans(
            mention.start, mention.end, days
        ):
            return True
    return False


def _spans(start: datetime, end: datetime | None, days: set[date]) -> bool:
    return end is not None and any(start.date() <= day < end.date() for day in days)


def _day(stamp: str) -> date:
    return datetime.fromisoformat(stamp).date()


def _wrong_priority(text: str, task: Record) -> bool:
    for found in _PRIORITY.finditer(text):
        level = (found["level"] or found["after"] or found["mark"]).lower()
        level = {"normal": "medium", "top": "high", "urgent": "high", "important": "high"}.get(level, level)
        if task.get("priority", level) != level:
            return True
    return False


def _wrong_state(text: str, task: Record) -> bool:
    return bool(task.get("completed")) and _OPEN.search(text) is not None


def wrong_count(sentence: Sentence, ground: Ground, ledger: Ledger) -> bool:
    """Whether a number of tasks is said that no listing of this turn, nor any part of one, gives."""
    if sentence.question:
        return False
    allowed = (
        _counts(ground)
        | {_changed(ledger, tool) for tool in words.CHANGING}
        | {sum(_changed(ledger, tool) for tool in words.CHANGING)}
    )
    for found in _COUNT.finditer(sentence.plain):
        said = re.sub(r"\s+", " ", found["n"].lower())
        number = int(said) if said.isdigit() else _NUMBERS[said]
        if number == 0 or said == "one":
            continue  # "no tasks" is a claim of its own; "one task" is a way of speaking
        if number not in allowed:
            return True
    return False


def _counts(ground: Ground) -> set[int]:
    counts: set[int] = set()
    for tasks in ground.listings or [[task for task in ground.tasks if task.get("id") not in ground.gone]]:
        counts.add(len(tasks))
        for name in ("completed", "priority", "due_date"):
            values = [task.get(name) for task in tasks]
            counts |= {values.count(value) for value in values}
        counts.add(sum(1 for task in tasks if not task.get("completed")))
        counts.add(sum(1 for task in tasks if task.get("due_date")))
    said = set(words_of(ground.said))
    counts.add(sum(1 for task in ground.tasks if said & set(words_of(str(task.get("title", ""))))))
    return counts


def _changed(ledger: Ledger, tool: str) -> int:
    return sum(1 for record in ledger.calls if record.tool == tool and record.status is CallStatus.DONE)


def emptiness_unseen(sentence: Sentence, ground: Ground) -> bool:
    """ "You have no tasks" without a listing of this turn that came back without any."""
    if not _EMPTY.search(sentence.plain) or re.search(
        r"\bif\b|\bmatch|\bcalled\b|\bnamed\b|\bwith\s+that\b", sentence.plain
    ):
        return False
    open_left = [not any(not task.get("completed") for task in tasks) for tasks in ground.listings]
    return not any(not tasks for tasks in ground.listings) and not any(open_left)
