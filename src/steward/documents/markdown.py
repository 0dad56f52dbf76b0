"""Markdown to blocks: headers become the path, fences code, pipes tables, the rest prose."""

from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

from steward.contract import linear_re as re
from steward.knowledge.model import Block, ContentType

_parser = MarkdownIt("commonmark").enable("table")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n(?:---|\.\.\.)\n", re.DOTALL)
_KINDS = {
    "fence": ContentType.CODE,
    "code_block": ContentType.CODE,
    "table_open": ContentType.TABLE,
}


def markdown_blocks(text: str, *, page: int | None = None) -> Iterator[Block]:
    front = _FRONT_MATTER.match(text)
    skipped = front.end() if front else 0
    body = text[skipped:]
    starts = [0]
    for line in body.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    headers: list[tuple[int, str]] = []
    tokens = _parser.parse(body)
    for index, token in enumerate(tokens):
        if token.level or token.map is None:
            continue
        if token.type == "heading_open":
            level = int(token.tag[1:])
            headers = [header for header in headers if header[0] < level]
            headers.append((level, _plain(tokens[index + 1])))
            continue
        first, last = starts[token.map[0]], starts[min(token.map[1], len(starts) - 1)]
        yield Block(
            text=body[first:last],
            kind=_KINDS.get(token.type, ContentType.PROSE),
            headers=tuple(name for _, name in headers if name),
            page=page,
            start=skipped + first,
        )


def first_heading(text: str) -> str | None:
    tokens = _parser.parse(_FRONT_MATTER.sub("", text[:20_000]))
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            return _plain(tokens[index + 1]) or None
    return None


def _plain(inline: Token) -> str:
    return "".join(child.content for child in inline.children or () if child.content).strip()
