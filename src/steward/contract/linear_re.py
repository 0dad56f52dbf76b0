"""Patterns over text from outside, in time linear in its length: what `re` offers, run by RE2.

Import it in place of `re`. A pattern means the same as in `re`. One that RE2 cannot express (lookaround, a
reference to a group) is run by `re`, which is shown at most sixteen blanks of a longer row: rows of blanks
are what makes patterns of words slow. `scripts/check_patterns.py` pumps every pattern of the house and
refuses one whose time grows faster than its text. A pattern is compiled when it is first used.

Owns matching. Does not own the translation (`linear_syntax`). Two differences: where a pattern prefers
nothing to something (`x*?`), `finditer`, `sub` and `split` go on one character later; and a match that ends
inside a long row of blanks (`\\s+(?=\\n)`) may end at another blank of it.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import import_module
from re import DOTALL, IGNORECASE, MULTILINE, VERBOSE, escape
from typing import Any, Protocol, cast, overload

from steward.contract.linear_syntax import (
    ALPHABET,
    NotLinear,
    PatternGroups,
    Translation,
    general_code,
    plain,
    translate,
)

__all__ = [
    "DOTALL", "IGNORECASE", "MULTILINE", "VERBOSE", "Match", "Pattern", "compile", "escape", "findall",
    "finditer", "fullmatch", "match", "search", "split", "sub",
]  # fmt: skip

_MEMORY = 2 << 20  # of one pattern's automaton; past it RE2 starts the automaton again
_LONGEST_KEPT = 1 << 20
_EDGE = 8
_BLANKS = re.compile(rf"\s{{{2 * _EDGE + 1},}}+")
_TEMPLATE = re.compile(r"\\(?:(\d)|g<(\w+)>|\\)")


class Match(Protocol):
    """Where a pattern was found, with `re`'s methods."""

    @property
    def string(self) -> str: ...
    @property
    def lastgroup(self) -> str | None: ...
    @property
    def lastindex(self) -> int | None: ...
    @overload
    def group(self, group: int | str = 0, /) -> str | Any: ...
    @overload
    def group(self, group1: int | str, group2: int | str, /, *groups: int | str) -> tuple[str | Any, ...]: ...
    def __getitem__(self, group: int | str, /) -> str | Any: ...
    def groups(self) -> tuple[str | Any, ...]: ...
    def groupdict(self) -> dict[str, str | Any]: ...
    def start(self, group: int | str = 0, /) -> int: ...
    def end(self, group: int | str = 0, /) -> int: ...
    def span(self, group: int | str = 0, /) -> tuple[int, int]: ...


Replacement = str | Callable[[Match], str]


