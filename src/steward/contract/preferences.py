"""When to prefer which tool: the instructions that descriptions carry.

Owns how such sentences are read: "Use this instead of X when ...", "Prefer X for ...", "Not for ...; use X".
Pure text: which tools there are, and whether a condition holds, is for whoever chooses.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from steward.contract import linear_re as re

LONGEST = 4_000  # characters of a description that are read
LONGEST_PIECE = 400  # of a sentence that can be an instruction


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """What a description says about its own tool."""

    favours: bool  # for the tool that says so, or against it
    other: str | None = None  # against or for which tool, as it is named there; None: any other
    when: str = ""  # in which case; empty: always
    unless: bool = False  # `when` is the exception
    only: bool = False  # in no other case


_USE = r"(?:(?:please|always|better|instead|then)[\s,]+)*(?:use|prefer|choose|pick|call|take|favou?r|try)"
_SELF = r"(?:this(?:\s+(?:tool|one))?|it)"
_NAME = r"(?:the\s+)?[`'\"]?(?P<other>[A-Za-z][\w-]*)[`'\"]?(?:\s+tool)?"
_LINK = r"(?P<link>(?:only\s+)?(?:when(?:ever)?|where|if|for|in\s+case\s+of)|unless|except\s+(?:for|when|if))"
_CASE = rf"(?:\s*,?\s*{_LINK}\s+(?P<when>.+))?"
_AS_I_SAID = (
    r"(?:\s+(?:instead|(?:instead\s+of|rather\s+than|over)\s+this|for\s+(?:that|those|these|this|it)))?"
)
_I = re.IGNORECASE
# In this order: the first that fits a piece of a description is what it says. True: for the tool itself.
_FORMS: tuple[tuple[re.Pattern, bool], ...] = (
    (
        re.compile(
            rf"{_USE}\s+(?:{_SELF}\s+)?(?:instead\s+of|over|rather\s+than|in\s+(?:preference\s+to|place\s+of))"
            rf"\s+{_NAME}{_CASE}",
            _I,
        ),
        True,
    ),
    (re.compile(rf"prefer(?:red)?\s+(?:{_SELF}\s+)?to\s+{_NAME}{_CASE}", _I), True),
    (
        re.compile(
            rf"(?:do\s+not|don't|never|not|avoid)\s*(?:using|use|call|choose|meant|intended|suitable|suited)?"
            rf"\s*{_SELF}?\s*{_LINK}\s+(?P<when>.+?)(?:[,:]\s*(?:{_USE}|that\s+is)\s+{_NAME}{_AS_I_SAID})?",
            _I,
        ),
        False,
    ),
    (
        re.compile(
            rf"(?:(?:only\s+)?{_USE}(?:\s+{_SELF})?|(?:best|preferred|meant|intended))\s*{_LINK}\s+(?P<when>.+)",
            _I,
        ),
        True,
    ),
    (re.compile(r"(?P<link>only\s+for)\s+(?P<when>.+)", _I), True),
    (re.compile(rf"{_LINK}\s+(?P<when>.+?),?\s+{_USE}\s+{_SELF}(?:\s+instead)?", _I), True),
    (re.compile(rf"{_LINK}\s+(?P<when>.+?),?\s+{_USE}\s+{_NAME}{_AS_I_SAID}", _I), False),
    (re.compile(rf"{_USE}\s+{_NAME}{_AS_I_SAID}{_CASE}", _I), False),
)
_PIECE = re.compile(r"[^.;!?()\n]+(?:\.(?=\S)[^.;!?()\n]*)*|[.;!?()\n]")
_WRAPPED = re.compile(r"(?<=\S)[ \t]*\n[ \t]*(?=[^\s*\d\u2022-])")  # a line that goes on in the next one
_DENIES = re.compile(r"\s*(?:do\s+not|don't|never|not|avoid)\b", _I)
_IDENTIFIER = re.compile(r"\w*(?:[_\d-]|[a-z][A-Z])[\w-]*")


@lru_cache(maxsize=20_000)
def preferences(description: str) -> tuple[Preference, ...]:
    """Every instruction in a description, in its order."""
    return tuple(said for _, said in _pieces(description) if said is not None)


@lru_cache(maxsize=20_000)
def without_rivals(description: str) -> str:
    """What a description says its tool is for: without what it names other tools for, and without what not.

    Words that stand there to send a request elsewhere must not speak for the tool that sends it away.
    """
    kept: list[str] = []
    for text, said in _pieces(description):
        if said is None or (said.favours and said.other is None):
            kept.append(text)
        elif said.favours:
            kept.append("" if said.unless else f" {said.when}")
        elif not _DENIES.match(text) and said.other is not None and not _IDENTIFIER.fullmatch(said.other):
            kept.append(text)  # "use caution when ...": no tool at all
    return "".join(kept).strip()


def _pieces(description: str) -> Iterator[tuple[str, Preference | None]]:
    before: Preference | None = None
    for found in _PIECE.finditer(_WRAPPED.sub(" ", description[:LONGEST])):
        text = found.group()
        said = _read(" ".join(text.split()).lstrip("-*\u2022 "))
        if said is not None and not said.favours and not said.when and before is not None:
            said = replace(said, when=before.when)  # "not for music; use X": for music, that is
        if text.strip(" .;!?()\n"):
            before = said if said is not None and not said.favours else None
        yield text, said


def _read(piece: str) -> Preference | None:
    for form, favours in _FORMS:
        found = form.fullmatch(piece) if len(piece) <= LONGEST_PIECE else None
        if found is None:
            continue
        groups = found.groupdict()
        link = (groups.get("link") or "").lower()
        when = re.sub(r"\s+instead$", "", groups.get("when") or "", flags=_I)
        only = link.startswith("only") or piece.lower().startswith("only")
        return Preference(
            favours=favours,
            other=groups.get("other"),
            when=when,
            unless=link.startswith(("unless", "except")),
            only=only,
        )
    return None
