"""Every QuestionStore keeps these promises."""

import asyncio
from datetime import timedelta

import pytest

from steward.contract.errors import ConflictError, InputError, NotFoundError
from steward.contract.questions import QuestionStore
from steward.storage.database.postgres import Database
from steward.storage.questions import PostgresQuestionStore


@pytest.fixture
def store(database: Database) -> QuestionStore:
    return PostgresQuestionStore(database)


async def test_a_question_waits_once_however_often_it_is_asked(store: QuestionStore) -> None:
    asked = await asyncio.gather(*(store.ask("ana", "Which town?") for _ in range(20)))
    assert len({question.id for question in asked}) == 1
    other = await store.ask("ben", "Which town?")
    assert [question.id for question in await store.waiting()] == [asked[0].id, other.id]
    assert [question.id for question in await store.waiting(limit=1)] == [asked[0].id]


async def test_an_answer_comes_back_whenever_the_question_is_asked_again(store: QuestionStore) -> None:
    question = await store.ask("ana", "Which town?", choices=["Rome", "Oslo"])
    answered = await store.answer(question.id, "Rome", by="ana")
    assert (answered.answer, answered.answered_by, answered.choices) == ("Rome", "ana", ("Rome", "Oslo"))
    for _ in range(2):
        assert await store.ask("ana", "Which town?") == answered
    assert await store.waiting() == []


async def test_an_old_answer_counts_no_longer(database: Database) -> None:
    store = PostgresQuestionStore(database, answer_counts_for=timedelta(0))
    question = await store.ask("ana", "Which town?")
    await store.answer(question.id, "Rome", by="ana")
    again = await store.ask("ana", "Which town?")
    assert (again.id != question.id, again.answer) == (True, None)


async def test_a_question_is_answered_once_and_by_one_of_its_choices(store: QuestionStore) -> None:
    question = await store.ask("ana", "Which town?", choices=["Rome", "Oslo"])
    for wrong in ("Paris", "", "  ", "a\0b"):
        with pytest.raises(InputError):
            await store.answer(question.id, wrong, by="ana")
    answers = await asyncio.gather(
        *(store.answer(question.id, "Rome", by=f"p{n}") for n in range(5)), return_exceptions=True
    )
    assert sum(isinstance(answer, ConflictError) for answer in answers) == 4
    with pytest.raises(NotFoundError):
        await store.answer("none", "Rome", by="ana")


async def test_text_that_cannot_be_kept_is_refused(store: QuestionStore) -> None:
    with pytest.raises(InputError):
        await store.ask("ana", "a\0b")
    with pytest.raises(InputError):
        await store.ask("ana", "a", choices=["b", "\0"])
