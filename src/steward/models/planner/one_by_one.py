"""Several wishes of one message: each is followed as if it were said alone, one after the other.

Owns what belongs to which wish, and how it is told: in order, with one question at the end for what is
unclear. Wishes that need nothing of each other are called for at once: the first may wait for a yes, and the
person is to know of both. Pure.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from steward.language.wishes import tells
from steward.models.planner.decisions import Ask, Call, Decision, Several, Tell
from steward.models.planner.dialogue import Dialogue, Step

APART = 100  # between the goals of two wishes
NEXT = "Then tell me again: “{}”."
Decide = Callable[[Dialogue], Decision]


@dataclass(frozen=True, slots=True)
class AtOnce:
    """When two wishes may be called for together."""

    apart: Callable[[str, str], bool]  # whether the second is understood without the first
    free: Callable[[Call, Call], bool]  # whether its call may be made before that of the first is done


def one_by_one(
    wishes: Sequence[str], dialogue: Dialogue, decide: Decide, at_once: AtOnce | None = None
) -> Decision:
    """The next step of the first wish that is not done; what came of them where all are."""
    told: list[Tell] = []
    remarks: list[Tell] = []  # "I lost track a bit, …": what is told and asks for nothing
    asked: list[tuple[str, Ask]] = []
    for number, wish in enumerate(wishes):
        decision = decide(_alone(wish, number, dialogue))
        match decision:
            case Call():
                calls = [(number, decision)]
                if at_once is not None and not decision.helper:
                    _add_free(calls, wishes, lambda at: decide(_alone(wishes[at], at, dialogue)), at_once)
                made = tuple(_as_of(call, at) for at, call in calls)
                return Several(made) if len(made) > 1 else _as_of(decision, number)
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


def behind(decision: Decision, wishes: Sequence[str]) -> Sequence[str]:
    """The wishes whose turn comes when these calls are done."""
    match decision:
        case Call():
            return (*decision.behind, *wishes[decision.goal // APART + 1 :])
        case Several():
            return behind(decision.calls[-1], wishes)
        case _:
            return ()


def _add_free(
    calls: list[tuple[int, Call]], wishes: Sequence[str], decide: Callable[[int], Decision], at_once: AtOnce
) -> None:
    """The calls of the wishes right behind one that need nothing of it, nor of each other."""
    for later in range(calls[0][0] + 1, len(wishes)):
        if not all(at_once.apart(wishes[before], wishes[later]) for before, _ in calls):
            return
        call = decide(later)
        if (
            not isinstance(call, Call)
            or call.helper
            or not all(at_once.free(each, call) for _, each in calls)
        ):
            return
        calls.append((later, call))


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
