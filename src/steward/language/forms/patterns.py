"""What the `pattern` of a schema says about a value: the form of a date or a time, or how a code is written.

Owns trying: a form is kept where the pattern matches what it gives. Reads no person's words.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

from steward.contract import linear_re as re
from steward.contract.errors import InvalidSchemaError
from steward.contract.schema import compile_schema

RENDERINGS = (
    "%Y-%m-%d", "%H:%M", "%H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M",
    "%Y-%m-%d %H:%M:%S", "%Y-%m", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d",
    "%Y.%m.%d", "%d.%m.%y", "%d/%m/%y", "%m/%Y", "%m.%Y", "%d %B %Y", "%d %b %Y", "%H.%M", "%Hh%M",
    "%I:%M %p", "%I:%M%p", "%I %p", "%I%p",
)  # fmt: skip
_PROBES = (datetime(2025, 11, 23, 14, 30), datetime(2031, 2, 8, 9, 0), datetime(2027, 1, 1, 22, 15))  # noqa: DTZ001
_NO_DATES = ("word", "7", "12345678", "x-1", "two words", "1234-5678", "a.b")
_LEAD = re.compile(r"\^?(?P<lead>[A-Za-z#]{1,12}\\?[-_]?)(?:[\[(]|\\d)")
_BLANKS = re.compile(r"\s+")
_PUNCTUATION = re.compile(r"[^A-Za-z0-9+]+")
LONGEST = 200  # characters of a value that is written otherwise


def rendering_of(schema: Mapping[str, Any], told: str | None) -> str | None:
    """The pattern of strftime that the schema's own pattern says; `told` is what its description says."""
    stated = schema.get("pattern")
    fitting = _renderings(stated) if isinstance(stated, str) else ()
    if not fitting or told in fitting:
        return told
    as_told = {"time": "%H:%M", "date-time": "%Y-%m-%dT%H:%M:%S"}.get(told or "", "")
    return as_told if as_told in fitting else fitting[0]


@lru_cache(maxsize=512)
def _renderings(pattern: str) -> tuple[str, ...]:
    if any(_accepts(pattern, each) for each in _NO_DATES):
        return ()
    return tuple(each for each in RENDERINGS if any(_accepts(pattern, at.strftime(each)) for at in _PROBES))


def written_as(schema: Mapping[str, Any], value: str) -> str | None:
    """A value in the form that the pattern wants; as it is where no form fits, None where it is no date."""
    pattern = schema.get("pattern")
    if not isinstance(pattern, str) or len(value) > LONGEST:
        return value
    fitting = next((each for each in _forms(pattern, value) if _accepts(pattern, each)), None)
    return fitting or (None if _renderings(pattern) else value)


def _forms(pattern: str, value: str) -> Iterator[str]:
    """The value as said, in other letters, without its blanks, and with what all such codes begin with."""
    yield value
    tight, bare = _BLANKS.sub("", value), _PUNCTUATION.sub("", value)
    joined = [_BLANKS.sub(sign, value) for sign in "-_."]
    lead = _LEAD.match(pattern)
    opening = lead["lead"].replace("\\", "") if lead else ""
    apart = [tight, *joined] if any(each.isdigit() for each in value) else [*joined, tight]
    bases = [value, *apart, bare, *([opening + tight, opening + bare] if opening else [])]
    for base in dict.fromkeys(bases):
        yield from (base, base.upper(), base.lower(), base.title())


@lru_cache(maxsize=4_096)
def _accepts(pattern: str, value: str) -> bool:
    try:
        return compile_schema({"type": "string", "pattern": pattern}).accepts(value)
    except InvalidSchemaError:
        return True  # the door will say what is wrong with it
