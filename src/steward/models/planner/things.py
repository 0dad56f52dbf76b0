"""Things that tools returned: records, and which of them a person means.

Owns the rule that an identifier is taken from a result and never from anywhere else.
"""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from steward.contract import linear_re as re
from steward.models.planner.dialogue import Step
from steward.models.planner.parameters import Parameter, ParameterKind
from steward.models.planner.words import ordinal, split_name, stem, stems

NEAR = 0.8  # how alike two texts must be for one to be a slip of the other
LONGEST = 200  # characters compared: the time grows with their square
_IDS = ("id", "uuid", "identifier", "key", "handle")
_NAMES = ("title", "name", "label", "subject", "summary", "text", "description", "content", "message")
# "WEB-31", "XKQTPL", "77-31022", "40512": nobody calls a thing by such a name but its list.
_CODE = re.compile(r"^(?:(?=[^\s]*\d)(?=[^\s]*[A-Za-z])[\w#./:-]{3,}|[A-Z]{4,}|\d+(?:[./-]\d+)+|#?\d{3,})$")
_IT = re.compile(r"^\W*(?:it|that|this|them|that one|this one|the same|the same one)\W*$", re.IGNORECASE)


def is_code(said: object) -> bool:
    """Whether a person gave an identifier itself, and no description of what it stands for."""
    return isinstance(said, str | int) and _CODE.match(str(said)) is not None


@dataclass(frozen=True, slots=True)
class Thing:
    """An object in a result: what it is called there, and under which name its list stood."""

    fields: Mapping[str, Any]
    tool: str
    group: str = ""

    @property
    def title(self) -> str:
        for name in _NAMES:
            value = self.fields.get(name)
            if isinstance(value, str) and value.strip():
                return value.strip()
        texts = [value for key, value in self.fields.items() if isinstance(value, str) and key not in _IDS]
        return texts[0] if texts else ", ".join(f"{key} {value}" for key, value in self.fields.items())


def things_in(step: Step) -> Iterator[Thing]:
    if step.failure is None:
        yield from _walk(step.data, step.tool, "")


def _walk(data: Any, tool: str, group: str) -> Iterator[Thing]:
    match data:
        case Mapping():
            given = cast("Mapping[str, Any]", data)
            scalars = {
                key: value for key, value in given.items() if isinstance(value, str | int | float | bool)
            }
            if scalars:
                yield Thing(scalars, tool, group)
            for key, value in given.items():
                if isinstance(value, Mapping | list):
                    yield from _walk(value, tool, key)
        case list():
            for item in cast("list[Any]", data):
                yield from _walk(item, tool, group)
        case _:
            return


def values_for(
    parameter: Parameter, steps: Sequence[Step], *, tool_stems: frozenset[str]
) -> list[tuple[Any, Thing]]:
    """What results offer for this parameter, latest result first, each value once."""
    found: dict[str, tuple[Any, Thing]] = {}
    for step in reversed(steps):
        for thing in things_in(step):
            value = _field_for(parameter, thing, tool_stems)
            if value is not None:
                found.setdefault(str(value), (value, thing))
    return list(found.values())


def _field_for(parameter: Parameter, thing: Thing, tool_stems: frozenset[str]) -> Any:
    wanted = split_name(parameter.name)
    for key, value in thing.fields.items():
        if split_name(key) == wanted:
            return value
    if parameter.kind is not ParameterKind.IDENTIFIER:
        return None
    noun = set(parameter.noun) or set(tool_stems)
    if not noun & (set(stems(thing.group)) | set(stems(thing.tool))):
        return None
    return next((thing.fields[key] for key in _IDS if key in thing.fields), None)


def offers(parameter: Parameter, schema: Mapping[str, Any] | None) -> bool:
    """Whether a tool's declared output has a field for this parameter."""
    wanted = split_name(parameter.name)
    return any(split_name(key) == wanted for key in _declared(schema, 0))


def _declared(schema: Any, depth: int) -> Iterator[str]:
    if not isinstance(schema, Mapping) or depth > 6:
        return
    given = cast("Mapping[str, Any]", schema)
    properties = given.get("properties")
    if isinstance(properties, Mapping):
        for key, inner in cast("Mapping[str, Any]", properties).items():
            yield key
            yield from _declared(inner, depth + 1)
    yield from _declared(given.get("items"), depth + 1)


