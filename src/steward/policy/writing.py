"""Rules put into policy.toml and taken out of it, as text: comments and order stay.

Owns how a rule is written. Pure: the file itself is bootstrap's. Every change is read back before it is
handed out, so that what was not meant is never written.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from typing import Any, cast

from steward.contract import linear_re as re
from steward.contract.errors import ConfigError, ConflictError, InputError, NotFoundError
from steward.contract.showing import in_one_line
from steward.policy.rules import Rule, parse_rules

LONGEST_ARGUMENTS = 4_000  # characters; longer ones make no rule that anybody would read
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def with_rule(text: str, rule: Rule, *, note: str) -> str:
    """The file's text with this rule at its end; `note` says who made it. The same text where it stands."""
    before = _ids(text)
    if rule.id in before:
        return text
    grown = f"{text.rstrip()}\n\n{_block(rule, note)}".lstrip()
    assert _ids(grown) == [*before, rule.id]
    return grown


def without_rule(text: str, rule_id: str) -> str:
    """The file's text without the rule of this id, however often it stands there."""
    before = _ids(text)
    if rule_id not in before:
        raise NotFoundError(f"There is no rule '{rule_id}' in policy.toml.", fix="See 'steward policy list'.")
    at = before.index(rule_id)
    kept = before[:at] + before[at + 1 :]
    for shorter in _shorter(text, parse_rules(text).rules[at]):
        with suppress(ConfigError):  # it was no place of a rule
            if _ids(shorter) == kept:
                return without_rule(shorter, rule_id) if rule_id in kept else shorter
    raise ConflictError(
        f"The rule '{rule_id}' is written in a way that only you can take out.",
        fix="Edit policy.toml: 'steward policy replay FILE' shows what your edit would change.",
    )


def _ids(text: str) -> list[str]:
    return [rule.id for rule in parse_rules(text).rules]


def _shorter(text: str, gone: Rule) -> Iterator[str]:
    """The text without one thing that may have said the rule: a block, a rating's line, a trusted name."""
    lines = text.splitlines(keepends=True)
    heads = [*(at for at, line in enumerate(lines) if line.lstrip().startswith("[")), len(lines)]
    for start, end in pairwise(heads):
        before, after = "".join(lines[:start]).rstrip(), "".join(lines[end:]).strip()
        yield "\n\n".join(filter(None, (before, after))) + "\n"
    for at, line in enumerate(lines):
        if gone.tool in line:
            yield "".join((*lines[:at], *lines[at + 1 :]))
    for item in re.finditer(rf"[\"']{re.escape(gone.tool)}[\"'] *,? *", text):
        yield text[: item.start()] + text[item.end() :]


def _block(rule: Rule, note: str) -> str:
    said: dict[str, Any] = {"tool": rule.tool}
    if rule.risk is not None:
        said["risk"] = rule.risk.value
    if rule.trust is not None:
        said["trust"] = rule.trust
    if rule.never:
        said["never"] = True
    if rule.when:
        said["when"] = dict(rule.when)
    if rule.arguments is not None:
        said["arguments"] = rule.arguments
    if rule.user is not None:
        said["user"] = rule.user
    lines = [f"{key} = {_value(value)}" for key, value in said.items()]
    if any(len(line) > LONGEST_ARGUMENTS for line in lines):
        raise InputError("These arguments are too long for a rule.", fix="Decide on this call alone.")
    return "\n".join(["[[rule]]", f"# {in_one_line(note)}", *lines]) + "\n"


def _value(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _string(value)
        case int() | float():
            return repr(value)
        case Mapping():
            items = cast("Mapping[str, object]", value).items()
            return f"{{ {', '.join(f'{_string(key)} = {_value(item)}' for key, item in items)} }}"
        case list():
            return f"[{', '.join(map(_value, cast('list[object]', value)))}]"
        case _:
            raise _cannot_say("a null")


def _string(text: str) -> str:
    """A JSON string is a TOML string, but for DEL, which only TOML wants spelled out."""
    if _SURROGATE.search(text):
        raise _cannot_say("half a character")
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _cannot_say(what: str) -> InputError:
    return InputError(
        f"These arguments hold {what}, which policy.toml cannot say.",
        fix="Answer for the whole tool, or for this call alone.",
    )
