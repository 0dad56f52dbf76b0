"""Answers taken apart: sentences, clauses, quotes. What is quoted is not said by the one who quotes it."""

import unicodedata
from dataclasses import dataclass

from steward.contract import linear_re as re

_QUOTED = re.compile(
    r"\"([^\"\n]{1,600})\"|\u201c([^\u201d\n]{1,600})\u201d|\u2018([^\u2019\n]{1,600})\u2019\B|\B'([^\n]{1,600}?)'\B|`([^`\n]{1,600})`"
)
_BOLD = re.compile(r"(?<!\*)\*\*([^*\n]{1,600})\*\*|(?<!\w)__([^_\n]{1,600})__|~~([^~\n]{1,600})~~")
_ITEM = re.compile(r"^\s*(?:\d{1,3}[.):]|[-*\u2022\u2013\u25aa\u25e6+|](?!\*)|\[[ xX✓]?\]|[☐☑✅✔✓❌🔲])+\s*")
_BREAK = re.compile(
    r"(?<=[.!?\u2026])[\"'\u201d\u2019)]{0,9}\s{1,99}|\s{0,99}[;\n]{1,99}\s{0,99}"
    r"|\s{1,99}[\u2014\u2013-]{1,2}\s{1,99}"
)
_CLAUSE = re.compile(
    r"\s*,\s*(?:and\s+|but\s+|so\s+|then\s+)?|\s*:\s+|\s+(?:and|but|so|then|while|because|though|although|however)\s+"
    r"|\s*\(\s*|\s*\)\s*",
    re.IGNORECASE,
)
_SPACED = re.compile(r"\b(?:[A-Za-z][ .*_-]){2,}[A-Za-z]\b")
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")
HOLE = "\u25a1"  # stands where a quote was


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence or line. `plain` is it in lower case, with a hole where something is quoted."""

    text: str
    plain: str
    quotes: tuple[str, ...]
    item: bool  # stands in a list
    heading: bool  # stands alone above one
    question: bool

    @property
    def clauses(self) -> list[str]:
        return [piece for piece in _CLAUSE.split(self.plain) if piece.strip(" .!?\"'")]

    @property
    def words(self) -> list[str]:
        return words_of(self.plain)


def words_of(text: str) -> list[str]:
    return [word.lower().replace("\u2019", "'") for word in _WORD.findall(text)]


def sentences(text: str, *, names: tuple[str, ...] = ()) -> list[Sentence]:
    """The sentences of a text. `names` are titles of things, which are quotes wherever they stand."""
    lines = [line for line in _readable(text).split("\n") if line.strip()]
    found: list[Sentence] = []
    for place, line in enumerate(lines):
        item = _ITEM.match(line)
        leads = item is None and place + 1 < len(lines) and _ITEM.match(lines[place + 1]) is not None
        rest = line[item.end() :] if item else line
        rest = _BOLD.sub(lambda bold: next(part for part in bold.groups() if part), rest)
        holes: list[str] = []
        masked = _masked(rest, names, holes)
        pieces = [masked] if item else [piece for piece in _BREAK.split(masked) if piece.strip()]
        found += [
            _sentence(piece.strip(), holes, item=item is not None, heading=leads and len(pieces) == 1)
            for piece in pieces
        ]
    return found


def _readable(text: str) -> str:
    """Look-alike letters as plain ones, and l e t t e r s set apart as a word."""
    plain = unicodedata.normalize("NFKC", text).replace("\r", "\n")
    return _SPACED.sub(lambda found: re.sub(r"[ .*_-]", "", found.group()), plain)


def _masked(text: str, names: tuple[str, ...], holes: list[str]) -> str:
    """The text with every quote and every name replaced by a mark that says which one it was."""

    def hide(found: re.Match) -> str:
        quoted = next((part for part in found.groups() if part), found.group())
        holes.append(quoted)
        return f"{HOLE}{len(holes) - 1}{HOLE}"

    hidden = _QUOTED.sub(hide, text)
    for name in sorted({each for each in names if len(each) > 2}, key=len, reverse=True):
        hidden = re.sub(rf"(?<![\w{HOLE}]){re.escape(name)}(?![\w{HOLE}])", hide, hidden, flags=re.IGNORECASE)
    return hidden


def _sentence(piece: str, holes: list[str], *, item: bool, heading: bool) -> Sentence:
    marks = re.compile(rf"{HOLE}(\d+){HOLE}")
    quotes = tuple(holes[int(found[1])] for found in marks.finditer(piece))
    text = marks.sub(lambda found: f"'{holes[int(found[1])]}'", piece)
    plain = marks.sub(HOLE, piece).lower().replace("\u2019", "'")
    if not words_of(plain) and quotes:  # nothing but a quote: then it is what is said
        plain = " ".join(quotes).lower().replace("\u2019", "'")
    return Sentence(text, plain, quotes, item, heading, piece.rstrip(" \"'\u201d\u2019)*").endswith("?"))
