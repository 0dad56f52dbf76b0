"""Two texts, line by line: what goes and what comes, in time that no text can stretch.

Nothing that differs is left out. What stands alike at both ends is not compared; where more than `MOST`
lines are left between, all of them go and all come: comparing takes time that grows faster than their number.
"""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import takewhile

MOST = 1_000  # lines of either text that are compared

_Step = tuple[str, int, int, int, int]  # as difflib tells it: what happens, and where in either text


def changed_lines(
    before: Sequence[str], after: Sequence[str], *, around: int, places: bool = False
) -> Iterator[str]:
    """`-` what goes, `+` what comes, ` ` some lines around; `places` says where each part stands."""
    for group in _groups(before, after, around):
        if places:
            (_, first, _, other, _), (_, _, last, _, end) = group[0], group[-1]
            yield f"@@ -{_place(first, last)} +{_place(other, end)} @@"
        for what, start, stop, new_start, new_stop in group:
            goes = " " if what == "equal" else "-"
            yield from (f"{goes}{line}" for line in before[start:stop])
            if what != "equal":
                yield from (f"+{line}" for line in after[new_start:new_stop])


def _groups(before: Sequence[str], after: Sequence[str], around: int) -> Iterator[Sequence[_Step]]:
    head = _alike(before, after)
    tail = _alike(before[head:][::-1], after[head:][::-1])
    end, new_end = len(before) - tail, len(after) - tail
    start, more = max(0, head - around), min(tail, around)
    if max(end - head, new_end - head) > MOST:
        yield (
            ("equal", start, head, start, head),
            ("replace", head, end, head, new_end),
            ("equal", end, end + more, new_end, new_end + more),
        )
        return
    part, new_part = before[start : end + more], after[start : new_end + more]
    for group in SequenceMatcher(None, part, new_part).get_grouped_opcodes(around):
        yield [(what, a + start, b + start, c + start, d + start) for what, a, b, c, d in group]


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _place(start: int, stop: int) -> str:
    """Lines as they are counted in a unified difference."""
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"
