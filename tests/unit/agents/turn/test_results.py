"""Trimming results: whatever the data, what is shown fits and the rest can be read."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.agents.turn.results import ResultBounds, ResultShelf, as_text
from steward.contract.call import Done, Failed

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=10), inner, max_size=8),
    max_leaves=60,
)


@given(JSON, st.integers(60, 400))
def test_what_is_shown_fits_and_the_whole_can_be_read(data: Any, limit: int) -> None:
    shelf = ResultShelf(ResultBounds(shown=limit))
    shown = shelf.show(Done(data=data))
    if "trimmed" not in shown:
        assert shown == {"status": "done", "data": data}
        return
    assert len(as_text(shown["data"])) <= 2 * limit + 2  # cut text may need escapes
    text, offset = "", 0
    while offset is not None:
        part = shelf.read(shown["trimmed"]["handle"], offset)
        text += part["data"]
        offset = part.get("next_offset")
    assert text == as_text(data)


def test_an_unknown_outcome_is_said() -> None:
    shown = ResultShelf().show(Failed(error="Lost.", code="X", outcome_unknown=True, data=[1]))
    assert shown == {
        "status": "failed",
        "code": "X",
        "error": "Lost.",
        "retryable": False,
        "outcome_unknown": True,
        "data": [1],
    }


@pytest.mark.parametrize("offset", [-1, "0", True, None])
def test_an_offset_that_is_none_is_refused(offset: Any) -> None:
    shelf = ResultShelf(ResultBounds(shown=60))
    handle = shelf.show(Done(data="x" * 100))["trimmed"]["handle"]
    assert shelf.read(handle, offset)["code"] == "INVALID_ARGUMENTS"
