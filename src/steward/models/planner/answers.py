"""What the planner says: results quoted, sources named, limits admitted.

Every sentence is either a fixed frame or comes out of a tool's result or definition. Nothing is
paraphrased, because paraphrasing is how facts get invented.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, cast

from steward.models.planner.dialogue import Step
from steward.models.planner.ranking import KnownTool, Scored, can_look_up
from steward.models.planner.things import Thing

MAX_ITEMS = 20
MAX_TEXT = 2_000
MAX_DEPTH = 4
_SPOKEN = ("answer", "message", "summary", "text", "content")
_SOURCES = ("url", "uri", "source", "link", "citation", "path")
_BOOKKEEPING = frozenset({"success", "ok", "timestamp"})  # of an envelope: nothing anybody asked for
WHAT_I_AM = (
    "I am Steward's offline planner, not a language model: I choose tools and show what they return. "
    "I write no texts and no programs."
)


Teller = Callable[
    [str], Callable[[Sequence[Step]], str] | None
]  # who words the results of a tool, if anybody


def answer(steps: Sequence[Step], teller: Teller = lambda _: None) -> str:
    """What the calls of this turn brought, failures included."""
    goals = [step for step in steps if not step.helper] or list(steps)
    told: list[str] = []
    for tell, group in groupby(goals, key=lambda step: teller(step.tool)):
        steps_told = list(group)
        told += [_told(step) for step in steps_told] if tell is None else [tell(steps_told)]
    return "\n\n".join(told)


def _told(step: Step) -> str:
    if step.failure is not None:
        return f"{_called(step)} failed: {step.failure} I did not try it again."
    said = "\n".join(_said(step.data)) or "Done."
    if step.trimmed:
        said += "\n… This is only the beginning of what came back."
    return f"{said}\n\n{_cited(step)}"


def _called(step: Step) -> str:
    return f"`{step.tool}`"


def _cited(step: Step) -> str:
    sources = list(dict.fromkeys(_sources(step.data, 0)))[:MAX_ITEMS]
    cited = "".join(f"\n[{number}] {source}" for number, source in enumerate(sources, 1))
    return f"Source: {_called(step)}{cited}"


def _sources(data: Any, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:
        return
    if isinstance(data, Mapping):
        given = cast("Mapping[str, Any]", data)
        where = next((str(given[key]) for key in _SOURCES if isinstance(given.get(key), str)), None)
        if where:
            title = given.get("title")
            yield f"{title}, {where}" if isinstance(title, str) and title else where
        for value in given.values():
            yield from _sources(value, depth + 1)
    elif isinstance(data, list):
        for item in cast("list[Any]", data):
            yield from _sources(item, depth + 1)


def _said(data: Any) -> Iterator[str]:
    match data:
        case None | "":
            return
        case str():
            yield _cut(data)
        case list():
            yield from _listed(cast("list[Any]", data))
        case Mapping():
            yield from _object(cast("Mapping[str, Any]", data))
        case _:
            yield str(data)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT else text[:MAX_TEXT].rstrip() + " …"


def _listed(items: list[Any]) -> Iterator[str]:
    if not items:
        yield "Nothing found."
        return
    for number, item in enumerate(items[:MAX_ITEMS], 1):
        yield f"{number}. {_line(item)}"
    if len(items) > MAX_ITEMS:
        yield f"… and {len(items) - MAX_ITEMS} more."


def _line(item: Any) -> str:
    if not isinstance(item, Mapping):
        return _cut(str(item))
    given = cast("Mapping[str, Any]", item)
    scalars = {key: value for key, value in given.items() if _worth_saying(value)}
    title = Thing(scalars, "").title if scalars else ""
    rest = [f"{_label(key)}: {_cut(str(value))}" for key, value in scalars.items() if str(value) != title]
    return f"{title} ({', '.join(rest)})" if title and rest else title or ", ".join(rest) or "{}"


def _worth_saying(value: Any) -> bool:
    return isinstance(value, str | int | float | bool) and value != ""


def _object(data: Mapping[str, Any]) -> Iterator[str]:
    spoken = next((key for key in _SPOKEN if isinstance(data.get(key), str) and data[key]), None)
    if spoken:
        yield _cut(str(data[spoken]))
    # A timestamp is bookkeeping beside an outcome, and the answer itself where there is none.
    told = {spoken, *(_BOOKKEEPING if {"success", "ok"} & data.keys() else ())}
    for key, value in data.items():
        if key in told or value in (None, "", {}):
            continue
        if isinstance(value, list):
            yield f"{_label(key).capitalize()}:"
            yield from _listed(cast("list[Any]", value))
        elif isinstance(value, Mapping):
            yield f"{_label(key)}: {_line(cast('Any', value))}"
        else:
            yield f"{_label(key)}: {_cut(str(value))}"


def _label(key: str) -> str:
    return key.replace("_", " ")


def cannot(ranked: Sequence[Scored]) -> str:
    """Plainly: not with these tools, and what comes nearest; a search, where there is one."""
    said = f"I have no tool for that. {WHAT_I_AM}"
    near = [each.tool for each in ranked[:3] if each.score > 0]
    if near:
        return f"{said} The nearest I have:\n{offered(near)}"
    searching = [each.tool for each in ranked if can_look_up(each.tool)][:3]
    return f"{said} I can search for it, if you ask me to:\n{offered(searching)}" if searching else said


def abilities(tools: Sequence[KnownTool]) -> str:
    if not tools:
        return f"I have no tools here. {WHAT_I_AM}"
    more = f"\n… and {len(tools) - MAX_ITEMS} more." if len(tools) > MAX_ITEMS else ""
    return f"{WHAT_I_AM} I can use:\n{offered(tools[:MAX_ITEMS])}{more}"


def offered(tools: Sequence[KnownTool]) -> str:
    return "\n".join(f"- `{tool.name}`: {first_sentence(tool)}" for tool in tools)


def first_sentence(tool: KnownTool) -> str:
    text = (tool.definition.description or "").strip().split("\n")[0]
    return text.split(". ")[0].rstrip(".") + "." if text else "No description."


def numbered(labels: Sequence[str]) -> str:
    return "\n".join(f"{number}. {label}" for number, label in enumerate(labels, 1))
