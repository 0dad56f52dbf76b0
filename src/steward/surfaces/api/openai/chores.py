"""What chat programs ask their model in the background: a title, tags, follow-ups. No agent runs for that."""

import json
from collections.abc import Callable
from typing import Any

from steward.contract import linear_re as re
from steward.conversations.turns import title_of

_CHORE = re.compile(r"^\s*### Task:", re.IGNORECASE)
_HISTORY = re.compile(r"<chat_history>(.*?)</chat_history>", re.DOTALL | re.IGNORECASE)
_SPOKEN = re.compile(r"^\s*(?:USER|user|User):\s*(.+)$", re.MULTILINE)
_WANTED: tuple[tuple[str, Callable[[str], Any]], ...] = (
    ("follow_ups", lambda _: []),
    ("queries", lambda _: []),
    ("tags", lambda _: ["General"]),
    ("title", lambda first: title_of(first)[:60]),
    ("text", lambda _: ""),
)


def chore_answer(message: str) -> str | None:
    """Open WebUI asks its models for titles, tags and the like of a chat. No agent runs for that.

    Its prompts name the JSON they want and carry the chat, whose words must not be taken for a request.
    """
    if not _CHORE.search(message):
        return None
    history = _HISTORY.search(message)
    frame = _HISTORY.sub("", message)
    spoken = _SPOKEN.search(history[1] if history else "")
    for name, make in _WANTED:
        if re.search(rf'"{name}"\s*:', frame):
            return json.dumps({name: make(spoken[1] if spoken else "New chat")}, ensure_ascii=False)
    return "" if history else None
