"""Countries, languages, currencies and time zones as their codes, where a person says names.

The names come from data/codes.json (scripts/build_codes.py), those of zones from their own names. What is no
known name stays as it was said.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from zoneinfo import available_timezones

from steward.contract import linear_re as re

_FILE = Path(__file__).parent / "data" / "codes.json"
# What a slot must be called, or its description say, and how it must speak of codes.
_CALLED = {
    "country": frozenset({"country"}),
    "language": frozenset({"language", "lang", "locale"}),
    "currency": frozenset({"currency", "currencies"}),
    "zone": frozenset({"timezone", "tz"}),
}
_STATED = {"country": "iso 3166", "language": "iso 639", "currency": "iso 4217", "zone": "iana"}
_CODED = re.compile(
    r"\biso\b|\b(?:two|2|three|3)[\s-](?:letter|char\w{0,8})|\balpha-?2\b|\bcodes?\b|\biana\b", re.IGNORECASE
)
# "e.g. UK" for a country says nothing of Norway.
_EXAMPLE = {
    "language": re.compile(r"(?:e\.?g\.?,?|like|such as)\s{0,3}[\"'`(]?[a-z]{2}\b", re.IGNORECASE),
    "currency": re.compile(
        r"(?:[eE]\.?g\.?,?|like|such as|[dD]efaults?(?: is| to)?)\s{0,3}[\"'`(]?[A-Z]{3}\b"
    ),
    "zone": re.compile(r"\b[A-Z][a-z]{2,20}/[A-Z][A-Za-z_]{2,20}\b"),
}


@cache
def _codes() -> Mapping[str, Mapping[str, str]]:
    return json.loads(_FILE.read_text(encoding="utf-8")) | {"zone": _zones()}


def _zones() -> Mapping[str, str]:
    """By the city that a zone is called after; old names of zones stand alone, without a region."""
    names = sorted(name for name in available_timezones() if "/" in name and not name.startswith("Etc/"))
    return {name.rpartition("/")[2].replace("_", " ").lower(): name for name in reversed(names)}


def code_of(name: str, described: str, value: str) -> str | None:
    """The code for what was said, or None where the slot takes no code or the name is not known."""
    words, about = set(name.lower().split()), described.lower().replace("-", " ")
    kind = next(
        (kind for kind, called in _CALLED.items() if words & called or _STATED[kind] in about), None
    ) or next((kind for kind in _CALLED if f"{kind} code" in about), None)
    if kind is None:
        return None
    example = _EXAMPLE.get(kind)
    if not ("code" in words or _CODED.search(about) or (example and example.search(described))):
        return None
    said = " ".join(value.lower().removeprefix("the ").split())
    return _codes()[kind].get(said.removesuffix(" time") if kind == "zone" else said)
