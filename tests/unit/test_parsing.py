"""What the test run itself stands on."""

import ast
import gc
from collections.abc import Iterator

import pytest

PROGRAM = "\n".join(f"x{number} = [a + 1 for a in (1, 2, {number})]" for number in range(40))


class Parsing:
    """Garbage that parses when it is collected."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        deeper(5)


def deeper(levels: int) -> None:
    if levels:
        deeper(levels - 1)
    else:
        ast.parse("1")


@pytest.fixture
def often_collected() -> Iterator[None]:
    usual = gc.get_threshold()
    gc.set_threshold(60)
    yield
    gc.set_threshold(*usual)


@pytest.mark.usefixtures("often_collected")
def test_a_collection_of_garbage_does_not_disturb_whoever_parses() -> None:
    for _ in range(20):
        for _ in range(30):
            Parsing()
        assert len(ast.parse(PROGRAM).body) == 40
