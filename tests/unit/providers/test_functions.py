"""Any function is an agent, and stays the function it was."""

import threading
from dataclasses import dataclass
from datetime import date

import pytest
from pydantic import BaseModel
from tests.support.door import Door, tool

from steward.contract.agent import Health
from steward.contract.call import Done, Failed
from steward.contract.errors import NotFoundError
from steward.providers.functions import LegacyToolAgent


class Answer(BaseModel):
    n: int


@dataclass
class Pair:
    a: int
    b: int


async def later(n: int) -> Answer:
    return Answer(n=n)


def hand_over(n: int) -> object:
    return later(n)


@pytest.mark.req("ORC-Q20", "ORC-FR-002")
@pytest.mark.parametrize(
    ("function", "data"),
    [
        (lambda n: n + 1, 2),
        (later, {"n": 1}),
        (hand_over, {"n": 1}),
        (lambda n: Pair(n, 2), {"a": 1, "b": 2}),
        (lambda n: Done(data="own"), "own"),
        (lambda n: None, None),
        (lambda n: {n: {date(2026, 11, 15)}, "raw": b"\xff"}, {"1": ["2026-11-15"], "raw": "_w=="}),
        (lambda n: 2**80, 2**80),
    ],
    ids=["plain", "async", "awaitable", "dataclass", "result", "nothing", "python's own", "a long number"],
)
async def test_whatever_a_function_returns_becomes_a_result(function: object, data: object) -> None:
    agent = LegacyToolAgent("a", [tool(function, name="f")])  # type: ignore[arg-type]
    assert await agent.execute("f", {"n": 1}) == Done(data=data)


@pytest.mark.req("ORC-ASM-3")
@pytest.mark.req("ORC-US3.2", "ORC-SC-002")
async def test_wrapping_leaves_the_function_as_it_was() -> None:
    def double(n: int) -> int:
        return n * 2

    door = await Door().with_tools(tool(double))
    through_the_door = await door.call("double", n=4)
    assert (double(4), getattr(through_the_door, "data", None)) == (8, 8)


async def test_a_function_may_answer_with_a_failure_of_its_own() -> None:
    agent = LegacyToolAgent("a", [tool(lambda: Failed(error="no", code="MINE"), name="f")])
    assert await agent.execute("f", {}) == Failed(error="no", code="MINE")


@pytest.mark.parametrize("value", [object(), "half a character \ud800", [threading.Lock()]])
async def test_what_cannot_be_json_is_said_to_be_wrong_and_reaches_nobody(value: object) -> None:
    door = await Door().with_tools(tool(lambda: value, name="odd"))
    result = await door.call("odd")
    assert (getattr(result, "code", None), getattr(result, "data", None)) == ("INVALID_OUTPUT", None)


async def test_a_tool_it_does_not_have_is_not_found() -> None:
    with pytest.raises(NotFoundError):
        await LegacyToolAgent("a", []).execute("f", {})


async def test_threads_that_did_not_end_are_counted_in_its_health() -> None:
    released = threading.Event()
    door = await Door().with_tools(tool(lambda: released.wait(60), name="hang", timeout=0.02))
    await door.call("hang")
    health = await door.orchestrator.lifecycle.health("functions")
    released.set()
    assert health == Health(
        healthy=True, detail="1 call(s) did not end when told to", facts={"abandoned_threads": 1}
    )