class Pattern:
    """A pattern with `re`'s methods."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern = pattern
        self.flags = flags

    @cached_property
    def linear(self) -> bool:
        """Whether RE2 runs it."""
        return isinstance(self._engine, _Linear)

    @cached_property
    def _engine(self) -> "_Linear | _Backtracking":
        if self.plain is not None:
            return _Backtracking(self.plain, lambda _: None)
        try:
            return _Linear(translate(self.pattern, self.flags))
        except NotLinear:
            return _Backtracking(re.compile(self.pattern, self.flags), _shortened)

    @cached_property
    def plain(self) -> re.Pattern[str] | None:
        """The pattern in `re`, where that is linear as well: it is quicker with many short matches."""
        return re.compile(self.pattern, self.flags) if plain(self.pattern, self.flags) else None

    def search(self, string: str, pos: int = 0) -> Match | None:
        return self._engine.first("search", string, pos)

    def match(self, string: str, pos: int = 0) -> Match | None:
        return self._engine.first("match", string, pos)

    def fullmatch(self, string: str) -> Match | None:
        return self._engine.first("fullmatch", string, 0)

    def finditer(self, string: str) -> Iterator[Match]:
        return self._engine.each(string)

    def findall(self, string: str) -> list[Any]:
        if self.plain is not None:
            return self.plain.findall(string)
        return [_listed(each) for each in self.finditer(string)]

    def split(self, string: str, maxsplit: int = 0) -> list[str | Any]:
        parts: list[str | Any] = []
        done = 0
        for count, each in enumerate(self.finditer(string), 1):
            parts += [string[done : each.start()], *each.groups()]
            done = each.end()
            if count == maxsplit:
                break
        return [*parts, string[done:]]

    def sub(self, repl: Replacement, string: str, count: int = 0) -> str:
        return self.subn(repl, string, count)[0]

    def subn(self, repl: Replacement, string: str, count: int = 0) -> tuple[str, int]:
        parts: list[str] = []
        done = number = 0
        for number, each in enumerate(self.finditer(string), 1):
            parts += [string[done : each.start()], repl(each) if callable(repl) else _expanded(repl, each)]
            done = each.end()
            if number == count:
                break
        return "".join((*parts, string[done:])), number


class _Backtracking:
    """A pattern that `re` runs."""

    def __init__(self, compiled: re.Pattern[str], shorten: "Callable[[str], _Short | None]") -> None:
        self._compiled: Any = compiled
        self._shorten = shorten

    def first(self, how: str, text: str, pos: int) -> Match | None:
        short = self._shorten(text)
        if short is None:
            return getattr(self._compiled, how)(text, pos)
        found = getattr(self._compiled, how)(short.text, bisect_left(short.places, pos))
        return None if found is None else short.found(text, found)

    def each(self, text: str) -> Iterator[Match]:
        short = self._shorten(text)
        if short is None:
            return self._compiled.finditer(text)
        return (short.found(text, each) for each in self._compiled.finditer(short.text))


@dataclass(frozen=True, slots=True)
class _Short:
    """A text without the middle of its long rows of blanks, and where each of its characters stood."""

    text: str
    places: list[int]

    def found(self, text: str, found: re.Match[str]) -> Match:
        groups = range(found.re.groups + 1)
        spans = [tuple(at if at < 0 else self.places[at] for at in found.span(group)) for group in groups]
        shape = PatternGroups(names=found.re.groupindex, groups=found.re.groups)
        return _Found(text, _Moved(cast("list[tuple[int, int]]", spans), found.lastindex), shape)


@dataclass(frozen=True, slots=True)
class _Moved:
    spans: list[tuple[int, int]]
    lastindex: int | None

    def span(self, group: int = 0, /) -> tuple[int, int]:
        return self.spans[group]


@lru_cache(16)
def _shortened(text: str) -> _Short | None:
    """Of a row of more than sixteen blanks the first and the last eight; None where there is no such row."""
    places: list[int] = []
    done = 0
    for row in _BLANKS.finditer(text):
        start, end = row.span()
        newline = text.find("\n", start + _EDGE, end - _EDGE)
        places += range(done, start + _EDGE)
        places += [newline] if newline >= 0 else []
        done = end - _EDGE
    if not done:
        return None
    places += range(done, len(text))
    return _Short("".join(map(text.__getitem__, places)), [*places, len(text)])


class _Spans(Protocol):
    """What RE2 gives back."""

    @property
    def lastindex(self) -> int | None: ...
    def span(self, group: int = 0, /) -> tuple[int, int]: ...


class _Linear:
    """A pattern compiled by RE2, and how a text is written for it."""

    def __init__(self, translation: Translation) -> None:
        re2 = cast("Any", import_module("re2"))  # here, because `steward --help` needs no pattern
        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1
        options.max_mem = _MEMORY
        options.log_errors = False
        try:
            self._compiled = re2.compile(translation.pattern.encode("latin-1"), options)
        except re2.error:
            raise NotLinear from None
        self._shape = translation.shape
        self._last_newline_only = translation.last_newline_only
        self._table = translation.table
        self._known = len(ALPHABET.characters)

    def first(self, how: str, text: str, pos: int) -> Match | None:
        found: _Spans | None = getattr(self._compiled, how)(self._read(text), pos)
        return None if found is None else _Found(text, found, self._shape)

    def each(self, text: str) -> Iterator[Match]:
        data, at = self._read(text), 0
        while at <= len(data):
            found: _Spans | None = self._compiled.search(data, at)
            if found is None:
                return
            yield _Found(text, found, self._shape)
            start, end = found.span()
            at = end + 1 if start == end else end

    def _read(self, text: str) -> bytes:
        if self._known < len(ALPHABET.characters):
            self._learn()
        data = (text.encode("ascii") if text.isascii() else _coded(text)).translate(self._table)
        return data[:-1] + b"\n" if self._last_newline_only and text[-1:] == "\n" else data

    def _learn(self) -> None:
        """Other patterns named characters since: for this one they are as all others of their kind."""
        table, count = bytearray(self._table), len(ALPHABET.characters)
        for code in range(self._known, count):
            table[code] = table[general_code(ALPHABET.characters[code])]
        self._table, self._known = bytes(table), count


def _coded(text: str) -> bytes:
    count = len(ALPHABET.characters)
    return _kept(text, count) if len(text) <= _LONGEST_KEPT else _encoded(text)


def _encoded(text: str) -> bytes:
    return text.translate(ALPHABET).encode("latin-1")


@lru_cache(16)
def _kept(text: str, alphabet: int) -> bytes:  # noqa: ARG001 - the alphabet grows; its size is part of the key
    """Many patterns read one text after another."""
    return _encoded(text)


class _Found:
    """What RE2 found, in terms of the text that was asked about."""

    __slots__ = ("_found", "_shape", "string")

    def __init__(self, string: str, found: _Spans, shape: PatternGroups) -> None:
        self.string = string
        self._found = found
        self._shape = shape

    def span(self, group: int | str = 0, /) -> tuple[int, int]:
        return self._found.span(self._shape.names[group] if isinstance(group, str) else group)

    def __getitem__(self, group: int | str, /) -> str | Any:
        start, end = self.span(group)
        return None if start < 0 else self.string[start:end]

    @overload
    def group(self, group: int | str = 0, /) -> str | Any: ...
    @overload
    def group(self, group1: int | str, group2: int | str, /, *groups: int | str) -> tuple[str | Any, ...]: ...
    def group(self, *groups: int | str) -> str | tuple[str | Any, ...] | Any:
        return self[groups[0] if groups else 0] if len(groups) < 2 else tuple(self[group] for group in groups)

    def groups(self) -> tuple[str | Any, ...]:
        return tuple(self[group] for group in range(1, self._shape.groups + 1))

    def groupdict(self) -> dict[str, str | Any]:
        return {name: self[group] for name, group in self._shape.names.items()}

    def start(self, group: int | str = 0, /) -> int:
        return self.span(group)[0]

    def end(self, group: int | str = 0, /) -> int:
        return self.span(group)[1]

    @property
    def lastindex(self) -> int | None:
        return self._found.lastindex

    @property
    def lastgroup(self) -> str | None:
        last = self.lastindex
        return next((name for name, group in self._shape.names.items() if group == last), None)


def _listed(found: Match) -> Any:
    groups = found.groups()
    if not groups:
        return found[0]
    return groups[0] or "" if len(groups) == 1 else tuple(group or "" for group in groups)


def _expanded(template: str, found: Match) -> str:
    if "\\" not in template:
        return template

    def replaced(part: re.Match[str]) -> str:
        group = part[1] or part[2]
        return "\\" if group is None else found[int(group) if group.isdigit() else group] or ""

    return _TEMPLATE.sub(replaced, template)


def compile(pattern: str, flags: int = 0) -> Pattern:  # noqa: A001 - as in `re`
    return Pattern(pattern, flags)


_compiled = lru_cache(512)(compile)


def search(pattern: str, string: str, flags: int = 0) -> Match | None:
    return _compiled(pattern, flags).search(string)


def match(pattern: str, string: str, flags: int = 0) -> Match | None:
    return _compiled(pattern, flags).match(string)


def fullmatch(pattern: str, string: str, flags: int = 0) -> Match | None:
    return _compiled(pattern, flags).fullmatch(string)


def finditer(pattern: str, string: str, flags: int = 0) -> Iterator[Match]:
    return _compiled(pattern, flags).finditer(string)


def findall(pattern: str, string: str, flags: int = 0) -> list[Any]:
    return _compiled(pattern, flags).findall(string)


def split(pattern: str, string: str, maxsplit: int = 0, flags: int = 0) -> list[str | Any]:
    return _compiled(pattern, flags).split(string, maxsplit)


def sub(pattern: str, repl: Replacement, string: str, count: int = 0, flags: int = 0) -> str:
    return _compiled(pattern, flags).sub(repl, string, count)
