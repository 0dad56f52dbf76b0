"""Which calls an agent may take to the door at all, whatever its model thinks.

Owns refusals: things nobody looked up, calls that failed already, calls that nobody asked for. A refused
call runs nothing; the model reads why and what to do instead.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from steward.agents.guards.base import Lenient
from steward.agents.guards.truth import FindTool
from steward.agents.profile import Refusal
from steward.agents.session import AgentSession
from steward.agents.tasks import task_words as words
from steward.agents.tasks.task_reader import task_readings
from steward.agents.turn.ledger import Ledger
from steward.agents.turn.toolset import reads_only
from steward.contract import linear_re as re
from steward.contract.errors import ErrorCode
from steward.contract.tool import ToolSpec
from steward.conversations.model import CallRecord, CallStatus
from steward.language.reply import Words, read_answer
from steward.models.planner.readers import InterpretedCall, Mention
from steward.tasks.matching import stems

NOT_LISTED = "NOT_LISTED"
NOT_ASKED_FOR = "NOT_ASKED_FOR"
ALREADY_CALLED = "ALREADY_CALLED"
MAX_SAME_READS = 3
_DEPTH = 8
_SURE = 0.75
_POINTS = re.compile(
    r"\b(?:it|that|this|them|those|these|ones?|all|everything|both|first|second|third|last|\d+)\b",
    re.IGNORECASE,
)
_LONGEST_PLAIN = 25  # words; a longer utterance may ask for more than the reader sees


class KnownThings(Lenient):
    """An identifier may be used once a tool of this conversation has returned it, and not before."""

    def __init__(self, *, parameter: str, listing: str, field: str = "id") -> None:
        self._parameter = parameter
        self._listing = listing
        self._fields = (field, parameter)

    def admit(
        self,
        spec: ToolSpec,
        arguments: Mapping[str, Any],
        *,
        ledger: Ledger,
        session: AgentSession,  # noqa: ARG002
    ) -> Refusal | None:
        properties = spec.input_schema.get("properties")
        if not isinstance(properties, Mapping) or self._parameter not in properties:
            return None
        returned = {value for record in ledger.everything for value in self._returned(record)}
        if arguments.get(self._parameter) in returned:
            return None
        return Refusal(
            NOT_LISTED,
            f"No tool has returned this {self._parameter} in this conversation. Call {self._listing} first "
            "and use an id from its answer.",
        )

    def _returned(self, record: CallRecord) -> Iterator[str]:
        if record.status is CallStatus.DONE:
            yield from _fields(record.data, self._fields, 0)


def _fields(data: Any, names: Sequence[str], depth: int) -> Iterator[str]:
    """The values of fields of these names. Text that merely looks like an id is not one."""
    if depth > _DEPTH:
        return
    if isinstance(data, Mapping):
        for key, value in cast("Mapping[str, Any]", data).items():
            if key in names and isinstance(value, str):
                yield value
            else:
                yield from _fields(value, names, depth + 1)
    elif isinstance(data, list):
        for item in cast("list[Any]", data):
            yield from _fields(item, names, depth + 1)


class NoRepeats(Lenient):
    """A change that failed is not tried again, and one that worked is not made twice, without the person.

    What the tool refused because of its arguments may be called with better ones.
    """

    def admit(
        self,
        spec: ToolSpec,
        arguments: Mapping[str, Any],
        *,
        ledger: Ledger,
        session: AgentSession,  # noqa: ARG002
    ) -> Refusal | None:
        before = [record for record in ledger.calls if record.tool == spec.name]
        same = [record for record in before if dict(record.arguments) == dict(arguments)]
        if reads_only(spec):
            if len([record for record in same if record.status is not CallStatus.REFUSED]) < MAX_SAME_READS:
                return None
            return Refusal(ALREADY_CALLED, "You called this with the same arguments already. Use its answer.")
        if any(
            record.status in (CallStatus.FAILED, CallStatus.REJECTED) and (record in same or _broken(record))
            for record in before
        ):
            return Refusal(
                ALREADY_CALLED,
                "This failed in this turn. Do not try again: tell the person that it did not work.",
            )
        if any(record.status in (CallStatus.DONE, CallStatus.PENDING_APPROVAL) for record in same):
            return Refusal(ALREADY_CALLED, "This very call was made in this turn already. Tell the person.")
        return None


_BROKEN = frozenset(
    {
        ErrorCode.TOOL_EXECUTION_TIMEOUT,
        ErrorCode.TOOL_EXECUTION_ERROR,
        ErrorCode.SERVICE_UNAVAILABLE,
        ErrorCode.AGENT_UNAVAILABLE,
        ErrorCode.RATE_LIMITED,
        ErrorCode.STORAGE_UNAVAILABLE,
        ErrorCode.STORAGE_FULL,
        ErrorCode.STORAGE_FAILED,
        ErrorCode.RECORD_FAILED,
        ErrorCode.CANCELLED,
        ErrorCode.CONFLICT,
    }
)


def _broken(record: CallRecord) -> bool:
    """Whether it failed for a reason that other arguments would not mend."""
    return record.outcome_unknown or record.error_code in _BROKEN


class NamedTasks(Lenient):
    """Only what the person plainly asked for is added or touched, and only the task they named.

    Speaks up where the words are plain: someone who asks to see tasks asked for no change, a new task is
    called after something that was said, and someone who names a task means one that fits the name. Where
    the words fit several, the person chooses.
    """

    def __init__(self, now: Callable[[], datetime], find: FindTool) -> None:
        self._now = now
        self._find = find

    def admit(
        self, spec: ToolSpec, arguments: Mapping[str, Any], *, ledger: Ledger, session: AgentSession
    ) -> Refusal | None:
        said = session.utterance or ""
        if spec.name not in words.CHANGING or not said or not isinstance(read_answer(said), Words):
            return None  # an answer to a question says little by itself
        if spec.name == words.ADD and not stems(said) & stems(str(arguments.get("title", ""))):
            return Refusal(NOT_ASKED_FOR, "The person said nothing about such a task. Do not add it.")
        return self._judged(spec.name, arguments.get("task_id"), said=said, ledger=ledger)

    def _judged(self, tool: str, task_id: Any, *, said: str, ledger: Ledger) -> Refusal | None:
        specs = filter(None, map(self._find, sorted(words.TASK_TOOLS)))
        readings = task_readings(said, specs, self._now())
        if not readings and tool != words.ADD:
            return _unspoken_of(said, task_id, ledger)
        plain = all(each.certainty >= _SURE and not each.question for each in readings)
        if not plain or len(said.split()) > _LONGEST_PLAIN:
            return None
        if readings and all(each.tool == words.LIST for each in readings):
            return Refusal(
                NOT_ASKED_FOR, "The person asked to see tasks, not to change them. Show them, or ask first."
            )
        if tool == words.ADD:
            return _too_many(ledger, said, len(readings))
        return _fits(readings[0], task_id, ledger) if len(readings) == 1 else None


def _unspoken_of(said: str, task_id: Any, ledger: Ledger) -> Refusal | None:
    """In talk about something else, a task is touched only where it is named or pointed at.

    Where the whole title of another task was said, that one is meant.
    """
    known = _latest_tasks(ledger)
    meant = [each for each in known if set() < stems(str(each.get("title"))) <= stems(said)]
    if meant and task_id not in [each.get("id") for each in meant]:
        return Refusal(NOT_ASKED_FOR, f"The person named '{meant[0].get('title')}', not this task.")
    title = str(words.known_task(task_id, ledger.everything).get("title", ""))
    if stems(said) & stems(title) or _POINTS.search(said):
        return None
    return Refusal(NOT_ASKED_FOR, "The person did not ask for this. Ask them first.")


def _too_many(ledger: Ledger, said: str, asked_for: int) -> Refusal | None:
    """More tasks than there are words that could name one."""
    added = sum(1 for record in ledger.succeeded() if record.tool == words.ADD)
    if added < max(asked_for, len(stems(said)) - 1):
        return None
    return Refusal(NOT_ASKED_FOR, "All that the person asked for was added. Do not add more.")


def _fits(reading: InterpretedCall, task_id: Any, ledger: Ledger) -> Refusal | None:
    mention = reading.mentions.get("task_id")
    if not isinstance(mention, Mention) or mention.among is None:
        return None
    meant = mention.among(_latest_tasks(ledger))
    if not meant.records:
        return None
    ids = [each.get("id") for each in meant.records]
    if task_id in ids and (len(ids) == 1 or meant.every):
        return None
    titles = ", ".join(f"'{each.get('title')}'" for each in meant.records[:20])
    if task_id in ids:
        return Refusal(
            NOT_ASKED_FOR, f"Several tasks fit '{mention.text}': {titles}. Ask the person which one."
        )
    return Refusal(NOT_ASKED_FOR, f"The person named '{mention.text}', which fits {titles}, not this task.")


def _latest_tasks(ledger: Ledger) -> list[dict[str, Any]]:
    """Every task that this conversation has seen and not seen deleted, in its latest state."""
    gone = {
        task.get("id")
        for record in ledger.everything
        if record.tool == words.DELETE
        for task in words.tasks_in(record)
    }
    ids = dict.fromkeys(task.get("id") for record in ledger.everything for task in words.tasks_in(record))
    return [words.known_task(each, ledger.everything) for each in ids if each not in gone]
