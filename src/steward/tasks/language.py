"""From what a person says to what they want done with their tasks, without a language model.

Owns the closed set of meanings and the way to them: a classifier names the intent, rules cut out titles,
dates,
references and filters. Touches no task: whoever calls decides what to do, and asks where this module asks.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from steward.contract import linear_re as re
from steward.tasks.changes import Changes, read_update
from steward.tasks.filters import Filters, read_filters
from steward.tasks.intents.classify import Intent, probabilities
from steward.tasks.intents.lexicon import TASK_VERBS
from steward.tasks.new_tasks import NewTask, read_new_tasks
from steward.tasks.politeness import bare
from steward.tasks.references import Reference, read_reference

WHAT_TO_ADD = "What would you like to add?"
WHAT_TO_DO = "What would you like me to do with your tasks?"


@dataclass(frozen=True, slots=True)
class Add:
    items: tuple[NewTask, ...]
    confidence: float = 1.0
    intent: Intent = Intent.ADD


@dataclass(frozen=True, slots=True)
class List:
    filters: Filters
    confidence: float = 1.0
    intent: Intent = Intent.LIST


@dataclass(frozen=True, slots=True)
class Complete:
    reference: Reference
    confidence: float = 1.0
    intent: Intent = Intent.COMPLETE


@dataclass(frozen=True, slots=True)
class Delete:
    reference: Reference
    confidence: float = 1.0
    intent: Intent = Intent.DELETE


@dataclass(frozen=True, slots=True)
class Update:
    reference: Reference
    changes: Changes
    confidence: float = 1.0
    intent: Intent = Intent.UPDATE


@dataclass(frozen=True, slots=True)
class Other:
    """Not about tasks."""

    confidence: float = 1.0
    intent: Intent = Intent.OTHER


@dataclass(frozen=True, slots=True)
class Ask:
    """A question to ask back. `proposal` is what a yes would mean; without one the answer is the title."""

    question: str
    proposal: Add | None = None
    confidence: float = 1.0
    intent: Intent = Intent.ASK


Understanding = Add | List | Complete | Delete | Update | Other | Ask

_LONGEST = 4_000
_MOST_WORDS_WITHOUT_VERB = 5
_BARE_ADD = re.compile(
    r"^(?:add|create|new|remember|remind\s+me|(?:add|create|make)?\s*(?:an?\s+)?(?:new\s+)?(?:task|to-?do"
    r"|todo|reminder|item))(?:\s+(?:to|an?|something|it|this|that|one))?$",
    re.IGNORECASE,
)
# Openings so plain that no statistics may overrule them.
_OF_TASKS = r"(?:my|the|our|this|that|to-?do|do|tasks?)"
_PLAIN: tuple[tuple[re.Pattern, Intent], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), intent)
    for pattern, intent in (
        (rf"^add\s*:?\s+(?:{'|'.join(sorted(TASK_VERBS))})\s+\S", Intent.ADD),
        (r"^remind\s+me\s+(?:what|which|of\s+(?:my|the|all)\b.*(?:tasks?|list|to-?dos?))", Intent.LIST),
        (
            (
                r"^(?:remind\s+me\s+(?:to|about|that|on|at|in|when|before|tomorrow|tonight|next|every)"
                r"|don'?t\s+(?:let\s+me\s+)?forget\s+(?:to|the|about)|remember\s+to)\b"
            ),
            Intent.ADD,
        ),
        (
            (
                r"^(?:add|create|make|new|set(?:\s+up)?)\s+(?:an?\s+|the\s+|another\s+)?(?:new\s+)?(?:task"
                r"|to-?do|todo|reminder)\b(?!\s*list)"
            ),
            Intent.ADD,
        ),
        (r"^(?:new\s+)?(?:task|to-?do|todo)\s*[:\-]", Intent.ADD),
        (
            r"^to-?do\s+(?!(?:lists?|items?|tasks?|for|on|today|tonight|tomorrow|this|next|in|app)\b)\w",
            Intent.ADD,
        ),
        (r"^(?:update|change|edit|move|push|modify)\s+(?:my|the)\s+(?:\w+\s+)?reminder\b", Intent.UPDATE),
        (
            r"^(?:mark|set|flag)\s+.+?\s+(?:as\s+|to\s+)?(?:not\s+done|undone|incomplete|not\s+completed?)$",
            Intent.UPDATE,
        ),
        (r"^(?:mark|set|flag)\s+.+?\s+(?:as\s+|to\s+)?(?:done|completed?|finished|bought)$", Intent.COMPLETE),
        # What is crossed off a list of things to do is done; off a list of another kind it is taken.
        (
            rf"^cross\s+(?!.*(?<![\w-])(?!{_OF_TASKS}\b)\w[\w-]*\s+list\b)(?:off\s+\S|\S.*?\s+off\b)",
            Intent.COMPLETE,
        ),
        (
            (
                r"^add\s+(?:an?\s+|the\s+)?(?:notes?|description|due\s+date|deadline)\s+(?:of\s+.+\s+)?(?:to"
                r"|for|on)\s+(?!.*\blist\b)"
            ),
            Intent.UPDATE,
        ),
        (r"^(?:remove|clear|delete)\s+the\s+(?:due\s+date|deadline)\b", Intent.UPDATE),
        (
            (
                r"^(?:rename|reschedule|postpone|snooze)\s+(?!.*\b(?:flight|playlist|file|song"
                r"|meeting\s+room)\b).+"
            ),
            Intent.UPDATE,
        ),
        (
            (
                r"^(?:show|list|display|view)\s+(?:me\s+)?(?:all\s+)?(?:my|our"
                r"|the)?\s*(?:[\w-]+\s+){0,2}(?:tasks|to-?dos|todos|reminders|chores)\b"
            ),
            Intent.LIST,
        ),
    )
)
# What the opening asks for where nothing but tasks can be meant.
_BY_VERB = 0.5
_VERBS = tuple(
    (re.compile(rf"^(?:{verbs})\s+\S", re.IGNORECASE), intent)
    for verbs, intent in (
        (r"when(?:['\u2019]?s|\s+(?:is|are|was|were))|what\s+(?:time|day|date)\s+(?:is|are)", Intent.LIST),
        ("add|create|remember|put", Intent.ADD),
        ("complete|finish|finished|done\\s+with", Intent.COMPLETE),
        ("delete|remove|erase|get\\s+rid\\s+of", Intent.DELETE),
        ("change|update|modify|rename|reschedule|postpone|move", Intent.UPDATE),
    )
)
_COMPLETE_CUTS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^cross\s+(?:off\s+)?(?P<ref>.+?)(?:\s+off)?(?:\s+(?:of|from|on))?(?:\s+(?:my|the|our)\s+.*list)?$",
        (
            r"^(?:mark|set|flag|check|change|update|move|put)\s+(?:off\s+)?(?P<ref>.+?)\s+(?:as\s+|to\s+"
            r"|is\s+)?(?:being\s+)?(?:done|completed?|finished|bought|off|closed|resolved"
            r"|checked(?:\s+off)?)(?:\s+(?:on|from|in)\s+(?:my|the)\s+.*)?$"
        ),
        (
            r"^(?:(?:i\s+am|i'?m|we'?re|i'?ve|i\s+have|we\s+have|i|we|all|just|now|already"
            r"|finally)\s+)*(?:done|finished|through|completed)\s+(?:with\s+)?(?P<ref>.+)$"
        ),
        (
            r"^(?:i\s+|we\s+)?(?:just\s+|already\s+|finally\s+)*(?:finish|complete|close|resolve|check\s+off"
            r"|tick\s+off|cross\s+off|tick|cross\s+out|wrap\s+up|accomplish|do)\s+(?:off\s+)?(?P<ref>.+)$"
        ),
        (
            r"^(?P<ref>.+?)\s+(?:is|are|was|were|has\s+been|have\s+been|got|'s)?\s*(?:now\s+|all\s+|already\s+"
            r"|finally\s+)?(?:done|finished|completed?|bought|taken\s+care\s+of|sorted|handled)(?:\s+(?:now"
            r"|already|today))?$"
        ),
        r"^(?P<ref>(?!i\s|we\s).+?)\s+(?:has|have|is|was|were|are)\s+(?:now\s+|already\s+)?(?:been\s+)?\w+(?:ed|nt|id|ne)$",
        (
            r"^(?:i|we)?(?:'ve|\s+have)?\s*(?:just\s+|already\s+|finally\s+)*(?:took|taken"
            r"|take)\s+care\s+of\s+(?P<ref>.+)$"
        ),
        r"^(?:i|we)?(?:'ve|\s+have)?\s*(?:just\s+|already\s+|finally\s+)*got\s+(?P<ref>.+?)\s+done$",
        (
            r"^(?:i|we)?(?:'ve|\s+have|\s+was\s+able\s+to|\s+managed\s+to)?\s*(?:just\s+|already\s+"
            r"|finally\s+)*(?P<verb>[a-z]+)(?:\s+(?:up|off|out|in|down|with|to|for))?\s+(?P<ref>.+)$"
        ),
    )
)
_DELETE_CUTS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^(?:find|open|go\s+to|pull\s+up)\s+.+?\s+(?:and\s+)?(?:delete|remove|erase)\s+(?P<ref>.+)$",
        (
            r"^(?:on|from|in|off)\s+(?:my|the)\s+.*?(?:list|tasks),?\s+(?:please\s+)?(?:delete|remove|erase"
            r"|take\s+off|cross\s+(?:off|out))\s+(?P<ref>.+)$"
        ),
        (
            r"^(?:take|cross|scratch|strike|check)\s+(?P<ref>.+?)\s+(?:off|out)(?:\s+(?:of\s+)?(?:my|the|our"
            r"|this).*)?$"
        ),
        (
            r"^(?:delte|remvoe|delete|remove|erase|clear(?:\s+out)?|cancel|drop|discard|trash"
            r"|scratch(?:\s+off)?|wipe(?:\s+out)?|nuke|empty(?:\s+out)?|nix|eliminate|purge|kill"
            r"|strike(?:\s+off)?|cut|dump|destroy|reset|ditch|scrap|axe|clean(?:\s+(?:up|out))?"
            r"|get\s+rid\s+of+|take\s+(?:off|out|away)|cross\s+(?:off|out)|throw\s+(?:away|out)"
            r"|forget(?:\s+about)?|never\s*mind|undo\s+adding|blank\s+out)\s*(?P<ref>.*)$"
        ),
        (
            r"^(?:i|we)\s+(?:don'?t|do\s+not|no\s+longer|won'?t|will\s+not|didn'?t)\s+(?:really\s+)?(?:need"
            r"|want|have|be)?\s*(?:to\s+)?(?P<ref>.+?)(?:\s+(?:any\s*more|after\s+all|now))?(?:[,;]\s+.*)?$"
        ),
        (
            r"^(?P<ref>.+?)\s+(?:should|needs?\s+to|can|must|has\s+to)\s+be\s+(?:removed|deleted|taken\s+off"
            r"|erased|taken\s+away)(?:\s.*)?$"
        ),
        r"^(?:i\s+(?:need|want)|have|get)\s+(?P<ref>.+?)\s+(?:removed|deleted|taken\s+off|erased)(?:\s.*)?$",
    )
)


def understand(utterance: str, now: datetime) -> Understanding:
    """What the utterance asks for. Never raises, whatever the text."""
    said = " ".join(utterance[:_LONGEST].split()) if "\n" not in utterance else utterance[:_LONGEST].strip()
    core = bare(said).rstrip(" .!?")
    if not core:
        return Other() if said else Ask(WHAT_TO_DO)
    if _BARE_ADD.match(core):
        return Ask(WHAT_TO_ADD)
    intent, confidence = _intent(said, core)
    return _meaning(intent, said, core, now=now, confidence=confidence)


def understand_by_verb(utterance: str, now: datetime) -> Understanding:
    """What the opening alone asks for, for who is sure that tasks are spoken of; `Other` without one.

    "When is the dentist?" asks about the world, unless there is nothing but tasks to ask about.
    """
    said = " ".join(utterance[:_LONGEST].split())
    core = bare(said).rstrip(" .!?")
    intent = next((intent for pattern, intent in _VERBS if pattern.match(core)), Intent.OTHER)
    return _meaning(intent, said, core, now=now, confidence=_BY_VERB)


def _meaning(intent: Intent, said: str, core: str, *, now: datetime, confidence: float) -> Understanding:
    meaning: Understanding
    match intent:
        case Intent.ADD:
            meaning = _add(said, now, confidence)
        case Intent.LIST:
            meaning = List(read_filters(said, now), confidence)
        case Intent.COMPLETE:
            meaning = Complete(_completed(core), confidence)
        case Intent.DELETE:
            meaning = Delete(_deleted(core), confidence)
        case Intent.UPDATE:
            meaning = Update(*read_update(said, now), confidence)
        case Intent.ASK:
            meaning = _without_verb(said, now, confidence)
        case Intent.OTHER:
            meaning = Other(confidence)
    return meaning


def _intent(said: str, core: str) -> tuple[Intent, float]:
    for pattern, intent in _PLAIN:
        if pattern.match(core):
            return intent, 1.0
    shares = probabilities(said)
    if len(core.split()) > _MOST_WORDS_WITHOUT_VERB:
        shares.pop(Intent.ASK)  # a sentence has a verb somewhere
    best = max(shares, key=lambda label: shares[label])
    return best, round(shares[best], 4)


def _add(said: str, now: datetime, confidence: float) -> Add | Ask:
    items = read_new_tasks(said, now)
    return Add(items, confidence) if items else Ask(WHAT_TO_ADD, confidence=confidence)


def _without_verb(said: str, now: datetime, confidence: float) -> Ask:
    items = read_new_tasks(said, now) or (NewTask(bare(said)),)
    title = items[0].title if len(items) == 1 else bare(said)
    return Ask(f"Would you like me to add '{title}' as a new task?", Add(items, confidence), confidence)


def _completed(core: str) -> Reference:
    core = re.sub(r"^(it|that|this|he|she)['\u2019]?s\s", r"\1 is ", core, flags=re.IGNORECASE)
    for pattern in _COMPLETE_CUTS:
        found = pattern.match(core)
        if found:
            groups = found.groupdict()
            reference = read_reference(_without_when(groups["ref"]), hint=groups.get("verb") or "")
            return reference if not reference.pronoun else replace(reference, hint="")
    return read_reference(core)


def _without_when(text: str) -> str:
    """ "I bought the milk this morning": when it was done is no part of its name."""
    return re.sub(
        r"\s+(?:today|yesterday|this\s+(?:morning|afternoon|evening|week)|last\s+night|just\s+now|already"
        r"|earlier|so\s+.*|tonight)$",
        "",
        text,
        flags=re.IGNORECASE,
    )


def _deleted(core: str) -> Reference:
    for pattern in _DELETE_CUTS:
        found = pattern.match(core)
        if found:
            return read_reference(found.group("ref"))
    return read_reference(core)
