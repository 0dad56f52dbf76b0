"""The next step towards what was asked: the planner's one decision.

Owns the order: find the goals, take what is said, take what results offer, call what can supply the
rest, ask for what nothing supplies, and tell what came of it. A pure function of the conversation, the
tools and the clock.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from steward.contract.schema import compile_schema
from steward.models.planner import answers
from steward.models.planner.arguments import fill, read_value
from steward.models.planner.decisions import Ask, Call, Decision, Goal, Tell
from steward.models.planner.dialogue import Dialogue
from steward.models.planner.finding import Said
from steward.models.planner.goals import GoalFinder, clauses_of, state_map, state_text
from steward.models.planner.parameters import Kind, Parameter
from steward.models.planner.ranking import KnownTool
from steward.models.planner.things import Thing, is_it, matching, nearest, offers, values_for
from steward.models.planner.words import bare, intention, is_cancel, is_help, ordinal, split_name, stem, stems

MAX_STEPS = 12
MAX_DEPTH = 3
MAX_OPTIONS = 20
FRESH_COMMAND = 0.6  # how well an utterance must fit a tool to be a new command instead of an answer
NOTHING_DONE = "All right, I did nothing."
_LOOKING = {"list": 0, "find": 1, "read": 2}


@dataclass(frozen=True, slots=True)
class _Value:
    value: Any


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

    def decide(self) -> Decision:
        goals = self._answered() if self._dialogue.asked else None
        if goals is None:
            goals = self._asked_for()
        if isinstance(goals, Ask | Tell):
            return goals
        for number, goal in enumerate(goals):
            decision = self._pursue(number, goal)
            if isinstance(decision, Ask):  # what was asked for after this goal waits for the answer
                rest = [each.clause for each in goals[number + 1 :]]
                return Ask(question=decision.question, state={"rest": rest, **decision.state})
            if decision is not None:
                return decision
        return Tell(text=answers.answer(self._dialogue.steps), confidence=self._confidence(goals))

    # --- what is wanted ---

    def _asked_for(self) -> Sequence[Goal] | Ask | Tell:
        utterance = self._dialogue.utterance
        tools = list(self._tools.values())
        if is_help(utterance):
            return Tell(text=answers.abilities(tools), confidence=1.0)
        return self._goals_of(clauses_of(utterance))

    def _goals_of(self, clauses: Sequence[str]) -> Sequence[Goal] | Ask | Tell:
        tools = list(self._tools.values())
        goals: list[Goal] = []
        for at, clause in enumerate(clauses):
            found = self._finder.choose(clause, tools, self._now)
            if isinstance(found, Ask):
                return Ask(question=found.question, state={**found.state, "rest": list(clauses[at + 1 :])})
            if found is None:
                return Tell(text=answers.cannot(self._finder.rank(clause, tools)))
            goals.append(found)
        return goals

    def _answered(self) -> Sequence[Goal] | Ask | Tell | None:
        """The goals of a turn that answers our own question; None when it does not answer it."""
        asked = self._dialogue.asked or {}
        if is_cancel(self._dialogue.utterance):
            return Tell(text=NOTHING_DONE, confidence=1.0)
        goal = self._picked_tool(asked) if asked.get("kind") == "tool" else self._completed(asked)
        if goal is None:
            tools = list(self._tools.values())
            best = self._finder.rank(self._dialogue.utterance, tools)[:1]
            if best and best[0].score >= FRESH_COMMAND and _starts_command(self._dialogue.utterance):
                return None
            return Ask(question=state_text(asked, "question") or "Which one do you mean?", state=asked)
        rest = [each for each in asked.get("rest") or () if isinstance(each, str)]
        following = self._goals_of(rest) if rest else ()
        return following if isinstance(following, Ask | Tell) else [goal, *following]

    def _picked_tool(self, asked: Mapping[str, Any]) -> Goal | None:
        named = [self._tools[name] for name in asked.get("tools") or () if name in self._tools]
        said = self._dialogue.utterance
        place = ordinal(said)
        if place is not None and named and (place == -1 or 1 <= place <= len(named)):
            tool = named[place - 1 if place > 0 else -1]
        else:
            ranked = self._finder.rank(said, named)
            if not ranked or ranked[0].score <= 0 or (len(ranked) > 1 and ranked[0].score == ranked[1].score):
                return None
            tool = ranked[0].tool
        return Goal(tool=tool, clause=state_text(asked, "clause"), score=1.0)

    def _completed(self, asked: Mapping[str, Any]) -> Goal | None:
        tool = self._tools.get(state_text(asked, "tool"))
        name = state_text(asked, "parameter")
        parameter = next((each for each in tool.parameters if each.name == name), None) if tool else None
        if tool is None or parameter is None:
            return None
        value = self._answer_for(parameter, asked)
        if value is None:
            return None
        return Goal(
            tool=tool,
            clause=state_text(asked, "clause"),
            arguments={**state_map(asked, "arguments"), name: value},
            score=1.0,
        )

    def _answer_for(self, parameter: Parameter, asked: Mapping[str, Any]) -> Any:
        options = cast("Sequence[Mapping[str, Any]]", asked.get("options") or ())
        if not options:
            return read_value(parameter, self._said(self._dialogue.utterance))
        labelled = [(each.get("value"), Thing({"title": str(each.get("label"))}, "")) for each in options]
        found = matching(bare(self._dialogue.utterance), labelled)
        return found[0][0] if len(found) == 1 else None

    # --- one goal ---

    def _pursue(self, number: int, goal: Goal) -> Decision | None:
        """The next step for this goal; None once it is reached."""
        for step in self._dialogue.steps:
            ours = step.goal == number if step.goal is not None else step.tool == goal.tool.name
            if ours and (step.failure is not None or not step.helper):
                return None if step.failure is None else self._give_up()
        if goal.question is not None:
            return Ask(question=goal.question, state={"kind": "reader", "clause": goal.clause})
        if len(self._dialogue.steps) >= MAX_STEPS:
            return self._give_up()
        values = self._arguments(number, goal)
        if not isinstance(values, dict):
            return values
        problems = compile_schema(goal.tool.definition.parameters_json_schema).problems(values)
        if problems:
            return Tell(text=f"I cannot call `{goal.tool.name}` with that: {'; '.join(map(str, problems))}.")
        return Call(tool=goal.tool.name, arguments=values, goal=number, confidence=goal.score)

    def _give_up(self) -> Tell:
        return Tell(text=answers.answer(self._dialogue.steps))

    def _arguments(self, number: int, goal: Goal) -> dict[str, Any] | Decision:
        tool = goal.tool
        filling = fill(
            tool.definition.parameters_json_schema, self._said(goal.clause), tool_words=tool.name_stems
        )
        values = {**filling.values, **goal.arguments}
        for parameter in tool.parameters:
            described = goal.mentions.get(parameter.name)
            literal = values.get(parameter.name)
            identifies = parameter.kind is Kind.IDENTIFIER or described is not None
            if not identifies or not (parameter.required or described or literal):
                continue
            values.pop(parameter.name, None)
            mention = described or (str(literal) if literal is not None else filling.rest)
            found = self._identify(number, goal, parameter, mention=mention, values=values)
            if not isinstance(found, _Value):
                return found
            values[parameter.name] = found.value
        for parameter in tool.parameters:
            if parameter.required and parameter.name not in values:
                found = self._supply(number, goal, parameter, values=values)
                if not isinstance(found, _Value):
                    return found
                values[parameter.name] = found.value
        return values

    def _identify(
        self, number: int, goal: Goal, parameter: Parameter, *, mention: str, values: Mapping[str, Any]
    ) -> _Value | Decision:
        """An identifier out of the results of this conversation; listed first where that is possible."""
        pointed = self._pointed_at(goal, parameter, mention)
        candidates = pointed or values_for(parameter, self._dialogue.steps, tool_stems=goal.tool.name_stems)
        if not candidates:
            helper = self._helper(number, goal, parameter, text=mention or goal.clause)
            if helper is not None:
                return helper
            candidates = values_for(parameter, self._dialogue.earlier, tool_stems=goal.tool.name_stems)
        found = pointed or self._named(goal, parameter, mention, candidates)
        if len(found) == 1:
            return _Value(found[0][0])
        if len(found) > 1:
            return self._which(goal, parameter, found, values)
        if candidates:
            near = answers.numbered(nearest(mention, candidates))
            return Tell(text=f"I found nothing that matches “{mention}”. The nearest there is:\n{near}")
        if any(step.helper and step.goal == number for step in self._dialogue.steps):
            return Tell(text=f"I found nothing that `{goal.tool.name}` could be used on.")
        return self._which(goal, parameter, (), values)

    def _pointed_at(self, goal: Goal, parameter: Parameter, mention: str) -> list[tuple[Any, Thing]]:
        """What was not described but pointed at: by its identifier, as 'it', or by its place in a list."""
        known = values_for(parameter, self._dialogue.all_steps, tool_stems=goal.tool.name_stems)
        exact = [each for each in known if str(each[0]) in mention.split()]
        inner = self._inner(goal, parameter, mention)
        if exact or not inner or not (is_it(inner) or ordinal(inner) is not None):
            return exact
        for step in reversed(self._dialogue.all_steps):
            latest = values_for(parameter, [step], tool_stems=goal.tool.name_stems)
            if latest:
                return latest if is_it(inner) else matching(inner, latest)
        return []

    def _named(
        self, goal: Goal, parameter: Parameter, mention: str, candidates: list[tuple[Any, Thing]]
    ) -> list[tuple[Any, Thing]]:
        inner = self._inner(goal, parameter, mention)
        return (matching(mention, candidates) or matching(inner, candidates)) if inner else candidates

    def _inner(self, goal: Goal, parameter: Parameter, mention: str) -> str:
        """A mention without the words that only say what kind of thing it is."""
        kind_words = goal.tool.name_stems | set(parameter.noun)
        return " ".join(word for word in mention.split() if stem(word.strip(".,!?")) not in kind_words)

    def _supply(
        self, number: int, goal: Goal, parameter: Parameter, *, values: Mapping[str, Any]
    ) -> _Value | Decision:
        """A value that was not said: from this turn's results, from a tool that returns it, or by asking."""
        found = values_for(parameter, self._dialogue.steps, tool_stems=goal.tool.name_stems)
        if len(found) == 1:
            return _Value(found[0][0])
        if len(found) > 1:
            return self._which(goal, parameter, found, values)
        helper = self._helper(number, goal, parameter, text=goal.clause)
        return helper or self._which(goal, parameter, (), values)

    def _helper(
        self, number: int, goal: Goal, parameter: Parameter, *, text: str, depth: int = 0
    ) -> Call | None:
        """A call whose result can supply a value, with whatever that call needs supplied first."""
        called = {step.tool for step in self._dialogue.steps if step.goal == number and step.helper}
        for tool in self._suppliers(goal, parameter):
            if tool.name in called:
                continue
            schema = tool.definition.parameters_json_schema
            # The words of the goal are no content for the call that helps it.
            filling = fill(schema, self._said(text), tool_words=tool.name_stems | goal.tool.name_stems)
            needed = {each.name for each in tool.parameters if each.required}
            values = {name: value for name, value in filling.values.items() if name in needed}
            lacking: list[Parameter] = []
            for each in filling.missing(tool.parameters):
                offered = values_for(each, self._dialogue.all_steps, tool_stems=tool.name_stems)
                if len(offered) == 1:
                    values[each.name] = offered[0][0]
                else:
                    lacking.append(each)
            if not lacking:
                return Call(tool=tool.name, arguments=values, goal=number, helper=True, confidence=goal.score)
            if depth < MAX_DEPTH:
                deeper = self._helper(number, goal, lacking[0], text=text, depth=depth + 1)
                if deeper is not None:
                    return deeper
        return None

    def _suppliers(self, goal: Goal, parameter: Parameter) -> list[KnownTool]:
        """Tools that only look and whose results can hold such a value, the likeliest first."""
        noun = set(parameter.noun) or (
            goal.tool.name_stems - {stem(w) for w in split_name(goal.tool.name)[:1]}
        )
        identifier = parameter.kind is Kind.IDENTIFIER
        wanted = set(stems(parameter.label))

        def declares(tool: KnownTool) -> bool:
            return offers(parameter, tool.returns)

        found = [
            tool
            for tool in self._tools.values()
            if tool.reads
            and tool.name != goal.tool.name
            and (
                declares(tool) or (bool(noun & tool.name_stems) if identifier else wanted <= tool.name_stems)
            )
        ]
        return sorted(
            found, key=lambda tool: (not declares(tool), _LOOKING.get(tool.intention or "", 3), tool.name)
        )

    def _which(
        self,
        goal: Goal,
        parameter: Parameter,
        found: Sequence[tuple[Any, Thing]],
        values: Mapping[str, Any],
    ) -> Ask:
        shown = list(found)[:MAX_OPTIONS]
        labels = [str(each) for each in parameter.choices] or [thing.title for _, thing in shown]
        options = [{"value": each, "label": str(each)} for each in parameter.choices] or [
            {"value": value, "label": thing.title} for value, thing in shown
        ]
        if shown:
            question = f"I found {len(found)} that fit. Which one do you mean?\n{answers.numbered(labels)}"
        else:
            about = f" ({parameter.described.rstrip('.')})" if parameter.described else ""
            question = f"Which {parameter.label} should I use for `{goal.tool.name}`{about}?"
            question += f"\n{answers.numbered(labels)}" if labels else ""
        return Ask(
            question=question,
            state={
                "kind": "argument",
                "question": question,
                "tool": goal.tool.name,
                "parameter": parameter.name,
                "clause": goal.clause,
                "arguments": {**goal.arguments, **values},
                "options": options,
            },
        )

    def _said(self, text: str) -> Said:
        return self._finder.said(text, self._now)

    def _confidence(self, goals: Sequence[Goal]) -> float:
        if any(step.failure is not None for step in self._dialogue.steps):
            return 0.0
        return min((goal.score for goal in goals), default=0.0)


def _starts_command(utterance: str) -> bool:
    words = split_name(bare(utterance))
    return bool(words) and intention(words[0]) is not None
