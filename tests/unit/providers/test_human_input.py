"""request_human_input with somebody on the other side, and with nobody."""

from collections.abc import Mapping
from typing import Any

import pytest

from steward.contract.call import (
    Caller,
    CallerKind,
    Done,
    ElicitAnswer,
    Failed,
    ToolCall,
    ToolResult,
    current_call,
)
from steward.contract.schema import compile_schema
from steward.providers.functions import LegacyToolAgent
from steward.providers.human_input import SPEC, request_human_input_tool


class Person:
    """A channel with a person behind it who answers what they were told to answer."""

    def __init__(self, answer: ElicitAnswer | None) -> None:
        self._answer = answer
        self.asked: list[tuple[str, Mapping[str, Any]]] = []

    async def progress(self, done: float, total: float | None, message: str | None) -> None:
        """Nothing to show."""

    async def elicit(self, message: str, schema: Mapping[str, Any]) -> ElicitAnswer | None:
        self.asked.append((message, schema))
        return self._answer


async def ask(person: Person | None, **arguments: Any) -> ToolResult:
    assert compile_schema(SPEC.input_schema).problems(arguments) == ()
    agent = LegacyToolAgent("people", [request_human_input_tool(None)])
    caller = Caller(CallerKind.AGENT, "assistant")
    call = ToolCall(tool=SPEC.name, arguments=arguments, caller=caller, channel=person)
    token = current_call.set(call)
    try:
        return await agent.execute(SPEC.name, arguments)
    finally:
        current_call.reset(token)


@pytest.mark.req("SKL-FR-006")
async def test_a_person_on_the_other_side_is_asked_and_answers() -> None:
    person = Person(ElicitAnswer("accept", {"answer": "Rome"}))
    result = await ask(person, question="Which town?", choices=["Rome", "Oslo"])
    assert result == Done(data={"answer": "Rome"})
    ((message, schema),) = person.asked
    assert message == "Which town?"
    assert compile_schema(schema).accepts({"answer": "Oslo"})
    assert not compile_schema(schema).accepts({"answer": "Paris"})


@pytest.mark.parametrize(
    "answer", [ElicitAnswer("decline"), ElicitAnswer("cancel"), ElicitAnswer("accept", {"answer": 3})]
)
async def test_a_person_may_decline(answer: ElicitAnswer) -> None:
    result = await ask(Person(answer), question="Which town?")
    assert isinstance(result, Failed)
    assert result.code == "HUMAN_INPUT_DECLINED"


@pytest.mark.parametrize("person", [None, Person(None)])
async def test_with_nobody_there_and_nowhere_to_wait_it_says_so(person: Person | None) -> None:
    result = await ask(person, question="Which town?")
    assert isinstance(result, Failed)
    assert result.code == "HUMAN_INPUT_UNAVAILABLE"
