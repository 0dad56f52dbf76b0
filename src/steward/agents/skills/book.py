"""Skills: folders with a `SKILL.md` that teach an agent how something is done.

Owns reading the folders and finding a skill by meaning. A skill is text until somebody needs it: only its
name and description are looked at before. A folder that cannot be read is left out and says why; the
others stay usable. Does not own what a skill may do: the door and the rules judge every call.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import yaml
from numpy.typing import NDArray

from steward.contract import linear_re as re
from steward.contract.errors import InputError, NotFoundError
from steward.contract.ports import Embedder
from steward.contract.schema import compile_schema
from steward.models.planner.words import stems

FILE = "SKILL.md"
FOLDER = "folder"  # in a command: where the skill lies
LONGEST = 100_000  # characters of a SKILL.md
MOST_FILES = 50
SHIPPED = Path(__file__).parent / "shipped"
FITS = 0.45  # the likeness from which a skill is worth a look
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_FRONT = re.compile(r"\A---\r?\n(.*?)\r?\n---[ \t]*\r?\n(.*)\Z", re.DOTALL)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_PLACE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    name: str
    description: str
    instructions: str
    folder: Path
    allowed_tools: tuple[str, ...] = ()  # empty: every tool the agent has
    examples: tuple[str, ...] = ()
    files: tuple[str, ...] = ()  # beside the SKILL.md
    run: str | None = None  # a command with {parameters}, for whoever cannot follow instructions
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])  # their JSON Schema

    @property
    def shown(self) -> str:
        return f"{self.name.replace('-', ' ')}: {self.description}"


@dataclass(frozen=True, slots=True)
class Unusable:
    folder: Path
    problem: str


@dataclass(frozen=True, slots=True)
class FoundSkill:
    skill: Skill
    score: float  # 0 to 1


class SkillBook:
    """The skills of a home, with those that come along; a home's own skill wins over one of the same name."""

    def __init__(self, folders: Sequence[Path], *, embedder: Embedder | None = None) -> None:
        self._folders = tuple(folders)  # later ones win
        self._embedder = embedder
        self._reading = threading.Lock()
        self._known: dict[Path, tuple[float, tuple[Skill | Unusable, ...]]] = {}
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def skills(self) -> tuple[Skill, ...]:
        found = {each.name: each for each in self._all() if isinstance(each, Skill)}
        return tuple(sorted(found.values(), key=lambda each: each.name))

    def unusable(self) -> tuple[Unusable, ...]:
        return tuple(each for each in self._all() if isinstance(each, Unusable))

    def get(self, name: str) -> Skill:
        skill = next((each for each in self.skills() if each.name == name), None)
        if skill is None:
            known = ", ".join(each.name for each in self.skills()) or "none"
            raise NotFoundError(f"There is no skill '{name[:64]}'.", fix=f"There are: {known}.")
        return skill

    def find(self, query: str, *, limit: int = 5) -> list[FoundSkill]:
        """The skills that fit a request, best first. CPU-bound: async callers run it in a thread."""
        skills = self.skills()
        if not skills or not query.strip():
            return []
        scores = self._likeness(query, skills) if self._embedder else _shared_words(query, skills)
        ranked = sorted(zip(scores, skills, strict=True), key=lambda each: (-each[0], each[1].name))
        return [FoundSkill(skill, round(score, 4)) for score, skill in ranked if score >= FITS][:limit]

    def _likeness(self, query: str, skills: Sequence[Skill]) -> list[float]:
        assert self._embedder is not None
        texts = [tuple(map(_masked, (skill.shown, *skill.examples))) for skill in skills]
        new = [text for group in texts for text in group if text not in self._vectors]
        if new:
            self._vectors.update(zip(new, self._embedder.embed(new), strict=True))
        asked = self._embedder.embed([_masked(query)])[0]
        return [max(float(self._vectors[text] @ asked) for text in group) for group in texts]

    def _all(self) -> Iterator[Skill | Unusable]:
        """Read again only what changed since. What breaks keeps its last good text, beside what is wrong."""
        for folder in self._folders:
            for file in sorted(folder.glob(f"*/{FILE}")):
                try:
                    changed = file.stat().st_mtime
                except OSError:
                    continue
                with self._reading:
                    known = self._known.get(file)
                    if known is None or known[0] != changed:
                        read = _read(file)
                        good = [each for each in (known or (0, ()))[1] if isinstance(each, Skill)]
                        kept = (*good, read) if isinstance(read, Unusable) else (read,)
                        known = self._known[file] = (changed, kept)
                yield from known[1]


