"""A tool that somebody orders by its own name: "use hello_world", "run notes__search with q = tea".

Such a name is an identifier, so it stands for nothing else. It is an order only where the words begin with
one: who asks about a tool, or names it in a task's title, orders nothing.
"""

from steward.contract import linear_re as re
from steward.language.politeness import bare

_ORDERED = re.compile(
    r"(?:use|run|call|invoke|execute|try|start)\s+(?:the\s+|my\s+)?(?:(?:tool|script|function)\s+)?"
    r"(?:called\s+|named\s+)?[`'\"“]?(?P<name>[A-Za-z0-9_-]{1,64})\b",
    re.IGNORECASE,
)


def ordered_name(text: str) -> str | None:
    """The identifier that an order begins with; a plain word is none, as it may mean anything."""
    ordered = _ORDERED.match(bare(text))
    name = ordered["name"] if ordered else ""
    return name if set("_-0123456789") & set(name) else None


def begins_with_name(text: str, name: str) -> bool:
    """Whether the words of a tool's name are the first that are said: "greet person Ada", `greet_person`."""
    said, wanted = _words(bare(text)), _words(name)
    return len(wanted) > 1 and said[: len(wanted)] == wanted


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())
