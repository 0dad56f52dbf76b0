import pytest

from steward.models.planner.decisions import Ask, Call, Decision, Several, Tell
from steward.models.planner.dialogue import Dialogue, Step
from steward.models.planner.one_by_one import APART, AtOnce, behind, one_by_one
from steward.models.planner.side_by_side import are_apart

WISHES = ("add milk", "delete the call", "what is left?")
ASK = Ask(question="Which call?", state={"kind": "reader"})


def decide(dialogue: Dialogue) -> Decision:
    """Each wish calls its own words once, and tells them; the second one asks."""
    if dialogue.utterance == WISHES[1]:
        return ASK
    if any(step.tool == dialogue.utterance for step in dialogue.steps):
        return Tell(text=f"did: {dialogue.utterance}", confidence=1.0)
    return Call(tool=dialogue.utterance, arguments={}, goal=0)


def test_wishes_are_followed_in_their_order_and_one_question_stands_at_the_end() -> None:
    steps: tuple[Step, ...] = ()
    made: list[str] = []
    while isinstance(decision := one_by_one(WISHES, Dialogue(utterance="all", steps=steps), decide), Call):
        made.append(decision.tool)
        steps = (*steps, Step(tool=decision.tool, arguments={}, goal=decision.goal))
    assert made == [WISHES[0], WISHES[2]]
    assert isinstance(decision, Ask)
    assert decision.question == "did: add milk\n\ndid: what is left?\n\nWhich call?"
    assert decision.state == {"question": "Which call?", "kind": "reader"}


def test_a_wish_sees_what_those_before_it_did_as_done_earlier() -> None:
    seen: list[tuple[int, int]] = []

    def look(dialogue: Dialogue) -> Decision:
        seen.append((len(dialogue.earlier), len(dialogue.steps)))
        return Tell(text=dialogue.utterance)

    done = Step(tool="add_task", arguments={}, goal=0)
    later = Step(tool="list_tasks", arguments={}, goal=APART)
    one_by_one(("a b", "c d"), Dialogue(utterance="", steps=(done, later)), look)
    assert seen == [(0, 1), (1, 1)]


def test_what_is_told_beside_a_wish_and_asks_for_nothing_is_left_out() -> None:
    def look(dialogue: Dialogue) -> Decision:
        gap = dialogue.utterance.startswith("I ")
        return Tell(text="no tool" if gap else "done", gap=gap, confidence=0.5)

    found = one_by_one(("I lost my way", "what did you do?"), Dialogue(utterance=""), look)
    assert isinstance(found, Tell)
    assert (found.text, found.gap) == ("done", False)
    alone = one_by_one(("I lost my way", "I forgot my hat"), Dialogue(utterance=""), look)
    assert isinstance(alone, Tell)
    assert alone.gap


def made(first: str, second: str, *, helper: bool = False, free: bool = True) -> Decision:
    """What is decided for two wishes that each call their own words, the first perhaps a listing."""

    def call(dialogue: Dialogue) -> Decision:
        return Call(
            tool=dialogue.utterance, arguments={}, goal=0, helper=helper and dialogue.utterance == first
        )

    return one_by_one(
        (first, second),
        Dialogue(utterance="both"),
        call,
        AtOnce(are_apart, lambda *_: free),
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("drop the trout from my order", "put 3 jars of honey in"),
        ("is the printer working?", "show me which requests wait"),
        ("cancel court LC200", "book Maple for Tuesday at ten"),
        ("report the pothole in Mill Lane", "order a new garden bin"),
        ("freeze my card", "send Ana forty pounds"),
        ("lock the back door", "dim the hall lamp"),
    ],
)
def test_wishes_that_need_nothing_of_each_other_are_called_for_at_once(first: str, second: str) -> None:
    decision = made(first, second)
    assert isinstance(decision, Several)
    assert [(each.tool, each.goal) for each in decision.calls] == [(first, 0), (second, APART)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("find the lease", "send it to Ana"),
        ("make the folder Tax", "move the bill into Tax"),
        ("close ticket 12", "open a ticket for the mouse"),
        ("look up the two cheapest trains", "book the first of them"),
    ],
)
def test_a_wish_that_needs_the_one_before_waits_for_it(first: str, second: str) -> None:
    assert isinstance(made(first, second), Call)


def test_nothing_is_called_beside_a_listing_or_a_tool_that_is_not_free() -> None:
    assert isinstance(made("cancel the court", "buy honey", helper=True), Call)
    assert isinstance(made("cancel the court", "buy honey", free=False), Call)


def test_what_comes_behind_the_calls_is_known() -> None:
    first = Call(tool="a", arguments={}, goal=0)
    second = Call(tool="b", arguments={}, goal=APART + 1)
    assert behind(first, WISHES) == WISHES[1:]
    assert behind(Several((first, second)), WISHES) == WISHES[2:]
    assert behind(ASK, WISHES) == ()
    assert behind(first, ()) == ()
    assert behind(Call(tool="a", arguments={}, goal=0, behind=("then this",)), ()) == ("then this",)
