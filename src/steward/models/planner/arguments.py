"""Filling a tool's arguments from what was said, by the tool's JSON Schema.

Owns what becomes of the words that name no value: the text that a tool is about, or the mention of a
thing. Nothing is invented: a value stands in the utterance, is a choice the schema lists, or is a date
that the date reader found there.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from steward.contract import linear_re as re
from steward.contract.errors import InvalidSchemaError
from steward.contract.schema import compile_schema
from steward.models.planner.finding import (
    Filling,
    SaidClause,
    Span,
    find_assigned,
    find_booleans,
    find_choices,
    find_dates,
    find_numbers,
    find_quotes,
    find_shapes,
    list_value,
    open_parameters,
    shape_of,
    yes_or_no,
)
from steward.models.planner.parameters import Parameter, ParameterKind, parameters_of
from steward.models.planner.words import bare, intention, stem, word_set

_NAMED = re.compile(r"\b(?:called|named|titled|saying|entitled)\s+", re.IGNORECASE)
_LEADING = word_set(
    """a an the new another my our some this me us what what's which who how much many when where is are was
    do does there of"""
)
# After one of these the content begins, word for word.
_OPENING = word_set("that to for about in on at with as called named titled saying into from")
_TRAILING = re.compile(
    r"(?:[\s,;:\u2013-]+|"
    r"\b(?:by|on|at|for|with|to|from|in|before|until|due|is|and|of|as|a|an|the|set|priority)\b)+$",
    re.IGNORECASE,
)
_CONNECTOR = re.compile(r"\s+(?:to|as|into|saying|with)\s+|\s*:\s+", re.IGNORECASE)
_MAIN = word_set(
    "text query question title content name message body subject description term search note input prompt"
)


def fill(schema: Mapping[str, Any], said: SaidClause, *, tool_words: frozenset[str]) -> Filling:
    """`tool_words` are the stems of the tool's own name: words that name the tool are no content."""
    parameters = parameters_of(schema)
    filling = Filling()
    for parameter in parameters:
        find_assigned(parameter, said, filling)
    for step in (find_choices, find_dates, find_shapes, find_numbers, find_quotes):
        step(parameters, said, filling)
    find_booleans(parameters, said, filling, tool_words=tool_words)
    filling.rest, introduced = remainder(said.text, filling.used, tool_words)
    _lists(parameters, filling)
    _main_text(parameters, filling, introduced=introduced)
    _objects(parameters, said, filling, schema, tool_words)
    for parameter in parameters:
        if parameter.name in filling.values and not _accepts(
            parameter, filling.values[parameter.name], schema
        ):
            del filling.values[parameter.name]  # better asked for than wrong
    return filling


def _accepts(parameter: Parameter, value: Any, root: Mapping[str, Any]) -> bool:
    try:
        return compile_schema({**parameter.schema, "$defs": root.get("$defs", {})}).accepts(value)
    except InvalidSchemaError:
        return True  # the door will say what is wrong with it


def read_value(parameter: Parameter, said: SaidClause) -> Any:
    """An answer to 'which ...?': the value it gives for this one parameter, or None."""
    filling = Filling()
    for step in (find_choices, find_dates, find_shapes, find_numbers, find_quotes):
        step((parameter,), said, filling)
    if parameter.name in filling.values:
        return filling.values[parameter.name]
    text = bare(said.text).strip("\"'“”")
    match parameter.kind:
        case ParameterKind.BOOLEAN:
            return yes_or_no(text)
        case ParameterKind.LIST:
            return list_value(parameter, text)
        case ParameterKind.TEXT | ParameterKind.IDENTIFIER:
            return text or None
        case _:
            return None


def remainder(text: str, used: Sequence[Span], tool_words: frozenset[str]) -> tuple[str, bool]:
    """What was said beyond the command and the values already taken out of it.

    Also whether a word like 'for' or 'in' introduced it, so that it is clearly meant as content.
    """
    kept = list(text)
    for start, end in used:
        kept[start:end] = " " * (end - start)
    words = bare("".join(kept)).split()
    named = _NAMED.search(" ".join(words))
    if named is not None and not used:
        return _tidy(" ".join(words)[named.end() :]), True
    return _after_command(words, tool_words)


