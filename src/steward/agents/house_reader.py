"""How people ask for what the house itself can do: the web, memory, the library, code, a person.

A reader for the planner, beside the tasks' own. It reads the everyday ways of asking for Steward's built-in
tools and leaves everything else alone: other tools are chosen by what their definitions say.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic_ai import ToolDefinition

from steward.agents import house_voice
from steward.agents.countdown import countdown
from steward.agents.oneself import answered, of_oneself
from steward.contract import linear_re as re
from steward.conversations.clock import now_for_speaker
from steward.language.reading import ReadCall
from steward.models.planner import answers
from steward.models.planner.dialogue import Step
from steward.models.planner.readers import Question, Reading, Record
from steward.models.planner.words import STOP, bare, word_set
from steward.selection.requests import verb_of
from steward.tasks.intents.lexicon import TASK_VERBS
from steward.tasks.language import Complete, Other, understand

HOUSE = "house"
CERTAIN, SURE, LIKELY = 1.0, 0.95, 0.8
LIKELY_TASKS = 0.75  # how sure the tasks' reader must be, where others may be meant
TOOLS = frozenset(
    {
        "web_search",
        "search_memory",
        "save_fact",
        "store_memory",
        "query_knowledge_base",
        "manage_collections",
        "code_execution",
        "request_human_input",
        "read_file",
        "fetch_page",
        "get_current_time",
        "ingest_documents",
    }
)
KEEPING = {"store_memory": "content", "save_fact": "text"}
MOST_CLOSING_WORDS = 6  # "please keep that in mind for later": no more of it is told
SEARCHES = frozenset({"search_memory", "query_knowledge_base", "web_search"})
# Their arguments are a program and a question: nothing that happens to be said may become one.
SOLE = frozenset({"code_execution", "request_human_input"})

_I = re.IGNORECASE
_ASKS = re.compile(
    r"^(?:what|who|whom|which|when|where|why|how|is|are|was|were|will|did|does|do|has|have|can|any|find|show|"
    r"tell|give|get|check|look)\b",
    _I,
)
_MINE = re.compile(r"\b(?:my|our|mine|ours|i|we|me|us|you|your)\b", _I)

# --- the web ---

_ON_THE_WEB = re.compile(
    r"^google\s+(?P<a>.+)$|"
    r"^(?:search|look|browse|check|find|research)\b(?:\s+(?:up|for|out))*\s*"
    r"(?:(?:on\s+)?(?:the\s+)?(?:web|internet|online|google))\b(?:\s+(?:for|about|to see|to find(?: out)?))*"
    r"\s+(?P<b>.+)$|"
    r"^(?:search|look|find|check)\b(?:\s+(?:up|for|out))*\s+(?P<c>.+?)\s+(?:on the (?:web|internet)|online)$",
    _I,
)
_NOW = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|right now|current(?:ly)?|latest|newest|(?:most )?recent(?:ly)?|"
    r"this (?:week|month|year|season|morning|weekend)|at the moment|these days|upcoming|"
    r"live (?:scores?|streams?|updates?|coverage|results?)|"
    r"next (?:week|month)|20[2-9]\d)\b",
    _I,
)
_CHANGING = (
    r"(?:weather|forecast|temperature|rain(?:ing|y)?|snow(?:ing)?|news|headlines?|scores?|standings|"
    r"exchange rate|stock (?:market|price)|share price|prices? of|opening hours|open now|traffic|election|"
    r"election results?|flights? status|box office|release date|was released)\b"
)
_CHANGES = re.compile(rf"\b{_CHANGING}", _I)
# As typed into a search field: "latest news on Python", "weather in Oslo".
_TOPIC = re.compile(
    rf"^(?:(?:the|any)\s+)?(?:(?:latest|newest|current|recent|today's)\s+)?{_CHANGING}(?!\s*:)", _I
)
_CLOCK = re.compile(r"\b(?:what(?:'s| is)? (?:the )?(?:current )?(?:time|date|day)|time is it)\b", _I)

# --- memory ---

_RECALL = re.compile(
    r"^(?:what|when|who|where|which|how|do|did|can|have|has)\b.*\b(?:we|you|i)\b.*\b(?:remember|recall|"
    r"decided?|agreed?|discuss(?:ed)?|found? out|find out|learn(?:ed|t)?|concluded?|said|t(?:old|ell) you|"
    r"talked? about|note[ds]?)\b|"
    r"\b(?:search|look in(?:to)?|check)\s+(?:in\s+)?(?:your|my|the|our)?\s*memor(?:y|ies)\b",
    _I,
)
_KEEP = re.compile(
    r"^(?:remember|memori[sz]e|keep in mind|bear in mind|(?:make a )?note(?: for later| down)?|"
    r"for the record|don'?t forget|save (?:this|the) fact|store (?:this|the) fact)"
    r"\s*(?:that\b|:|,)\s*(?P<text>.+)$",
    _I,
)

_LAST_SENTENCE = re.compile(r"[^.!?:;]*$")
_ASKS_TO_KEEP = re.compile(r"\b(?:remember|memori[sz]e|note|keep|save|store|forget|mind|record|know)\b", _I)
_TO_BE_DONE = re.compile(
    r"\b(?:have|has|had|need|needs|ought|got) to\b|\b(?:must|should)\b|\bneeds? \w+ing\b|\b(?:is|are) due\b",
    _I,
)

# --- the library ---

_LIBRARY = re.compile(
    r"\b(?:in|from|search|query|through|says?|of)?\s*(?:the|my|our)\s+(?:own\s+)?(?:knowledge ?base|"
    r"library|documents?|papers?|files on|pdfs?|books?)\b",
    _I,
)
_LOOKING = word_set("search look find query show tell say says passage passages note notes anything")
_COLLECTIONS = re.compile(
    r"^(?P<verb>list|show|what|which|create|make|add|delete|remove|describe)\b.*?\b(?:collections?)\b"
    r"(?:.*?\b(?:called|named)\s+(?P<name>[\w-]+))?",
    _I,
)
_ACTIONS = {"create": "create", "make": "create", "add": "create", "delete": "delete", "remove": "delete"}

# --- code, files, people ---

_CODE = re.compile(
    r"^(?:run|execute|evaluate)\s+(?:this|the following|the)?\s*(?P<language>python|shell|bash|sh)?\s*"
    r"(?:(?:code|script|program|command|snippet|line)s?\s*:?|(?(language):|(?!)))\s*(?P<code>.+)$",
    _I | re.DOTALL,
)
_FENCE = re.compile(r"^\s*(?:```(?:\w+\n)?|`)(.*?)(?:```|`)\s*$", re.DOTALL)
_ASK_ME = re.compile(r"^ask (?:me|the user|the person)\s+(?P<question>.+)$", _I)
_PATH = r"(?P<path>[\w./~-]+\.(?:md|txt|log|json|ya?ml|toml|py|ini|cfg))"
_READ = re.compile(
    r"^(?:read|open|show|summari[sz]e)\s+(?:me\s+)?(?:the\s+)?(?:file|page|article|website)?\s*"
    rf"(?:(?P<url>https?://\S+[^\s.,;!?])|{_PATH})$",
    _I,
)
_IN_A_FILE = re.compile(
    r"^(?:what(?:'s| is) (?:written )?in|what does|show me what is in|what are the contents of)\s+"
    rf"(?:the file\s+)?{_PATH}(?: say| contain)?$",
    _I,
)
_SOME_FILE = re.compile(r"^(?:read|open|show)\s+(?:me\s+)?(?:a|the|some|this)\s+file$", _I)


_TIME_HERE = re.compile(
    r"^what(?:'s| is)? (?:the )?(?:current )?(?:time|date|day)(?: is it)?"
    r"(?: (?:today|now|right now|here))*\W*$",
    _I,
)
# "Add renew the passport": what is added is something to do, and that is what the list is for.
_CHORE = re.compile(rf"^(?:please\s+)?add\s*:?\s+(?:{'|'.join(sorted(TASK_VERBS))})\s+\S", _I)
_TASKS = re.compile(
    r"\b(?:tasks?|to-?dos?|reminders?|remind me|forget (?:to|the|my|about)|overdue|"
    r"chores?|errands?|(?:my|the|shopping|to-?do) list|"
    r"(?:do|did) i (?:have|need|got)(?: to do)?|have to do|"
    r"i(?:'ve| have)? (?:just )?(?:finished|completed|done))\b|"
    r"^(?:mark|tick|check off|complete|finish)\b|\bas (?:done|finished|completed?)$",
    _I,
)


_OF_ONESELF = re.compile(
    r"\s*(?:i|we)(?:'ve)?\s+(?:have|need|got|must|ought|should|forgot|still|finally|already)\b", _I
)


def speaks_of_tasks(text: str) -> bool:
    """Whether a sentence speaks of the person's list, and not merely of something to be done."""
    said = bare(text)
    return _TASKS.search(said) is not None or _CHORE.match(said) is not None


