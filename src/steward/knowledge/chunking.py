"""Cuts a document's blocks into chunks that can be embedded, found and cited on their own.

Owns the sizes and where a cut may fall: never across headers or kinds, at a sentence, a row or a line where
there is one. A table's header row is repeated in each of its chunks, so that a row keeps its meaning.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import assert_never

from steward.contract import linear_re as re
from steward.knowledge.model import Block, Chunk, ContentType

TARGET = 1_200  # characters; about the 256 word pieces that the embedder reads
LARGEST = 1_600
_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|\n{2,}")
_LINE = re.compile(r"(?<=\n)")


def chunks(blocks: Iterable[Block]) -> Iterator[Chunk]:
    """In reading order, numbered from 0."""
    for sequence, block in enumerate(_merged(piece for whole in blocks for piece in _split(whole))):
        yield Chunk(
            sequence=sequence,
            text=block.text,
            kind=block.kind,
            header_path=" > ".join(block.headers),
            start=block.start,
            end=block.start + len(block.text),
            page=block.page,
        )


def _merged(pieces: Iterable[Block]) -> Iterator[Block]:
    """Short pieces under one header are read together."""
    held: Block | None = None
    for piece in pieces:
        if held is not None and _joins(held, piece):
            gap = max(piece.start - held.start - len(held.text), 1)
            held = replace(held, text=held.text + ("\n" * min(gap, 2)) + piece.text)
            continue
        if held is not None:
            yield held
        held = piece
    if held is not None:
        yield held


def _joins(held: Block, piece: Block) -> bool:
    return (
        held.kind is piece.kind is ContentType.PROSE
        and held.headers == piece.headers
        and held.page == piece.page
        and len(held.text) + len(piece.text) < TARGET
    )


def _split(block: Block) -> Iterator[Block]:
    stripped = block.text.strip("\n") if block.kind is ContentType.CODE else block.text.strip()
    if not stripped.strip():
        return
    block = replace(block, text=stripped, start=block.start + block.text.index(stripped))
    if len(block.text) <= LARGEST:
        yield block
        return
    match block.kind:
        case ContentType.TABLE:
            yield from _split_table(block)
        case ContentType.CODE:
            yield from _packed(block, _LINE)
        case ContentType.PROSE:
            yield from _packed(block, _SENTENCE)
        case _:
            assert_never(block.kind)


def _packed(block: Block, separator: re.Pattern) -> Iterator[Block]:
    """Whole units put together up to the target; a unit larger than a chunk is cut where it must be."""
    start = 0
    for end in _ends(block.text, separator):
        while end - start > LARGEST:
            cut = _word_end(block.text, start, start + TARGET)
            yield _part(block, start, cut)
            start = cut
        if end - start >= TARGET:
            yield _part(block, start, end)
            start = end
    if block.text[start:].strip():
        yield _part(block, start, len(block.text))


def _ends(text: str, separator: re.Pattern) -> Iterator[int]:
    yield from (match.end() for match in separator.finditer(text))
    yield len(text)


def _word_end(text: str, start: int, limit: int) -> int:
    space = text.rfind(" ", start + 1, limit)
    return space + 1 if space > start else limit


def _part(block: Block, start: int, end: int) -> Block:
    text = block.text[start:end]
    kept = text.rstrip() if block.kind is ContentType.CODE else text.strip()
    lead = text.index(kept[:1]) if kept else 0
    return replace(block, text=kept, start=block.start + start + lead)


def _split_table(block: Block) -> Iterator[Block]:
    lines = block.text.split("\n")
    ruled = len(lines) > 1 and re.fullmatch(r"[|\s:-]+", lines[1]) is not None
    head = lines[: 2 if ruled else 1]
    if sum(map(len, head)) > TARGET // 2:
        yield from _packed(block, _LINE)
        return
    offset = sum(len(line) + 1 for line in head)
    rows: list[str] = []
    first = offset
    for line in lines[len(head) :]:
        if rows and sum(map(len, rows)) + len(line) > TARGET:
            yield _table_part(block, head, rows, first)
            rows, first = [], offset
        rows.append(line[:LARGEST])
        offset += len(line) + 1
    if rows:
        yield _table_part(block, head, rows, first)


def _table_part(block: Block, head: Sequence[str], rows: Sequence[str], first: int) -> Block:
    return replace(block, text="\n".join([*head, *rows]), start=block.start + first)
