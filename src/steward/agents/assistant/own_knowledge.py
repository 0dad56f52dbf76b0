"""Answering from what one has, without a language model: a procedure for the planner.

Whoever asks to know something gets what memory or the documents say, before it is said that nothing is known.
Owns when that is asked for. How it is searched and quoted is the researcher's (research/inquiry.py).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from steward.agents.assistant.builtin_reader import SOLE
from steward.agents.assistant.builtin_telling import recollection
from steward.agents.assistant.personal_facts import asks_about_self, asks_about_us
from steward.agents.assistant.server_resources import ask_servers
from steward.agents.assistant.small_talk import OFFER, WHAT_I_AM
from steward.agents.researcher.evidence import MEMORY, MEMORY_SEARCHES, WEB_SEARCHES
from steward.agents.researcher.inquiry import Inquiry, Judgement, role_of
from steward.agents.researcher.procedure import STEPS, means_another
from steward.agents.researcher.questions import (
    about_now,
    addresses_in,
    asks_how,
    asks_what,
    keywords,
    may_be_done,
    wants_to_know,
)
from steward.agents.skills.tools import FIND
from steward.agents.talk.own_tasks import ask_tasks
from steward.agents.tasks.task_reader import NAME as TASKS
from steward.agents.tasks.task_reader import TaskReader
from steward.agents.tasks.task_words import LIST as LIST_TASKS
from steward.contract import linear_re as re
from steward.language.acts import ReadActs
from steward.language.asking import asks_of_day
from steward.language.reading import ToolJudge
from steward.language.thresholds import DEFAULT
from steward.models.planner.decisions import Decision, Tell
from steward.models.planner.dialogue import Dialogue
from steward.models.planner.ranking import CHANGING, THRESHOLD, KnownTool, Scored
from steward.models.planner.readers import READER
from steward.models.planner.words import bare

OWN_KNOWLEDGE = "own-knowledge"
KNOWS_NO_FACT = SOLE | {FIND}  # what says how to work tells nothing of the world
CALCULATES = "calculate"
TASKS_MEANT = 0.9  # how surely the task list must be meant to be asked alone
MADE_FOR = 0.6  # how surely a tool must serve a question to be asked before one's own memory
SURELY_MADE_FOR = 0.9  # and one that shares no word with the question, or where it is about the person
POSSIBLY = 0.45  # of what memory holds on the subject, where nothing says that it answers
CLEARLY = 2.0  # how many times nearer a connected tool must be than memory, where it is not sure itself
BY_MEANING = 0.45  # how well a tool must fit that shares no word with the question
_OF_TASKS = re.compile(
    r"(?:(?:and|so) )?(?:when|(?:at |on )?what (?:time|day|date))(?:'s| is| are)\b|.*\b(?:am|are|"
    r"do) (?:i|we)\b",
    re.IGNORECASE,
)
_ON_THE_WEB = re.compile(r"\b(?:web|internet|online|google|news)\b", re.IGNORECASE)
NOTHING = "I found nothing about that in my memory or your documents"
TELL_ME = f"{NOTHING}. Tell me with “remember that …”."
LOOK_IT_UP = (
    f"{NOTHING}, and I work without a language model here: I know no facts of my own and make nothing up. "
    "I can look it up: say “search the web for …”, or ask the researcher."
)


@dataclass(frozen=True, slots=True)
class Served:
    """A tool is made for the question; of the web is only asked what is not known here."""

    searches_web: bool = False


@dataclass(frozen=True, slots=True)
class OwnKnowledge:
    """Implements the planner's `Procedure` and `LastResort`."""

    judgement: Judgement = field(default_factory=Judgement)
    judge: ToolJudge | None = None
    acts: ReadActs | None = None

    def decide(
        self, dialogue: Dialogue, tools: Sequence[KnownTool], *, ranked: Sequence[Scored], now: datetime
    ) -> Decision | None:
        said = dialogue.utterance
        if not dialogue.asked and wants_to_know(said) and _no_task_fits(dialogue):
            return self._found_here(dialogue, tools, now)
        if dialogue.asked or not _is_for_us(said, ranked) or self._is_order(said):
            return None
        served = self.served(said, tools)
        if served and not served.searches_web:
            return None
        inquiry = Inquiry(self.judgement, dialogue, tools, now=now)
        found = inquiry.findings()
        personal = asks_about_self(said) and not asks_how(said)
        remembered = any(quote.source.kind == MEMORY for each in found for quote in each.quotes)
        if personal and remembered:
            return _recalled(dialogue, confidence=found[0].score)
        own = (
            (
                ask_tasks(dialogue, [tool.name for tool in tools], now, least=1.0)
                if _of_own_doing(said)
                else None
            )
            or inquiry.search(found)
            or inquiry.answer(found)
            or (
                None
                if not (_may_be_a_task(said) or asks_of_day(said, now))
                else ask_tasks(dialogue, [tool.name for tool in tools], now)
            )
            or (None if personal else ask_servers(dialogue, [tool.name for tool in tools]))
        )
        if own or served:  # what was found here needs no web; else that is asked
            return own
        return (_recalled(dialogue, confidence=POSSIBLY) if personal else None) or (
            None
            if _another_may_know(said, ranked)
            else inquiry.nearest_memory() or inquiry.nearest() or _nothing(said, personal)
        )

    def _is_order(self, said: str) -> bool:
        """ "Can u phone them": it has the form of a question, and something is to be done."""
        return self.acts is not None and may_be_done(said) and self.acts(said).wishes

    def rescue(self, dialogue: Dialogue, tools: Sequence[KnownTool], now: datetime) -> Decision | None:
        """What one's own documents surely say, before it is said that no tool can tell."""
        if dialogue.asked or not wants_to_know(dialogue.utterance):
            return None
        return self._found_here(dialogue, tools, now)

    def _found_here(self, dialogue: Dialogue, tools: Sequence[KnownTool], now: datetime) -> Decision | None:
        inquiry = Inquiry(self.judgement, dialogue, tools, now=now)
        found = inquiry.findings()
        return inquiry.search(found) or inquiry.answer(found)

    def served(  # noqa: PLR0911 - one line a case
        self, said: str, tools: Sequence[KnownTool]
    ) -> "Served | None":
        """What is clearly made for the question, and is no search of what is known here."""
        if self.judge is None or asks_about_us(said) or _asks_what_a_tool_is(said, tools):
            return None
        if addresses_in(said):
            return Served()  # a page is to be read
        able = {tool.name: tool for tool in tools if tool.name not in KNOWS_NO_FACT}
        fits = self.judge.fits(said, [tool.readable for tool in able.values()])
        if _brought_for(able.values(), fits, personal=asks_about_self(said)):
            return Served()
        best = max(fits, key=lambda name: fits[name], default=None)
        if best is None or (role_of(best) in STEPS and role_of(best) not in WEB_SEARCHES):
            return None
        if able[best].metadata.get(READER) == TASKS and fits[best] >= _least_for_tasks(able[best], said):
            return Served()
        if not able[best].reads:
            return None  # a question changes nothing
        speaks_of_it = bool((able[best].own_words | able[best].choice_words).intersection(keywords(said)))
        least = MADE_FOR if speaks_of_it and not asks_about_self(said) else SURELY_MADE_FOR
        if fits[best] < least or (asks_about_self(said) and not speaks_of_it):
            return None
        # What changes by the day, or is to be looked up on the web, nobody wants from an old document.
        from_the_web = role_of(best) in WEB_SEARCHES and not (about_now(said) or _ON_THE_WEB.search(said))
        return Served(searches_web=from_the_web)