def means_tasks(text: str, now: datetime, *, least: float = LIKELY_TASKS) -> bool:
    """Whether the tasks' own reader takes a sentence for its own."""
    meaning = understand(text, now)
    return not isinstance(meaning, Other) and meaning.confidence >= least


def tells_of_tasks(text: str) -> bool:
    """Whether something is said to be done, or to be one's own to do, rather than asked for."""
    now = now_for_speaker()
    done = isinstance(understand(text, now), Complete) and verb_of(text) is None
    return (done or _OF_ONESELF.match(text) is not None) and means_tasks(text, now)


def understands(text: str) -> bool:
    """Whether one of the house's own tools is meant."""
    said = bare(text)
    asks_clock = _TIME_HERE.match(said) is not None or countdown(said, now_for_speaker()) is not None
    return asks_clock or any(reads(said) is not None for reads in _IN_ORDER)


@dataclass(frozen=True, slots=True)
class HouseReader:
    """Implements the planner's `UtteranceReader`, `Speaker` and `SoleReader`."""

    sole: frozenset[str] = SOLE

    def read(self, utterance: str, tools: Sequence[ToolDefinition], now: datetime) -> Reading | None:
        offered = {tool.name for tool in tools}
        said = bare(utterance)
        found = (reads(said) for reads in _IN_ORDER)
        others = (
            _time_here(said, now),
            countdown(said, now),
            None if speaks_of_tasks(said) else of_oneself(said),
        )
        return next((each for each in (*found, *others) if each is not None and each.tool in offered), None)

    def interpret(
        self,
        calls: Sequence[ReadCall],
        utterance: str,
        *,
        rules: Sequence[Reading],
        now: datetime,  # noqa: ARG002 - the interface's
    ) -> Sequence[Reading]:
        """As it was filled; the rules' word where something that is needed was not found."""
        if rules and any(call.missing for call in calls):
            return rules
        if all(call.tool in KEEPING and not call.missing for call in calls):
            return [_kept_whole(calls, utterance)]
        whole = {"query": bare(utterance).strip(" ?.")}  # what is looked for, where no part of it was marked
        return [
            _reading(
                call.tool, whole | dict(call.arguments) if call.tool in SEARCHES else call.arguments, call.fit
            )
            for call in calls
        ]

    def answer(
        self,
        memo: Mapping[str, Any],
        utterance: str,
        tools: Sequence[ToolDefinition],  # noqa: ARG002 - the interface's
        now: datetime,  # noqa: ARG002
    ) -> Sequence[Reading] | str | None:
        return answered(memo, utterance)

    def abilities(self, unmet: str | None) -> str:
        return answers.WHAT_I_AM if unmet is None else f"I have no tool for that. {answers.WHAT_I_AM}"

    def which(
        self,
        tool: str,  # noqa: ARG002 - the interface's
        mention: str,
        records: Sequence[Record],
        now: datetime,  # noqa: ARG002
    ) -> tuple[str, list[str]]:
        return f"Which one do you mean by '{mention}'?", [str(dict(record)) for record in records]

    def nothing(self, tool: str, mention: str) -> Question:
        return Question(f"`{tool}` found nothing that matches '{mention}'.")

    def shown(self, step: Step) -> Sequence[Record] | None:  # noqa: ARG002
        return None

    def tell(self, steps: Sequence[Step], known: Sequence[Step], now: datetime) -> str:  # noqa: ARG002
        return house_voice.tell(steps)


