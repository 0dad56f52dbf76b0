import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.providers.mcp.framing import EndlessLineError, LineFramer, TooLong


def fed(framer: LineFramer, *chunks: bytes) -> list[bytes | TooLong]:
    return [line for chunk in chunks for line in framer.feed(chunk)]


@given(st.lists(st.binary(max_size=20).filter(lambda b: b"\n" not in b and b.strip())), st.data())
def test_lines_come_out_whole_however_they_are_cut(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    chunks = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert fed(LineFramer(64), *chunks) == lines


def test_a_line_that_is_too_long_is_told_once_and_skipped() -> None:
    framer = LineFramer(10)
    assert fed(framer, b"first\n", b"x" * 8, b"y" * 8, b"z" * 8, b"end\nnext\n") == [
        b"first",
        TooLong(b"x" * 8 + b"y" * 8),
        b"next",
    ]
    assert fed(framer, b"x" * 20 + b"\nafter\n") == [TooLong(b"x" * 20), b"after"]


def test_output_without_any_line_end_is_endless() -> None:
    framer = LineFramer(10)
    with pytest.raises(EndlessLineError):
        fed(framer, *[b"x" * 10] * 17)


def test_empty_lines_are_nothing() -> None:
    assert fed(LineFramer(10), b"\n  \n\r\nx\n") == [b"x"]