def _no_task_fits(dialogue: Dialogue) -> bool:
    """Whether tasks were looked for by a name that none of them has: then it may stand elsewhere."""
    listed = (step for step in dialogue.steps if step.tool == LIST_TASKS and not step.helper)
    return any(
        not TaskReader().shown(step)
        for step in listed
        if step.failure is None and (step.memo.get("named") or step.arguments.get("search"))
    )


def _brought_for(tools: Iterable[KnownTool], fits: Mapping[str, float], *, personal: bool) -> bool:
    """Whether a connected tool that changes nothing is made for a question; where it is about the person,
    it must be nearer than what was told here: "did I leave the garage open?", and not "what is my size?"."""
    asked = [tool for tool in tools if tool.intention not in CHANGING]  # one that nobody rated may only read
    brought = max((fits[tool.name] for tool in asked if tool.is_brought), default=0.0)
    here = max((fits[tool.name] for tool in asked if tool.name in MEMORY_SEARCHES), default=0.0)
    if personal and brought <= here:
        return False
    return brought >= DEFAULT.judged_of_many or (brought >= DEFAULT.judged and brought >= CLEARLY * here)


def _asks_what_a_tool_is(said: str, tools: Sequence[KnownTool]) -> bool:
    """ "What is hello_world?": who asks about a tool orders nothing."""
    return asks_what(said) and any("_" in tool.name and tool.name in said for tool in tools)


def _least_for_tasks(tool: KnownTool, said: str) -> float:
    """ "Could we push the dentist to Friday" has the form of a question, and changes what is on the list."""
    return MADE_FOR if tool.changes and may_be_done(said) else TASKS_MEANT


def _may_be_a_task(said: str) -> bool:
    """Whether something is asked that a task of one's own may say: when, or what one does oneself."""
    if asks_what(said) or asks_how(said) or asks_about_us(said):
        return False
    return _OF_TASKS.match(bare(said)) is not None


def _of_own_doing(said: str) -> bool:
    """ "When am I visiting the pool?": a task with all these words says it before any document does."""
    return _may_be_a_task(said) and bool({"i", "we"} & set(said.lower().split()))


def _is_for_us(said: str, ranked: Sequence[Scored]) -> bool:
    """Whether somebody asks to know what no tool of the house, and no other one, is plainly made for."""
    if not wants_to_know(said) or asks_how(said):
        return asks_how(said)
    if asks_about_us(said) and not asks_about_self(said):
        return True
    if ranked and ranked[0].tool.name == CALCULATES and not any(map(str.isdigit, said)):
        return True  # "where does Ravi work?": nothing to work out
    return asks_what(said) or not means_another(said, ranked, searches=True) or ranked[0].tool.changes


def _another_may_know(said: str, ranked: Sequence[Scored]) -> bool:
    """Whether a tool is left to be asked: one that fits, or the task list."""
    if asks_what(said):
        return False
    words = keywords(said)
    return any(
        each.score >= (THRESHOLD if each.tool.own_words.intersection(words) else BY_MEANING)
        for each in ranked
        if each.tool.name not in SOLE and role_of(each.tool.name) not in STEPS and not each.tool.changes
    )


def _recalled(dialogue: Dialogue, *, confidence: float) -> Tell | None:
    told = [recollection(step) for step in dialogue.steps if step.tool in MEMORY_SEARCHES]
    text = next((each for each in told if each), None)
    return Tell(text=text, confidence=confidence) if text else None


def _nothing(said: str, personal: bool) -> Tell:
    if personal:
        return Tell(text=TELL_ME)
    return Tell(text=f"{WHAT_I_AM} {OFFER}" if asks_about_us(said) else LOOK_IT_UP)
