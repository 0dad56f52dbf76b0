"""How a call is shown to whoever decides on it: all of it, and nothing in it can pass for our own words.

The one renderer: every surface that asks for a yes shows what is made here. Nothing is ever cut. Each line of
other people's text stands behind a margin, inside a fence that is longer than any run of its marks inside;
characters that cannot be seen, or that move others, are spelled out (`⟨U+202E⟩`), and so is the bracket that
spells them. Two different calls never look the same. Pure. Does not own the words around it, nor where it is
shown.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

MARGIN = "│ "
GOES_ON = "│↳"  # the line before goes on here: it was too wide
WIDTH = 120
MOST_SPACES = 40  # in a row; more could push what follows out of sight
MOST_EMPTY_LINES = 3
LONGEST_SAID = 200

# Letters and signs that are drawn as nothing or as a gap, beside those whose category says so.
_UNSEEN = frozenset(
    map(chr, (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, *range(0x180B, 0x1810)))
) | frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
_BRACKET = "⟨"
_SPELLED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
_STACKED = re.compile("[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{3,}")
_SPACES = re.compile(f" {{{MOST_SPACES + 1},}}")
_MARKS = re.compile("`+")
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_QUOTES = re.compile('["“”„«»‹›`´‘‚]')  # noqa: RUF001 - these are what is looked for
_APOSTROPHE = re.compile(r"(?<![^\W\d_])['’]|['’](?![^\W\d_])")  # noqa: RUF001
_MARKUP = re.compile(r"[\[\]<>\\|]")


class _Spelling(dict[int, str]):
    """For `str.translate`: each character as it is shown, looked up once."""

    def __missing__(self, code: int) -> str:
        symbol = chr(code)
        unseen = symbol in _UNSEEN or unicodedata.category(symbol) in _SPELLED_CATEGORIES
        spelled = unseen or symbol == _BRACKET
        shown = self[code] = named(symbol) if spelled and symbol not in " \n" else symbol
        return shown


def named(symbol: str) -> str:
    return f"⟨U+{ord(symbol):04X}⟩"


_SPELLING = _Spelling({ord("\t"): "⟨tab⟩"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCall:
    """What a person decides on. The words may hold anything; only the tool's name is known to be plain."""

    tool: str
    arguments: Mapping[str, Any]
    effect: str | None = None  # what it would do, as things stand
    reason: str = ""  # why it asks


def spell_out(text: str) -> str:
    """Text whose every character can be seen and stays in its place. Lines stay lines."""
    if text.isascii() and text.isprintable():
        shown = text
    else:
        shown = text.translate(_SPELLING)
        shown = _STACKED.sub(lambda found: "".join(map(named, found[0])), shown)
    return _SPACES.sub(lambda found: _spaces(len(found[0])), shown)


def _spaces(count: int) -> str:
    return "⟨space⟩" if count == 1 else f"⟨{count:,} spaces⟩"


def in_one_line(text: str) -> str:
    return spell_out(text).replace("\n", "⟨U+000A⟩")


def can_be_said(text: str) -> bool:
    """Whether words of other people may stand in a sentence of ours, in quotes: no trick could be in them."""
    return (
        0 < len(text) <= LONGEST_SAID
        and in_one_line(text) == text
        and not any(pattern.search(text) for pattern in (_QUOTES, _APOSTROPHE, _MARKUP))
    )


def show(call: ShownCall, *, width: int = WIDTH) -> str:
    """The whole call, fenced. No line is wider than `width`: whoever shows it must not break lines itself."""
    body = "\n".join(_behind_margin(_lines(call), width))
    longest = max((len(run) for run in _MARKS.findall(body)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{body}\n{fence}"


def show_arguments(arguments: Mapping[str, Any]) -> list[str]:
    """Each argument on lines of its own, so that two calls can be compared."""
    return list(_members(arguments, 0)) or ["(no arguments)"]


def _lines(call: ShownCall) -> Iterator[str]:
    if call.effect:
        yield f"What it does: {in_one_line(call.effect)}"
    yield call.tool
    yield from (f"  {line}" for line in show_arguments(call.arguments))
    if call.reason:
        yield f"Why it asks: {in_one_line(call.reason)}"


def _members(members: Mapping[str, Any], depth: int) -> Iterator[str]:
    for key, value in members.items():
        name = key if _PLAIN_KEY.fullmatch(key) else in_one_line(json.dumps(key, ensure_ascii=False))
        yield from _value(f"{name} =", value, depth)


def _value(label: str, value: Any, depth: int) -> Iterator[str]:
    indent = "  " * depth
    if isinstance(value, Mapping) and value:
        yield f"{indent}{label}"
        yield from _members(cast("Mapping[str, Any]", value), depth + 1)
    elif isinstance(value, list | tuple) and value:
        items = cast("Sequence[Any]", value)
        yield f"{indent}{label} {len(items):,} of them"
        for item in items:
            yield from _value("-", item, depth + 1)
    elif isinstance(value, str) and not {"\n", '"', "\\"}.isdisjoint(value):
        lines = value.split("\n")
        yield f"{indent}{label} text, {len(lines):,} {'line' if len(lines) == 1 else 'lines'}:"
        yield from (f"{indent}  {line}" for line in _without_emptiness(map(_to_its_end, lines)))
    elif isinstance(value, str):
        yield f'{indent}{label} "{in_one_line(value)}"'
    else:
        yield f"{indent}{label} {in_one_line(json.dumps(value, ensure_ascii=False, default=str))}"


def _to_its_end(line: str) -> str:
    """A line whose end can be seen."""
    text = line.rstrip(" ")
    return spell_out(text) + (_spaces(len(line) - len(text)) if len(text) < len(line) else "")


def _without_emptiness(lines: Iterable[str]) -> Iterator[str]:
    """Many empty lines in a row are counted, so that what follows them is seen."""
    empty = 0
    for line in lines:
        if not line:
            empty += 1
            continue
        yield from _emptiness(empty)
        empty = 0
        yield line
    yield from _emptiness(empty)


def _emptiness(count: int) -> Iterator[str]:
    if count > MOST_EMPTY_LINES:
        yield f"⟨{count:,} empty lines⟩"
    else:
        yield from [""] * count


def _behind_margin(lines: Iterable[str], width: int) -> Iterator[str]:
    room = max(width - len(MARGIN), 10)
    for line in lines:
        first, *more = _pieces(line, room)
        yield f"{MARGIN}{first}".rstrip(" ")
        yield from (f"{GOES_ON}{piece}" for piece in more)


def _pieces(line: str, room: int) -> list[str]:
    """The line in pieces of at most so many columns."""
    if line.isascii():
        return [line[at : at + room] for at in range(0, len(line), room)] or [""]
    pieces: list[str] = []
    start = used = 0
    for at, symbol in enumerate(line):
        columns = 2 if unicodedata.east_asian_width(symbol) in "WF" else 1
        if used + columns > room:
            pieces.append(line[start:at])
            start, used = at, 0
        used += columns
    return [*pieces, line[start:]]