def _kept_whole(calls: Sequence[ReadCall], utterance: str) -> Reading:
    """One memory of all that was told, so that no sentence is lost; without what only asks to keep it.

    It goes where searches find it again, whichever of the two tools was nearer.
    """
    first = calls[0]
    spans = [call.where[KEEPING[call.tool]] for call in calls if KEEPING[call.tool] in call.where]
    if not spans:
        return _reading("store_memory", {"content": str(first.arguments.get(KEEPING[first.tool]))}, first.fit)
    start, end = min(span[0] for span in spans), max(span[1] for span in spans)
    if len(utterance[end:].split()) > MOST_CLOSING_WORDS:
        end = len(utterance)
    opening = _LAST_SENTENCE.search(utterance[:start])
    before = opening[0] if opening else ""
    if len(before.split()) > 1 and not _ASKS_TO_KEEP.search(before):  # "I live in [Oslo]"
        start -= len(before)
    told = utterance[start:end].strip(" ,;:\n")
    one = "." not in told[:-1]
    return _reading("store_memory", {"content": told.removesuffix(".") if one else told}, first.fit)


def _reading(tool: str, arguments: Mapping[str, object], certainty: float = SURE) -> Reading:
    return Reading(tool=tool, arguments=arguments, certainty=certainty)


def _explicit_search(said: str) -> Reading | None:
    found = _ON_THE_WEB.match(said)
    query = next((part for part in found.groups() if part), None) if found else None
    return _reading("web_search", {"query": query.strip(" ?.")}) if query else None


