"""Finding the values for parameters in what was said: choices, dates, addresses, numbers, quotes.

Owns which stretch of the text each value came from, so that no stretch is used twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from steward.contract import linear_re as re
from steward.models.planner.parameters import Parameter, ParameterKind, resolve, type_of
from steward.models.planner.readers import DateFound
from steward.models.planner.words import NUMBER_WORDS, STOP, WORD, split_name, stem, stems, word_set

Span = tuple[int, int]

_QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|\u2018([^\u2019]+)\u2019|\B'([^']+)'\B|`([^`]+)`")
_NUMBER = re.compile(r"(?<![\w.-])-?\d+(?:[.,]\d+)?(?![\w-])%?")
_SHAPES = {
    "email": re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]*\w"),
    "uri": re.compile(r"\b(?:https?|ftp)://[^\s\"'<>]*[^\s\"'<>.,;!?)]"),
    "path": re.compile(
        r"(?<!\w)(?:~|\.{1,2}|[\w-]{1,255}+)?/[^\s\"'<>]*[^\s\"'<>.,;!?)]"
        r"|\b[\w-]{1,255}+\.[A-Za-z]{2,4}\b(?!\.)"
    ),
}
_SHAPE_WORDS = {
    "email": {"email", "mail", "recipient", "recipients", "to", "cc", "bcc"},
    "uri": {"url", "uri", "link", "website"},
    "path": {"path", "file", "filename", "folder", "directory"},
}
_NEGATED = re.compile(
    r"\b(?:not|no|without|don'?t|never|skip|disable|off|un)\W+(?:\w+\W+){0,2}$", re.IGNORECASE
)
_CUES = word_set("include including with show only also")
_CUED = re.compile(r"\b(?:include|including|with|only|also)\W+$", re.IGNORECASE)
LOOKED_THROUGH = 4_000  # characters in which numbers, quotes and yes or no are looked for
_SEPARATOR = re.compile(r"\s*(?:,|;|\band\b|&)\s*(?:and\s+)?", re.IGNORECASE)
_FAR = 40  # characters between a value and the words that would claim it


@dataclass(slots=True)
class Filling:
    """What a tool can be called with so far."""

    values: dict[str, Any] = field(default_factory=dict[str, Any])
    used: list[Span] = field(default_factory=list[Span])
    rest: str = ""  # what is left of the utterance: a mention, where something is mentioned

    def missing(self, parameters: Sequence[Parameter]) -> list[Parameter]:
        return [each for each in parameters if each.required and each.name not in self.values]


@dataclass(frozen=True, slots=True)
class SaidClause:
    """One clause and the dates found in it."""

    text: str
    dates: tuple[DateFound, ...] = ()


def open_parameters(
    parameters: Sequence[Parameter], filling: Filling, *kinds: ParameterKind
) -> Iterator[Parameter]:
    """Parameters of these kinds that have no value yet, required ones first."""
    for parameter in sorted(parameters, key=lambda each: not each.required):
        if parameter.kind in kinds and parameter.name not in filling.values:
            yield parameter


def is_free(span: Span, filling: Filling) -> bool:
    return all(span[1] <= used[0] or span[0] >= used[1] for used in filling.used)


def take(parameter: Parameter, value: Any, span: Span, filling: Filling) -> None:
    filling.values[parameter.name] = value
    filling.used.append(span)


def find_assigned(parameter: Parameter, said: SaidClause, filling: Filling) -> None:
    """'name: value' and 'name=value' win over every guess."""
    spelled = r"[\s_-]?".join(map(re.escape, parameter.words))
    found = spelled and re.search(
        rf"\b{spelled}\s*[=:]\s*(\"[^\"]*\"|'[^']*'|[^,;\s]+)", said.text, re.IGNORECASE
    )
    if not found:
        return
    text = found[1].strip("\"'")
    value = convert(parameter, text, said)
    if value is not None:
        take(parameter, value, found.span(), filling)


def convert(parameter: Parameter, text: str, said: SaidClause) -> Any:  # noqa: PLR0911 - one line a kind
    """This piece of text as a value of this parameter, or None where it is none."""
    match parameter.kind:
        case ParameterKind.CHOICE:
            return next((each for each in parameter.choices if str(each).lower() == text.lower()), None)
        case ParameterKind.NUMBER:
            return _number(text, parameter)
        case ParameterKind.BOOLEAN:
            return yes_or_no(text)
        case ParameterKind.DATE:
            return next((_date(parameter, each) for each in said.dates), None)
        case ParameterKind.LIST:
            return list_value(parameter, text)
        case ParameterKind.OBJECT:
            return None
        case ParameterKind.TEXT | ParameterKind.IDENTIFIER:
            return text


def find_choices(parameters: Sequence[Parameter], said: SaidClause, filling: Filling) -> None:
    words = [(match.group().lower(), match.span()) for match in WORD.finditer(said.text)]
    for parameter in open_parameters(parameters, filling, ParameterKind.CHOICE):
        for choice in sorted(parameter.choices, key=lambda each: -len(str(each))):
            wanted = [stem(word) for word in split_name(str(choice))]
            span = _phrase(wanted, words)
            if span is not None and is_free(span, filling):
                start, end = _with_label(parameter, words, span)
                take(parameter, choice, (start, end), filling)
                break


def _phrase(wanted: list[str], words: Sequence[tuple[str, Span]]) -> Span | None:
    size = len(wanted)
    for at in range(len(words) - size + 1) if size else ():
        if [stem(word) for word, _ in words[at : at + size]] == wanted:
            return words[at][1][0], words[at + size - 1][1][1]
    return None


def _with_label(parameter: Parameter, words: Sequence[tuple[str, Span]], span: Span) -> Span:
    """'high priority' and 'priority high' use up the parameter's name as well."""
    labels = {stem(word) for word in parameter.words}
    start, end = span
    for word, (first, last) in words:
        if stem(word) in labels and (0 <= first - end <= 2 or 0 <= start - last <= 2):
            start, end = min(start, first), max(end, last)
    return start, end


