"""The assistant without a language model answers from memory and documents before it knows nothing."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.talking import TalkSetup, open_house, tools

from steward.contract.call import Caller, CallerKind, Done, ToolCall
from steward.conversations.model import AnswerStatus

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("security.md", "tools-json.md", "conversations.md", "knowledge.md", "models.md")
OWN = ["search_memory", "query_knowledge_base"]


@pytest.fixture
async def house(tmp_path: Path, database_url: str) -> AsyncIterator[TalkSetup]:
    library = tmp_path / "library"
    library.mkdir()
    for name in PAGES:
        (library / name).write_text((DOCS / name).read_text())
    async with open_house(tmp_path, database_url) as house:
        for tool, arguments in (
            ("manage_collections", {"action": "create", "collection_name": "docs"}),
            ("ingest_documents", {"path": str(library), "collection": "docs"}),
        ):
            call = ToolCall(
                tool=tool, arguments=arguments, caller=Caller(CallerKind.PERSON, "local"), user="local"
            )
            assert isinstance(await house.platform.orchestrator.execute(call), Done)
        yield house


@pytest.mark.parametrize(
    ("asked", "page"),
    [
        ("What is the security model?", "security.md"),
        ("How do I write my own tool?", "tools-json.md"),
        ("what does the documentation say about choosing a model?", "models.md"),
    ],
)
async def test_a_question_is_answered_with_a_passage_and_its_source(
    house: TalkSetup, asked: str, page: str
) -> None:
    found = await house.ask(asked, "assistant")
    assert (found.status, tools(found)[-1]) == (AnswerStatus.DONE, "query_knowledge_base")
    assert page in {Path(source.location).name for source in found.sources}
    assert (page in found.answer, found.confidence > 0) == (True, True)


async def test_what_is_only_near_is_called_the_nearest(house: TalkSetup) -> None:
    found = await house.ask("Tell me about collections", "assistant")
    assert (found.status, tools(found)) == (AnswerStatus.DONE, OWN)
    assert found.answer.startswith("I found nothing that surely answers this. The nearest in your documents:")


async def test_what_was_told_answers_before_the_documents_are_asked(house: TalkSetup) -> None:
    await house.ask("remember that the spare key is under the mat", "assistant")
    found = await house.ask("where is the spare key?", "assistant")
    assert (tools(found), "under the mat" in found.answer) == (OWN[:1], True)
    assert [source.kind for source in found.sources] == ["memory"]


@pytest.mark.parametrize(
    ("asked", "status", "said"),
    [
        ("What is the capital of Portugal?", AnswerStatus.DONE, "search the web"),
        ("What is my shoe size?", AnswerStatus.DONE, "Tell me with “remember that …”."),
        ("Do you support single sign-on?", AnswerStatus.DONE, "I'm Steward"),
        ("What is my bank balance?", AnswerStatus.GAP, "I have no tool for this: banking."),
    ],
)
async def test_where_nothing_is_near_the_answer_says_so(
    house: TalkSetup, asked: str, status: AnswerStatus, said: str
) -> None:
    found = await house.ask(asked, "assistant")
    assert (found.status, tools(found), said in found.answer) == (status, OWN, True)
    assert (found.sources, found.confidence) == ((), 0.0)


async def test_who_chats_about_the_program_is_told_what_it_is_at_once(house: TalkSetup) -> None:
    found = await house.ask("Do you like music?", "assistant")
    assert (tools(found), "I'm Steward" in found.answer) == ([], True)


@pytest.mark.parametrize(
    "said", ["Hello there", "What do I have to do today?", "What time is it in Tokyo?", "What is 4 * 7?"]
)
async def test_what_needs_no_documents_asks_none(house: TalkSetup, said: str) -> None:
    found = await house.ask(said, "assistant")
    assert set(tools(found)).isdisjoint(OWN)
