"""Lists in pages: at most `limit` items, and a word to ask for those after them.

Owns the two parameters every list takes. How a page is cut belongs to whoever keeps the list.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar

from fastapi import Query

T = TypeVar("T")

MOST = 1_000
Limit = Annotated[int, Query(ge=1, le=MOST, description="How many at most.", examples=[50])]
After = Annotated[str | None, Query(max_length=4_096, description="The previous page's `next`.")]
AfterNumber = Annotated[int | None, Query(ge=0, le=2**53, description="The previous page's `next`.")]


def cut(
    items: Sequence[T], *, limit: int, after: str | None, key: Callable[[T], str]
) -> tuple[Sequence[T], str | None]:
    """A page of a list that is whole in memory, in the order of its keys, and the next page's word."""
    ordered = sorted((item for item in items if after is None or key(item) > after), key=key)
    return overfull(ordered, limit=limit, key=key)


def overfull(items: Sequence[T], *, limit: int, key: Callable[[T], str]) -> tuple[Sequence[T], str | None]:
    """A page of what was asked for with one item too many, which says that there is more."""
    page = items[:limit]
    return page, key(page[-1]) if len(items) > limit else None
