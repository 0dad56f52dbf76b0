"""One goal on its way: what it is called with, what supplies that, and the next call or question.

Owns the rule that things are listed before they are touched, and that what cannot be told apart is asked.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from steward.contract.schema import compile_schema
from steward.models.planner import answers
from steward.models.planner.arguments import fill
from steward.models.planner.decisions import Ask, Call, Decision, Goal, Several, Tell
from steward.models.planner.dialogue import Dialogue, Step
from steward.models.planner.finding import SaidClause
from steward.models.planner.goals import GoalFinder
from steward.models.planner.missing_value import MAX_OPTIONS, Candidate, which_question
from steward.models.planner.parameters import Parameter, ParameterKind
from steward.models.planner.ranking import REMOVES, KnownTool
from steward.models.planner.readers import Mention, ReaderQuestion, SpeakingReader
from steward.models.planner.suppliers import suppliers
from steward.models.planner.things import (
    Thing,
    at_places,
    best_matching,
    is_code,
    is_it,
    matching,
    nearest,
    said_whole,
    values_for,
)
from steward.models.planner.words import ordinal, stem

MAX_STEPS = 20
_NEEDING = frozenset(
    {"need", "needs", "needed", "require", "requires", "required", "missing", "lacks", "without"}
)
MAX_DEPTH = 3


@dataclass(frozen=True, slots=True)
class Situation:
    finder: GoalFinder
    dialogue: Dialogue
    tools: Mapping[str, KnownTool]
    now: datetime
    tell: Callable[[], str]


@dataclass(frozen=True, slots=True)
class _Candidates:
    """What is meant: one thing, or several that are all meant."""

    candidates: Sequence[Candidate]


@dataclass(slots=True)
class _Draft:
    """The arguments of a goal as far as they are known."""

    values: dict[str, Any]
    rest: str  # words that name no value
    targets: list[Candidate] = field(default_factory=list[Candidate])
    target: str | None = None  # the parameter that takes a target


class GoalSteps:
    def __init__(self, situation: Situation) -> None:
        self._at = situation
        self._dialogue = situation.dialogue

    def next(self, number: int, goal: Goal) -> Decision | None:
        """The next step for this goal; None once it is reached."""
        ours = [
            step
            for step in self._dialogue.steps
            if (step.goal == number if step.goal is not None else step.tool == goal.tool.name)
        ]
        failed = next((step for step in ours if step.failure is not None), None)
        if failed is not None:
            return self._lacking(goal, failed) or Tell(text=self._at.tell())
        done = [step for step in ours if not step.helper]
        if done and not (goal.mentions or goal.chosen):
            return None
        if goal.question is not None:
            return self._question(goal, goal.question)
        drafts = self._drafts(number, goal)
        return self._next_of(drafts, number, goal, done) if isinstance(drafts, list) else drafts

    def _lacking(self, goal: Goal, failed: Step) -> Ask | None:
        """What the tool itself says that it cannot do without, where one thing was not said."""
        if failed.tool != goal.tool.name or failed.helper or (goal.reply_to or goal.chosen):
            return None
        said = _needed(failed.failure or "")
        named = [
            each for each in goal.tool.parameters if each.name in said and each.name not in failed.arguments
        ]
        return self._which(goal, named[0], (), failed.arguments, "") if len(named) == 1 else None

    def _next_of(
        self, drafts: Sequence[_Draft], number: int, goal: Goal, done: Sequence[Step]
    ) -> Decision | None:
        """The first of the calls that are still to be made; all of them where things are removed."""
        left = [each for each in drafts if not any(_same_target(each, step) for step in done)]
        if not left or (done and len(drafts) == 1):
            return None
        if len(self._dialogue.steps) >= MAX_STEPS:
            return Tell(
                text=f"{self._at.tell()}\n\nI stopped here: {len(left)} more are left for another turn."
            )
        if goal.tool.intention != REMOVES:
            return self._call(number, goal, left[0])
        # Each waits for a person by itself, who is to know of all of them at the first question.
        calls = [self._call(number, goal, each) for each in left[: MAX_STEPS - len(self._dialogue.steps)]]
        unready = next((each for each in calls if not isinstance(each, Call)), None)
        ready = tuple(each for each in calls if isinstance(each, Call))
        return unready or (Several(ready) if len(ready) > 1 else calls[0])

    def _call(self, number: int, goal: Goal, draft: _Draft) -> Decision:
        values = draft.values
        if goal.finish is not None and draft.targets:
            finished = goal.finish(draft.targets[0][1].fields)
            if isinstance(finished, ReaderQuestion):
                return self._question(goal, finished)
            values = {**values, **finished}
        if _selects_nothing(goal.tool, values):
            # Never everything because nothing was said.
            return self._which(goal, _selector(goal.tool), (), values, "")
        problems = compile_schema(goal.tool.definition.parameters_json_schema).problems(values)
        if problems:
            return Tell(text=f"I cannot call `{goal.tool.name}` with that: {'; '.join(map(str, problems))}.")
        return Call(tool=goal.tool.name, arguments=values, goal=number, confidence=goal.score, memo=goal.memo)

    def _question(self, goal: Goal, question: ReaderQuestion) -> Ask:
        return Ask(
            question=question.text,
            state={
                "kind": "reader",
                "reader": goal.reader,
                "tool": goal.tool.name,
                "clause": goal.clause,
                "place": goal.place,
                "memo": dict(question.memo),
            },
        )

    # --- arguments ---

    def _drafts(self, number: int, goal: Goal) -> list[_Draft] | Decision:
        """What to call the tool with, once for each thing that is meant."""
        tool = goal.tool
        if goal.read:
            draft = _Draft(dict(goal.arguments), "it" if any(map(is_it, goal.clause.split())) else "")
        else:
            schema = tool.definition.parameters_json_schema
            filling = fill(schema, self._said(goal.clause), tool_words=tool.name_stems)
            # A reader has read all of the clause: what it left out was not said.
            draft = _Draft({**({} if goal.reader else filling.values), **goal.arguments}, filling.rest)
        for parameter in tool.parameters:
            stopped = self._targeted(number, goal, parameter, draft)
            if stopped is not None:
                return stopped
        for parameter in tool.parameters if goal.finish is None else ():
            if parameter.required and parameter.name not in draft.values and parameter.name != draft.target:
                found = self._supply(number, goal, parameter, values=draft.values)
                if not isinstance(found, _Candidates):
                    return found
                draft.values[parameter.name] = found.candidates[0][0]
        if draft.target is None:
            return [draft]
        return [
            _Draft({**draft.values, draft.target: each[0]}, draft.rest, [each], draft.target)
            for each in draft.targets
        ]

    def _targeted(self, number: int, goal: Goal, parameter: Parameter, draft: _Draft) -> Decision | None:
        """Finds what an identifying parameter identifies; a decision where something comes first."""
        if parameter.name in goal.chosen:
            picked = [self._thing(goal, parameter, value) for value in goal.chosen[parameter.name]]
        else:
            described = goal.mentions.get(parameter.name)
            literal = draft.values.get(parameter.name)
            identifies = parameter.kind is ParameterKind.IDENTIFIER or described is not None
            needed = parameter.required or described or literal or _must_be_told(goal.tool, draft)
            if not identifies or not needed:
                return None
            draft.values.pop(parameter.name, None)
            given = goal.reader or (goal.read and (is_code(literal) or not self._listable(goal, parameter)))
            if given and literal is not None and described is None:
                picked = [self._thing(goal, parameter, literal)]
            else:
                mention = described or (str(literal) if literal is not None else draft.rest)
                found = self._identify(number, goal, parameter, mention=mention, values=draft.values)
                if not isinstance(found, _Candidates):
                    return found
                picked = list(found.candidates)
        if len(picked) == 1 and draft.target is not None:
            draft.values[parameter.name] = picked[0][0]
        else:
            draft.targets, draft.target = picked, parameter.name
        return None

    def _listable(self, goal: Goal, parameter: Parameter) -> bool:
        """Whether anything lists what this identifies; else the words are the identifier itself."""
        known = values_for(parameter, self._dialogue.all_steps, tool_stems=goal.tool.name_stems)
        return bool(known) or any(suppliers(goal.tool, parameter, self._at.tools.values()))

    def _thing(self, goal: Goal, parameter: Parameter, value: Any) -> Candidate:
        """A value with the thing it stands for, as a result of this conversation showed it."""
        known = values_for(parameter, self._dialogue.all_steps, tool_stems=goal.tool.name_stems)
        return next((each for each in known if each[0] == value), (value, Thing({}, "")))

    def _identify(
        self,
        number: int,
        goal: Goal,
        parameter: Parameter,
        *,
        mention: Mention | str,
        values: Mapping[str, Any],
    ) -> _Candidates | Decision:
        """An identifier out of the results of this conversation; listed first where that is possible."""
        text = mention.text if isinstance(mention, Mention) else mention
        pointed = self._pointed_at(number, goal, parameter, mention)
        if pointed:
            several = isinstance(mention, Mention) and bool(mention.places or mention.count)
            return (
                _Candidates(pointed)
                if several or len(pointed) == 1
                else self._which(goal, parameter, pointed, values, text)
            )
        candidates = values_for(parameter, self._seen(number), tool_stems=goal.tool.name_stems)
        if not candidates:
            helper = self._helper(number, goal, parameter, text=text or goal.clause)
            if helper is not None:
                return helper
            candidates = values_for(parameter, self._dialogue.earlier, tool_stems=goal.tool.name_stems)
        if not text and candidates and goal.read and goal.tool.changes:
            said = said_whole(goal.clause, candidates)  # nothing is changed that nobody named
            return (
                _Candidates(said)
                if len(said) == 1
                else self._which(goal, parameter, candidates, values, text)
            )
        found, every = self._named(goal, parameter, mention, candidates)
        if len(found) == 1 or (found and every):
            return _Candidates(found)
        if len(found) > 1:
            return self._which(goal, parameter, found, values, text)
        return self._nothing(number, goal, parameter, candidates=candidates, mention=text, values=values)

    def _nothing(
        self,
        number: int,
        goal: Goal,
        parameter: Parameter,
        *,
        candidates: Sequence[Candidate],
        mention: str,
        values: Mapping[str, Any],
    ) -> Decision:
        looked = any(step.helper and step.goal == number for step in self._dialogue.steps)
        if candidates and not looked:  # those came by the way: what there is was not listed yet
            helper = self._helper(number, goal, parameter, text=mention or goal.clause)
            if helper is not None:
                return helper
        speaker = self._speaker(goal)
        if speaker is not None and (candidates or looked):
            return self._question(goal, speaker.nothing(goal.tool.name, mention))
        if candidates:
            near = answers.numbered(nearest(mention, candidates))
            return Tell(text=f"I found nothing that matches “{mention}”. The nearest there is:\n{near}")
        if looked:
            return Tell(text=f"I found nothing that `{goal.tool.name}` could be used on.")
        return self._which(goal, parameter, (), values, mention)

    def _seen(self, number: int) -> list[Step]:
        """This turn's results as they were before this goal changed anything."""
        seen: list[Step] = []
        for step in self._dialogue.steps:
            if step.goal == number and not step.helper:
                break
            seen.append(step)
        return seen

    def _pointed_at(
        self, number: int, goal: Goal, parameter: Parameter, mention: Mention | str
    ) -> list[Candidate]:
        """What was not described but pointed at: by its identifier, as 'it', or by its place in a list."""
        if isinstance(mention, Mention):
            if mention.places:
                return at_places(mention.places, self._last_shown(goal, parameter))
            if mention.count:
                found = self._last_ones(goal, parameter, (*self._dialogue.earlier, *self._seen(number)))
                return found if mention.count in (-1, len(found)) else []
            return self._last_touched(goal, parameter) if mention.it else []
        known = values_for(parameter, self._dialogue.all_steps, tool_stems=goal.tool.name_stems)
        exact = [each for each in known if str(each[0]) in mention.split()]
        inner = self._inner(goal, parameter, mention)
        if exact or not inner:
            return exact
        if is_it(inner):
            return self._last_touched(goal, parameter)
        return matching([inner], self._last_shown(goal, parameter)) if ordinal(inner) is not None else []

    def _last_shown(self, goal: Goal, parameter: Parameter) -> list[Candidate]:
        """What the latest list that the person saw held, in its order."""
        speaker = self._speaker(goal)
        fallback: list[Candidate] = []
        for step in reversed(self._dialogue.all_steps):
            found = values_for(parameter, [step], tool_stems=goal.tool.name_stems)
            if not found:
                continue
            shown = self._shown(step, goal, found)
            if shown is not None:
                return shown
            if speaker is None:
                if not step.helper:
                    return found
                fallback = fallback or found
        return fallback

    def _shown(self, step: Step, goal: Goal, found: Sequence[Candidate]) -> list[Candidate] | None:
        """What the person saw of these, in its order; None where no list was shown."""
        speaker = self._speaker(goal)
        shown = speaker.shown(step) if speaker and not step.helper and step.failure is None else None
        if shown is None:
            return None
        by_value = {str(value): (value, thing) for value, thing in found}
        return [by_value[key] for each in shown for key in map(str, each.values()) if key in by_value]

    def _last_touched(self, goal: Goal, parameter: Parameter) -> list[Candidate]:
        """What the conversation was about last: what a call touched, or what a result held."""
        for step in reversed(self._dialogue.all_steps):
            if step.helper:
                continue
            named = step.arguments.get(parameter.name)
            if named is not None:
                return [self._thing(goal, parameter, named)]
            latest = values_for(parameter, [step], tool_stems=goal.tool.name_stems)
            latest = self._shown(step, goal, latest) or latest
            if latest:
                return latest
        return []

    def _last_ones(self, goal: Goal, parameter: Parameter, steps: Sequence[Step]) -> list[Candidate]:
        """What the last turn that did something did it to; else what it showed."""
        last = next((step for step in reversed(steps) if not step.helper), None)
        together = [step for step in steps if last is not None and step.turn == last.turn]
        touched = [step.arguments[parameter.name] for step in together if parameter.name in step.arguments]
        if touched:
            return [self._thing(goal, parameter, value) for value in dict.fromkeys(touched)]
        return self._last_shown(goal, parameter) if last is not None else []

    def _named(
        self, goal: Goal, parameter: Parameter, mention: Mention | str, candidates: list[Candidate]
    ) -> tuple[list[Candidate], bool]:
        """The candidates that the words fit, and whether all of them are meant."""
        if isinstance(mention, Mention):
            if mention.places and self._last_shown(goal, parameter):
                return [], False  # there is a list, and it has no such place
            if mention.among is None or not candidates:
                return (matching([mention.text], candidates) if mention.text else candidates), False
            meant = mention.among([thing.fields for _, thing in candidates])
            kept = [each for each in candidates if any(each[1].fields is one for one in meant.records)]
            return kept, meant.every
        inner = self._inner(goal, parameter, mention)
        found = matching([mention, inner], candidates) if inner else candidates
        if not found and goal.read and goal.tool.reads:  # nothing is changed that only comes near
            found = best_matching(inner, candidates)
        return found, False

    def _inner(self, goal: Goal, parameter: Parameter, mention: str) -> str:
        """A mention without the words that only say what kind of thing it is."""
        kind_words = goal.tool.name_stems | set(parameter.noun)
        return " ".join(word for word in mention.split() if stem(word.strip(".,!?")) not in kind_words)

    def _supply(
        self, number: int, goal: Goal, parameter: Parameter, *, values: Mapping[str, Any]
    ) -> _Candidates | Decision:
        """A value that was not said: from this turn's results, from a tool that returns it, or by asking."""
        if goal.read and parameter.kind is not ParameterKind.IDENTIFIER:
            return self._which(goal, parameter, (), values, "")  # nobody's words but the person's
        found = values_for(parameter, self._dialogue.steps, tool_stems=goal.tool.name_stems)
        if len(found) == 1:
            return _Candidates(found)
        if len(found) > 1:
            return self._which(goal, parameter, found, values, "")
        helper = self._helper(number, goal, parameter, text=goal.clause)
        return helper or self._which(goal, parameter, (), values, "")

    # --- calls that help ---

    def _helper(
        self, number: int, goal: Goal, parameter: Parameter, *, text: str, depth: int = 0
    ) -> Call | None:
        """A call whose result can supply a value, with whatever that call needs supplied first."""
        called = {step.tool for step in self._dialogue.steps if step.goal == number and step.helper}
        for tool in suppliers(goal.tool, parameter, self._at.tools.values()):
            if tool.name in called:
                continue
            schema = tool.definition.parameters_json_schema
            # The words of the goal are no content for the call that helps it.
            filling = fill(schema, self._said(text), tool_words=tool.name_stems | goal.tool.name_stems)
            needed = {each.name for each in tool.parameters if each.required}
            values = {name: value for name, value in filling.values.items() if name in needed}
            values |= {
                each.name: goal.listing[each.name] for each in tool.parameters if each.name in goal.listing
            }
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

    # --- questions ---

    def _which(
        self,
        goal: Goal,
        parameter: Parameter,
        found: Sequence[Candidate],
        values: Mapping[str, Any],
        mention: str,
    ) -> Ask:
        speaker = self._speaker(goal)
        asked = None
        if found and speaker is not None:
            records = [thing.fields for _, thing in found[:MAX_OPTIONS]]
            asked = speaker.which(goal.tool.name, mention, records, self._at.now)
        return which_question(goal, parameter, found, known=values, asked=asked)

    def _speaker(self, goal: Goal) -> SpeakingReader | None:
        return self._at.finder.speaker(goal.reader)

    def _said(self, text: str) -> SaidClause:
        return self._at.finder.said(text, self._at.now)


