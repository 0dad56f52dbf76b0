"""Text as it can be quoted: sentences without markup, table rows and lines of code, each as it stands.

Words are never changed: a quote must be what the source says. Headings are left out, they say nothing.
"""

from collections.abc import Iterator, Sequence

from steward.contract import linear_re as re

SHORTEST, LONGEST = 15, 600  # characters of what is worth quoting
_WRAPPED = 60  # characters from which a line was rather wrapped than ended
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_RULE = re.compile(r"^\s*\|?\s*:?-{3,}:?\s*(?:\|\s*:?-{3,}:?\s*)*\|?\s*$")
_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_QUOTED_LINE = re.compile(r"^\s*>+\s?")
_SENTENCE = re.compile(r"(?<=[.!?])[\"'”\u2019)\]]*\s+(?=[\"'“\u2018(\[]?[A-Z0-9])")
_CODE_SPAN = re.compile(r"```(.+?)```|``(.+?)``|`(.+?)`")
_HOLE = "\ue000"  # of no alphabet: where code was set aside
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_ROW = re.compile(r"^\S{1,12}: \S")  # a code and what it means needs few letters
_WORD = re.compile(r"[^\W\d_][\w'\u2019-]*")
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3}|_{1,3})(?=\S)(.{1,300}?)(?<=\S)\1(?![\w*])")


def sentences(text: str) -> list[str]:
    """What can be quoted of a text, in its order, without what is too short to say anything."""
    pieces = [" ".join(piece.split()).strip(" -•") for piece in _pieces(text.split("\n"))]
    return [
        piece for piece in pieces if (len(piece) >= SHORTEST or _ROW.match(piece)) and len(piece) <= LONGEST
    ]


def _pieces(lines: Sequence[str]) -> Iterator[str]:
    in_code = False
    block: list[str] = []
    for at, raw in enumerate(lines):
        line = _QUOTED_LINE.sub("", raw)
        fence = _FENCE.match(line) is not None
        if fence or in_code or not line.strip() or _stands_alone(line):
            yield from _split(block)
            block = []
        if fence:
            in_code = not in_code
        elif in_code:
            yield line
        elif line.lstrip().startswith("|"):
            yield _row(line, heads=at + 1 < len(lines) and _RULE.match(lines[at + 1]) is not None)
        elif not _stands_alone(line) and line.strip():
            if block and not _goes_on(block[-1], line):
                yield from _split(block)
                block = []
            block.append(line)
    yield from _split(block)


def _stands_alone(line: str) -> bool:
    return line.lstrip().startswith(("#", "|")) or _RULE.match(line) is not None


def _goes_on(before: str, line: str) -> bool:
    """Whether a line is the rest of the one before, which was only wrapped."""
    if _ITEM.match(line):
        return False
    return len(before) >= _WRAPPED or line.lstrip()[:1].islower()


def _row(line: str, *, heads: bool) -> str:
    """A row of a table: what its first cell names, and what the others say of it."""
    if heads or _RULE.match(line):
        return ""
    first, *others = [_plain(cell.strip()) for cell in line.strip().strip("|").split("|")]
    said = "; ".join(other for other in others if other)
    return f"{first}: {said}" if first and said else first or said


def _split(block: Sequence[str]) -> Iterator[str]:
    if block:
        first = _ITEM.sub("", block[0])
        yield from _SENTENCE.split(_plain(" ".join((first, *(line.strip() for line in block[1:])))))


def _plain(text: str) -> str:
    """Without markup; what is marked as code stays as it is, underscores and all."""
    code: list[str] = []

    def set_aside(found: re.Match) -> str:
        code.append(next(filter(None, found.groups())))
        return _HOLE

    left = _LINK.sub(lambda found: found[1], _CODE_SPAN.sub(set_aside, text.replace(_HOLE, "")))
    left = _EMPHASIS.sub(lambda found: found[2], left)
    first, *others = left.split(_HOLE)
    return first + "".join(span + rest for span, rest in zip(code, others, strict=False))


def agreed_name(question: str, texts: Sequence[str]) -> str | None:
    """The one name that all of several texts have and the question has not: what they agree on.

    As it stands in the first of them: "Paris", "Ingrid Solheim". None where they name several things.
    """
    if len(texts) < 2:
        return None
    known = {word.casefold() for word in _words(question)}
    shared = set(_words(texts[0])).intersection(*map(_words, texts[1:]))
    # Every sentence begins with a capital letter; a name has one inside a sentence too.
    inside = {word for text in texts for word in _words(text)[1:]}
    names = {word for word in shared & inside if word[:1].isupper() and word.casefold() not in known}
    words = _words(texts[0])
    first = next((at for at, word in enumerate(words) if word in names), len(words))
    run = words[first : first + len(names)]
    return " ".join(run) if names and set(run) == names and " ".join(run) in texts[0] else None


def _words(text: str) -> list[str]:
    return [found.group() for found in _WORD.finditer(text)]
