"""What two Stewards say to each other: read with care, because the other side may say anything."""

import pytest

from steward.contract.federation import Decision, asked_about, decides, part, question_key


def test_a_decision_is_an_answer_to_the_question() -> None:
    decision = Decision(proposal_id="a1", approved=True, by="ada", via="page")
    assert decision.answer() == {"approve": True, "approver": "ada", "via": "page"}


@pytest.mark.parametrize("meta", [None, "x", {}, {"steward/call": "x"}, {"steward/call": {"proposal": 3}}])
def test_what_is_no_decision_decides_nothing(meta: object) -> None:
    assert decides(meta) is None


def test_a_call_names_the_proposal_it_decides() -> None:
    assert decides({"steward/call": {"proposal": "a1"}}) == "a1"


def test_a_part_that_is_no_object_is_not_there() -> None:
    assert part({"steward/call": []}, "steward/call") is None


@pytest.mark.parametrize(
    ("key", "meta", "proposal"),
    [
        (question_key("a1"), None, "a1"),
        (7, {"steward/proposal": "a1"}, "a1"),
        ("approval", {"steward/proposal": 1}, None),
        ("question-1", None, None),
    ],
)
def test_a_question_about_a_proposal_says_so(key: object, meta: object, proposal: str | None) -> None:
    assert asked_about(key, meta) == proposal
