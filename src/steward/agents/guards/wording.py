"""Whatever a model returns, a person reads words: never nothing, never machine talk, never a flood."""

from dataclasses import replace

from steward.agents.guards.base import Lenient
from steward.agents.profile import Draft
from steward.agents.session import AgentSession
from steward.agents.turn.ledger import Ledger
from steward.contract import linear_re as re
from steward.conversations.model import AnswerStatus

MAX_CHARACTERS = 20_000
NO_WORDS = "I'm sorry, I have no answer to that. Could you say it in other words?"
_MACHINE = re.compile(
    r"^\s*(?:```\w*\s*)?[\[{][^\n]{0,200}?[\"'](?:name|tool|tool_name|function|arguments|tool_calls|type|role)[\"']\s*:"
    r"|<\|[\w|]+\|>|</?(?:tool_call|function_call|function|invoke|think|s|im_start|im_end)\b[^>]*>|\[/?(?:INST|TOOL_CALLS)\]",
    re.IGNORECASE,
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_LETTERS = re.compile(r"[^\W_]")


class PlainWords(Lenient):
    """Empty, garbled and endless answers become plain words; hidden characters go."""

    def review(self, draft: Draft, *, ledger: Ledger, session: AgentSession) -> Draft:  # noqa: ARG002
        text = _CONTROL.sub("", draft.text).strip()
        if is_garbage(text):
            status = AnswerStatus.FAILED if draft.status is AnswerStatus.DONE else draft.status
            return replace(draft, text=NO_WORDS, status=status)
        if len(text) > MAX_CHARACTERS:
            text = text[:MAX_CHARACTERS].rsplit(None, 1)[0] + " …"
        return draft if text == draft.text else replace(draft, text=text)


def is_garbage(text: str) -> bool:
    """Whether there is nothing in it for a person to read."""
    if (
        not text
        or len(_LETTERS.findall(text[:4_000])) * 5 < len(text[:4_000])
        or _MACHINE.search(text[:4_000])
    ):
        return True
    words = text.lower().split()[:2_000]
    return len(words) >= 40 and len(set(words)) * 8 < len(words)
