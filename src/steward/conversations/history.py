"""What is kept of a long conversation when its beginning no longer fits: a summary made of the record.

Written from turns and calls, not by a model, so that nothing gets in that did not happen. What is still
open (a question, a call that waits) is always in it. Pure.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from steward.conversations.model import AnswerStatus, CallRecord, CallStatus, PendingCall, Turn

LONGEST = 4_000  # characters
LINE = 200


def summarise(turns: Sequence[Turn], *, pending: Sequence[PendingCall] = ()) -> str:
    """The newest turns first in line for the room there is; the oldest are only counted."""
    still_open = list(_open(turns, pending))
    room = LONGEST - sum(map(len, still_open)) - LINE
    told: list[str] = []
    for turn in reversed(turns):
        lines = list(_lines(turn))
        room -= sum(len(line) + 1 for line in lines)
        if room < 0:
            break
        told[:0] = lines
    return "\n".join(["Earlier in this conversation, shortened:", *told, *still_open])


def accounted(calls: Sequence[CallRecord], problem: str, *, changes: Callable[[str], bool]) -> str:
    """What went wrong, after what was changed before it and what nobody knows of."""
    changing = [call for call in calls if changes(call.tool)]
    done = _named(call.tool for call in changing if call.status is CallStatus.DONE)
    unknown = _named(call.tool for call in changing if call.outcome_unknown)
    said = [f"This was done: {done}. Then it went wrong: {problem}" if done else problem]
    if unknown:
        said.append(f"Whether this took effect is not known: {unknown}. It was not run again.")
    return " ".join(said)


def _named(tools: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in dict.fromkeys(tools))


def _lines(turn: Turn) -> Iterator[str]:
    yield f"- The person said: {_cut(turn.said)}"
    done = [call for call in turn.answer.tool_calls if call.status is CallStatus.DONE]
    if done:
        yield f"  Done: {_cut('; '.join(f'{call.tool}({_arguments(call.arguments)})' for call in done))}"
    yield f"  You answered ({turn.answer.status.value}): {_cut(turn.answer.answer)}"


def _open(turns: Sequence[Turn], pending: Sequence[PendingCall]) -> Iterator[str]:
    if turns and turns[-1].answer.status is AnswerStatus.QUESTION:
        yield f"Open question to the person: {_cut(turns[-1].answer.answer, 4 * LINE)}"
    for call in pending:
        asked = f"{call.tool}({_arguments(call.arguments)})"
        yield f"Waits for the person's approval as proposal {call.proposal_id}: {_cut(asked)}"


def _arguments(arguments: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in arguments.items())


def _cut(text: str, limit: int = LINE) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
