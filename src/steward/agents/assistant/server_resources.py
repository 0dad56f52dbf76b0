"""Answering from what connected servers offer to read, without a language model.

A server describes its resources; one whose name a question speaks of is read and quoted. Nothing is guessed:
where no name fits, or two fit alike, nothing is read.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from steward.agents.researcher.questions import keywords
from steward.agents.skills.tools import mapping
from steward.models.planner.decisions import Call, Decision, Tell
from steward.models.planner.dialogue import Dialogue, Step
from steward.models.planner.words import split_name, stems

LIST, READ = "list_resources", "read_resource"
LONGEST = 1_200  # characters that are quoted
_NAMED = 0.75  # confidence in what stands in the resource that was spoken of


def ask_servers(dialogue: Dialogue, tools: Sequence[str]) -> Decision | None:
    """The next step towards a resource that answers; None where no server offers one."""
    if not {LIST, READ} <= set(tools):
        return None
    steps = {step.tool: step for step in dialogue.steps}
    if READ in steps:
        return _told(steps[READ])
    if LIST not in steps:
        return Call(tool=LIST, arguments={}, goal=0, helper=True)
    meant = _meant(dialogue.utterance, _offered(steps[LIST]))
    if meant is None:
        return None
    return Call(tool=READ, arguments={"uri": meant["uri"], "server": meant["server"]}, goal=0)


def _offered(step: Step) -> list[Mapping[str, Any]]:
    data = mapping(step.data)
    found = cast("Sequence[Mapping[str, Any]]", data.get("resources") or ())
    return [each for each in found if each.get("uri")]


def _meant(said: str, offered: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The one resource whose whole name is spoken of; its description decides between several."""
    words = set(keywords(said))
    named = [each for each in offered if (name := _name(each)) and name <= words]
    ranked = sorted(named, key=lambda each: -_shared(each, words))
    if len(ranked) > 1 and _shared(ranked[0], words) == _shared(ranked[1], words):
        return None
    return ranked[0] if ranked else None


def _name(resource: Mapping[str, Any]) -> set[str]:
    title = str(resource.get("title") or resource.get("name") or "")
    return set(stems(" ".join(split_name(title))))


def _shared(resource: Mapping[str, Any], words: set[str]) -> int:
    return len(words & (_name(resource) | set(stems(str(resource.get("description") or "")))))


def _told(step: Step) -> Decision | None:
    data = mapping(step.data)
    contents = cast("Sequence[Mapping[str, Any]]", data.get("contents") or ())
    text = "\n".join(str(each["text"]) for each in contents if each.get("text")).strip()
    if not text:
        return None
    quoted = text if len(text) <= LONGEST else f"{text[:LONGEST].rstrip()} …"
    return Tell(
        text=f"“{quoted}” [1]\n\n[1] {step.arguments.get('uri')}, of the server {data.get('server')}",
        confidence=_NAMED,
    )
