"""How what the house's own tools returned is said: from their results, never from a model. Pure.

What has no words here is told in the planner's general ones.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from steward.agents.assistant.scheduling import ADD_SCHEDULE, told
from steward.agents.researcher.questions import keywords
from steward.models.planner.answers import WHAT_I_AM, answer
from steward.models.planner.dialogue import Step
from steward.models.planner.words import stems

MOST, MOST_NAMED = 5, 20
SERVER = "__"  # between a server's name and its tool's
LONGEST = 600
_ABILITIES = (
    ("add_task", "keep your tasks: “add buy milk tomorrow”, “what is due today?”, “I bought the milk”"),
    (
        "store_memory",
        "remember: “remember that the spare key is at Ana's”, “what did I tell you about the key?”",
    ),
    (
        "query_knowledge_base",
        "look into your documents, PDF and Word among them: “what do my documents say about tides?”",
    ),
    ("web_search", "search the web: “search the web for folding bikes”, “what's the weather in Oslo today?”"),
    (ADD_SCHEDULE, "do something at its times: “every weekday at 8 tell me what is due”"),
    ("read_file", "read a file or a page: “read notes.md”, “read https://example.org”"),
    ("get_current_time", "tell the time: “what time is it in Tokyo?”"),
    (
        "code_execution",
        "compute and run code, once you agreed: “what is 17 * 23?”, “run this Python code: …”",
    ),
)
NOT_REMEMBERED = "I remember nothing about that. Tell me with “remember that …”."


def abilities(tools: Sequence[str]) -> str:
    """What can be asked for here, as people say it; and what else there is, by name."""
    mine = [f"- {said}" for name, said in _ABILITIES if name in tools]
    served = sorted(name for name in tools if SERVER in name)
    more = f"\nYour servers add: {', '.join(served[:MOST_NAMED])}{' …' if len(served) > MOST_NAMED else ''}."
    return "\n".join(["I can", *mine]) + (more if served else "") + f"\n{WHAT_I_AM}"


def tell(steps: Sequence[Step]) -> str:
    return "\n\n".join(_worded(step) or answer([step]) for step in steps)


def _worded(step: Step) -> str | None:
    words = _WORDS.get(step.tool)
    return None if words is None or step.failure is not None else words(step)


def _kept(step: Step) -> str:
    said = str(step.arguments.get("content") or step.arguments.get("text") or "").strip()
    return f"I'll remember that: {said.rstrip('.')}."


def _remembered(step: Step) -> str:
    return recollection(step) or NOT_REMEMBERED


def recollection(step: Step) -> str | None:
    """Only what shares a word with the question: the nearest of what is remembered may be far away."""
    asked = set(keywords(str(step.arguments.get("query") or "")))
    items = _maps(_map(step.data).get("items"))
    found = [item for item in items if not asked or asked & set(stems(_text(item)))]
    if not found:
        return None
    lines = [f"- {_text(item)}{_when(item)}" for item in found[:MOST]]
    return "\n".join(["This is what I remember:", *lines])


def _text(item: Mapping[str, Any]) -> str:
    return _cut(str(item.get("content") or ""))


def _when(item: Mapping[str, Any]) -> str:
    at = str(_map(item.get("metadata")).get("timestamp") or "")[:10]
    return f" (since {at})" if at else ""


def _from_documents(step: Step) -> str:
    data = _map(step.data)
    found = _maps(data.get("results"))[:MOST]
    if not found:
        hint = str(_map(data.get("query_refinement")).get("message") or "").strip()
        return f"Your documents say nothing about that. {hint}".strip()
    quoted: list[str] = []
    for number, hit in enumerate(found, 1):
        place = " > ".join(filter(None, (str(hit.get("source_document") or ""), _header(hit))))
        quoted.append(f"{number}. {_cut(' '.join(str(hit.get('content') or '').split()))}\n   ({place})")
    return "\n".join(["This is in your documents:", *quoted])


def _header(hit: Mapping[str, Any]) -> str:
    path = hit.get("header_path")
    return " > ".join(map(str, cast("list[Any]", path))) if isinstance(path, list) else str(path or "")


def _from_the_web(step: Step) -> str:
    data = step.data
    found = _maps(_map(data).get("result") if isinstance(data, Mapping) else data)[:MOST]
    if not found:
        return "The web search found nothing."
    lines = [
        f"{number}. {each.get('title')}: {_cut(str(each.get('snippet') or ''))}\n   {each.get('url')}"
        for number, each in enumerate(found, 1)
    ]
    return "\n".join(["The web search found:", *lines])


def _clock(step: Step) -> str | None:
    data = _map(step.data)
    try:
        at = datetime.fromisoformat(str(data.get("timestamp")))
    except ValueError:
        return None
    return _time(at, data.get("timezone"))


def _time(at: datetime, zone: object) -> str:
    return f"It is {at:%H:%M} on {at:%A}, {at.day} {at:%B %Y} ({zone})."


def _collections(step: Step) -> str | None:
    data = _map(step.data)
    name = _map(data.get("collection")).get("name")
    match step.arguments.get("action"):
        case "create":
            return f"I've created the collection '{name}'. Say “ingest PATH into {name}” to fill it."
        case "delete":
            return f"I've deleted the collection '{name}' with its documents."
        case "list":
            names = [f"- {each.get('name')}: {each.get('documents')} documents" for each in _listed(data)]
            return (
                "\n".join(["You have these collections:", *names]) if names else "There are no collections."
            )
        case _:
            return None


def _listed(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return _maps(data.get("collections"))


def _map(data: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", data) if isinstance(data, Mapping) else {}


def _maps(data: Any) -> list[Mapping[str, Any]]:
    return [_map(item) for item in cast("list[Any]", data)] if isinstance(data, list) else []


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rstrip()} …"


def _read(step: Step) -> str:
    text = step.data if isinstance(step.data, str) else _map(step.data).get("result")
    more = "\n… This is only the beginning." if step.trimmed else ""
    return f"{step.arguments.get('path')}:\n\n{str(text).strip()}{more}"


def _added(step: Step) -> str:
    data = _map(step.data)
    counts = [
        f"{data.get(name)} {name}"
        for name in ("added", "updated", "unchanged", "removed", "missing")
        if data.get(name)
    ]
    failed = [f"- {each.get('path')}: {each.get('reason')}" for each in _maps(data.get("failed"))]
    head = f"Collection '{data.get('collection')}': {', '.join(counts) or 'nothing new'}."
    return "\n".join([head, *(["These could not be read:", *failed] if failed else [])])


def _undone(step: Step) -> str | None:
    return str(_map(step.data).get("message") or "") or None


_WORDS: Mapping[str, Callable[[Step], str | None]] = {
    "store_memory": _kept,
    "save_fact": _kept,
    "search_memory": _remembered,
    "query_knowledge_base": _from_documents,
    "web_search": _from_the_web,
    "get_current_time": _clock,
    "read_file": _read,
    "ingest_documents": _added,
    "manage_collections": _collections,
    "undo": _undone,
    ADD_SCHEDULE: told,
}