def _current_affairs(said: str) -> Reading | None:
    """What changes by the day is looked up; what stays as it is need not be."""
    asks = _ASKS.match(said) is not None or _TOPIC.match(said) is not None
    changing = _NOW.search(said) or _CHANGES.search(said)
    if not asks or not changing or _MINE.search(said) or _CLOCK.search(said):
        return None
    return _reading("web_search", {"query": said.strip(" ?.")}, LIKELY)


def _recall(said: str) -> Reading | None:
    return _reading("search_memory", {"query": said.strip(" ?.")}) if _RECALL.search(said) else None


def _keep(said: str) -> Reading | None:
    """Into the memory that searches find again."""
    return _kept(said, "store_memory", "content")


def _keep_fact(said: str) -> Reading | None:
    return _kept(said, "save_fact", "text")


def _kept(said: str, tool: str, argument: str) -> Reading | None:
    """How things are is a fact; what has to be done may be a task, and whoever knows those may be surer."""
    found = _KEEP.match(said)
    if found is None:
        return None
    fact = found["text"].strip()
    return _reading(tool, {argument: fact}, SURE if _TO_BE_DONE.search(fact) else CERTAIN)


def _collections(said: str) -> Reading | None:
    found = _COLLECTIONS.match(said)
    if found is None:
        return None
    action = _ACTIONS.get(found["verb"].lower(), "list")
    if action == "list":
        return _reading("manage_collections", {"action": "list"})
    if found["name"] is None:
        question = f"What is the name of the collection to {action}?"
        return Reading(tool="manage_collections", certainty=SURE, question=question)
    kind = "project-specific" if re.search(r"\bproject", said, _I) else "fundamental"
    more = {"collection_type": kind} if action == "create" else {}
    return _reading("manage_collections", {"action": action, "collection_name": found["name"], **more})


def _library(said: str) -> Reading | None:
    if not _LIBRARY.search(said):
        return None
    words = [word.strip(" ?.!,") for word in _LIBRARY.sub(" ", said).split()]
    kept = [word for word in words if word and word.lower() not in STOP | _LOOKING]
    return _reading("query_knowledge_base", {"query": " ".join(kept) or said})


def _code(said: str) -> Reading | None:
    found = _CODE.match(said)
    if found is None:
        return None
    fenced = _FENCE.match(found["code"])
    named = (found["language"] or "").lower()
    shell = named in ("shell", "bash", "sh") or (
        not named and re.search(r"\bcommand\b", said, _I) is not None
    )
    arguments = {"code": fenced[1] if fenced else found["code"], "language": "shell" if shell else "python"}
    return _reading("code_execution", arguments)


def _ask_person(said: str) -> Reading | None:
    found = _ASK_ME.match(said)
    if found is None:
        return None
    question = found["question"].strip(" .?")
    return _reading("request_human_input", {"question": f"{question[:1].upper()}{question[1:]}?"})


def _page_or_file(said: str) -> Reading | None:
    inside = _IN_A_FILE.match(said)
    if inside is not None:
        return _reading("read_file", {"path": inside["path"]})
    found = _READ.match(said)
    if found is None:
        return None
    if found["url"]:
        return _reading("fetch_page", {"url": found["url"]})
    return _reading("read_file", {"path": found["path"]}, CERTAIN)


def _some_file(said: str) -> Reading | None:
    if _SOME_FILE.match(said) is None:
        return None
    return Reading(tool="read_file", certainty=SURE, question="Which file should I read?")


def _time_here(said: str, now: datetime) -> Reading | None:
    """The speaker's own time, where no place is named."""
    if _TIME_HERE.match(said) is None:
        return None
    zone = getattr(now.tzinfo, "key", None)
    return _reading("get_current_time", {"timezone": zone} if zone else {})


_IN_ORDER: tuple[Callable[[str], Reading | None], ...] = (
    _code,
    _ask_person,
    _some_file,
    _page_or_file,
    _keep,
    _keep_fact,
    _explicit_search,
    _collections,
    _library,
    _recall,
    _current_affairs,
)
