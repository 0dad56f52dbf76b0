"""Tables that two model files share, and what all model files may weigh together."""

import numpy as np

from steward.models.minilm import DATA
from steward.models.reader import TextsApart
from steward.models.tables import SHARED, with_tables

# A model as protocol buffers: a number, eight fixed bytes, four fixed bytes, then a graph with two tensors.
HEAD = b"\x08\x09" + b"\x11" + bytes(8) + b"\x1d" + bytes(4)
ONE, OTHER = b"\x42\x03one\x4a\x02ab", b"\x42\x05other"
SOURCE = HEAD + b"\x3a" + bytes([len(ONE) + len(OTHER) + 4]) + b"\x2a\x09" + ONE + b"\x2a\x07" + OTHER


def test_a_graph_gets_the_tensors_that_are_named_and_no_others() -> None:
    assert with_tables(b"graph", SOURCE, ["one"]) == b"graph" + b"\x3a\x0b" + b"\x2a\x09" + ONE


def test_a_large_table_is_taken_over_whole() -> None:
    tensor = b"\x42\x05words\x4a\xac\x02" + bytes(300)
    graph = b"\x2a" + b"\xb6\x02" + tensor
    source = b"\x3a" + b"\xb9\x02" + graph
    assert with_tables(b"", source) == source


def test_the_reader_of_tools_reads_with_the_shared_tables() -> None:
    same, other, far = TextsApart().embed(["play a song", "play some music", "book a flight to Oslo"])
    assert np.isclose(np.linalg.norm(same), 1, atol=1e-5)
    assert same @ other > same @ far


def test_the_model_files_stay_small_enough_to_ship() -> None:
    sizes = {path.name: path.stat().st_size / 1e6 for path in DATA.iterdir()}
    assert [name for name, size in sizes.items() if size > 30] == []
    assert sum(sizes.values()) < 62
    assert SHARED[0].encode() + b"\x4a" not in (DATA / "reader.onnx").read_bytes()