def is_it(mention: str) -> bool:
    return _IT.match(mention) is not None


def matching(wordings: Sequence[str], candidates: Sequence[tuple[Any, Thing]]) -> list[tuple[Any, Thing]]:
    """The candidates a person means by any of these wordings of one mention; else by their place."""
    found = named(wordings, candidates)
    place = None if found else next((at for at in map(ordinal, wordings) if at is not None), None)
    return at_places((place,), candidates) if place is not None else found


def named(wordings: Sequence[str], candidates: Sequence[tuple[Any, Thing]]) -> list[tuple[Any, Thing]]:
    """The candidates that the words name, by the strictest way that finds any for one of the wordings.

    Ways come before wordings: "call mumpf", where a mumpf is the kind of thing, is no slip of "call mum".
    """
    said = [wording.strip().lower() for wording in wordings]
    for way in (_is_id, _same, _inside, _all_words, _nearly):
        for text in said:
            found = [each for each in candidates if way(text, each)]
            if found:
                return found
    return []


def best_matching(mention: str, candidates: Sequence[tuple[Any, Thing]]) -> list[tuple[Any, Thing]]:
    """The one candidate that shares more words with a mention than all others do; none where that is open."""
    wanted = set(stems(mention))
    shared = [len(wanted & {s for text in _texts(each) for s in stems(text)}) for each in candidates]
    most = max(shared, default=0)
    return [candidates[shared.index(most)]] if most and shared.count(most) == 1 else []


def said_whole(text: str, candidates: Sequence[tuple[Any, Thing]]) -> list[tuple[Any, Thing]]:
    """The candidates whose title stands word for word in what was said."""
    said = text.lower()
    return [each for each in candidates if _word_in(each[1].title.lower(), said)]


def at_places(wanted: Sequence[int], candidates: Sequence[tuple[Any, Thing]]) -> list[tuple[Any, Thing]]:
    """The candidates at these places, counted from 1 or, below 0, from the end; none if one is not there."""
    size = len(candidates)
    if any(place == 0 or not -size <= place <= size for place in wanted):
        return []
    return [candidates[place - 1 if place > 0 else place] for place in wanted]


def _word_in(value: str, said: str) -> bool:
    return (
        1 < len(value) <= len(said) and re.search(rf"(?<![\w-]){re.escape(value)}(?![\w-])", said) is not None
    )


def _texts(candidate: tuple[Any, Thing]) -> list[str]:
    fields = candidate[1].fields
    return [value.lower() for key, value in fields.items() if isinstance(value, str) and key not in _IDS]


def _is_id(said: str, candidate: tuple[Any, Thing]) -> bool:
    return _word_in(str(candidate[0]).lower(), said)


def _same(said: str, candidate: tuple[Any, Thing]) -> bool:
    return any(said == text.strip() for text in _texts(candidate))


def _inside(said: str, candidate: tuple[Any, Thing]) -> bool:
    return len(said) > 2 and any(_word_in(said, text) for text in _texts(candidate))


def _all_words(said: str, candidate: tuple[Any, Thing]) -> bool:
    wanted = set(stems(said))
    had = {each for text in _texts(candidate) for each in stems(text)}
    return bool(wanted) and wanted <= had


def _nearly(said: str, candidate: tuple[Any, Thing]) -> bool:
    return any(
        difflib.SequenceMatcher(None, said[:LONGEST], text[:LONGEST]).ratio() >= NEAR
        for text in _texts(candidate)
    )


def nearest(mention: str, candidates: Sequence[tuple[Any, Thing]], *, limit: int = 3) -> list[str]:
    """Titles that come closest to what was said, for when nothing matches."""
    titles = list(dict.fromkeys(thing.title for _, thing in candidates))
    said = {stem(word) for word in split_name(mention)}

    def likeness(title: str) -> float:
        shared = len(said & set(stems(title)))
        return (
            shared + difflib.SequenceMatcher(None, mention.lower()[:LONGEST], title.lower()[:LONGEST]).ratio()
        )

    return sorted(titles, key=lambda title: (-likeness(title), title))[:limit]
