"""What calls of the house's own tools mean: the web, memory, the library, files, code, a person.

Owns what the taught reader cannot know: that a fact is kept whole, that a fact nobody asked to keep is asked
about, what is looked for where no part of it was marked, and how all of it is told.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic_ai import ToolDefinition

from steward.agents.assistant import builtin_telling
from steward.agents.assistant.countdown import CLOCK
from steward.agents.assistant.personal_facts import answered, worth_keeping
from steward.agents.assistant.scheduling import ADD_SCHEDULE, filled, schedule_reading
from steward.contract import linear_re as re
from steward.language.reading import ReadCall
from steward.models.planner import answers
from steward.models.planner.dialogue import Step
from steward.models.planner.readers import InterpretedCall, PutOffRequest, ReaderQuestion, Record
from steward.models.planner.words import bare

HOUSE = "house"
CALCULATES = "calculate"
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
        "undo",
        CALCULATES,
        ADD_SCHEDULE,
    }
)
# "How many grams is 12 ounces": what it is asked in belongs to it, whatever was said before.
_CONVERTS = re.compile(
    r"\bhow (?:many|much) [a-z ]{1,30}? (?:is|are|in|are in|are there in|make) [^,;?!]*", re.IGNORECASE
)
KEEPING = {"store_memory": "content", "save_fact": "text"}
MOST_CLOSING_WORDS = 6  # "please keep that in mind for later": no more of it is told
SEARCHES = frozenset({"search_memory", "query_knowledge_base", "web_search"})
# Their arguments are a program and a question: nothing that happens to be said may become one.
TOLD_BY_PROCEDURES = frozenset({"list_memories", "list_documents", "read_document", "show_record"})
SOLE = frozenset({"code_execution", "request_human_input"}) | TOLD_BY_PROCEDURES

UNDO = "undo"
# What asks for an undo, and for nothing else: "scratch the first two" may mean two tasks of a list.
_TAKES_BACK = re.compile(
    r"\b(?:un-?do(?:ne|ing)?|re-?do|revert|reverse|restore|roll|rewind|back|before|as it was|"
    r"how it was|mistake|"
    r"last (?:change|thing|step|one|action|two|three|few)|just (?:did|done|added|changed)|previous|"
    r"what you did|un-?\w+)\b",
    re.IGNORECASE,
)
_LAST_SENTENCE = re.compile(r"[^.!?:;]*$")
_ASKS_TO_KEEP = re.compile(
    r"\b(?:remember|memori[sz]e|note|keep|save|store|forget|mind|record|know)\b", re.IGNORECASE
)
_FENCE = re.compile(r"^\s*(?:```(?:\w+\n)?|`)(.*?)(?:```|`)\s*$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class HouseReader:
    """Implements the planner's `Interpreter`, `Speaker`, `SoleReader` and `Deferring`."""

    sole: frozenset[str] = SOLE
    puts_off: str = ADD_SCHEDULE

    def interpret(
        self, calls: Sequence[ReadCall], utterance: str, *, unasked: bool, now: datetime
    ) -> Sequence[InterpretedCall]:
        calls = [call for call in calls if call.tool != UNDO or _TAKES_BACK.search(utterance)]
        kept = [call for call in calls if call.tool in KEEPING and not call.missing]
        if kept and len(kept) == len(calls):
            return [worth_keeping(utterance, kept[0].fit) if unasked else _kept_whole(kept, utterance)]
        calls = [call for call in calls if call not in kept[1:]]  # one memory, beside what else is asked
        return [_meant(call, utterance, now) for call in calls]

    def put_off(self, utterance: str, now: datetime) -> PutOffRequest | None:
        return schedule_reading(bare(utterance), now)

    def answer(
        self,
        memo: Mapping[str, Any],
        utterance: str,
        tools: Sequence[ToolDefinition],  # noqa: ARG002 - the interface's
        now: datetime,  # noqa: ARG002
    ) -> Sequence[InterpretedCall] | str | None:
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

    def nothing(self, tool: str, mention: str) -> ReaderQuestion:
        return ReaderQuestion(f"`{tool}` found nothing that matches '{mention}'.")

    def shown(self, step: Step) -> Sequence[Record] | None:  # noqa: ARG002
        return None

    def tell(self, steps: Sequence[Step], known: Sequence[Step], now: datetime) -> str:  # noqa: ARG002
        return builtin_telling.tell(steps)


def _kept_whole(calls: Sequence[ReadCall], utterance: str) -> InterpretedCall:
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


def _reading(tool: str, arguments: Mapping[str, object], certainty: float) -> InterpretedCall:
    return InterpretedCall(tool=tool, arguments=arguments, certainty=certainty)


def _meant(call: ReadCall, utterance: str, now: datetime) -> InterpretedCall:
    arguments = dict(call.arguments)
    if "project" not in utterance.lower():
        arguments.pop("project_name", None)  # "my tenancy doc" is no project of that name
    said = bare(utterance)
    if call.tool == ADD_SCHEDULE:
        return filled(call, said, now)
    if call.tool in SEARCHES:  # what is looked for, where no part of it was marked
        arguments = {"query": said.strip(" ?.")} | arguments
    elif call.tool == CLOCK and "timezone" not in arguments:
        zone = getattr(now.tzinfo, "key", None)
        return _reading(CLOCK, {"timezone": zone} if zone else {}, call.fit)
    elif call.tool == CALCULATES:
        asked = _CONVERTS.search(utterance)
        expression = str(arguments.get("expression") or "")
        if asked and expression and asked.group().strip(" .").endswith(expression.strip(" .?")):
            arguments["expression"] = asked.group().strip(" .")
    elif call.tool == "code_execution" and (fenced := _FENCE.match(str(arguments.get("code") or ""))):
        arguments["code"] = fenced[1]
    return _reading(call.tool, arguments, call.fit)
