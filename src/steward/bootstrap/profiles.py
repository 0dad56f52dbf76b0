"""What each agent that people talk to is made of: its tools, its guards, its way to work.

Imports Pydantic AI and every agent, which takes seconds. `agents.py` loads this module when a person first
talks.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from steward.agents.assistant import assistant
from steward.agents.assistant.builtin_reader import HOUSE, HouseReader
from steward.agents.assistant.builtin_reader import TOOLS as HOUSE_TOOLS
from steward.agents.assistant.builtin_telling import abilities
from steward.agents.assistant.countdown import DAYS, DayQuestions
from steward.agents.assistant.known_first import KnownFirst
from steward.agents.assistant.own_knowledge import OWN_KNOWLEDGE, OwnKnowledge
from steward.agents.assistant.personal_facts import is_statement
from steward.agents.assistant.small_talk import (
    MANNERS,
    TASK_MANNERS,
    Manners,
    asks_for_ours,
    small_talk,
    unreadable,
)
from steward.agents.guards.about_person import AboutPerson
from steward.agents.guards.gap_check import FindGap, ModelGapCheck, PlannerGapCheck
from steward.agents.profile import Profile
from steward.agents.researcher import researcher
from steward.agents.researcher.findings import Freshness
from steward.agents.researcher.inquiry import Judgement
from steward.agents.researcher.procedure import RESEARCH, ResearchProcedure
from steward.agents.researcher.questions import asks_to_know, repeats, wants_to_know
from steward.agents.researcher.relevance import Relevance
from steward.agents.researcher.research_guards import ClaimsAboutUs, FromTheRecord, OwnSources
from steward.agents.skills.book import SkillBook
from steward.agents.skills.procedure import SKILLS, SkillProcedure, is_meant
from steward.agents.skills.skill_bounds import SkillBounds
from steward.agents.skills.tools import FIND
from steward.agents.talk.documents import DOCUMENTS, Documents
from steward.agents.talk.figures import FIGURES, Figures
from steward.agents.talk.following import FOLLOW_UPS, FollowUps
from steward.agents.talk.own_record import OWN_RECORD, OwnRecord
from steward.agents.talk.own_things import OWN_THINGS, OwnThings
from steward.agents.talk.remembering import REMEMBERING, Remembering
from steward.agents.tasks.task_assistant import is_task_tool, reader_of, rules_for_any, tasks_profile
from steward.agents.tasks.task_reader import TaskReader
from steward.agents.tasks.task_words import ABILITIES, TROUBLE_CHANGING
from steward.agents.turn.toolset import Shortlist, ToolOffer
from steward.bootstrap.gaps import RegistryAsSession
from steward.bootstrap.knowledge import Library
from steward.bootstrap.tools.ask_tools import ASK
from steward.bootstrap.tools.conversation_tools import CONVERSATIONS_AGENT
from steward.bootstrap.tools.library_tools import REMOVE_DOCUMENT
from steward.bootstrap.tools.schedule_tools import CHANGE_SCHEDULE, REMOVE_SCHEDULE
from steward.contract.ports import CapabilityExtractor, ToolRanker
from steward.contract.tool import ToolSpec
from steward.models.acts import acts_in
from steward.models.planner.procedures import Procedure
from steward.models.planner.readers import Interpreter
from steward.models.planner.words import is_help
from steward.orchestrator.orchestrator import Orchestrator
from steward.orchestrator.registry import RegisteredTool
from steward.selection.capabilities import LexiconExtractor
from steward.selection.fit import FitJudge
from steward.selection.gaps import GapFinder
from steward.settings import Settings

# Tools of others that are offered: a model pays for each definition, the planner's reader looks at more.
MOST_TOLD, MOST_READ = 30, 90
TASK_ABILITY = "task_management"  # by its name in the lexicon of abilities
TALK = (FOLLOW_UPS, OWN_RECORD, REMEMBERING, DOCUMENTS, FIGURES, OWN_THINGS)  # asked in this order


@dataclass(frozen=True, slots=True, kw_only=True)
class Making:
    """What a profile is made from."""

    settings: Settings
    orchestrator: Orchestrator
    ranker: ToolRanker
    judge: FitJudge
    library: Library
    skills: SkillBook
    offline: bool  # whether the planner answers
    extractor: CapabilityExtractor | None = None  # asks a language model what a request needs

    def gaps(
        self,
        includes: Callable[[RegisteredTool], bool],
        understood: Sequence[Callable[[str], object]],
    ) -> FindGap:
        """Asks what is missing for a request that nobody of the house understands."""
        detector = GapFinder(
            RegistryAsSession(self.orchestrator, _for_agents(includes)),
            extractor=self.extractor,
            reader=self.library.embedder,
            judge=self.judge,
            ranker=self.ranker,
            acts=acts_in,
            writes=not self.offline,
        )
        return FindGap(understood, detector, acts=acts_in, away=self._away)

    def _away(self, missing: Sequence[str]) -> str | None:
        """Where nothing is missing but the task list's own agent, which is away."""
        if any(name != TASK_ABILITY for name in missing):
            return None
        there = any(tool.available and is_task_tool(tool) for tool in self.orchestrator.registry)
        return None if there or not missing else TROUBLE_CHANGING

    def find_tool(self, name: str) -> ToolSpec | None:
        found = self.orchestrator.registry.find(name)
        return None if found is None else found.spec

    def offer(self, includes: Callable[[RegisteredTool], bool], **more: Any) -> ToolOffer:
        """These tools; the best of them for what is said, where there are many."""
        shortlist = Shortlist(ranker=self.ranker, limit=MOST_READ if self.offline else MOST_TOLD)
        return ToolOffer(
            includes=_for_agents(includes), shortlist=shortlist, pays_tokens=not self.offline, **more
        )