def _masked(text: str) -> str:
    """Which number it is says nothing about what is wanted."""
    return _NUMBER.sub("7", text)


def _shared_words(query: str, skills: Sequence[Skill]) -> list[float]:
    wanted = set(stems(query))
    return [len(wanted & set(stems(skill.shown))) / max(1, len(wanted)) for skill in skills]


def _read(file: Path) -> Skill | Unusable:
    try:
        return parse(file.read_text(encoding="utf-8")[: LONGEST + 1], file.parent)
    except InputError as error:
        return Unusable(file.parent, error.explain())
    except (OSError, UnicodeDecodeError) as error:
        return Unusable(file.parent, f"{FILE} cannot be read: {error}.")


def parse(text: str, folder: Path) -> Skill:
    front = _FRONT.match(text)
    if front is None or len(text) > LONGEST:
        raise InputError(f"{FILE} has no front matter.", fix="Begin it with ---, name, description, ---.")
    try:
        said: Any = yaml.safe_load(front[1])
    except yaml.YAMLError as error:
        raise InputError(f"The front matter of {FILE} is no YAML: {error}.", fix="Check it.") from error
    except RecursionError as error:
        raise InputError(f"The front matter of {FILE} is nested too deeply.", fix="Flatten it.") from error
    if not isinstance(said, Mapping):
        raise InputError(f"The front matter of {FILE} is no mapping.", fix="Write name: and description:.")
    given = cast("Mapping[str, Any]", said)
    name, description = str(given.get("name") or folder.name), given.get("description")
    if not _NAME.fullmatch(name):
        raise InputError(f"'{name[:64]}' is not a skill's name.", fix="Use a-z, 0-9 and '-'.")
    if not isinstance(description, str) or not description.strip():
        raise InputError(
            "A skill needs a description.", fix="Say when it is to be used: it is found by that."
        )
    run, parameters = _command(given)
    return Skill(
        name=name,
        description=" ".join(description.split()),
        instructions=front[2].strip(),
        folder=folder,
        allowed_tools=_words(given.get("allowed-tools", given.get("allowed_tools"))),
        examples=_lines(given.get("examples")),
        files=_files(folder),
        run=run,
        parameters=parameters,
    )


def _command(given: Mapping[str, Any]) -> tuple[str | None, Mapping[str, Any]]:
    run: Any = given.get("run")
    described: Any = given.get("parameters") or dict[str, Any]()
    if run is None:
        return None, {}
    if not isinstance(run, str) or not isinstance(described, Mapping):
        raise InputError("'run' is a command and 'parameters' a mapping.", fix="See docs/agents.md.")
    properties: dict[str, Any] = {
        str(name): about if isinstance(about, Mapping) else {"type": "string", "description": str(about)}
        for name, about in cast("Mapping[Any, Any]", described).items()
    }
    needed = [name for name in dict.fromkeys(_PLACE.findall(run)) if name != FOLDER]
    unknown = [name for name in needed if name not in properties]
    if unknown:
        raise InputError(f"'run' uses {{{unknown[0]}}}, which 'parameters' does not describe.", fix="Add it.")
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": needed}
    compile_schema(schema)
    return run, schema


def _words(value: Any) -> tuple[str, ...]:
    """Tools may stand in a list, or in one line with commas or blanks."""
    if isinstance(value, list):
        return tuple(map(str, cast("list[Any]", value)))
    return tuple(re.findall(r"[\w-]+", value)) if isinstance(value, str) else ()


def _lines(value: Any) -> tuple[str, ...]:
    return tuple(map(str, cast("list[Any]", value))) if isinstance(value, list) else ()


def _files(folder: Path) -> tuple[str, ...]:
    found = (file for file in sorted(folder.rglob("*")) if file.is_file() and file.name != FILE)
    names = [file.relative_to(folder).as_posix() for file in found if "__pycache__" not in file.parts]
    return tuple(names[:MOST_FILES])


def fill_command(run: str, values: Mapping[str, str]) -> str:
    """A skill's command with its {parameters} in place; `values` are quoted already."""
    return _PLACE.sub(lambda found: values[found[1]], run)
