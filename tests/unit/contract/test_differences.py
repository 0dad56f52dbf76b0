"""Two texts line by line: nothing that differs is left out, and no text makes comparing slow."""

import difflib
import random

import pytest

from steward.contract.differences import MOST, changed_lines

A, B = ["one", "two", "three"], ["one", "2", "three"]


def as_difflib_tells_it(before: list[str], after: list[str], around: int) -> list[str]:
    return list(difflib.unified_diff(before, after, lineterm="", n=around))[2:]


@pytest.mark.parametrize(
    ("before", "after"),
    [(A, B), ([], A), (A, []), (A, A), ([], []), (["x"], ["y"]), (A * 9, B + A * 8)],
)
@pytest.mark.parametrize("around", [0, 1, 3])
def test_short_texts_are_told_as_a_unified_difference(
    before: list[str], after: list[str], around: int
) -> None:
    told = list(changed_lines(before, after, around=around, places=True))
    assert told == as_difflib_tells_it(before, after, around)


def test_a_change_in_the_middle_of_a_long_text_stands_where_it_is() -> None:
    before = [str(number) for number in range(5 * MOST)]
    after = [*before[: 2 * MOST], "new", *before[2 * MOST + 1 :]]
    assert list(changed_lines(before, after, around=1, places=True)) == [
        f"@@ -{2 * MOST},3 +{2 * MOST},3 @@",
        f" {2 * MOST - 1}",
        f"-{2 * MOST}",
        "+new",
        f" {2 * MOST + 1}",
    ]


@pytest.mark.parametrize("around", [0, 2])
def test_what_is_too_much_to_compare_is_told_whole(around: int) -> None:
    some = random.Random(14)
    before = ["same", *(str(some.randrange(50)) for _ in range(MOST + 1)), "end"]
    after = ["same", *(str(some.randrange(50)) for _ in range(MOST + 1)), "end"]
    told = list(changed_lines(before, after, around=around))
    assert [line[1:] for line in told if line[0] in " -"][-len(before) :] == (
        before if around else before[1:-1]
    )
    assert [line[1:] for line in told if line[0] in " +"][-len(after) :] == (after if around else after[1:-1])


def test_a_line_that_looks_like_a_mark_of_a_difference_is_told() -> None:
    assert list(changed_lines(["-- old"], ["++ new"], around=1)) == ["--- old", "+++ new"]
