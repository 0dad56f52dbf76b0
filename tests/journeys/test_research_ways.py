"""Ways of asking the researcher: with an address, with two questions at once, and with no question at all."""

import pytest
from tests.support.talking import TalkSetup, tools
from tests.support.websites import Web

from steward.conversations.model import AnswerStatus


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ("Summarise {}", "Western Europe"),
        ("What does {} say about the capital of France?", "Paris is the capital of France"),
    ],
)
async def test_a_page_that_is_named_is_read_and_not_searched_for(
    house: TalkSetup, web: Web, request_: str, said: str
) -> None:
    address = web.url("/atlas/france")
    found = await house.ask(request_.format(address))
    assert (tools(found), web.searched) == (["fetch_page", "store_memory"], [])
    assert (said in found.answer, [source.location for source in found.sources]) == (True, [address])
    assert found.confidence > 0.5


async def test_a_named_page_that_cannot_be_read_is_told_with_its_reason(house: TalkSetup, web: Web) -> None:
    found = await house.ask(f"Summarise {web.url('/atlas/france')}-gone")
    assert (tools(found), "404" in found.answer, found.confidence) == (["fetch_page"], True, 0.0)


async def test_the_clock_answers_no_question_that_stands_beside_one_about_the_time(house: TalkSetup) -> None:
    found = await house.ask("Who founded the Borealis Institute, and what time is it in UTC?")
    assert ("Solheim" in found.answer, "web_search" in tools(found)) == (True, True)


async def test_search_again_means_what_was_asked_before(house: TalkSetup, web: Web) -> None:
    first = await house.ask("How tall is the Brennan Tower?")
    found = await house.ask("Search again", conversation=first.conversation)
    assert (web.searched, "312 metres" in found.answer) == (["tall Brennan Tower"] * 2, True)


@pytest.mark.req("RES-FR-014")
@pytest.mark.parametrize(
    "said", ["My favourite colour is green", "Wie hoch ist der Turm von Pisa?", "I am tired today"]
)
async def test_what_asks_for_nothing_or_is_not_understood_is_no_gap_and_stays_here(
    house: TalkSetup, web: Web, said: str
) -> None:
    found = await house.ask(said)
    assert (found.status is not AnswerStatus.GAP, tools(found), web.searched) == (True, [], [])
