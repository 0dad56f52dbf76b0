"""The question for a value that was not said or could mean several things, and what its answer needs."""

from collections.abc import Mapping, Sequence
from typing import Any

from steward.models.planner import answers
from steward.models.planner.decisions import Ask, Goal
from steward.models.planner.parameters import Parameter
from steward.models.planner.things import Thing
from steward.models.planner.words import stems

MAX_OPTIONS = 20
Candidate = tuple[Any, Thing]


def which_question(
    goal: Goal,
    parameter: Parameter,
    found: Sequence[Candidate],
    *,
    known: Mapping[str, Any],
    asked: tuple[str, Sequence[str]] | None,
) -> Ask:
    """`asked` is a reader's own wording of the question and of each option."""
    shown = list(found)[:MAX_OPTIONS]
    labels: Sequence[str] = [str(each) for each in parameter.choices] or [thing.title for _, thing in shown]
    if asked is not None:
        words, labels = asked
        question = f"{words}\n{answers.numbered(labels)}"
    elif shown:
        question = f"I found {len(found)} that fit. Which one do you mean?\n{answers.numbered(labels)}"
    else:
        about = f" ({parameter.described.rstrip('.')})" if parameter.described else ""
        label = parameter.label if stems(parameter.label) else f"“{parameter.label}”"  # no word by itself: to
        question = f"Which {label} should I use for `{goal.tool.name}`{about}?"
        question += f"\n{answers.numbered(labels)}" if labels else ""
    options = [{"value": each, "label": str(each)} for each in parameter.choices] or [
        {"value": value, "label": label} for (value, _), label in zip(shown, labels, strict=True)
    ]
    state: dict[str, Any] = {
        "kind": "argument",
        "question": question,
        "tool": goal.tool.name,
        "parameter": parameter.name,
        "clause": goal.clause,
        "arguments": {**goal.arguments, **known},
        "options": options,
    }
    state["place"] = goal.place
    if goal.reader:
        state["reader"] = goal.reader
    if goal.reply_to is not None:
        state["reply_to"] = dict(goal.reply_to)
    return Ask(question=question, state=state)
