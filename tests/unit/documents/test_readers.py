from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.papers import docx_bytes, pdf_bytes

from steward.documents.pool import DocumentReaders
from steward.documents.readers import FileReading, read_file
from steward.knowledge.model import ContentType, DocumentError

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def save(name: str, content: str | bytes) -> Path:
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    return save


def outline(reading: FileReading) -> list[tuple[ContentType, tuple[str, ...], str]]:
    return [(b.kind, b.headers, b.text.strip()) for b in reading.blocks if b.text.strip()]


def test_markdown_keeps_headers_code_and_tables(write: Write) -> None:
    text = "---\na: b\n---\n# Top\n\nHi *you*.\n\n## Sub `x`\n\n```py\nrun()\n```\n\n| a |\n|---|\n| 1 |\n"
    reading = read_file(write("a.md", text))
    assert reading.title == "Top"
    assert outline(reading) == [
        (ContentType.PROSE, ("Top",), "Hi *you*."),
        (ContentType.CODE, ("Top", "Sub x"), "```py\nrun()\n```"),
        (ContentType.TABLE, ("Top", "Sub x"), "| a |\n|---|\n| 1 |"),
    ]
    assert all(text[b.start :].startswith(b.text) for b in reading.blocks)


def test_code_is_named_by_its_definitions(write: Write) -> None:
    reading = read_file(write("a.py", "import os\n\ndef first():\n    pass\n\nclass Second:\n    x = 1\n"))
    assert [(b.kind, b.headers) for b in reading.blocks] == [
        (ContentType.CODE, ()),
        (ContentType.CODE, ("first",)),
        (ContentType.CODE, ("Second",)),
    ]


def test_csv_becomes_a_table(write: Write) -> None:
    reading = read_file(write("a.csv", 'name;note\nAna;"likes | tea"\n\n'))
    assert outline(reading) == [
        (ContentType.TABLE, (), "| name | note |\n| --- | --- |\n| Ana | likes / tea |")
    ]


def test_html_loses_scripts_and_keeps_structure(write: Write) -> None:
    body = "<h1>Bread</h1><h2>Oven</h2><p>Bake at 230.</p><script>alert(1)</script>"
    page = f"<html><head><title>Bread</title></head><body>{body}</body></html>"
    reading = read_file(write("a.html", page))
    assert reading.title == "Bread"
    assert outline(reading) == [(ContentType.PROSE, ("Bread", "Oven"), "Bake at 230.")]


def test_pdf_keeps_pages_and_finds_headings(write: Write) -> None:
    pages = [["Wind Turbines", "A turbine turns wind into power."], ["Gearboxes fail after seven years."]]
    reading = read_file(write("a.pdf", pdf_bytes(pages)))
    assert [(b.page, b.headers, b.text.strip()) for b in reading.blocks if b.text.strip()] == [
        (1, ("Wind Turbines",), "A turbine turns wind into power."),
        (2, ("Wind Turbines",), "Gearboxes fail after seven years."),
    ]


def test_docx_keeps_headings_and_tables(write: Write) -> None:
    reading = read_file(write("a.docx", docx_bytes()))
    assert outline(reading) == [
        (ContentType.PROSE, ("Swarms",), "A swarm leaves with the old queen in May."),
        (ContentType.TABLE, ("Swarms",), "| Month | Task |\n| --- | --- |\n| May | Swarm control |"),
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", b"\x00\x01\x02binary"),
        ("a.md", bytes(range(128, 256)) * 50),
        ("a.pdf", b"not a pdf"),
        ("a.docx", b"PK\x03\x04 broken"),
    ],
)
def test_what_is_not_what_its_name_says_is_refused(write: Write, name: str, content: bytes) -> None:
    with pytest.raises(DocumentError) as refused:
        read_file(write(name, content))
    assert refused.value.code == "KB_DOCUMENT"
    assert refused.value.fix


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("grüße".encode("utf-16"), "grüße"),
        ("grüße".encode("cp1252"), "grüße"),
        (b"\xef\xbb\xbfhi\r\nyou", "hi\nyou"),
    ],
)
def test_common_encodings_are_understood(write: Write, content: bytes, expected: str) -> None:
    assert "".join(b.text for b in read_file(write("a.txt", content)).blocks) == expected


async def test_reader_processes_answer_and_survive_bad_files(write: Write) -> None:
    async with DocumentReaders(workers=1) as readers:
        good, bad = write("a.md", "# Top\n\nHello."), write("b.pdf", b"no")
        first = await readers.read(good)
        with pytest.raises(DocumentError):
            await readers.read(bad)
        assert await readers.read(good) == first
        assert [block.text.strip() for block in first.blocks] == ["Hello."]


async def test_a_reader_that_takes_too_long_is_ended_and_replaced(write: Write) -> None:
    file = write("a.md", "# Top\n\nHello.")
    async with DocumentReaders(workers=1, deadline=0.001) as readers:
        with pytest.raises(DocumentError) as late:
            await readers.read(file)
        assert "within" in late.value.message
        readers._deadline = 60
        assert (await readers.read(file)).title == "Top"
