"""The rule that nothing is deleted wholesale because of what was left out. It holds for every agent.

A call that removes things and names none of them touches everything there is. It goes on to the door only
where the person's own words ask for everything; there the question says how much that is.
"""

import re
from collections.abc import Mapping
from typing import Any, cast

from steward.agents.profile import Refusal
from steward.contract.errors import ErrorCode
from steward.contract.tool import Origin, ToolSpec
from steward.policy.estimate import EffectKind, estimate

_EVERYTHING = re.compile(r"\b(?:all|everything|every|each|entire|whole|anything)\b", re.IGNORECASE)
_WILD = frozenset({"", "*", "**", "*.*", ".*", "%", "/", "all", "any", "everything"})


def refuse_unasked_everything(
    spec: ToolSpec, arguments: Mapping[str, Any], utterance: str | None
) -> Refusal | None:
    if not _takes_choice(spec) or not selects_everything(spec, arguments) or not _destroys(spec):
        return None
    if _EVERYTHING.search(utterance or ""):
        return None
    return Refusal(
        ErrorCode.INVALID_ARGUMENTS,
        f"`{spec.name}` was called without saying on what, so it would touch everything. Nobody asked for "
        "that. Find out which one is meant, and name it.",
    )


def selects_everything(spec: ToolSpec, arguments: Mapping[str, Any]) -> bool:
    given = [value for name, value in arguments.items() if name != spec.user_argument]
    return not any(map(_narrows, given))


def _takes_choice(spec: ToolSpec) -> bool:
    properties = cast("Mapping[str, Any]", spec.input_schema.get("properties") or {})
    return any(name != spec.user_argument for name in properties)


def _narrows(value: Any) -> bool:
    """Whether a value picks something out of all there is."""
    if isinstance(value, str):
        return value.strip().casefold() not in _WILD
    if isinstance(value, list | tuple):
        items = cast("list[Any]", value)
        return bool(items) and all(map(_narrows, items))
    if isinstance(value, Mapping):
        return any(map(_narrows, cast("Mapping[str, Any]", value).values()))
    return value is not None and not isinstance(value, bool)


def _destroys(spec: ToolSpec) -> bool:
    if spec.hints.destructive is None or spec.origin is not Origin.BUILTIN:
        return spec.hints.destructive is True or estimate(spec).kind is EffectKind.DESTRUCTIVE
    return spec.hints.destructive  # our own word on our own tools: an undo takes one step by itself
