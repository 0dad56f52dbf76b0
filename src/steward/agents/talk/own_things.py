"""Looking at a person's own tasks before it is said that nothing can be done: a procedure for the planner.

"I did the ironing" or "cancel the meeting" may speak of a task, whatever else the words could mean. Owns when
that is looked at and what then happens; a task is only taken where every word that names it fits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from steward.agents.tasks import task_words as words
from steward.agents.tasks.task_changes import due_text
from steward.agents.tasks.task_choice import HELP_LISTING, matched
from steward.agents.tasks.task_reader import NAME as TASKS
from steward.agents.tasks.task_reader import TaskReader, addition
from steward.contract import linear_re as re
from steward.language.dates.find import find_dates
from steward.language.references import read_ordinals, read_reference
from steward.models.planner.decisions import Ask, Call, Decision, Tell
from steward.models.planner.dialogue import Dialogue
from steward.models.planner.procedures import ASKED
from steward.models.planner.ranking import KnownTool, Scored
from steward.models.planner.readers import READER, Record
from steward.models.planner.words import bare, bare_of_one, intention, places
from steward.tasks.matching import stem
from steward.tasks.new_tasks import read_new_tasks
from steward.tasks.priority import find_priority

OWN_THINGS = "own-things"
LONGEST = 8  # words that name a task
_I = re.IGNORECASE
_DONE = re.compile(
    r"^(?:i|we)(?:'ve| have| just| already| finally| "
    r"also)*\s+(?P<verb>[a-z]+)\s+(?:with\s+)?(?P<what>[^?]+)$|"
    r"^(?:the |my )?(?P<thing>[^?]+?)(?:'s|'re| is| are| was| were| has been| have been| got)(?: all|"
    r" already| "
    r"finally| now)? "
    r"(?:done|finished|completed|taken care of)$",
    _I,
)
# "The fridge is defrosted": done where a task says so, verb and thing.
_DID = re.compile(
    r"^(?:the |my )?(?P<thing>[^?]+?)(?:'s|'re| is| are| has been| have been)(?: all| already| finally|"
    r" now)? (?P<verb>[a-z]+)$",
    _I,
)
_ALL_BUT = re.compile(
    r"^(?P<all>all|everything)(?:'s|'re| is| are)?(?: all)? (?:done|finished)(?P<but>,? (?:except|but|"
    r"apart from|other than|bar) .+)$",
    _I,
)
_ORDER = re.compile(
    r"^(?P<verb>[a-z]+)(?P<off> off| out)?\s+(?P<what>.+?)(?:\s+(?:as (?:done|finished|complete[d]?)|off|"
    r"from my list))?$",
    _I,
)
# What is said of a task in the past without its being done.
_VERBS_NOT_DONE = (
    "add move change delay postpone reschedule delete remove cancel forget need want plan miss like tell "
    "mean think have know hope try decide start say ask"
)
_NOT_DONE = frozenset(map(stem, _VERBS_NOT_DONE.split()))
_OF_ALL = re.compile(r"\b(?:all|every|everything|any)\b", _I)
# What is said to be put anywhere but on one's own list, or of something new that a program makes.
_ADDING = re.compile(r"^add\s", _I)
_ELSEWHERE = re.compile(r"\b(?:to|into|onto|on|in|as|from|between|after|before)\b", _I)
_OF_A_KIND = re.compile(r"^(?:an?|another|new|the|this|these|that|it|some|more|two|three|\d+)\b", _I)
# Whatever is done to a thing of one's own that ends in a day: it is then.
_SETTLES = re.compile(
    r"^(?:set|put|place|schedule|plan|pencil|slot|fit|fix|leave|keep|save|do|have|make|give|arrange|pop|stick)"
    r"(?: in)? (?P<what>\S.*)$",
    _I,
)
_PREPOSED = re.compile(
    r"(?:^(?:the|my|our)\s+)|(?:\s+(?:in|down|for|on|to|at|by|until|till|due|as|a|be|back|off))+$", _I
)
_EXCEPT = re.compile(
    r"^(?:all|everything|every one|the (?:whole )?(?:list|lot)|both)(?: of (?:them|these|those|it))?,? "
    r"(?:except|but|apart from|other than|bar)(?: for)? (?P<left>.+)$",
    _I,
)
MEANT = 0.5  # a guess, which its undo takes back
_FINISHING = frozenset({"finish"})
_REMOVING = frozenset({"remove"})


@dataclass(frozen=True, slots=True)
class OwnThings:
    """Implements the planner's `Procedure` and `LastResort`."""

    def decide(
        self,
        dialogue: Dialogue,
        tools: Sequence[KnownTool],
        *,
        ranked: Sequence[Scored],  # noqa: ARG002 - the interface's
        now: datetime,
    ) -> Decision | None:
        """What somebody says they have done."""
        done = (
            None
            if dialogue.asked or words.COMPLETE not in _names(tools)
            else _said_done(dialogue.utterance, now)
        )
        return None if done is None else _act(words.COMPLETE, *done, dialogue, now)

    def rescue(self, dialogue: Dialogue, tools: Sequence[KnownTool], now: datetime) -> Decision | None:
        """What somebody wants done with a thing of theirs, where no tool was plainly meant."""
        said = bare(dialogue.utterance).strip(" .!")
        found = _ORDER.match(said)
        if found is None or "?" in said or len(found["what"].split()) > LONGEST:
            return None
        if _ADDING.match(said) and words.ADD in _names(tools):
            return _add(found["what"], dialogue, now)
        settled = _settled(said, dialogue, now) if words.UPDATE in _names(tools) else None
        if settled is not None:
            return settled
        looks = found["verb"].lower() in ("check", "tick", "mark", "resolve", "close") and not found["off"]
        if _OF_ALL.search(said) or looks:
            return None  # everything, or a look at something: no one thing to be done with
        meant = intention(found["verb"])
        tool = words.COMPLETE if meant in _FINISHING else words.DELETE if meant in _REMOVING else None
        if tool is None or tool not in _names(tools):
            return None
        return _act(tool, found["what"], "", dialogue, now) or _none_fits(found["what"], dialogue, tools)


