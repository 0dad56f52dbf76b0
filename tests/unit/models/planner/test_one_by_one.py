from steward.models.planner.decisions import Ask, Call, Decision, Tell
from steward.models.planner.dialogue import Dialogue, Step
from steward.models.planner.one_by_one import APART, one_by_one

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
