"""Plain text, code and CSV to blocks."""

import csv
import io
from collections.abc import Iterator

from steward.contract import linear_re as re
from steward.knowledge.model import Block, ContentType

_PARAGRAPH = re.compile(r"\n[ \t]*\n+")
# A definition that starts a line names the code below it, in most languages.
_DEFINITION = re.compile(
    r"^(?:export\s+|public\s+|private\s+|protected\s+|static\s+|async\s+|abstract\s+|pub(?:\([a-z]+\))?\s+)*"
    r"(?:def|class|function|func|fn|interface|struct|enum|trait|impl|type|module|namespace)\s+([\w.]+)",
    re.MULTILINE,
)
_HEADING = re.compile(r"\A(?:\d+(?:\.\d+)*\.?\s+)?[A-Z\d][^.!?;:]{1,78}")
_TABLE_CELL = 400


def text_blocks(text: str) -> Iterator[Block]:
    start = 0
    for match in _PARAGRAPH.finditer(text):
        yield Block(text=text[start : match.start()], start=start)
        start = match.end()
    yield Block(text=text[start:], start=start)


def code_blocks(text: str) -> Iterator[Block]:
    """A block a definition, named by it."""
    starts = [(0, "")] + [(match.start(), match[1]) for match in _DEFINITION.finditer(text)]
    ends = [start for start, _ in starts[1:]] + [len(text)]
    for (start, name), end in zip(starts, ends, strict=True):
        yield Block(text=text[start:end], kind=ContentType.CODE, headers=(name,) if name else (), start=start)


def table_blocks(text: str) -> Iterator[Block]:
    """A CSV file as one table, in the form Markdown uses."""
    try:
        dialect = csv.Sniffer().sniff(text[:10_000], delimiters=",;\t|")
    except csv.Error:
        dialect = csv.excel
    lines: list[str] = []
    for row in csv.reader(io.StringIO(text), dialect):
        if not any(row):
            continue
        cells = [re.sub(r"\s+", " ", cell).replace("|", "/").strip()[:_TABLE_CELL] for cell in row]
        lines.append("| " + " | ".join(cells) + " |")
        if len(lines) == 1:
            lines.append("|" + " --- |" * len(cells))
    yield Block(text="\n".join(lines), kind=ContentType.TABLE)


def page_blocks(text: str, *, page: int, start: int, headers: tuple[str, ...]) -> Iterator[Block]:
    """A page without structure: a short line in title case above longer text is taken for a heading."""
    lines = text.split("\n")
    held: list[str] = []
    held_start = offset = start
    for line, following in zip(lines, _following(lines), strict=True):
        heading = line.strip()
        if (
            _HEADING.fullmatch(heading)
            and len(heading.split()) <= 10
            and len(following.strip()) > len(heading)
            and (not held or not held[-1].strip() or held[-1].rstrip()[-1:] in ".!?:")
        ):
            if held:
                yield Block(text="\n".join(held), headers=headers, page=page, start=held_start)
            headers, held, held_start = (heading,), [], offset + len(line) + 1
        else:
            held.append(line)
        offset += len(line) + 1
    yield Block(text="\n".join(held), headers=headers, page=page, start=held_start)


def _following(lines: list[str]) -> list[str]:
    """For each line the next one with something on it."""
    found: list[str] = []
    later = ""
    for line in reversed(lines):
        found.append(later)
        later = line if line.strip() else later
    return found[::-1]
