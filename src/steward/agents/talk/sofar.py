"""What a turn has changed before it stops to ask: told with the question, so that nothing is done unsaid."""

from collections.abc import Callable, Sequence
from datetime import datetime

from steward.agents.tasks import task_words as words
from steward.conversations.model import CallRecord, CallStatus


def done_so_far(calls: Sequence[CallRecord], *, changes: Callable[[str], bool], now: datetime) -> str:
    """Empty where nothing was changed."""
    done = [call for call in calls if call.status is CallStatus.DONE and changes(call.tool)]
    ours = [call for call in done if call.tool in words.TASK_TOOLS]
    others = dict.fromkeys(f"`{call.tool}`" for call in done if call not in ours)
    told = [words.told(ours, calls, now)] if ours else []
    told += [f"I ran {words.spoken(list(others))}."] if others else []
    return "\n".join(told) + "\n\n" if told else ""


def why_asked(reason: str) -> str:
    """The answer to "why do you ask?", while it still waits."""
    return f"I ask because of what it would do. {reason.strip()}"
