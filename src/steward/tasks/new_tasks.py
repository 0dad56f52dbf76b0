"""The tasks in a request to add: title, date, priority and description of each."""

from dataclasses import dataclass, replace
from datetime import datetime

from steward.contract import linear_re as re
from steward.language.dates.calendar import Grain, floor
from steward.language.dates.find import find_dates
from steward.language.dates.mention import DateMention
from steward.language.dates.words import WEEKDAYS
from steward.language.politeness import bare
from steward.language.recurrence import read_repetition
from steward.language.references import FROM_LIST
from steward.tasks.model import Priority
from steward.tasks.priority import find_priority
from steward.tasks.rhythm import Rhythm, as_said_early, next_after
from steward.tasks.verbs import TASK_VERBS


@dataclass(frozen=True, slots=True)
class NewTask:
    title: str
    due: DateMention | None = None
    priority: Priority | None = None
    description: str | None = None
    recurrence: str | None = None


_NOUN = r"(?:tasks?|to[\s-]?dos?|(?:to[\s-]?do\s+)?items?|reminders?|entr(?:y|ies)|chores?|errands?)"
_VERB = (
    r"(?:re\s+)?(?:add+|create|make|put|include|insert|append|write(?:\s+down)?|jot(?:\s+down)?"
    r"|note(?:\s+down)?|record|log|save|enter|throw(?:\s+in)?"
    r"|stick|place|pop|toss|tack(?:\s+on)?|set(?:\s+up)?|start|begin|open(?:\s+up)?|generate|prepare|list"
    r"|get|mark\s+down|plan|track|schedule|have|give\s+me"
    r"|bring\s+up|produce)"
)
_DOWN_AS = r"(?:\s*(?:to|called|named|titled|about|for|that\s+says|saying|of|that)\b|\s*[:\-\u2013])?"
_BEHIND = re.compile(
    rf"\b{_NOUN}\s*(?:to|called|named|titled|saying|:)\s+(?P<title>\S.*)",
    re.IGNORECASE,
)
_TO_A_PLACE = re.compile(r"(?:a|an|the|my|our|your|this|that|it|them|me|us)\b", re.IGNORECASE)
# What an utterance may open with before the task itself, tried in order.
_OPENINGS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        (
            rf"^(?:{_VERB}\s+)?(?:a|an|the|another|one\s+more|two|three|these|some)?\s*(?:new\s+|quick\s+"
            rf"|urgent\s+)?{_NOUN}(?:\s+(?:for|to)\s+me)?{_DOWN_AS}\s*(?![\w])?(?<=[\s:\-\u2013])"
        ),
        r"^(?:to[\s-]?do|todo)\s*[:\-\u2013]?\s+",
        (
            r"^(?:please\s+)?remind\s+me\s+(?:again\s+)?(?:to|about|of|that|on)?\s*(?:i\s+(?:have"
            r"|need)\s+(?:to\s+)?)?"
        ),
        (
            r"^(?:please\s+)?(?:remember|remeber|rember)\s+(?:to\s+|that\s+i\s+(?:need|have)\s+to\s+|about\s+"
            r"|the\s+)?"
        ),
        r"^(?:don'?t|do\s+not|never)\s+(?:let\s+me\s+)?forget\s+(?:to|about|the)?\s*",
        r"^(?:help\s+me\s+remember|i\s+(?:need|want)\s+to\s+remember)\s+(?:to\s+)?",
        (
            r"^(?:make\s+(?:a|myself\s+a)\s+note|note\s+to\s+self|memo|note)\s*(?:to|that|about"
            r"|of)?\s*[:,\-\u2013]?\s*"
        ),
        r"^(?:ping|nudge|alert|notify)\s+me\s+(?:to|about)?\s*",
        r"^(?:i\s+want\s+to\s+be\s+reminded|i\s+want\s+a\s+reminder)\s+(?:to|about)\s+",
        r"^(?:make\s+sure\s+(?:that\s+)?(?:i|to)|make\s+sure(?:\s+that)?)\s+",
        (
            rf"^{_VERB}\s+(?:to|on|onto|in|into)\s+(?:my|the|our)\s+(?:[\w-]+\s+){{0,4}}?(?:list|tasks?"
            rf"|to[\s-]?dos?(?!\s+list)|agenda|chores|reminders|groceries)(?:\s+of\s+(?:things|tasks"
            rf"|chores)(?:\s+to\s+do)?)?\s*[:,\-\u2013]?\s*(?:that\s+)?(?:i\s+(?:need|have)\s+(?:to\s+)?)?"
        ),
        (
            rf"^(?:on|to|for|in|open|bring\s+up|reopen)\s+(?:my|the|our)?\s*(?:[\w'-]+\s+){{0,4}}?(?:list"
            rf"|tasks?|to[\s-]?dos?(?!\s+list)|agenda|chores|groceries)(?:\s+of\s+(?:things|tasks"
            rf"|chores)(?:\s+to\s+do)?)?\s*,?\s*(?:and\s+|please\s+|can\s+you\s+)*{_VERB}\s*"
        ),
        rf"^(?:[\w-]+\s+)?list\s*,?\s+{_VERB}\s+",
        (
            r"^(?:i\s+(?:just\s+)?(?:really\s+)?(?:need|have|ought)\s+to|i'?ve\s+got\s+to|i\s+(?:must|should"
            r"|gotta)|gotta|got\s+to|we\s+(?:need|have)\s+to|we\s+(?:must|should))\s+(?:(?:add|put"
            r"|include)\s+(?=.*\b(?:list|tasks|to[\s-]?dos?)\b))?"
        ),
        rf"^{_VERB}\s*[:\s]\s*(?=\S)",
        (
            r"^(?:(?:i|we)(?:'?m|'?re|\s+am|\s+are)?\s+(?:all\s+)?(?:out\s+of|low\s+on|running\s+(?:low\s+on"
            r"|out\s+of))|(?:i|we)\s+ran\s+out\s+of|(?:i|we)\s+(?:need|want)(?:\s+more|\s+some|\s+to\s+get"
            r"|\s+to\s+buy)?|i(?:'d|\s+would)\s+like)\s+"
        ),
        r"^(?:is|are|do\s+i\s+have|does)\s+(?=.*\bif\b.*\b(?:not|isn'?t|aren'?t)\b)",
    )
)
_TAILS = re.compile(
    r"(?:[\s,;]+(?:(?:and\s+)?(?:please\s+)?(?:add|put|include)\s+(?:it|them|that|those)(?:\s+(?:to|on|in"
    r"|onto).*)?"
    r"|(?:if|unless)\s+(?:it|they|i|that|not)\b.*|(?:should|needs?\s+to|has\s+to|must|to)\s+be\s+(?:added"
    r"|put|placed|included|written|on|in)(?:\s.*)?|needs?\s+to\s+go(?:\s.*)?"
    r"|(?:gets?|be|is|are)\s+(?:added|put|placed|included)(?:\s.*)?|added|put|(?:so|and|as|cause|because"
    r"|since)\s+(?:please\s+|will\s+you\s+|can\s+you\s+|i'?m\s+(?:all\s+)?(?:out|low)|i\s+(?:am|need|ran"
    r"|just)).*"
    r"|i'?m\s+(?:all\s+)?out(?:\s+of\s+(?:it|them))?|i\s+just\s+used.*|while\s+i'?m\s+out.*"
    r"|can\s+you\s+(?:add|put)\s.*|(?:to|as)\s+(?:a|my)\s+tasks?|is|are|on\s+it|on\s+there|in\s+there"
    r"|on\s+that))+$",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"^(?:(?:add|put|include)\s*)?(?:(?:an?|the|some|another|new|more|my|this|that|these|it|one|to|on|me"
    r"|up|also|extra|following|blank|for|in|of|and)\s*)*"
    r"(?:(?:tasks?|to[\s-]?dos?|items?|reminders?|things?|something|stuff|entr(?:y|ies)|note|this|that|it"
    r"|these|them|one|anything)\b\s*(?:to|on|in|called|from)?\s*)*$",
    re.IGNORECASE,
)
_DESCRIPTION = re.compile(
    r"[\s,;(]+(?:with\s+(?:the\s+|a\s+)?(?:description|details?|notes?)|description|details?"
    r"|notes?)\s*(?:of|that\s+says|saying)?\s*[:\-\u2013]?\s+(?P<text>.+)$",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(
    r"(?:^|[\s,;(])(?:(?:is\s+|are\s+)?due(?:\s+(?:on|by|at|date))?|by|on|at|for|before|until|till|in|from"
    r"|starting|this|around|every|each|deadline|(?:by|on|for|before)\s+the|no\s+later\s+than|-|\u2013|@)\s*[:\-]?\s*$",
    re.IGNORECASE,
)
_INTRODUCED = re.compile(
    r"(?:at|by|on|in|before|after|until|around|from|between|today|tonight|tomorrow|tmrw|next|this|later)\b",
    re.IGNORECASE,
)
_BREAKS = re.compile(
    r"\s*(?:;|\n|,\s*(?:and\s+)?(?:also\s+)?(?:then\s+)?|\s+and\s+(?:also\s+|then\s+)?|\s+then\s+"
    r"|\s+plus\s+|\s+as\s+well\s+as\s+|\s&\s)\s*",
    re.IGNORECASE,
)
_RELATED = re.compile(r"\s(?:with|about|for|from|to|of|between|on|at|in|by|against)\s", re.IGNORECASE)
_TO_SOMETHING = re.compile(
    r"^\w+\s+(?:the|my|our|his|her|their|this|that|these|those|up|off)\b", re.IGNORECASE
)
_COUNT = re.compile(
    r"^(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|so on|more|others?|such|etc)\b\W*$",
    re.IGNORECASE,
)
_LONGEST_TITLE = 500
MOST = 101  # tasks of one message: one more than a turn makes calls, so that it is said to be too many


def read_new_tasks(utterance: str, now: datetime) -> tuple[NewTask, ...]:
    """The tasks that the utterance asks to add; none where it names nothing."""
    said = bare(re.sub(r"\s*\n\s*(?:[-*\u2022]\s*)?", "; ", utterance.strip()))
    opened = _cut_opening(said)
    first, rest = _leading_date(opened, now)
    tasks = [task for piece in parted(rest)[:MOST] if (task := _task(piece, now)) is not None]
    if first is not None:
        tasks = [task if task.due else replace(task, due=first) for task in tasks]
    shared = find_priority(utterance)
    if shared and tasks and not any(task.priority for task in tasks):
        tasks = [replace(task, priority=shared.priority) for task in tasks]
    return tuple(tasks)


def _cut_opening(said: str) -> str:
    """Cuts the command off, however many times it is dressed ("I need to add a task to …")."""
    for _ in range(3):
        for opening in _OPENINGS:
            found = opening.match(said)
            if found and found.end():
                said = bare(said[found.end() :])
                break
        else:
            return said
        if not _still_commanding(said):
            return said
    return said


def _still_commanding(said: str) -> bool:
    return bool(
        re.match(
            r"(?:add|put|include|create|a\s+(?:new\s+)?(?:task|reminder|to-?do)|remind\s+me|remember\s+to"
            r"|(?:my|the)\s+.*list)\b",
            said,
            re.IGNORECASE,
        )
    )


def _leading_date(text: str, now: datetime) -> tuple[DateMention | None, str]:
    """ "remind me tomorrow to call mom": the date before the task counts for all that follows."""
    found = find_dates(text, now)
    if not found or found[0].span[0] > 4 or not _useful(found[0], now):
        return None, text
    mention = found[0]
    before, after = text[: mention.span[0]], text[mention.span[1] :]
    if before.strip() and not _PREPOSITION.search(before):
        return None, text
    joined = re.match(
        r"\s*[,:;-]\s*(?:please\s+)?(?:to\s+)?|\s+(?:to|that|i\s+(?:need|have)\s+to)\s+", after, re.IGNORECASE
    )
    verb = re.match(r"\s+([a-z]+)", after, re.IGNORECASE)
    if joined is None and not (verb and verb.group(1).lower() in TASK_VERBS):
        return None, text
    return mention, after[joined.end() if joined else 0 :].strip()


def parted(text: str) -> list[str]:
    """Several tasks in one breath. After a verb only another verb starts a new task; things stand by
    themselves, but for those that say with whom, or about what: "lunch with Tom and Eva".
    """
    pieces = [piece for piece in _BREAKS.split(text) if piece.strip()]
    if len(pieces) < 2:
        return [text]
    if "\n" in text or ";" in text:
        return [piece.strip() for piece in re.split(r"[;\n]+", text) if piece.strip()]
    joints = _BREAKS.findall(text)
    led = _does_something(pieces[0])
    together = [pieces[0]]
    for joint, piece in zip(joints, pieces[1:], strict=False):
        if _starts_task(piece, led=led) and not (not led and _belongs(piece, together[-1])):
            together.append(piece)
        else:
            together[-1] += joint + piece
    return together


def _does_something(piece: str) -> bool:
    """Whether it orders something done to something: "water the roses", where "water" is a thing."""
    return _is_verb(piece) and len(piece.split()) > 1


def _belongs(piece: str, before: str) -> bool:
    """Whether it goes on with the thing before: "Ann and Ben's party", "chapter two and three"."""
    if _does_something(piece) or _TO_SOMETHING.match(piece):
        return _is_verb(before) and len(before.split()) == 1  # "wash and dry the towels"
    owner = piece.split(maxsplit=1)[0]
    shared = owner.endswith(("'s", "\u2019s")) and owner[:1].isupper() and before[:1].isupper()
    return shared or _RELATED.search(before) is not None or _COUNT.match(piece) is not None


def _is_verb(piece: str) -> bool:
    words = piece.lower().split()
    return bool(words) and words[0].strip("'\",") in TASK_VERBS


def _starts_task(piece: str, *, led: bool) -> bool:
    if find_priority(piece) or re.match(
        r"(?:it'?s|it\s+is|if|unless|because|which|but|cause|i'?m|i\s|so\b|please\b|you\b|that\b|by\b|on\b"
        r"|at\b|due\b|before\b|with\b)",
        piece,
        re.IGNORECASE,
    ):
        return False
    if piece.split(maxsplit=1)[0].lower().strip(",") in WEEKDAYS:
        return False  # "every Monday and Thursday" is one task
    if led:
        return _is_verb(piece) and len(piece.split()) > 1
    return len(piece.split()) <= 5 or _is_verb(piece)


def _task(piece: str, now: datetime) -> NewTask | None:
    text = f" {piece.strip()}"
    description: str | None = None
    described = _DESCRIPTION.search(text)
    if described:
        description = described.group("text").strip(" .)\"'")
        text = text[: described.start()]
    said = find_priority(text)
    if said:
        text = f"{text[: said.span[0]]} {text[said.span[1] :]}"
    text = without_list(text)
    repetition = read_repetition(text)
    text = repetition.rest if repetition else text
    due, text = _cut_dates(text, now) if repetition is None else _cut_first(text, repetition.rule, now)
    text = without_list(text)
    title = _tidy(text)
    if not title or _EMPTY.match(title):
        return None
    return NewTask(
        title[:_LONGEST_TITLE],
        due,
        said.priority if said else None,
        description,
        repetition.rule if repetition else None,
    )


def without_list(text: str) -> str:
    text = _TAILS.sub("", bare(text).rstrip(" .!?,"))
    text = FROM_LIST.sub("", f" {text}")
    return _TAILS.sub("", text.rstrip(" .!?,"))


def _useful(mention: DateMention, now: datetime) -> bool:
    """A due date lies ahead; "now" says how, not when."""
    return (
        mention.grain is not Grain.SECOND and mention.value >= floor(now, Grain.DAY)
    ) or mention.value > now


def _cut_dates(text: str, now: datetime) -> tuple[DateMention | None, str]:
    """The due date, and the text without it. A date amid the words belongs to the title."""
    found = [mention for mention in find_dates(text, now) if _useful(mention, now)]
    taken: list[DateMention] = []
    for mention in reversed(found):
        start, end = mention.span
        before, after = text[:start], text[end:]
        introduced = _PREPOSITION.search(before) or _INTRODUCED.match(text[start:end])
        if text[start:end].endswith(("'s", "\u2019s")) and after.strip(" ,.!?"):
            continue  # "Thursday's meeting" is the meeting's name
        at_edge = not after.strip(" ,.!?)") or not before.strip(" ,(")
        if not (introduced or at_edge) or not (before + after).strip(" ,.!?"):
            continue
        taken.append(mention)
        before = _PREPOSITION.sub(" ", _PREPOSITION.sub(" ", before))
        text = f"{before.rstrip()} {after.lstrip()}" if after.strip(" ,.!?") else before
    return _together(tuple(reversed(taken))), text


def _cut_first(text: str, rule: str, now: datetime) -> tuple[DateMention | None, str]:
    """The first date of what comes again: its hour is said of every day, not of what is left of this one."""
    due, rest = _cut_dates(text, as_said_early(now))
    if due is None or not due.time_only:
        return _cut_dates(text, now)
    starts = floor(now, Grain.DAY).replace(
        tzinfo=None, hour=due.value.hour, minute=due.value.minute, second=due.value.second
    )
    first = next_after(Rhythm(starts, rule), now)
    return (due if first is None else replace(due, value=first)), rest


def _together(mentions: tuple[DateMention, ...]) -> DateMention | None:
    """A day and a time said apart are one date."""
    if not mentions:
        return None
    days = [m for m in mentions if not m.time_only]
    times = [m for m in mentions if m.time_only]
    if not days or not times or days[0].has_time:
        return mentions[0]
    clock = times[0].value
    value = floor(days[0].value, Grain.DAY).replace(hour=clock.hour, minute=clock.minute, second=clock.second)
    span = (min(m.span[0] for m in mentions), max(m.span[1] for m in mentions))
    return replace(days[0], value=value, grain=times[0].grain, span=span, end=None)


def _tidy(text: str) -> str:
    title = " ".join(text.split()).strip(' ,.;:!?-\u2013"\u201c\u201d')
    title = re.sub(
        r"^(?:that\s+i\s+(?:need|have)\s+to|to|that|called|named|for|is|are|about|the|a|an)\s+",
        "",
        title,
        flags=re.IGNORECASE,
    )
    title = re.sub(
        r"(?:\s+(?:on|by|at|to|for|in|due|and|with|the|my|a|it'?s|is|also|of))+$",
        "",
        title,
        flags=re.IGNORECASE,
    )
    if title.startswith("'") and title.endswith("'"):
        title = title[1:-1]
    return title.strip(' ,.;:!?"\u201c\u201d')


def introduced(utterance: str) -> str:
    """What stands behind "a task to" or "a reminder called"; "an item to the list" only says where."""
    found = _BEHIND.search(utterance)
    return found["title"].strip(" .!?") if found is not None and not _TO_A_PLACE.match(found["title"]) else ""