def _names(tools: Sequence[KnownTool]) -> set[str]:
    return {tool.name for tool in tools}


def _said_done(utterance: str, now: datetime) -> tuple[str, str] | None:
    """What was done, as it names a task, and the verb that may decide between several."""
    said = bare(utterance).strip(" .!")
    but = _ALL_BUT.match(said)
    found = _DONE.match(f"{but['all']}{but['but']} are done" if but else said)
    if found is None:
        done = _DID.match(said)
        participle = done["verb"].lower() if done else ""
        if done is None or len(said.split()) > LONGEST or stem(participle) == participle:
            return None
        return f"{participle} {done['thing']}", ""
    what, verb = (found["thing"], "") if found["thing"] else (found["what"], found["verb"].lower())
    if len(what.split()) > LONGEST or (find_dates(what, now) and not (read_ordinals(what) or places(what))):
        return None
    if verb and (stem(verb) in _NOT_DONE or (not verb.endswith("ed") and stem(verb) == verb)):
        return None  # "I like tea": nothing that was done
    return what, verb


def _act(tool: str, what: str, verb: str, dialogue: Dialogue, now: datetime) -> Decision | None:
    made = [step for step in dialogue.steps if step.tool == tool]
    listed = next((step for step in dialogue.steps if step.tool == words.LIST), None)
    if listed is None:
        return Call(tool=words.LIST, arguments=dict(HELP_LISTING), goal=0, helper=True)
    if listed.failure is not None:
        return None
    tasks = [each for each in TaskReader().shown(listed) or () if not each.get("completed")]
    found, every = _meant(what, verb, tasks, dialogue)
    touched = {step.arguments.get("task_id") for step in made}
    left = [each for each in found if each.get("id") not in touched]
    if made and (not every or not left or any(step.failure for step in made)):
        told = TaskReader().tell(made, dialogue.all_steps, now)
        return Tell(text=told, confidence=0.0 if any(step.failure for step in made) else 1.0)
    if every and left:
        return Call(tool=tool, arguments={"task_id": left[0].get("id")}, goal=0, confidence=1.0)
    return _which(tool, what, found, now) if found else None


def _meant(  # noqa: PLR0911 - one line a form
    what: str, verb: str, tasks: Sequence[Record], dialogue: Dialogue
) -> tuple[Sequence[Record], bool]:
    """The tasks that these words mean, and whether all of them; else one of them is to be chosen."""
    shown = [
        each for each in _last_shown(dialogue) if any(each.get("id") == task.get("id") for task in tasks)
    ]
    spared = _EXCEPT.match(what)
    if spared is not None:
        among = shown or tasks
        at = read_ordinals(spared["left"]) or places(spared["left"])
        kept = _at(at, shown) if at and shown else matched(bare_of_one(spared["left"]), among)
        return ([each for each in among if each not in kept], True) if len(kept) == 1 else ((), False)
    reference = read_reference(what)
    if reference.plural and shown:
        return shown, not reference.both or len(shown) == 2
    if reference.everything and reference.text:
        of_a_kind = matched(reference.text, tasks)
        return of_a_kind, not reference.both or len(of_a_kind) == 2
    numbers = reference.ordinals or places(what)
    if numbers and shown:
        picked = _at(numbers, shown)
        return picked, bool(picked)
    if reference.pronoun and len(shown) == 1:
        return shown, True
    found = matched(what, tasks, hint=verb)
    if not found and reference.parts:
        apart = [matched(part, tasks, hint=verb) for part in reference.parts]
        if all(len(each) == 1 for each in apart):
            return [each[0] for each in apart], True
    found = found or (matched(f"{verb} {what}", tasks) if verb else [])
    return found, len(found) == 1