def _needed(failure: str) -> set[str]:
    """The words of a failure that stand beside one for needing: "'create' needs collection_name"."""
    said = [word.strip("'\"`.,:;()") for word in failure.split()]
    return {
        word for at, word in enumerate(said) if _NEEDING.intersection(said[max(at - 2, 0) : at + 3]) - {word}
    }


def _removes_by_choice(tool: KnownTool) -> bool:
    """Whether it removes what it is told to, and everything where it is told nothing."""
    return (
        tool.intention == REMOVES
        and not tool.reads
        and bool(tool.parameters)
        and not any(each.required for each in tool.parameters)
    )


def _must_be_told(tool: KnownTool, draft: _Draft) -> bool:
    """ "Forget my insurance number": the words name one thing, though the tool would do without a name."""
    return bool(draft.rest) and not draft.values and draft.target is None and _removes_by_choice(tool)


def _selects_nothing(tool: KnownTool, values: Mapping[str, Any]) -> bool:
    return not any(
        value not in (None, "", [], {}, False) for value in values.values()
    ) and _removes_by_choice(tool)


def _selector(tool: KnownTool) -> Parameter:
    return next(
        (each for each in tool.parameters if each.kind is ParameterKind.IDENTIFIER), tool.parameters[0]
    )


def _same_target(draft: _Draft, step: Step) -> bool:
    return draft.target is None or draft.values.get(draft.target) == step.arguments.get(draft.target)
