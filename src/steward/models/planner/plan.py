"""The next step towards what was asked: the planner's one decision.

Owns the order of a turn: find the goals (or read the answer to our own question), take the next step for
the first goal that is not reached, and tell what came of it all. A pure function of the conversation, the
tools and the clock.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, cast

from steward.language.wishes import points_back
from steward.models.planner import answers
from steward.models.planner.arguments import read_value
from steward.models.planner.decisions import Ask, Call, Decision, Goal, Several, Tell
from steward.models.planner.dialogue import Dialogue, Step
from steward.models.planner.goal_steps import GoalSteps, Situation
from steward.models.planner.goals import GoalFinder, state_map, state_text
from steward.models.planner.parameters import Parameter
from steward.models.planner.ranking import KnownTool
from steward.models.planner.readers import READER
from steward.models.planner.side_by_side import SideBySide
from steward.models.planner.things import Thing, at_places, named
from steward.models.planner.words import (
    bare,
    bare_of_one,
    is_all,
    is_cancel,
    is_help,
    places,
)

NOTHING_DONE = "All right, I did nothing."


class Planner:
    def __init__(self, finder: GoalFinder) -> None:
        self._finder = finder

    def decide(self, dialogue: Dialogue, tools: Sequence[KnownTool], now: datetime) -> Decision:
        return _Turn(self._finder, dialogue, tools, now).decide()


class _Turn:
    """One decision in one turn; lives for that decision only."""

    def __init__(
        self, finder: GoalFinder, dialogue: Dialogue, tools: Sequence[KnownTool], now: datetime
    ) -> None:
        self._finder = finder
        self._dialogue = dialogue
        self._tools = {tool.name: tool for tool in tools}
        self._now = now
        self._tellers: dict[str, Callable[[Sequence[Step]], str]] = {}

    def decide(self) -> Decision:
        goals = self._answered() if self._dialogue.asked else None
        if goals is None:
            goals = self._asked_for()
        if isinstance(goals, Ask | Tell):
            return goals
        pursuit = GoalSteps(Situation(self._finder, self._dialogue, self._tools, self._now, self._tell))
        for number, goal in enumerate(goals):
            decision = pursuit.next(number, goal)
            if isinstance(decision, Ask):  # what was asked for after this goal waits for the answer
                done = [step for step in self._dialogue.steps if step.failure is None]
                told = self._tell(done) if any(not step.helper for step in done) else ""
                question = f"{told}\n\n{decision.question}" if told else decision.question
                return Ask(question=question, state={"question": decision.question, **decision.state})
            if isinstance(decision, Call):
                return self._with_next(decision, goals, pursuit)
            if decision is not None:
                return decision
        return Tell(text=self._tell(), confidence=self._confidence(goals))

    def _with_next(self, first: Call, goals: Sequence[Goal], pursuit: GoalSteps) -> Decision:
        """A call, with those behind it that need nothing of it: all may wait for a yes."""
        free = SideBySide(list(self._tools.values()))
        calls = [first]
        for number, goal in enumerate(goals[first.goal + 1 :], first.goal + 1):
            if points_back(self._dialogue.utterance) or not goal.read or not free.may_begin(calls):
                break
            call = pursuit.next(number, goal)
            if not isinstance(call, Call) or not all(free.of_each_other(each, call) for each in calls):
                break
            calls.append(call)
        last = calls[-1]
        later = dict.fromkeys(goal.wish for goal in goals[last.goal + 1 :] if goal.wish)
        calls[-1] = replace(last, behind=tuple(later))
        return Several(tuple(calls)) if len(calls) > 1 else calls[0]

    # --- what is wanted ---

    def _asked_for(self) -> Sequence[Goal] | Ask | Tell:
        utterance = self._dialogue.utterance
        tools = list(self._tools.values())
        if is_help(utterance):
            return Tell(text=self._only_speaker_says() or answers.abilities(tools), confidence=1.0)
        read = self._finder.read(utterance, tools, self._now)
        if read:
            return read
        said = self._only_speaker_says(utterance) or answers.cannot(self._finder.rank(utterance, tools))
        return Tell(text=said, gap=True)

    def _only_speaker_says(self, clause: str | None = None) -> str | None:
        """What there is to do here, where all tools speak one language; with a clause, that this is not."""
        readers = {str(tool.metadata.get(READER) or "") for tool in self._tools.values()}
        speaker = self._finder.speaker(next(iter(readers))) if len(readers) == 1 else None
        return speaker.abilities(clause) if speaker else None

    def _answered(self) -> Sequence[Goal] | Ask | Tell | None:
        """The goals of a turn that answers our own question; None when it does not answer it."""
        asked = self._dialogue.asked or {}
        if asked.get("kind") == "reader":
            found = self._replied(asked)
        elif is_cancel(self._dialogue.utterance):
            return Tell(text=NOTHING_DONE, confidence=1.0)
        else:
            found = self._completed(asked)
            if found is None and not self._is_fresh():
                return Ask(question=state_text(asked, "question") or "Which one do you mean?", state=asked)
        return found

    def _replied(self, asked: Mapping[str, Any]) -> Sequence[Goal] | Tell | None:
        tools = list(self._tools.values())
        memo = state_map(asked, "memo")
        utterance = self._dialogue.utterance
        found = self._finder.replied(state_text(asked, "reader"), memo, utterance, tools, self._now)
        if isinstance(found, str):
            return Tell(text=found, confidence=1.0)
        if found is None or self._is_fresh(but=state_text(asked, "tool")):
            return None
        return [*found, *self._read_again(asked)[1:]]

    def _is_fresh(self, *, but: str = "") -> bool:
        """Whether this is a new command rather than an answer; one for this same tool is an answer."""
        tools = list(self._tools.values())
        return self._finder.is_command(self._dialogue.utterance, tools, self._now, but=but)

    def _completed(self, asked: Mapping[str, Any]) -> Sequence[Goal] | None:
        """The goals that waited for this answer, the first of them with what was answered."""
        tool = self._tools.get(state_text(asked, "tool"))
        name = state_text(asked, "parameter")
        parameter = next((each for each in tool.parameters if each.name == name), None) if tool else None
        if tool is None or parameter is None:
            return None
        values = self._values_for(parameter, asked)
        if not values:
            return None
        read = self._read_again(asked)
        arguments = state_map(asked, "arguments")
        if read:
            known = arguments if read[0].read else read[0].arguments  # what was answered before stays
            return [replace(read[0], arguments=known, chosen={name: values}), *read[1:]]
        clause = state_text(asked, "clause")
        return [Goal(tool=tool, clause=clause, arguments=arguments, chosen={name: values}, score=1.0)]

    def _read_again(self, asked: Mapping[str, Any]) -> Sequence[Goal]:
        """What was made of the words that led to our question; the same again, as reading is pure."""
        reader, clause = state_text(asked, "reader"), state_text(asked, "clause")
        place = asked.get("place")
        if not isinstance(place, int):
            return ()
        tools = list(self._tools.values())
        found: Sequence[Goal] | str | None
        if isinstance(asked.get("reply_to"), Mapping):
            memo = state_map(asked, "reply_to")
            found = self._finder.replied(reader, memo, clause, tools, self._now)
        else:
            found = self._finder.read(clause, tools, self._now)
        return found[place:] if isinstance(found, Sequence) and not isinstance(found, str) else ()

    def _values_for(self, parameter: Parameter, asked: Mapping[str, Any]) -> list[Any]:
        options = cast("Sequence[Mapping[str, Any]]", asked.get("options") or ())
        said = bare(self._dialogue.utterance)
        if not options:
            value = read_value(parameter, self._finder.said(self._dialogue.utterance, self._now))
            return [] if value is None else [value]
        labelled = [(each.get("value"), Thing({"title": str(each.get("label"))}, "")) for each in options]
        if len(labelled) > 1 and is_all(said):
            return [value for value, _ in labelled]
        at = at_places(places(said), labelled)
        by_name = [] if at else named([said, bare_of_one(said)], labelled)
        return [value for value, _ in (at or by_name)] if at or len(by_name) == 1 else []

    # --- what came of it ---

    def _tell(self, steps: Sequence[Step] | None = None) -> str:
        return answers.answer(self._dialogue.steps if steps is None else steps, self._teller)

    def _teller(self, tool: str) -> Callable[[Sequence[Step]], str] | None:
        known = self._tools.get(tool)
        name = str(known.metadata.get(READER)) if known else ""
        speaker = self._finder.speaker(name)
        if speaker is None:
            return None
        if name not in self._tellers:
            self._tellers[name] = lambda steps: speaker.tell(steps, self._dialogue.all_steps, self._now)
        return self._tellers[name]

    def _confidence(self, goals: Sequence[Goal]) -> float:
        if any(step.failure is not None for step in self._dialogue.steps):
            return 0.0
        return min((goal.score for goal in goals), default=0.0)
