"""Using a skill without a language model: a procedure for the planner.

A skill that says how it is run (`run` and `parameters`) needs nobody who follows instructions: it is opened,
its parameters are read from what was said, and its command goes through `code_execution`, which asks first.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from steward.agents.skills.book import FOLDER, FoundSkill, Skill, SkillBook, fill_command
from steward.agents.skills.tools import USE, mapping
from steward.contract import linear_re as re
from steward.models.planner.arguments import fill
from steward.models.planner.decisions import Ask, Call, Decision, Tell
from steward.models.planner.dialogue import Dialogue, Step
from steward.models.planner.finding import SaidClause, without_values
from steward.models.planner.parameters import Parameter, parameters_of
from steward.models.planner.procedures import ASKED
from steward.models.planner.ranking import KnownTool, Scored
from steward.models.planner.words import bare

SKILLS = "skills"
CODE = "code_execution"
_FILE = re.compile(r"[\w-]\.([A-Za-z]{2,4})\b(?!\.)")  # what kind a file is, by its name
NEARLY = 0.05  # where both fit, a skill knows more than the code tool it uses
CLEARLY = 0.65  # the likeness from which a skill is meant, where no tool fits better


@dataclass(frozen=True, slots=True)
class SkillProcedure:
    """Implements the planner's `Procedure`."""

    book: SkillBook
    roots: Sequence[Path] = ()  # where a file that is only named may lie

    def decide(
        self,
        dialogue: Dialogue,
        tools: Sequence[KnownTool],
        *,
        ranked: Sequence[Scored],
        now: datetime,  # noqa: ARG002 - the interface's
    ) -> Decision | None:
        offered = {tool.name for tool in tools}
        if not {USE, CODE} <= offered:
            return None
        said = " ".join(filter(None, (_asked_about(dialogue), dialogue.utterance)))
        opened = next((step for step in dialogue.steps if step.tool == USE), None)
        if opened is None:
            found = self._meant(said, ranked)
            return (
                Call(tool=USE, arguments={"name": found.skill.name}, goal=0, helper=True) if found else None
            )
        if opened.failure is not None:
            return Tell(text=opened.failure)
        ran = next((step for step in dialogue.steps if step.tool == CODE), None)
        return self._run(opened, said) if ran is None else _told(ran)

    def _meant(self, said: str, ranked: Sequence[Scored]) -> FoundSkill | None:
        found = _likely(self.book, said)
        best = max((each for each in found if each.skill.run), key=lambda each: each.score, default=None)
        rival = max((each.score for each in ranked if each.tool.name != USE), default=0.0)
        return best if best and best.score >= CLEARLY and best.score > rival - NEARLY else None

    def _run(self, opened: Step, said: str) -> Decision:
        skill = mapping(opened.data)
        schema = cast("Mapping[str, Any]", skill.get("parameters") or {})
        name = str(skill.get("name"))
        filling = fill(schema, SaidClause(bare(said)), tool_words=frozenset())
        missing = filling.missing(parameters_of(schema))
        if missing:
            return Ask(question=_question(missing[0], name), state={"kind": ASKED, "clause": said})
        values = {key: shlex.quote(self._found(str(value))) for key, value in filling.values.items()}
        values[FOLDER] = shlex.quote(str(skill.get(FOLDER)))
        command = fill_command(str(skill.get("run")), values)
        return Call(tool=CODE, arguments={"code": command, "language": "shell"}, goal=0)

    def _found(self, value: str) -> str:
        """A file that was named relative to a folder that may be read; anything else as it is."""
        if "\0" in value or len(value) > 500:
            return value
        places = (root / value for root in self.roots)
        return next((str(place.resolve()) for place in places if place.is_file()), value)


def _likely(book: SkillBook, said: str) -> list[FoundSkill]:
    """With and without the values in it: a file's name may say what it is, or only be in the way."""
    found = [*book.find(said, limit=3), *book.find(without_values(said)[0], limit=3)]
    return [each for each in found if _takes(each.skill, said)]


def _takes(skill: Skill, said: str) -> bool:
    """Whether a skill is for such files: its examples name the kinds it takes."""
    given, known = _kinds(said), _kinds(" ".join(skill.examples))
    return not given or not known or bool(given & known)


def _kinds(text: str) -> set[str]:
    return {kind.lower() for kind in _FILE.findall(text)}


def is_meant(book: SkillBook, said: str) -> bool:
    """Whether some skill is clearly meant, with or without a model to follow it."""
    return any(each.score >= CLEARLY for each in _likely(book, said))


def _asked_about(dialogue: Dialogue) -> str | None:
    asked = dialogue.asked or {}
    clause = asked.get("clause") if asked.get("kind") == ASKED else None
    return clause if isinstance(clause, str) else None


def _question(parameter: Parameter, skill: str) -> str:
    about = f" ({parameter.described.rstrip('.')})" if parameter.described else ""
    return f"Which {parameter.label} should I use for the skill {skill}{about}?"


def _told(ran: Step) -> Tell:
    if ran.failure is not None:
        return Tell(text=f"`{CODE}` failed: {ran.failure} I did not try it again.")
    printed = str(mapping(ran.data).get("stdout") or "").strip()
    return Tell(text=printed or "It ran and printed nothing.", confidence=1.0)
