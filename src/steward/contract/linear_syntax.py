r"""How a pattern in `re`'s language is put to RE2, with the same meaning for every text.

RE2 knows only ASCII words, has another `$`, and counts bytes. So pattern and text are both written in a small
alphabet: one byte for each character. Characters that no part of the pattern tells apart share a byte, and
letters get bytes that RE2 takes for letters, so `\b` means what it means in `re`.

Owns the alphabet and the translation. Does not own matching (`linear_re`). A pattern is read by `re`'s own
parser, so that its author needs to know one language only.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from re import _parser as parser  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]
from typing import Any, cast

_MAX_REPEAT = 1000  # RE2's own limit
_MAX_RANGE = 64
_MAX_CODES = 255
_NEWLINE = 10
_INNER_NEWLINE = 255  # `$` stands before the last newline only: the others get this byte
_GENERAL = ("\u05d0", "\u0663", "\u2003", "\u2603")  # a letter, a digit, a space, anything else
_FOLDED = ("\u017f", "\u212a", "\u0130", "\u0131")  # without case these are s, k and i
_WORD_BYTES = b"_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SUPPORTED = re.UNICODE | re.IGNORECASE | re.DOTALL | re.MULTILINE | re.VERBOSE
_CATEGORIES = {
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_NOT_DIGIT": r"\D",
    "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w",
    "CATEGORY_NOT_WORD": r"\W",
}
_SETS = frozenset({"LITERAL", "NOT_LITERAL", "ANY", "IN"})
_PLACES = {
    "AT_BEGINNING_STRING": r"\A",
    "AT_END_STRING": r"\z",
    "AT_BOUNDARY": r"\b",
    "AT_NON_BOUNDARY": r"\B",
}


class NotLinear(Exception):  # noqa: N818 - an answer, caught by `linear_re`, not an error
    """RE2 cannot express this pattern."""


class Alphabet(dict[int, int]):
    """Which code stands for a character; `str.translate` asks it.

    Characters that a pattern names get a code of their own. The others share four.
    """

    def __init__(self) -> None:
        super().__init__((code, code) for code in range(128))
        self.characters = [chr(code) for code in range(128)]
        self.add((*_GENERAL, *_FOLDED))

    def __missing__(self, codepoint: int) -> int:
        return general_code(chr(codepoint))

    def add(self, characters: Iterable[str]) -> None:
        new = [each for each in dict.fromkeys(characters) if ord(each) not in self]
        if len(self.characters) + len(new) > _MAX_CODES:
            raise NotLinear
        for character in new:
            self[ord(character)] = len(self.characters)
            self.characters.append(character)


def general_code(character: str) -> int:
    """The code that a character shares with all others of its kind."""
    if character.isalnum():
        return 129 if character.isdecimal() else 128
    return 130 if character.isspace() else 131


ALPHABET = Alphabet()


@dataclass(frozen=True)
class Atom:
    """A set of characters, written as `re` writes it."""

    source: str
    flags: int


@dataclass(frozen=True, slots=True)
class PatternGroups:
    """The groups of a pattern."""

    names: Mapping[str, int]
    groups: int


@dataclass(frozen=True)
class Translation:
    """A pattern for RE2 in Latin-1, and which byte each code becomes."""

    pattern: str
    table: bytes
    last_newline_only: bool
    shape: PatternGroups


def translate(pattern: str, flags: int) -> Translation:
    """Raises `NotLinear` where RE2 has no such thing: lookaround, references, possessive repeats."""
    tree = cast("Any", parser).parse(pattern, flags)
    flags = tree.state.flags
    if flags & ~_SUPPORTED:
        raise NotLinear
    pieces = _sequence(tree, flags)
    atoms = list(dict.fromkeys(piece for piece in pieces if isinstance(piece, Atom)))
    table = _table(atoms, boundaries=r"\b" in pieces or r"\B" in pieces)
    written = {atom: _bytes_class(atom, table) for atom in atoms}
    last_only = not flags & re.MULTILINE
    if last_only:
        table = table[:_NEWLINE] + bytes([_INNER_NEWLINE]) + table[_NEWLINE + 1 :]
    return Translation(
        pattern="".join(written[piece] if isinstance(piece, Atom) else piece for piece in pieces),
        table=table,
        last_newline_only=last_only,
        shape=PatternGroups(names=dict(tree.state.groupdict), groups=tree.state.groups - 1),
    )


def plain(pattern: str, flags: int) -> bool:
    """Whether `re` runs it in linear time as well: what repeats without end is one set, and stands last.

    Where the pattern starts at the text's beginning, a set that repeats for good (`*+`) may stand anywhere.
    """
    tree = list(cast("Any", parser).parse(pattern, flags))
    if tree and str(tree[0][1]) == "AT_BEGINNING_STRING":
        tree = [each for each in tree if str(each[0]) != "POSSESSIVE_REPEAT" or not _of_one_set(each[1])]
    return _plain(tree)


def _of_one_set(repeat: Any) -> bool:
    return len(repeat[2]) == 1 and str(repeat[2][0][0]) in _SETS


def _plain(tree: list[Any]) -> bool:
    for place, (operation, argument) in enumerate(tree):
        last = place == len(tree) - 1
        match str(operation):
            case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN" | "AT":
                continue
            case "SUBPATTERN" if last and _plain(list(argument[3])):
                continue
            case "BRANCH" if last and all(_plain(list(branch)) for branch in argument[1]):
                continue
            case "MAX_REPEAT" if _of_one_set(argument):
                if not last and int(argument[1]) > 1:
                    return False
            case _:
                return False
    return True


def _table(atoms: Sequence[Atom], *, boundaries: bool) -> bytes:
    """A byte for each code: the same for those that every set treats alike."""
    count = len(ALPHABET.characters)
    members = [_codes(atom, count) for atom in atoms]
    alike: dict[tuple[object, ...], int] = {}
    table = bytearray(range(256))
    spare: list[int] | None = None
    for code, character in enumerate(ALPHABET.characters):
        word = character.isalnum() or character == "_"
        kind = (word, code == _NEWLINE, *(code in each for each in members))
        if kind not in alike:
            if code >= 128 and word and boundaries:
                spare = spare if spare is not None else [b for b in _WORD_BYTES if b not in alike.values()]
                if not spare:
                    raise NotLinear
                alike[kind] = spare.pop()
            else:
                alike[kind] = code
        table[code] = alike[kind]
    return bytes(table)


@lru_cache(4096)
def _codes(atom: Atom, count: int) -> frozenset[int]:
    matches = re.compile(atom.source, atom.flags).match
    return frozenset(code for code in range(count) if matches(ALPHABET.characters[code]))


def _bytes_class(atom: Atom, table: bytes) -> str:
    codes = _codes(atom, len(ALPHABET.characters))
    members = {table[code] for code in codes} | ({_INNER_NEWLINE} if _NEWLINE in codes else set[int]())
    if not members:
        return r"[^\x00-\xff]"
    return "[" + "".join(f"\\x{member:02x}" for member in sorted(members)) + "]"


_Pieces = list[str | Atom]


def _sequence(tree: Any, flags: int) -> _Pieces:
    pieces: _Pieces = []
    for operation, argument in tree:
        pieces += _written(str(operation), argument, flags)
    return pieces


def _written(operation: str, argument: Any, flags: int) -> _Pieces:
    match operation:
        case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
            return [_atom(operation, argument, flags)]
        case "BRANCH":
            branches = [_sequence(branch, flags) for branch in argument[1]]
            return ["(?:", *[piece for branch in branches for piece in ("|", *branch)][1:], ")"]
        case "SUBPATTERN":
            group, added, removed, inner = argument
            return ["(" if group else "(?:", *_sequence(inner, (flags | added) & ~removed), ")"]
        case "MAX_REPEAT" | "MIN_REPEAT":
            return _repeat(argument, flags, lazy=operation == "MIN_REPEAT")
        case "AT":
            return [_place(str(argument), flags)]
        case _:
            raise NotLinear


def _repeat(argument: Any, flags: int, *, lazy: bool) -> _Pieces:
    least, most, inner = int(argument[0]), int(argument[1]), argument[2]
    unbounded = most == int(cast("Any", parser).MAXREPEAT)
    if max(least, 0 if unbounded else most) > _MAX_REPEAT:
        raise NotLinear
    times = f"{{{least},}}" if unbounded else f"{{{least},{most}}}"
    return ["(?:", *_sequence(inner, flags), ")", times + ("?" if lazy else "")]


def _place(place: str, flags: int) -> str:
    match place:
        case "AT_BEGINNING":
            return "(?m:^)" if flags & re.MULTILINE else r"\A"
        case "AT_END":
            return "(?m:$)"
        case _:
            return _PLACES[place]


def _atom(operation: str, argument: Any, flags: int) -> Atom:
    match operation:
        case "ANY":
            return Atom(r"[\s\S]" if flags & re.DOTALL else r"[^\n]", 0)
        case "LITERAL" | "NOT_LITERAL":
            source, named = _literal(argument), [chr(argument)]
            source = f"[^{source}]" if operation == "NOT_LITERAL" else source
        case _:
            source, named = _set(argument)
    folded = flags & re.IGNORECASE
    cases = [case for each in named for case in (each, each.lower(), each.upper()) if folded or case == each]
    ALPHABET.add(case for case in cases if len(case) == 1)
    return Atom(source, int(folded))


def _set(items: Any) -> tuple[str, list[str]]:
    written, named = "", list[str]()
    for item, value in items:
        match str(item):
            case "NEGATE":
                written += "^"
            case "LITERAL":
                written += _literal(value)
                named.append(chr(value))
            case "RANGE":
                written += f"{_literal(value[0])}-{_literal(value[1])}"
                beyond = range(max(value[0], 128), value[1] + 1)
                if len(beyond) > _MAX_RANGE:
                    raise NotLinear
                named += map(chr, beyond)
            case _:
                written += _CATEGORIES[str(value)]
    return f"[{written}]", named


def _literal(codepoint: int) -> str:
    return f"\\U{codepoint:08x}"
