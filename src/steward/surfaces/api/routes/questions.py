"""Routes on questions that tools left for a person: see them, answer them."""

from datetime import datetime

from fastapi import APIRouter
from pydantic import BaseModel, Field

from steward.contract.questions import Question
from steward.surfaces.api.identity import Approver, Reader
from steward.surfaces.api.paging import After, Limit, overfull
from steward.surfaces.api.shapes import Strict
from steward.surfaces.api.state import Here

router = APIRouter(prefix="/v1/questions", tags=["questions"])


class QuestionShape(BaseModel):
    id: str
    user: str
    text: str
    choices: list[str]
    asked_at: datetime
    answer: str | None
    answered_by: str | None
    answered_at: datetime | None

    @classmethod
    def of(cls, question: Question) -> "QuestionShape":
        return cls(
            id=question.id,
            user=question.user,
            text=question.text,
            choices=list(question.choices),
            asked_at=question.asked_at,
            answer=question.answer,
            answered_by=question.answered_by,
            answered_at=question.answered_at,
        )


class QuestionList(BaseModel):
    items: list[QuestionShape]
    next: str | None = None


class AnswerBody(Strict):
    answer: str = Field(min_length=1, max_length=10_000, examples=["The one in Rome."])


@router.get("")
async def list_questions(
    platform: Here, identity: Reader, limit: Limit = 50, after: After = None
) -> QuestionList:
    """Yours that wait, oldest first; an administrator sees everybody's."""
    found = await platform.questions.waiting(user=identity.only, limit=limit + 1, after=after)
    page, following = overfull(found, limit=limit, key=lambda question: question.id)
    return QuestionList(items=[QuestionShape.of(question) for question in page], next=following)


@router.post("/{question_id}/answer")
async def answer_question(
    platform: Here, question_id: str, body: AnswerBody, identity: Approver
) -> QuestionShape:
    """Answer as a person; whoever asked gets it when it asks again."""
    answered = await platform.questions.answer(question_id, body.answer, by=identity.name, user=identity.only)
    return QuestionShape.of(answered)
