"""Which tools the planner turns to for a value that was not said, and which it leaves alone."""

from tests.support.door import Door, tool
from tests.support.invented_tools import STRING, text
from tests.support.planner_talk import Talk

from steward.contract.tool import Effect


async def test_a_parameter_whose_name_says_nothing_is_asked_for_and_not_searched_for_everywhere() -> None:
    looked: list[str] = []
    door = await Door().with_tools(
        tool(lambda: looked.append("list"), name="list_notes"),
        tool(looked.append, name="search_notes", input_schema=text(query=STRING)),
        tool(
            lambda to, body: f"{to}: {body}",
            name="send_message",
            effect=Effect.WRITES_OUTSIDE,
            input_schema=text(to=STRING, body=STRING),
        ),
    )
    assert await Talk(door).say("Send a message") == "Which “to” should I use for `send_message`?"
    assert looked == []


async def test_an_address_is_for_whom_it_goes_to() -> None:
    sent: list[tuple[str, str]] = []
    door = await Door().with_tools(
        tool(
            lambda to, body: sent.append((to, body)),
            name="send_message",
            input_schema=text(to=STRING, body=STRING),
        )
    )
    await Talk(door).say('Send a message to ana@example.org "I am late"')
    assert sent == [("ana@example.org", "I am late")]