def find_dates(parameters: Sequence[Parameter], said: SaidClause, filling: Filling) -> None:
    free = [each for each in said.dates if is_free((each.start, each.end), filling)]
    for parameter in open_parameters(parameters, filling, ParameterKind.DATE):
        if not free:
            return
        places = _places(parameter, said.text)
        best = min(free, key=lambda each, places=places: _distance(places, each.start))
        free.remove(best)
        take(parameter, _date(parameter, best), (best.start, best.end), filling)


def _date(parameter: Parameter, found: DateFound) -> str:
    wants_time = parameter.schema.get("format") == "date-time" or found.has_time
    return (
        found.value.isoformat()
        if wants_time and parameter.schema.get("format") != "date"
        else found.value.date().isoformat()
    )


def find_shapes(parameters: Sequence[Parameter], said: SaidClause, filling: Filling) -> None:
    for parameter in open_parameters(parameters, filling, ParameterKind.TEXT):
        shape = shape_of(parameter)
        pattern = _SHAPES.get(shape) if shape else None
        for found in pattern.finditer(said.text) if pattern else ():
            if is_free(found.span(), filling):
                take(parameter, found.group(), found.span(), filling)
                break


def shape_of(parameter: Parameter) -> str | None:
    declared = parameter.schema.get("format")
    if declared in _SHAPES:
        return str(declared)
    words = set(parameter.words)
    return next((shape for shape, names in _SHAPE_WORDS.items() if names & words), None)


def find_numbers(parameters: Sequence[Parameter], said: SaidClause, filling: Filling) -> None:
    looked = said.text[:LOOKED_THROUGH]
    found = [(match.group(), match.span()) for match in _NUMBER.finditer(looked)]
    found += [(m.group(), m.span()) for m in WORD.finditer(looked) if m.group().lower() in NUMBER_WORDS]
    quoted = [match.span() for match in _QUOTED.finditer(looked)]
    found = [each for each in found if not any(q[0] <= each[1][0] < q[1] for q in quoted)]
    for parameter in open_parameters(parameters, filling, ParameterKind.NUMBER):
        free = [each for each in found if is_free(each[1], filling)]
        free = [each for each in free if _number(each[0], parameter) is not None]
        if not free:
            continue
        places = _places(parameter, looked)
        text, span = min(free, key=lambda each, at=places: (_distance(at, each[1][0]), each[1][0]))
        if parameter.required or _distance(places, span[0]) < _FAR:
            words = [(match.group().lower(), match.span()) for match in WORD.finditer(looked)]
            take(parameter, _number(text, parameter), _with_label(parameter, words, span), filling)


