"""Patterns over text from outside, in time linear in its length: what `re` offers, run by RE2.

Import it in place of `re`. A pattern means the same as in `re`. One that RE2 cannot express (lookaround, a
reference to a group) is run by `re`; `scripts/check_patterns.py` pumps every pattern of the house and refuses
one whose time grows faster than its text. A pattern is compiled when it is first used.

Owns matching. Does not own the translation (`linear_syntax`). One difference: where a pattern prefers nothing
to something (`x*?`), `finditer`, `sub` and `split` go on one character later.
"""

import re
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from importlib import import_module
from re import DOTALL, IGNORECASE, MULTILINE, VERBOSE, escape
from typing import Any, Protocol, cast, overload

from steward.contract.linear_syntax import ALPHABET, NotLinear, Translation, general_code, translate

__all__ = [
    "DOTALL", "IGNORECASE", "MULTILINE", "VERBOSE", "Match", "Pattern", "compile", "escape", "findall",
    "finditer", "fullmatch", "match", "search", "split", "sub",
]  # fmt: skip

_MEMORY = 2 << 20  # of one pattern's automaton; past it RE2 starts the automaton again
_LONGEST_KEPT = 1 << 20
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
    def backtracking(self) -> Any:
        """The same pattern in `re`, whose answers have the same methods."""
        return re.compile(self.pattern, self.flags)

    @cached_property
    def program(self) -> "_Program | None":
        """The pattern in RE2, unless it has to be run by `re`."""
        try:
            return _Program(translate(self.pattern, self.flags))
        except NotLinear:
            return None

    def search(self, string: str, pos: int = 0) -> Match | None:
        if self.program is None:
            return self.backtracking.search(string, pos)
        return self.program.first("search", string, pos)

    def match(self, string: str, pos: int = 0) -> Match | None:
        if self.program is None:
            return self.backtracking.match(string, pos)
        return self.program.first("match", string, pos)

    def fullmatch(self, string: str) -> Match | None:
        if self.program is None:
            return self.backtracking.fullmatch(string)
        return self.program.first("fullmatch", string, 0)

    def finditer(self, string: str) -> Iterator[Match]:
        return self.backtracking.finditer(string) if self.program is None else self.program.each(string)

    def findall(self, string: str) -> list[Any]:
        if self.program is None:
            return self.backtracking.findall(string)
        return [_listed(each) for each in self.finditer(string)]

    def split(self, string: str, maxsplit: int = 0) -> list[str | Any]:
        if self.program is None:
            return self.backtracking.split(string, maxsplit)
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
        if self.program is None:
            return self.backtracking.subn(repl, string, count)
        parts: list[str] = []
        done = number = 0
        for number, each in enumerate(self.finditer(string), 1):
            parts += [string[done : each.start()], repl(each) if callable(repl) else _expanded(repl, each)]
            done = each.end()
            if number == count:
                break
        return "".join((*parts, string[done:])), number


class _Spans(Protocol):
    """What RE2 gives back."""

    lastindex: int | None

    def span(self, group: int = 0, /) -> tuple[int, int]: ...


class _Program:
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
        self.translation = translation
        self._table = translation.table
        self._known = len(ALPHABET.characters)

    def first(self, how: str, text: str, pos: int) -> Match | None:
        found: _Spans | None = getattr(self._compiled, how)(self._read(text), pos)
        return None if found is None else _Found(text, found, self.translation)

    def each(self, text: str) -> Iterator[Match]:
        data, at = self._read(text), 0
        while at <= len(data):
            found: _Spans | None = self._compiled.search(data, at)
            if found is None:
                return
            yield _Found(text, found, self.translation)
            start, end = found.span()
            at = end + 1 if start == end else end

    def _read(self, text: str) -> bytes:
        if self._known < len(ALPHABET.characters):
            self._learn()
        data = (text.encode("ascii") if text.isascii() else _coded(text)).translate(self._table)
        return data[:-1] + b"\n" if self.translation.last_newline_only and text[-1:] == "\n" else data

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

    def __init__(self, string: str, found: _Spans, shape: Translation) -> None:
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
