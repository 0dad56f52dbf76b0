"""Texts as pieces of MiniLM's vocabulary, with their places in the text.

Does what `tokenizers` does, at a hundredth of its weight (tests/unit/models/test_wordpiece.py holds the two
together). Owns BERT's reading: no capitals and accents, words and punctuation apart, longest pieces first.
"""

import re
import string
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import orjson

UNKNOWN = "[UNK]"
LONGEST_WORD = 100  # characters; a longer one is not known
REMEMBERED = 50_000  # words
_SPECIAL = re.compile(r"\[(?:PAD|UNK|CLS|SEP|MASK)\]")
_PLAIN_WORDS = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")
_KEPT = "\t\n\r"
_DROPPED = dict.fromkeys(code for code in (*range(32), 127) if chr(code) not in _KEPT)
# Chinese and Japanese ideographs: each is a word.
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Pieces:
    """Implements `language.layout.Encoded`."""

    ids: list[int]
    offsets: list[Place]


class WordPieces:
    def __init__(self, vocabulary: dict[str, int]) -> None:
        self._ids = vocabulary
        self._unknown = vocabulary[UNKNOWN]
        self._word = lru_cache(maxsize=REMEMBERED)(self._cut)

    @classmethod
    def from_file(cls, path: Path) -> "WordPieces":
        return cls(orjson.loads(path.read_bytes())["model"]["vocab"])

    def encode(self, text: str) -> Pieces:
        ids: list[int] = []
        offsets: list[Place] = []
        at = 0
        for mark in _SPECIAL.finditer(text):
            self._add(text[at : mark.start()], at, ids, offsets)
            ids.append(self._ids[mark.group()])
            offsets.append(mark.span())
            at = mark.end()
        self._add(text[at:], at, ids, offsets)
        return Pieces(ids, offsets)

    def _add(self, text: str, base: int, ids: list[int], offsets: list[Place]) -> None:
        for word, places in _words(text):
            begin = 0
            for piece, end in self._word(word):
                ids.append(piece)
                offsets.append((base + places[begin][0], base + places[end - 1][1]))
                begin = end

    def _cut(self, word: str) -> tuple[tuple[int, int], ...]:
        """Each piece and where it ends; a word with a part that no piece fits is not known as a whole."""
        if len(word) > LONGEST_WORD:
            return ((self._unknown, len(word)),)
        pieces: list[tuple[int, int]] = []
        begin = 0
        while begin < len(word):
            sign = "##" if begin else ""
            ends = range(len(word), begin, -1)
            end = next((end for end in ends if sign + word[begin:end] in self._ids), None)
            if end is None:
                return ((self._unknown, len(word)),)
            pieces.append((self._ids[sign + word[begin:end]], end))
            begin = end
        return tuple(pieces)


class _Run:
    """The places of characters that stand as they stood: each its own."""

    __slots__ = ("_first",)

    def __init__(self, first: int) -> None:
        self._first = first

    def __getitem__(self, index: int) -> Place:
        return self._first + index, self._first + index + 1


def _words(text: str) -> Iterator[tuple[str, "_Run | list[Place]"]]:
    if text.isascii() and text.translate(_DROPPED) == text:
        for match in _PLAIN_WORDS.finditer(text.lower()):
            yield match.group(), _Run(match.start())
        return
    word: list[str] = []
    places: list[Place] = []
    for character, place, alone in _cleaned(text):
        if (alone or character == " ") and word:
            yield "".join(word), places
            word, places = [], []
        if alone:
            yield character, [place]
        elif character != " ":
            word.append(character)
            places.append(place)
    if word:
        yield "".join(word), places


def _cleaned(text: str) -> Iterator[tuple[str, Place, bool]]:
    """Each character that is left, where it came from, and whether it is a word of its own."""
    for index, character in enumerate(text):
        place = (index, index + 1)
        for found in _small(character):
            yield found, place, found != " " and _alone(found)


@lru_cache(maxsize=REMEMBERED)
def _small(character: str) -> str:
    """What is left of one: nothing of controls and accents, a blank of what is white."""
    if character in _KEPT or unicodedata.category(character) == "Zs" or character in "\u2028\u2029":
        return " "
    if character == "\ufffd" or unicodedata.category(character) in ("Cc", "Cf", "Co", "Cs"):
        return ""
    parts = unicodedata.normalize("NFD", character)
    bare = "".join(part for part in parts if unicodedata.category(part) != "Mn")
    return "".join(part.lower() for part in bare)


@lru_cache(maxsize=REMEMBERED)
def _alone(character: str) -> bool:
    code = ord(character)
    return (
        character in string.punctuation
        or unicodedata.category(character).startswith("P")
        or any(low <= code <= high for low, high in _IDEOGRAPHS)
    )