def _after_command(words: list[str], tool_words: frozenset[str]) -> tuple[str, bool]:
    seen_verb = False
    for at, given in enumerate(words):
        word = given.lower().strip(",:;.!?")
        following = words[at + 1].lower() if at + 1 < len(words) else ""
        if word in _OPENING and following:
            if following in _OPENING:
                continue
            rest = _tidy(" ".join(words[at + 1 :]))
            return (rest, True) if rest else (_tidy(" ".join(words[at:])), False)
        if word == "it" and following in _OPENING | {"is"}:  # "what time is it in ...", "... it is in ..."
            continue
        verb = not seen_verb and (intention(word) is not None or stem(word) in tool_words)
        seen_verb = seen_verb or verb
        if word and word not in _LEADING and stem(word) not in tool_words and not verb:
            return _tidy(" ".join(words[at:])), False
    return "", False


def _tidy(text: str) -> str:
    return re.sub(
        r"\s+([,.;!?])", r"\1", _TRAILING.sub("", re.sub(r"\s+", " ", text)).strip(" ,;:.!?\"'")
    ).strip()


def _lists(parameters: Sequence[Parameter], filling: Filling) -> None:
    for parameter in open_parameters(parameters, filling, ParameterKind.LIST):
        if parameter.required and filling.rest:
            value = list_value(parameter, _connected(filling.rest)[2] or filling.rest)
            if value is not None:
                filling.values[parameter.name] = value
                filling.rest = ""
                return


def _main_text(parameters: Sequence[Parameter], filling: Filling, *, introduced: bool) -> None:
    """What is left goes to the one text that the tool is about.

    Where a thing has to be named as well, it is named first: 'rename the old one *to* the new one'.
    """
    texts = [
        each for each in open_parameters(parameters, filling, ParameterKind.TEXT) if shape_of(each) is None
    ]
    if any(each.kind is ParameterKind.IDENTIFIER and each.required for each in parameters):
        mention, connected, text = _connected(filling.rest)
        if texts and connected:
            filling.values[texts[0].name], filling.rest = text, mention
        return
    if not filling.rest or not texts:
        return
    main = min(
        texts, key=lambda each: (not each.required, not _MAIN.intersection(each.words), texts.index(each))
    )
    only_one = introduced and len(texts) == 1 and not any(each.required for each in parameters)
    if main.required or only_one or _MAIN.intersection(main.words):
        filling.values[main.name] = _without_label(main, filling.rest)


def _without_label(parameter: Parameter, text: str) -> str:
    """ "the collection house" for a collection is "house": its own name says nothing about the value."""
    words = text.split()
    start = 1 if words and words[0].lower() in ("the", "a", "an", "my", "our") else 0
    own = [stem(word) for word in words[start:]]
    label = [stem(word) for word in parameter.words]
    after = start + len(label)
    return " ".join(words[after:]) if label and own[: len(label)] == label and len(words) > after else text


def _connected(rest: str) -> tuple[str, str, str]:
    parts = _CONNECTOR.split(rest, maxsplit=1)
    return (
        (parts[0].strip(), "to", _tidy(parts[1]))
        if len(parts) == 2 and parts[0] and parts[1]
        else (rest, "", "")
    )


def _objects(
    parameters: Sequence[Parameter],
    said: SaidClause,
    filling: Filling,
    root: Mapping[str, Any],
    tool_words: frozenset[str],
) -> None:
    """An object is filled like a tool of its own, where it says what it is made of."""
    for parameter in open_parameters(parameters, filling, ParameterKind.OBJECT):
        properties = parameter.schema.get("properties")
        if not isinstance(properties, Mapping):
            continue
        inner = fill({**parameter.schema, "$defs": root.get("$defs", {})}, said, tool_words=tool_words)
        if inner.values and not inner.missing(parameters_of(parameter.schema)):
            filling.values[parameter.name] = inner.values
