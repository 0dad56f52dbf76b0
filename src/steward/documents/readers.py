"""One file to text and blocks, by its kind.

Owns which kinds there are and how each is read. Runs inside a worker process (see pool.py): a parser that
hangs or dies takes nothing with it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steward.contract import linear_re as re
from steward.contract.extras import missing
from steward.documents.markdown import first_heading, markdown_blocks
from steward.documents.plain import code_blocks, page_blocks, table_blocks, text_blocks
from steward.knowledge.model import TOO_LARGE, Block, DocumentError

MARKDOWN = {".md", ".markdown", ".mdx", ".rst"}
TEXT = {".txt", ".text", ".log", ".org", ".tex", ""}
TABLES = {".csv", ".tsv"}
PAGES = {".html", ".htm", ".xhtml", ".docx", ".pdf"}
_CODE = """
.py .pyi .js .jsx .ts .tsx .java .kt .c .h .cc .cpp .hpp .cs .go .rs .rb .php .swift .scala .sh .bash .sql .r
.jl .lua .pl .css .scss .json .yaml .yml .toml .ini .cfg .xml .proto .graphql .tf
"""
CODE = frozenset(_CODE.split())
READABLE = MARKDOWN | TEXT | TABLES | PAGES | CODE
_MEDIA_TYPES = {
    ".pdf": "application/pdf",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "text/html",
    ".csv": "text/csv",
    ".tsv": "text/csv",
}
LONGEST_TEXT = 20_000_000  # characters, some ten thousand pages
_TITLE_IN_BODY = re.compile(r"\A---\n+## title: .*\n")


@dataclass(frozen=True, slots=True)
class FileReading:
    title: str
    media_type: str
    blocks: list[Block]


def read_file(path: Path) -> FileReading:
    reading = _read(path)
    length = sum(len(block.text) for block in reading.blocks)
    if length > LONGEST_TEXT:
        raise DocumentError(
            f"{path.name} holds {length / 1e6:,.0f} million characters; "
            f"at most {LONGEST_TEXT / 1e6:,.0f} million are read.",
            code=TOO_LARGE,
            fix="Split it into smaller files.",
        )
    return reading


def _read(path: Path) -> FileReading:
    suffix = path.suffix.lower()
    media_type = _MEDIA_TYPES.get(suffix, "text/markdown" if suffix in MARKDOWN else "text/plain")
    if suffix in PAGES:
        title, blocks = _extracted(path, media_type)
        return FileReading(title or path.stem, media_type, [*blocks])
    text = decode(path.read_bytes(), path.name)
    if suffix in MARKDOWN:
        return FileReading(first_heading(text) or path.stem, media_type, [*markdown_blocks(text)])
    if suffix in TABLES:
        return FileReading(path.name, media_type, [*table_blocks(text)])
    if suffix in CODE:
        return FileReading(path.name, media_type, [*code_blocks(text)])
    return FileReading(path.stem, media_type, [*text_blocks(text)])


def decode(data: bytes, name: str) -> str:
    """UTF-8 (or UTF-16 that says so); a file that is no text is refused, not guessed at."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
    elif b"\0" in data[:65_536]:
        raise DocumentError(
            f"{name} is not text.", fix="Ingest text, Markdown, HTML, PDF, DOCX, CSV or source code."
        )
    else:
        encoding = "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        text = data.decode("cp1252", errors="replace")
        strange = sum(not (c.isprintable() or c.isspace()) or c == "\ufffd" for c in text[:65_536])
        if strange > len(text[:65_536]) // 50:
            raise DocumentError(f"{name} is not text.", fix="Save it as UTF-8 and try again.") from None
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")


def _extracted(path: Path, media_type: str) -> tuple[str | None, Iterator[Block]]:
    try:
        import kreuzberg  # noqa: PLC0415 - a third of a second, and text needs none of it
    except ImportError:
        lacking = missing("documents", f"Reading {path.name}")
        raise DocumentError(lacking.message, code=lacking.code, fix=lacking.fix) from None

    paged = media_type == "application/pdf"
    config = kreuzberg.ExtractionConfig(
        output_format="plain" if paged else "markdown",
        use_cache=False,
        pages=kreuzberg.PageConfig(extract_pages=True) if paged else None,
    )
    try:
        result = kreuzberg.extract_file_sync(path, media_type, config)
    except (kreuzberg.KreuzbergError, OSError, RuntimeError, ValueError) as error:
        raise _refused(path.name, str(error)) from error
    metadata: dict[str, Any] = dict(result.metadata)
    title = metadata.get("title") if isinstance(metadata.get("title"), str) else None
    if paged:
        pages: list[Any] = list(result.pages or [])
        blocks = [*_pages(pages)]
        if not any(block.text.strip() for block in blocks):
            raise DocumentError(
                f"{path.name} holds no text: its pages are pictures.", fix="Run OCR on it first."
            )
        return title or (blocks[0].headers or (None,))[0], iter(blocks)
    body = _TITLE_IN_BODY.sub("", result.content)
    return title or first_heading(body), markdown_blocks(body)


def _pages(pages: list[Any]) -> Iterator[Block]:
    offset = 0
    headers: tuple[str, ...] = ()
    for page in pages:
        text = str(page["content"]).replace("\r\n", "\n").replace("\0", "")
        for block in page_blocks(text, page=int(page["page_number"]), start=offset, headers=headers):
            headers = block.headers
            yield block
        offset += len(text) + 1


def _refused(name: str, said: str) -> DocumentError:
    if "password" in said.lower() or "encrypt" in said.lower():
        return DocumentError(f"{name} is encrypted.", fix="Remove its password and ingest it again.")
    return DocumentError(
        f"{name} cannot be read: it is damaged or not what its name says.", fix="Open and save it again."
    )