def _for_agents(includes: Callable[[RegisteredTool], bool]) -> Callable[[RegisteredTool], bool]:
    """Without what only a person does, outside of any conversation."""
    return lambda tool: (
        tool.agent_id != CONVERSATIONS_AGENT
        and tool.spec.name not in (CHANGE_SCHEDULE, REMOVE_SCHEDULE, REMOVE_DOCUMENT)
        and includes(tool)
    )


def _assistant(making: Making) -> Profile:
    # The planner chooses best among tools that do things; another agent, or a search for skills, is for a
    # model that can brief and follow.
    def offered(tool: RegisteredTool) -> bool:
        name = tool.spec.name
        for_models = name.startswith(ASK) or name == FIND
        return name != f"{ASK}assistant" and not (making.offline and for_models)

    def reader(spec: ToolSpec) -> str | None:
        return reader_of(spec) or (HOUSE if spec.name in HOUSE_TOOLS else None)

    courtesies = (small_talk, unreadable, is_statement) if making.offline else (small_talk,)
    lexicon = LexiconExtractor(making.library.embedder)

    able = (partial(is_meant, making.skills), partial(asks_for_ours, is_about=lexicon.is_about))
    find_gap = making.gaps(offered, [*courtesies, asks_to_know, is_help, *able])
    own = (OwnSources(),) if making.offline else (AboutPerson(),)
    offer = making.offer(offered, reader_of=reader, procedures=(*TALK, DAYS, MANNERS, SKILLS, OWN_KNOWLEDGE))
    knowledge = _own_knowledge(making)
    recall = KnownFirst(making.orchestrator, offer, knowledge, making.library.has_documents)
    return assistant.profile(
        offer,
        skills=making.skills,
        rules=(SkillBounds(), *own, *rules_for_any(making.find_tool, quotes_only=making.offline)),
        conduct=(
            PlannerGapCheck(find_gap, wants_to_know) if making.offline else ModelGapCheck(find_gap, recall)
        ),
    )


def _tasks(making: Making) -> Profile:
    offer = making.offer(is_task_tool, reader_of=reader_of, procedures=(FOLLOW_UPS, OWN_THINGS, TASK_MANNERS))
    return tasks_profile(making.find_tool, offer)


def _researcher(making: Making) -> Profile:
    def offered(tool: RegisteredTool) -> bool:
        return researcher.is_offered(tool.spec.name)

    def known(tool: RegisteredTool) -> bool:
        return offered(tool) or tool.spec.name in researcher.OWN_TOOLS

    claims = () if making.offline else (ClaimsAboutUs(making.find_tool),)
    courtesies = (small_talk, unreadable, is_statement) if making.offline else (small_talk,)
    return researcher.profile(
        making.offer(offered, procedures=(MANNERS, RESEARCH)),
        door=making.orchestrator,
        rules=(FromTheRecord(_relevance(making), _freshness(making)), *claims),
        find_gap=making.gaps(known, [*courtesies, asks_to_know, repeats]),
    )


def _relevance(making: Making) -> Relevance:
    return Relevance(making.library.reranker)


def _freshness(making: Making) -> Freshness:
    return Freshness(making.settings.research_fresh_days)


def _task_reader(_: Making) -> Interpreter:
    return TaskReader()


def _house_reader(_: Making) -> Interpreter:
    return HouseReader()


def _research(making: Making) -> Procedure:
    return ResearchProcedure(_judgement(making))


def _own_knowledge(making: Making) -> OwnKnowledge:
    return OwnKnowledge(_judgement(making), making.judge, acts_in)


def _judgement(making: Making) -> Judgement:
    return Judgement(_relevance(making), _freshness(making))


def _skills(making: Making) -> Procedure:
    return SkillProcedure(making.skills, making.settings.roots)


def _manners(making: Making) -> Procedure:
    lexicon = LexiconExtractor(making.library.embedder)
    return Manners(abilities=abilities, acts=acts_in, judge=making.judge, is_about=lexicon.is_about)


def _task_manners(_: Making) -> Procedure:
    return Manners(ABILITIES)


PROFILES: Mapping[str, Callable[[Making], Profile]] = {
    "assistant": _assistant,
    "tasks": _tasks,
    "researcher": _researcher,
}

# Who reads the language of certain tools for the planner, by the name that `Offer.reader_of` gives a tool.
READERS: Mapping[str, Callable[[Making], Interpreter]] = {
    "tasks": _task_reader,
    "house": _house_reader,
}
# Ways to work that the planner follows for a turn, by the names in `Offer.procedures`.
PROCEDURES: Mapping[str, Callable[[Making], Procedure]] = {
    FOLLOW_UPS: lambda _: FollowUps(),
    REMEMBERING: lambda _: Remembering(),
    OWN_RECORD: lambda _: OwnRecord(),
    DOCUMENTS: lambda _: Documents(),
    FIGURES: lambda _: Figures(),
    OWN_THINGS: lambda _: OwnThings(),
    DAYS: lambda _: DayQuestions(),
    "manners": _manners,
    "task-manners": _task_manners,
    "own-knowledge": _own_knowledge,
    "skills": _skills,
    "research": _research,
}
