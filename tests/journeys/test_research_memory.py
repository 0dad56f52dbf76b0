"""What research kept, when it is asked for again: to the point, and with the sources it came from."""

from tests.support.talking import TalkSetup, tools
from tests.support.websites import Web

from steward.conversations.model import AnswerStatus


async def test_one_of_two_questions_asked_again_brings_only_its_own_answer(
    house: TalkSetup, web: Web
) -> None:
    await house.ask("Who founded the Borealis Institute, and how tall is the Brennan Tower?")
    searched = list(web.searched)
    found = await house.ask("How tall is the Brennan Tower?")
    assert (found.status, tools(found), web.searched) == (AnswerStatus.DONE, ["search_memory"], searched)
    assert ("312 metres" in found.answer, "Solheim" in found.answer) == (True, False)


async def test_what_was_kept_is_cited_once_with_the_dates_of_its_pages(house: TalkSetup, web: Web) -> None:
    await house.ask("What is the capital of France?")
    found = await house.ask("What is the capital of France?")
    [source] = found.sources
    assert found.answer.count(source.location) == 1  # so that nobody needs to list it once more
    assert f"France: an atlas entry, {web.url('/atlas/france')}, 2026-03-04" in found.answer
