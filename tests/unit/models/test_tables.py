"""Tables that two model files share, and what all model files may weigh together."""

import re

import numpy as np

from steward.models.minilm import DATA
from steward.models.reader import TextsApart
from steward.models.tables import tables_of, without_tables

# A model as protocol buffers: a number, eight fixed bytes, four fixed bytes, then a graph with two tensors.
HEAD = b"\x08\x09" + b"\x11" + bytes(8) + b"\x1d" + bytes(4)
ONE, OTHER = b"\x42\x03one\x4a\x02ab", b"\x42\x05other"
SOURCE = HEAD + b"\x3a" + bytes([len(ONE) + len(OTHER) + 4]) + b"\x2a\x09" + ONE + b"\x2a\x07" + OTHER


def test_a_graph_is_told_where_a_named_tensor_lies_in_its_file() -> None:
    said = tables_of(SOURCE, "m", ["one"])
    place = re.fullmatch(
        rb"\x3a.\x2a.\x42\x03one"
        rb"\x6a\r\n\x08location\x12\x01m"
        rb"\x6a.\n\x06offset\x12.(\d+)"
        rb"\x6a.\n\x06length\x12.(\d+)\x70\x01",
        said,
        re.DOTALL,
    )
    assert place is not None
    begin, length = map(int, place.groups())
    assert SOURCE[begin : begin + length] == b"ab"


def test_the_rest_of_a_graph_stays_as_it_is_without_a_named_tensor() -> None:
    assert without_tables(SOURCE, ["one"]) == HEAD + b"\x3a\x09" + b"\x2a\x07" + OTHER


def test_a_graph_without_named_tensors_stays_as_it_is() -> None:
    large = b"\x42\x05large\x4a\xac\x02" + bytes(300)
    source = b"\x3a" + b"\xb9\x02" + b"\x2a" + b"\xb6\x02" + large
    assert without_tables(source) == source


def test_the_reader_of_tools_reads_with_the_shared_tables() -> None:
    same, other, far = TextsApart().embed(["play a song", "play some music", "book a flight to Oslo"])
    assert np.isclose(np.linalg.norm(same), 1, atol=1e-5)
    assert same @ other > same @ far


def test_the_model_files_stay_small_enough_to_ship() -> None:
    sizes = {path.name: path.stat().st_size / 1e6 for path in DATA.iterdir()}
    assert [name for name, size in sizes.items() if size > 30] == []
    assert sum(sizes.values()) < 62
    assert b"words\x4a" not in (DATA / "reader.onnx").read_bytes()
