from steward.knowledge.chunking import LARGEST, chunks
from steward.knowledge.model import Block, Chunk, ContentType


def test_short_paragraphs_under_one_header_are_read_together() -> None:
    text = "One.\n\nTwo."
    blocks = [Block(text="One.", headers=("A",), start=0), Block(text="Two.", headers=("A",), start=6)]
    assert list(chunks(blocks)) == [
        Chunk(sequence=0, text=text, kind=ContentType.PROSE, header_path="A", start=0, end=len(text))
    ]


def test_headers_kinds_and_pages_keep_chunks_apart() -> None:
    blocks = [
        Block(text="a", headers=("A",)),
        Block(text="b", headers=("A", "B")),
        Block(text="c", headers=("A", "B"), kind=ContentType.CODE),
        Block(text="d", headers=("A", "B"), page=2),
    ]
    found = list(chunks(blocks))
    assert [(c.text, c.header_path, c.page) for c in found] == [
        ("a", "A", None),
        ("b", "A > B", None),
        ("c", "A > B", None),
        ("d", "A > B", 2),
    ]
    assert [c.sequence for c in found] == [0, 1, 2, 3]


def test_a_long_text_is_cut_at_sentences_and_nothing_is_lost() -> None:
    text = " ".join(f"Sentence number {n} says something about the weather." for n in range(200))
    found = list(chunks([Block(text=text, start=10)]))
    assert len(found) > 3
    assert all(len(chunk.text) <= LARGEST and chunk.text.endswith(".") for chunk in found)
    assert all(text[chunk.start - 10 : chunk.end - 10] == chunk.text for chunk in found)
    assert " ".join(chunk.text for chunk in found) == text


def test_a_single_endless_word_is_cut_too() -> None:
    found = list(chunks([Block(text="x" * 100_000)]))
    assert max(len(chunk.text) for chunk in found) <= LARGEST
    assert "".join(chunk.text for chunk in found) == "x" * 100_000


def test_each_piece_of_a_long_table_repeats_its_header() -> None:
    rows = "\n".join(f"| row {n} | value {n} |" for n in range(300))
    found = list(chunks([Block(text=f"| Name | Value |\n| --- | --- |\n{rows}", kind=ContentType.TABLE)]))
    assert len(found) > 2
    assert all(chunk.text.startswith("| Name | Value |\n| --- | --- |\n") for chunk in found)
    assert sum(chunk.text.count("| row ") for chunk in found) == 300


def test_long_code_is_cut_between_lines() -> None:
    code = "\n".join(f"    call_number_{n}()" for n in range(300))
    found = list(chunks([Block(text=code, kind=ContentType.CODE)]))
    assert len(found) > 2
    assert all(line.strip().startswith("call_number_") for c in found for line in c.text.split("\n"))


def test_empty_blocks_make_no_chunks() -> None:
    assert list(chunks([Block(text=" \n "), Block(text="")])) == []
