"""Several wishes of one message: each is followed as if it were said alone, one after the other.

Owns what belongs to which wish, and how it is told: in order, with one question at the end for what is
unclear. Pure.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from steward.language.wishes import tells
from steward.models.planner.decisions import Ask, Call, Decision, Several, Tell
from steward.models.planner.dialogue import Dialogue, Step

APART = 100  # between the goals of two wishes
NEXT = "Then tell me again: “{}”."


def one_by_one(wishes: Sequence[str], dialogue: Dialogue, decide: Callable[[Dialogue], Decision]) -> Decision:
    """The next step of the first wish that is not done; what came of them where all are."""
    told: list[Tell] = []
    remarks: list[Tell] = []  # "I lost track a bit, …": what is told and asks for nothing
    asked: list[tuple[str, Ask]] = []
    for number, wish in enumerate(wishes):
        decision = decide(_alone(wish, number, dialogue))
        match decision:
            case Call():
                return _as_of(decision, number)
            case Several():
                return Several(tuple(_as_of(call, number) for call in decision.calls))
            case Ask():
                asked.append((wish, decision))
            case Tell():
                (remarks if decision.gap and tells(wish) else told).append(decision)
    told = told or ([] if asked else remarks)
    text = "\n\n".join(dict.fromkeys(each.text for each in told))
    if asked:
        question = asked[0][1]
        later = [NEXT.format(wish) for wish, _ in asked[1:]]
        whole = "\n\n".join(part for part in (text, question.question, *later) if part)
        return Ask(question=whole, state={"question": question.question, **question.state})
    gap = all(each.gap for each in told)
    looked = next((each.looked for each in told if each.looked), "") if gap else ""
    return Tell(text=text, confidence=min(each.confidence for each in told), gap=gap, looked=looked)


def _alone(wish: str, number: int, dialogue: Dialogue) -> Dialogue:
    """The turn as it would be if only this were said: what the wishes before it did was done earlier."""
    mine = tuple(_own(step, number) for step in dialogue.steps if _wish(step) == number)
    before = tuple(step for step in dialogue.steps if _wish(step) < number)
    return replace(dialogue, utterance=wish, steps=mine, earlier=(*dialogue.earlier, *before))


def _wish(step: Step) -> int:
    return (step.goal or 0) // APART


def _own(step: Step, number: int) -> Step:
    return replace(step, goal=(step.goal or 0) - number * APART)


def _as_of(call: Call, number: int) -> Call:
    return replace(call, goal=call.goal + number * APART)
