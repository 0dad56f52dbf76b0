"""Requests with a time in front or behind: "every weekday at 8 tell me what is due".

Owns how such a sentence is parted into when and what. Where the times end and the request begins is found
by trying: the longest beginning (or end) of the sentence that is a time of its own.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast
from zoneinfo import ZoneInfo

from steward.agents.tasks.task_words import due_words
from steward.contract.errors import InputError
from steward.language.reading import ReadCall
from steward.language.recurrence import read_repetition
from steward.language.telling import asks_to_be_told, is_for_me, names_an_hour, without_courtesy
from steward.models.planner.dialogue import Step
from steward.models.planner.readers import InterpretedCall, PutOffRequest
from steward.tasks.rhythm import read_rhythm

ADD_SCHEDULE = "add_schedule"
MOST_WORDS = 12  # of a time: "on the first monday of every month at half past eight"
_EDGES = " ,;:.!?"


def scheduled(said: str, now: datetime) -> tuple[str, str] | None:
    """When and what, where a sentence begins with times that come again, or ends with such at an hour."""
    words = said.strip(_EDGES).split()
    counts = range(min(MOST_WORDS, len(words) - 1), 0, -1)
    for count in counts:
        when, request = " ".join(words[:count]).strip(_EDGES), " ".join(words[count:])
        if not when.lower().endswith("please") and _comes_again(when, now):
            return when, without_courtesy(request.strip(_EDGES))
    for count in counts:
        when, request = " ".join(words[-count:]).strip(_EDGES), " ".join(words[:-count])
        if names_an_hour(when) and _comes_again(when, now):
            return when, request.strip(_EDGES)
    return None


def schedule_reading(said: str, now: datetime) -> PutOffRequest | None:
    """A request that names its times; a reminder is the person's to do."""
    parted = scheduled(said, now)
    if parted is None:
        return None
    when, request = parted
    reading = InterpretedCall(tool=ADD_SCHEDULE, arguments={"when": when, "request": request})
    return PutOffRequest(
        reading, request, for_us=False if asks_to_be_told(said) else is_for_me(request) or None
    )


def filled(call: ReadCall, said: str, now: datetime) -> InterpretedCall:
    """A call of `add_schedule`: parted by the grammar of times where it can be, else as it was marked."""
    parted = scheduled(said, now)
    arguments: Mapping[str, object] = call.arguments
    if parted is not None:
        arguments = {**call.arguments, "when": parted[0], "request": parted[1]}
    missing = [name for name in ("when", "request") if not arguments.get(name)]
    if missing:
        question = "When should I do that?" if missing == ["when"] else "What should I do then?"
        return InterpretedCall(tool=ADD_SCHEDULE, arguments=arguments, question=question, certainty=call.fit)
    return InterpretedCall(tool=ADD_SCHEDULE, arguments=arguments, certainty=call.fit)


def told(step: Step) -> str | None:
    """What was scheduled, and when it begins."""
    said: Any = step.data
    data = cast("Mapping[str, Any]", said if isinstance(said, Mapping) else {})
    request, when, at = (data.get(name) for name in ("request", "when", "next_at"))
    if not isinstance(at, str):
        return None
    first = due_words(at, datetime.now(datetime.fromisoformat(at).tzinfo))
    return f"I've scheduled “{request}”, {when}. The first time is {first}; I'll tell you what comes of it."


def _comes_again(when: str, now: datetime) -> bool:
    if read_repetition(f" {when} ") is None:
        return False
    aware = now if now.tzinfo else now.replace(tzinfo=UTC)
    try:
        read_rhythm(when, now=aware, zone=ZoneInfo("UTC"))
    except InputError:
        return False
    return True