def _places(parameter: Parameter, text: str) -> list[int]:
    """Where the parameter's own words stand in the text."""
    labels = {stem(word) for word in (*parameter.words, *stems(parameter.described)[:6]) if word not in STOP}
    return [match.start() for match in WORD.finditer(text) if stem(match.group()) in labels]


def _distance(places: Sequence[int], at: int) -> int:
    """How far the nearest of them is from there; far when there is none."""
    return min((abs(place - at) for place in places), default=_FAR)


def _number(text: str, parameter: Parameter) -> int | float | None:
    word = text.lower().strip("%")
    try:
        value = float(NUMBER_WORDS[word]) if word in NUMBER_WORDS else float(word.replace(",", "."))
    except ValueError:
        return None
    if value < parameter.schema.get("minimum", value) or value > parameter.schema.get("maximum", value):
        return None
    if type_of(parameter.schema) == "integer":
        return int(value) if value.is_integer() else None
    return int(value) if value.is_integer() else value


def find_booleans(
    parameters: Sequence[Parameter], said: SaidClause, filling: Filling, *, tool_words: frozenset[str]
) -> None:
    for parameter in open_parameters(parameters, filling, ParameterKind.BOOLEAN):
        wanted = {stem(word) for word in parameter.words if word not in STOP and word not in _CUES}
        for match in WORD.finditer(said.text[:LOOKED_THROUGH]):
            before = said.text[: match.start()]
            negated, cued = _NEGATED.search(before), _CUED.search(before)
            about_tool = stem(match.group()) in tool_words and not (negated or cued)
            if stem(match.group()) in wanted and not about_tool and is_free(match.span(), filling):
                start = negated.start() if negated else cued.start() if cued else match.start()
                take(parameter, negated is None, (start, match.end()), filling)
                break


def yes_or_no(text: str) -> bool | None:
    word = (split_name(text) or [""])[0]
    if word in ("yes", "y", "true", "on", "sure", "yep", "yeah"):
        return True
    return False if word in ("no", "n", "false", "off", "nope") else None


def find_quotes(parameters: Sequence[Parameter], said: SaidClause, filling: Filling) -> None:
    looked = said.text[:LOOKED_THROUGH]
    quotes = [(next(filter(None, match.groups())), match.span()) for match in _QUOTED.finditer(looked)]
    quotes = [each for each in quotes if is_free(each[1], filling)]
    lists = list(open_parameters(parameters, filling, ParameterKind.LIST))
    lists = [each for each in lists if each.required or len(quotes) > 1]
    texts = list(open_parameters(parameters, filling, ParameterKind.TEXT))
    if lists and quotes and not any(each.required for each in texts):
        filling.values[lists[0].name] = [text for text, _ in quotes]
        filling.used += [span for _, span in quotes]
        return
    for text, span in quotes:
        labelled = [each for each in texts if _labels(each, said.text[: span[0]])]
        if labelled:
            texts.remove(labelled[0])
            take(labelled[0], text, span, filling)
    for text, span in quotes:
        if texts and is_free(span, filling):
            take(texts.pop(0), text, span, filling)


def _labels(parameter: Parameter, before: str) -> bool:
    """Whether the parameter's own name stands right before a place."""
    last = [stem(word) for word in split_name(before)[-2:]]
    return any(stem(word) in last for word in parameter.words)


def without_values(text: str) -> tuple[str, frozenset[str]]:
    """The sentence without what is plainly a value in it, and which shapes of values it held."""
    shapes: set[str] = set()
    for shape, pattern in _SHAPES.items():
        text, found = pattern.subn(" ", text)
        if found:
            shapes.add(shape)
    return _QUOTED.sub(" ", text), frozenset(shapes)


def list_value(parameter: Parameter, text: str) -> list[Any] | None:
    items = parameter.schema.get("items")
    inner = resolve(cast("Any", items) if isinstance(items, Mapping) else {}, {})
    item = Parameter("item", _item_kind(inner), inner, required=True)
    pieces = [piece.strip() for piece in _SEPARATOR.split(text) if piece.strip()]
    values = [convert(item, piece, SaidClause(piece)) for piece in pieces]
    return values if values and all(value is not None for value in values) else None


def _item_kind(schema: Mapping[str, Any]) -> ParameterKind:
    if schema.get("enum"):
        return ParameterKind.CHOICE
    return {
        "integer": ParameterKind.NUMBER,
        "number": ParameterKind.NUMBER,
        "object": ParameterKind.OBJECT,
    }.get(type_of(schema), ParameterKind.TEXT)
