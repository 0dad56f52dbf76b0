"""Answering from what one has, without a language model: a procedure for the planner.

Whoever asks to know something gets what memory or the documents say, before it is said that nothing is known.
Owns when that is asked for. How it is searched and quoted is the researcher's (research/inquiry.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from steward.agents.house_reader import SOLE, means_tasks, understands
from steward.agents.house_voice import recollection
from steward.agents.manners import OFFER
from steward.agents.oneself import asks_about_self, asks_about_us
from steward.agents.research.evidence import MEMORY, MEMORY_SEARCHES
from steward.agents.research.inquiry import Inquiry, Judgement, role_of
from steward.agents.research.procedure import STEPS, means_another
from steward.agents.research.questions import addresses_in, asks_how, asks_what, keywords, wants_to_know
from steward.language.reading import ToolJudge
from steward.models.planner.decisions import Decision, Tell
from steward.models.planner.dialogue import Dialogue
from steward.models.planner.ranking import THRESHOLD, KnownTool, Scored
from steward.tasks.language import Other, understand_by_verb

OWN_KNOWLEDGE = "own-knowledge"
TASKS_MEANT = 0.9  # how sure the tasks' own reader must be to be asked alone
MADE_FOR = 0.6  # how surely a tool must serve a question to be asked before one's own memory
SURELY_MADE_FOR = 0.9  # and one that shares no word with the question, or where it is about the person
POSSIBLY = 0.45  # of what memory holds on the subject, where nothing says that it answers
BY_MEANING = 0.45  # how well a tool must fit that shares no word with the question
WHAT_I_AM = f"I'm Steward, a program: no human, and here without a language model. {OFFER}"
NOTHING = "I found nothing about that in my memory or your documents"
TELL_ME = f"{NOTHING}. Tell me with “remember that …”."
LOOK_IT_UP = (
    f"{NOTHING}, and I work without a language model here: I know no facts of my own and make nothing up. "
    "I can look it up: say “search the web for …”, or ask the researcher."
)


@dataclass(frozen=True, slots=True)
class OwnKnowledge:
    """Implements the planner's `Procedure`."""

    judgement: Judgement = field(default_factory=Judgement)
    judge: ToolJudge | None = None

    def decide(
        self, dialogue: Dialogue, tools: Sequence[KnownTool], *, ranked: Sequence[Scored], now: datetime
    ) -> Decision | None:
        said = dialogue.utterance
        if dialogue.asked or not _is_for_us(said, ranked, now) or self._served(said, tools):
            return None
        inquiry = Inquiry(self.judgement, dialogue, tools, now=now)
        found = inquiry.findings()
        personal = asks_about_self(said) and not asks_how(said)
        remembered = any(quote.source.kind == MEMORY for each in found for quote in each.quotes)
        if personal and remembered:
            return _recalled(dialogue, confidence=found[0].score)
        return (
            inquiry.search(found)
            or inquiry.answer(found)
            or (_recalled(dialogue, confidence=POSSIBLY) if personal else None)
            or (
                None
                if _another_may_know(said, ranked, now)
                else inquiry.nearest() or _nothing(said, personal)
            )
        )

    def _served(self, said: str, tools: Sequence[KnownTool]) -> bool:
        """Whether a tool is clearly made for the question, and is no search of what is known here."""
        if self.judge is None or asks_about_us(said):
            return False
        if addresses_in(said):
            return True  # a page is to be read
        able = {tool.name: tool for tool in tools if tool.name not in SOLE}
        fits = self.judge.fits(said, [tool.readable for tool in able.values()])
        best = max(fits, key=lambda name: fits[name], default=None)
        if best is None or role_of(best) in STEPS or not able[best].reads:
            return False  # a question changes nothing
        speaks_of_it = bool(able[best].own_words.intersection(keywords(said)))
        if asks_about_self(said):
            return speaks_of_it and fits[best] >= SURELY_MADE_FOR
        return fits[best] >= (MADE_FOR if speaks_of_it else SURELY_MADE_FOR)


def _is_for_us(said: str, ranked: Sequence[Scored], now: datetime) -> bool:
    """Whether somebody asks to know what no tool of the house, and no other one, is plainly made for."""
    if not wants_to_know(said) or asks_how(said):
        return asks_how(said)
    if asks_about_us(said) and not asks_about_self(said):
        return True
    if means_tasks(said, now, least=TASKS_MEANT):
        return False
    if asks_what(said):
        return True
    return not understands(said) and (
        not means_another(said, ranked, searches=True) or ranked[0].tool.changes
    )


def _another_may_know(said: str, ranked: Sequence[Scored], now: datetime) -> bool:
    """Whether a tool is left to be asked: one that fits, or the task list."""
    if asks_what(said):
        return False
    words = keywords(said)
    fits = any(
        each.score >= (THRESHOLD if each.tool.own_words.intersection(words) else BY_MEANING)
        for each in ranked
        if each.tool.name not in SOLE and role_of(each.tool.name) not in STEPS and not each.tool.changes
    )
    return fits or means_tasks(said, now) or not isinstance(understand_by_verb(said, now), Other)


def _recalled(dialogue: Dialogue, *, confidence: float) -> Tell | None:
    told = [recollection(step) for step in dialogue.steps if step.tool in MEMORY_SEARCHES]
    text = next((each for each in told if each), None)
    return Tell(text=text, confidence=confidence) if text else None


def _nothing(said: str, personal: bool) -> Tell:
    if personal:
        return Tell(text=TELL_ME)
    return Tell(text=WHAT_I_AM if asks_about_us(said) else LOOK_IT_UP)
