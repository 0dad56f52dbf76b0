"""What an utterance asks to change about a task: its title, date, priority, description or state."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from steward.contract import linear_re as re
from steward.language.dates.find import find_dates
from steward.language.dates.mention import DateMention
from steward.language.forms.quotes import quotes_in
from steward.language.politeness import bare, gives_a_reason
from steward.language.recurrence import read_repetition
from steward.language.references import FROM_LIST, Reference, read_reference
from steward.tasks.model import Priority
from steward.tasks.priority import find_priority
from steward.tasks.telling import read_put_off


@dataclass(frozen=True, slots=True)
class Changes:
    """None means unchanged. `delay` moves the date by so much; `clear_due` takes it away."""

    title: str | None = None
    due: DateMention | None = None
    delay: timedelta | None = None
    clear_due: bool = False
    priority: Priority | None = None
    completed: bool | None = None
    description: str | None = None
    tell_at: datetime | None = None  # its reminder is put off until then
    recurrence: str | None = None


_VERB = (
    r"(?:please\s+)?(?:change|chnage|update|updat|modify|rename|edit|move|push|postpone|reschedule|delay"
    r"|shift|bump|extend|adjust|rewrite|re-?prioriti[sz]e|prioriti[sz]e"
    r"|raise|lower|increase|decrease|set|make|switch|reword|replace|correct|alter|fix|snooze|defer|advance"
    r"|amend|turn|revise|bring|mark|swap|give|assign|add|remove|clear)"
)
_FIELD = (
    r"(?:the\s+|its\s+|a\s+|my\s+)?(?:due\s+date|deadline|date|time|title|name|priority|description|text"
    r"|wording|note|notes|details|status)"
)
_CLEAR = re.compile(
    r"^(?:remove|clear|delete|drop|take(?:\s+off)?|unset|scrap|erase|strip|lose|forget|cancel)\s+"
    r"(?:the\s+|its\s+|my\s+|any\s+)?(?:due\s+date|deadline|date|due)\b\s*(?:away\s+)?"
    r"(?:(?:from|of|on|for|off)\b)?\s*(?P<ref>.*)$",
    re.IGNORECASE,
)
_REOPEN = (
    re.compile(
        r"^(?:reopen|re-open|uncheck|unmark|un-?complete|untick|restore"
        r"|undo(?:\s+completing)?)\s+(?P<ref>.+?)(?:\s+as\s+.*)?$",
        re.IGNORECASE,
    ),
    re.compile(
        r"^(?:mark|set|change|flag)\s+(?P<ref>.+?)\s+(?:as|to|back\s+to)\s+(?:not\s+(?:done|complete"
        r"|completed|finished)|undone|incomplete|open|unfinished|to\s*do|pending)$",
        re.IGNORECASE,
    ),
    re.compile(
        r"^i\s+(?:didn'?t|did\s+not|haven'?t|have\s+not)\s+(?:actually\s+|really\s+"
        r"|yet\s+)?(?:finish(?:ed)?|do|done|complete(?:d)?)\s+(?P<ref>.+)$",
        re.IGNORECASE,
    ),
)
_NOTE = re.compile(
    r"^(?:add|put|attach|set|change|update)\s+(?:a\s+|the\s+)?(?:note|description|details?)\s+(?:to|on|of"
    r"|for)\s+(?P<ref>.+?)\s*(?::|to|saying|that\s+says|that|-)\s+(?P<text>.+)$",
    re.IGNORECASE,
)
# "Rename 'stuff for the shed' to 'buy felt'": what is quoted is a name, whatever words stand in it.
_BEFORE_TITLE = re.compile(
    rf"^{_VERB}\s+(?P<ref>\S.*?)\s+(?:to|into|as|with|to\s+say|to\s+be)$", re.IGNORECASE
)
_QUOTED = re.compile("^(?:the\\s+task\\s+)?[\"'\u201c\u2018](?P<name>.+)[\"'\u201d\u2019]$", re.IGNORECASE)
_REPEATS = re.compile(
    r"^(?:(?:please\s+)?(?:make|have|let|set|change|turn)\s+(?P<ref>\S.*?)\s+(?:to\s+|into\s+)?(?:be\s+)?(?:a\s+)?"
    r"(?:repeat(?:s|ing|ed)?|recur(?:s|ring)?|come\s+(?:back|round|up)|happen)\b(?:\s+task)?|"
    r"repeat\s+(?P<also>\S.*?))\s+(?P<rule>(?:every|each|daily|weekly|monthly|yearly|fortnightly|on)\b.*)$",
    re.IGNORECASE,
)
_BY = re.compile(
    r"\s+(?:(?:back|forward|out|up)\s+)?(?P<sign>by|back|forward|for|earlier)\s+(?P<much>(?:an?|another"
    r"|one|two|three|four|five|six|seven|\d+|a\s+couple\s+of|a\s+few|half\s+an?)\s+(?:more\s+)?(?:minute"
    r"|hour|day|week|month|min|hr|year)s?)\s*$",
    re.IGNORECASE,
)
# Later than it is: "to the day after", "a week later".
_LATER = re.compile(
    r"\s+(?:(?:to|until|till|for)\s+)?(?:the\s+)?(?:(?:next|following)\s+(?P<unit>day)|(?P<after>day|"
    r"week|month)\s+after(?:\s+(?:that|then|it))?|"
    r"(?P<much>an?|one|two|three|four|five|six|seven|\d+)\s+(?P<units>days?|weeks?|months?)\s+later)$",
    re.IGNORECASE,
)
_TO = re.compile(
    r"\s+(?:back\s+|forward\s+|out\s+|up\s+|over\s+|ahead\s+)?(?:to\s+be|to\s+say|to|with|until|till|into"
    r"|for|by|as|=|->|→|instead\s+be)\s+",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\s+(?:to|until|till|-|→|->)\s+", re.IGNORECASE)
_MOVED = re.compile(
    r"^(?P<ref>.+?)\s+(?:is\s+now|is\s+actually|is|was|got|has\s+been|have\s+been|should\s+be"
    r"|needs\s+to\s+be|will\s+be|are\s+now)?\s*"
    r"(?:moved|rescheduled|postponed|pushed|changed|delayed|due|now|set)?\s*(?:back\s+)?(?:to|until|for|at"
    r"|on|by)?\s*$",
    re.IGNORECASE,
)

_PRIORITY_OF = re.compile(
    rf"^{_VERB}\s+(?:(?:the\s+|its\s+)?priority\s+(?:(?:of|for|on)\s+(?P<of>.+?)\s+)?"
    rf"|(?P<ref>.+?)(?:'s)?\s+priority\s+)(?:to|as|from\s+\w+\s+to)\s+"
    r"(?:be\s+)?(?P<level>low|medium|normal|high|urgent|top|important|critical)(?:\s+priority)?$",
    re.IGNORECASE,
)


def read_update(utterance: str, now: datetime) -> tuple[Reference, Changes]:
    """The task meant and what changes about it; empty changes where nothing was said."""
    said = bare(utterance).rstrip(" .!?")
    special = _special(said, utterance, now)
    if special is not None:
        return special
    named = _PRIORITY_OF.match(said)
    if named:
        level = named.group("level").lower()
        priority_said = {"low": Priority.LOW, "medium": Priority.MEDIUM, "normal": Priority.MEDIUM}.get(
            level, Priority.HIGH
        )
        return read_reference(named.group("ref") or named.group("of") or ""), Changes(priority=priority_said)
    priority = find_priority(said)
    if priority and re.match(r"^(?:re-?)?prioriti[sz]e\b", said, re.IGNORECASE) is None:
        rest = f"{said[: priority.span[0]]} {said[priority.span[1] :]}".strip(" ,")
        again = find_priority(rest)  # "make it high priority, it's urgent" says it twice
        rest = f"{rest[: again.span[0]]} {rest[again.span[1] :]}".strip(" ,") if again else rest
        return _with_priority(rest, priority.priority, now)
    if re.match(r"^(?:prioriti[sz]e)\b", said, re.IGNORECASE):
        return read_reference(_cut_verb(said)), Changes(priority=Priority.HIGH)
    raised = re.match(
        r"^(?P<way>raise|increase|bump\s+up|lower|decrease|reduce)\s+(?:the\s+)?priority\s+(?:of|on"
        r"|for)\s+(?P<ref>.+)$",
        said,
        re.IGNORECASE,
    )
    if raised:
        up = raised.group("way").lower()[0] in "rib" and raised.group("way").lower() != "reduce"
        return read_reference(raised.group("ref")), Changes(priority=Priority.HIGH if up else Priority.LOW)
    return _moved_or_renamed(said, now)


def adds_a_note(utterance: str) -> bool:
    return _NOTE.match(bare(utterance).rstrip(" .!?")) is not None


def _special(said: str, utterance: str, now: datetime) -> tuple[Reference, Changes] | None:
    put_off = read_put_off(said, now)
    if put_off is not None:
        reference = read_reference(put_off.of) if put_off.of else Reference("", pronoun=True)
        return reference, Changes(tell_at=put_off.until)
    cleared = _CLEAR.match(said)
    if cleared:
        return read_reference(cleared.group("ref")), Changes(clear_due=True)
    for pattern in _REOPEN:
        found = pattern.match(said)
        if found:
            return read_reference(found.group("ref")), Changes(completed=False)
    return _repeated(said) or _named_anew(utterance, now) or _noted(said)


def _repeated(said: str) -> tuple[Reference, Changes] | None:
    repeats = _REPEATS.match(said)
    rule = read_repetition(repeats.group("rule")) if repeats else None
    if repeats is None or rule is None:
        return None
    return read_reference(repeats.group("ref") or repeats.group("also")), Changes(recurrence=rule.rule)


def _named_anew(utterance: str, now: datetime) -> tuple[Reference, Changes] | None:
    for quote in quotes_in(utterance):
        head = _BEFORE_TITLE.match(bare(utterance[: quote.start]))
        if head is None:
            continue
        if find_dates(quote.inner, now) or find_dates(utterance[quote.end :], now):
            return None
        name = _QUOTED.match(head.group("ref"))
        reference = Reference(name.group("name")) if name else read_reference(head.group("ref"))
        return reference, Changes(title=quote.inner)
    return None


def _noted(said: str) -> tuple[Reference, Changes] | None:
    noted = _NOTE.match(said)
    if noted is None:
        return None
    return read_reference(noted.group("ref")), Changes(description=noted.group("text").strip(" \"'"))


def _with_priority(rest: str, priority: Priority, now: datetime) -> tuple[Reference, Changes]:
    reference, changes = _moved_or_renamed(rest, now)
    return reference, replace(changes, priority=priority, title=None)


def _cut_verb(said: str) -> str:
    cut = re.sub(rf"^{_VERB}\s+", "", said, count=1, flags=re.IGNORECASE)
    cut = re.sub(rf"^{_FIELD}\s+(?:of|for|on|from|to)\s+", "", cut, count=1, flags=re.IGNORECASE)
    return re.sub(r"^(?:back|forward|up|out)\s+", "", cut, flags=re.IGNORECASE)


def _moved_or_renamed(said: str, now: datetime) -> tuple[Reference, Changes]:
    rest = _cut_verb(said)
    delayed = _BY.search(rest)
    if delayed:
        delay = _length(delayed.group("much"), now)
        if delay is not None:
            back = bool(re.search(r"\b(?:forward|earlier|up)\b", delayed.group(), re.IGNORECASE))
            return read_reference(rest[: delayed.start()]), Changes(delay=-delay if back else delay)
    later = _LATER.search(rest)
    if later:
        unit = later.group("unit") or later.group("after") or later.group("units")
        much = f"{later.group('much') or 'a'} {unit}"
        delay = _length(much, now)
        if delay is not None:
            return read_reference(rest[: later.start()]), Changes(delay=delay)
    dated = _new_date(rest, now)
    if dated is not None:
        return dated
    halves = _TO.split(rest, maxsplit=1)
    if len(halves) == 2 and halves[1].strip():
        title = FROM_LIST.sub("", f" {halves[1]}").strip(" ,.\"'\u201c\u201d")
        reference = read_reference(re.sub(rf"\s+{_FIELD}$", "", halves[0], flags=re.IGNORECASE))
        return reference, Changes(title=title or None)
    renamed = re.match(r"^(?P<ref>(?:task|item|number|the)\s+\S+)\s+(?P<title>.+)$", rest, re.IGNORECASE)
    if renamed and re.match(r"^(?:rename|reword|retitle)\b", said, re.IGNORECASE):
        return read_reference(renamed.group("ref")), Changes(title=renamed.group("title"))
    return read_reference(re.sub(rf"\s+{_FIELD}$", "", rest, flags=re.IGNORECASE)), Changes()


def _new_date(rest: str, now: datetime) -> tuple[Reference, Changes] | None:
    """The last date said is the new one; the task stands before it."""
    found = find_dates(rest, now)
    if not found:
        return None
    last = found[-1]
    behind = rest[last.span[1] :]
    if behind.strip(" ,.!?") and not gives_a_reason(behind):
        return None
    lead = rest[: last.span[0]]
    if last.end is not None and _BETWEEN.search(rest[last.span[0] : last.span[1]]):
        last = _end_of(last, rest, now)
        lead = re.sub(r"\bfrom\s*$", "", lead, flags=re.IGNORECASE)
    earlier = found[-2] if len(found) > 1 else None
    moved_from = re.search(r"\s*\bfrom\s*$", rest[: earlier.span[0]], re.IGNORECASE) if earlier else None
    if moved_from:
        lead = rest[: moved_from.start()]
    cut = _MOVED.match(lead.strip())
    name = cut.group("ref") if cut else lead
    name = re.sub(
        rf"(?:\s+(?:{_FIELD}|due|back|forward|out|up|to|until|till|for|at|on|by|of|a|the|be))+$",
        "",
        name,
        flags=re.IGNORECASE,
    )
    if not name.strip():
        return Reference("", pronoun=True), Changes(due=last)
    return read_reference(name), Changes(due=last)


def _end_of(mention: DateMention, text: str, now: datetime) -> DateMention:
    """In "at 3pm to 4pm" the second time is the new one: a task has no range."""
    inner = _BETWEEN.split(text[mention.span[0] : mention.span[1]], maxsplit=1)
    found = find_dates(f"at {inner[-1]}" if inner[-1].strip()[:1].isdigit() else inner[-1], now)
    return replace(found[0], span=mention.span) if found else mention


def _length(much: str, now: datetime) -> timedelta | None:
    found = find_dates(f"in {much}".replace("another", "a"), now)
    return found[0].value - now if found else None