def _at(numbers: Sequence[int], shown: Sequence[Record]) -> list[Record]:
    """What stands at these places; nothing where one of them is not there."""
    at = [number - 1 if number > 0 else number for number in numbers]
    return [shown[each] for each in at] if all(-len(shown) <= each < len(shown) for each in at) else []


def _last_shown(dialogue: Dialogue) -> Sequence[Record]:
    """The list that the person saw last, in its order."""
    lists = (step for step in reversed(dialogue.earlier) if step.tool == words.LIST and not step.helper)
    step = next((each for each in lists if each.failure is None), None)
    return () if step is None else TaskReader().shown(step) or ()


def _add(what: str, dialogue: Dialogue, now: datetime) -> Decision | None:
    """ "Add lunch with Tom": what is to be added nowhere else is a task, but for a new thing of a kind."""
    items = read_new_tasks(f"add {what}", now)
    if not items or _OF_A_KIND.match(what) or any(_ELSEWHERE.search(item.title) for item in items):
        return None
    made = [step for step in dialogue.steps if step.tool == words.ADD]
    if len(made) == len(items) or any(step.failure is not None for step in made):
        return Tell(text=TaskReader().tell(made, dialogue.all_steps, now), confidence=MEANT)
    arguments = addition(items[len(made)], now).arguments
    return Call(tool=words.ADD, arguments=arguments, goal=0, confidence=MEANT)


def _settled(said: str, dialogue: Dialogue, now: datetime) -> Decision | None:
    """ "Set the ribbon for saturday": a task of one's own gets the day or the urgency that was said of it."""
    named, changes = _what_is_set(said, now)
    if not named:
        return None
    made = [step for step in dialogue.steps if step.tool == words.UPDATE]
    if made:
        return Tell(text=TaskReader().tell(made, dialogue.all_steps, now), confidence=1.0)
    listed = next((step for step in dialogue.steps if step.tool == words.LIST), None)
    if listed is None:
        return Call(tool=words.LIST, arguments=dict(HELP_LISTING), goal=0, helper=True)
    found = matched(named, [each for each in TaskReader().shown(listed) or () if not each.get("completed")])
    if len(found) == 1:
        arguments = {"task_id": found[0].get("id"), **changes}
        return Call(tool=words.UPDATE, arguments=arguments, goal=0, confidence=1.0)
    return _which(words.UPDATE, named, found, now, changes) if found else None


def _what_is_set(said: str, now: datetime) -> tuple[str, Mapping[str, object]]:
    """The words that name the thing, and what it gets; no words where nothing is set."""
    found = _SETTLES.match(said)
    what = found["what"] if found else ""
    dates = find_dates(what, now)
    urgency = None if dates else find_priority(what)
    if len(dates) == 1:
        (start, end), changes = dates[0].span, {"due_date": due_text(dates[0])}
    elif urgency is not None:
        (start, end), changes = urgency.span, {"priority": urgency.priority.value}
    else:
        return "", {}
    return _PREPOSED.sub("", f"{what[:start]} {what[end:]}".strip()), changes


def _none_fits(what: str, dialogue: Dialogue, tools: Sequence[KnownTool]) -> Decision | None:
    """Still a gap where there are other tools, but what was looked for among the tasks is said as well."""
    if any(step.tool == words.LIST and step.failure is not None for step in dialogue.steps):
        return None
    if any(tool.metadata.get(READER) != TASKS for tool in tools):
        said = words.none_fits(what)
        return Tell(text=said, gap=True, looked=said)
    question = TaskReader().nothing("", what)
    return Ask(
        question=question.text,
        state={"kind": "reader", "reader": TASKS, "tool": words.LIST, "memo": dict(question.memo)},
    )


def _which(
    tool: str,
    what: str,
    found: Sequence[Record],
    now: datetime,
    arguments: Mapping[str, object] | None = None,
) -> Ask:
    text, lines = TaskReader().which(tool, what, found, now)
    numbered = "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))
    return Ask(question=f"{text}\n{numbered}", state=choice(tool, arguments or {}, found))


def choice(
    tool: str, arguments: Mapping[str, object], found: Sequence[Record], *, instead: bool = False
) -> dict[str, object]:
    """What has to be known to go on with one of these (`following`)."""
    options = [{"id": each.get("id"), "title": each.get("title")} for each in found]
    return {
        "kind": ASKED,
        "chosen_among": options,
        "tool": tool,
        "arguments": dict(arguments),
        "instead": instead,
    }
