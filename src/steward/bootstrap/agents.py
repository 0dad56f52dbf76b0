"""The agents that people talk to: who there is, and what each is made of.

To add one, or to give one rules of its own, change its line in `KINDS`. Names and descriptions are known at
once; profiles, the model and everything of Pydantic AI are made when somebody first talks, because that takes
seconds.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from functools import partial
from typing import TYPE_CHECKING, Any

from steward.agents.skills.book import SkillBook
from steward.bootstrap.ask_tools import ASK, ask_tool
from steward.bootstrap.conversation_tools import CONVERSATIONS_AGENT, conversations_agent
from steward.bootstrap.knowledge import Library
from steward.bootstrap.models import catalog, run_limits
from steward.contract.errors import StewardError
from steward.contract.ports import CapabilityExtractor, ToolRanker
from steward.contract.questions import QuestionStore
from steward.contract.tool import ToolSpec
from steward.conversations.ports import ConversationStore
from steward.language.reading import Readable
from steward.orchestrator.orchestrator import Orchestrator
from steward.orchestrator.registry import RegisteredTool
from steward.policy.approval import Rules, assess
from steward.providers.functions import LegacyToolAgent
from steward.selection.fit import FitJudge
from steward.settings import Settings
from steward.storage.gaps import PostgresGapStore
from steward.tasks.users import Users
from steward.telemetry.tracing import Tracing

if TYPE_CHECKING:
    from steward.agents.chat import Chat
    from steward.agents.honesty import FindGap
    from steward.agents.profile import Profile
    from steward.agents.research.findings import Freshness
    from steward.agents.research.inquiry import Judgement
    from steward.agents.research.relevance import Relevance
    from steward.agents.toolset import Offer
    from steward.models.planner.procedures import Procedure
    from steward.models.planner.readers import UtteranceReader

logger = logging.getLogger(__name__)

AGENT = "agents"
GRACE = 10.0  # seconds beyond a run's own limit, so that its words on that arrive


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
        understood: "Sequence[Callable[[str], object]]",
    ) -> "FindGap":
        """Asks what is missing for a request that nobody of the house understands."""
        # Here: the module imports the platform, which imports this one.
        from steward.agents.honesty import FindGap  # noqa: PLC0415
        from steward.bootstrap.gaps import RegistrySession  # noqa: PLC0415
        from steward.selection.gaps import ToolGapDetector  # noqa: PLC0415

        detector = ToolGapDetector(
            RegistrySession(self.orchestrator, _for_agents(includes)),
            extractor=self.extractor,
            reader=self.library.embedder,
            judge=self.judge,
            ranker=self.ranker,
            writes=not self.offline,
        )
        return FindGap(understood, detector)

    def find_tool(self, name: str) -> ToolSpec | None:
        found = self.orchestrator.registry.find(name)
        return None if found is None else found.spec

    def offer(self, includes: Callable[[RegisteredTool], bool], **more: Any) -> "Offer":
        """These tools; the best of them for what is said, where there are many."""
        from steward.agents.toolset import Offer, Shortlist  # noqa: PLC0415 - Pydantic AI, see above

        shortlist = Shortlist(ranker=self.ranker)
        return Offer(
            includes=_for_agents(includes), shortlist=shortlist, pays_tokens=not self.offline, **more
        )


def _for_agents(includes: Callable[[RegisteredTool], bool]) -> Callable[[RegisteredTool], bool]:
    """Without what only a person does, outside of any conversation."""
    return lambda tool: tool.agent_id != CONVERSATIONS_AGENT and includes(tool)


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    description: str
    build: Callable[[Making], "Profile"]  # imports Pydantic AI when it is called


def _assistant(making: Making) -> "Profile":
    from steward.agents.assistant import profile  # noqa: PLC0415 - Pydantic AI, see above
    from steward.agents.honesty import HonestAfterwards, HonestBeforehand  # noqa: PLC0415
    from steward.agents.house_reader import HOUSE, means_tasks, speaks_of_tasks, tells_of_tasks, understands  # noqa: PLC0415
    from steward.agents.house_reader import TOOLS as HOUSE_TOOLS  # noqa: PLC0415
    from steward.agents.manners import MANNERS, asks_for_ours, small_talk, unreadable  # noqa: PLC0415
    from steward.agents.oneself import is_statement  # noqa: PLC0415
    from steward.agents.own_knowledge import OWN_KNOWLEDGE  # noqa: PLC0415
    from steward.agents.research.questions import asks_to_know, wants_to_know  # noqa: PLC0415
    from steward.agents.research.rules import OwnSources  # noqa: PLC0415
    from steward.agents.skills.procedure import SKILLS, is_meant  # noqa: PLC0415
    from steward.agents.skills.rule import SkillBounds  # noqa: PLC0415
    from steward.agents.skills.tools import FIND  # noqa: PLC0415
    from steward.agents.tasks import reader_of, rules_for_any  # noqa: PLC0415
    from steward.conversations.clock import now_for_speaker  # noqa: PLC0415
    from steward.models.planner.words import is_help  # noqa: PLC0415
    from steward.selection.capabilities import TASKS, LexiconExtractor  # noqa: PLC0415

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

    def a_task(text: str) -> bool:  # as the tasks' own reader and the lexicon of abilities both say
        return means_tasks(text, now_for_speaker()) and lexicon.is_about(text, TASKS)

    ours = (understands, speaks_of_tasks, tells_of_tasks, a_task, asks_to_know, is_help)
    able = (partial(is_meant, making.skills), partial(asks_for_ours, is_about=lexicon.is_about))
    find_gap = making.gaps(offered, [*courtesies, *ours, *able])
    own = (OwnSources(),) if making.offline else ()
    return profile(
        making.offer(offered, reader_of=reader, procedures=(MANNERS, SKILLS, OWN_KNOWLEDGE)),
        skills=making.skills,
        rules=(SkillBounds(), *own, *rules_for_any(making.find_tool, quotes_only=making.offline)),
        conduct=HonestBeforehand(find_gap, wants_to_know) if making.offline else HonestAfterwards(find_gap),
    )


def _tasks(making: Making) -> "Profile":
    from steward.agents.manners import TASK_MANNERS  # noqa: PLC0415
    from steward.agents.tasks import is_task_tool, reader_of, tasks_profile  # noqa: PLC0415

    return tasks_profile(making.offer(is_task_tool, reader_of=reader_of, procedures=(TASK_MANNERS,)))


def _researcher(making: Making) -> "Profile":
    from steward.agents import researcher  # noqa: PLC0415
    from steward.agents.house_reader import understands  # noqa: PLC0415
    from steward.agents.manners import MANNERS, small_talk, unreadable  # noqa: PLC0415
    from steward.agents.oneself import is_statement  # noqa: PLC0415
    from steward.agents.research.procedure import RESEARCH  # noqa: PLC0415
    from steward.agents.research.questions import asks_to_know, repeats  # noqa: PLC0415
    from steward.agents.research.rules import ClaimsAboutUs, FromTheRecord  # noqa: PLC0415

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
        find_gap=making.gaps(known, [*courtesies, understands, asks_to_know, repeats]),
    )


def _relevance(making: Making) -> "Relevance":
    from steward.agents.research.relevance import Relevance  # noqa: PLC0415

    return Relevance(making.library.reranker)


def _freshness(making: Making) -> "Freshness":
    from steward.agents.research.findings import Freshness  # noqa: PLC0415

    return Freshness(making.settings.research_fresh_days)


def _task_reader(_: Making) -> "UtteranceReader":
    from steward.agents.task_reader import TaskReader  # noqa: PLC0415

    return TaskReader()


def _house_reader(_: Making) -> "UtteranceReader":
    from steward.agents.house_reader import HouseReader  # noqa: PLC0415

    return HouseReader()


def _research(making: Making) -> "Procedure":
    from steward.agents.research.procedure import ResearchProcedure  # noqa: PLC0415

    return ResearchProcedure(_judgement(making))


def _own_knowledge(making: Making) -> "Procedure":
    from steward.agents.own_knowledge import OwnKnowledge  # noqa: PLC0415

    return OwnKnowledge(_judgement(making), making.judge)


def _judgement(making: Making) -> "Judgement":
    from steward.agents.research.inquiry import Judgement  # noqa: PLC0415

    return Judgement(_relevance(making), _freshness(making))


def _skills(making: Making) -> "Procedure":
    from steward.agents.skills.procedure import SkillProcedure  # noqa: PLC0415

    return SkillProcedure(making.skills, making.settings.roots)


def _manners(making: Making) -> "Procedure":
    from steward.agents.house_voice import abilities  # noqa: PLC0415
    from steward.agents.manners import Manners  # noqa: PLC0415
    from steward.selection.capabilities import LexiconExtractor  # noqa: PLC0415

    lexicon = LexiconExtractor(making.library.embedder)
    return Manners(abilities=abilities, talks=lexicon.talks, is_about=lexicon.is_about)


def _task_manners(_: Making) -> "Procedure":
    from steward.agents.manners import Manners  # noqa: PLC0415
    from steward.agents.task_words import ABILITIES  # noqa: PLC0415

    return Manners(ABILITIES)


KINDS: tuple[Kind, ...] = (
    Kind("assistant", "Helps with anything there is a tool or a skill for.", _assistant),
    Kind("tasks", "Keeps the person's task list: add, show, complete, change, delete.", _tasks),
    Kind("researcher", "Finds things out in memory, documents and the web, with sources.", _researcher),
)

BY_ROTE = frozenset({"researcher"})  # memory, documents, web: always in this order

# Who reads the language of certain tools for the planner, by the name that `Offer.reader_of` gives a tool.
READERS: Mapping[str, Callable[[Making], "UtteranceReader"]] = {
    "tasks": _task_reader,
    "house": _house_reader,
}
# Ways to work that the planner follows for a turn, by the names in `Offer.procedures`.
PROCEDURES: Mapping[str, Callable[[Making], "Procedure"]] = {
    "manners": _manners,
    "task-manners": _task_manners,
    "own-knowledge": _own_knowledge,
    "skills": _skills,
    "research": _research,
}


class TalkingAgents:
    """The agents of a platform. `chat()` makes them; until then this costs nothing."""

    def __init__(
        self,
        settings: Settings,
        orchestrator: Orchestrator,
        *,
        ranker: ToolRanker,
        judge: FitJudge,
        library: Library,
        skills: SkillBook,
        conversations: ConversationStore,
        questions: QuestionStore,
        gaps: PostgresGapStore,
        users: Users,
        tracer: Tracing,
        rules: Callable[[], Rules],
    ) -> None:
        """Registers each agent as a tool as well, so that others reach it through the one door."""
        self.kinds = KINDS
        self.conversations = conversations
        self._settings = settings
        self._orchestrator = orchestrator
        self._ranker = ranker
        self._judge = judge
        self._library = library
        self._skills = skills
        self._questions = questions
        self._gaps = gaps
        self._users = users
        self._tracer = tracer
        self._rules = rules
        self._chat: Chat | None = None
        self._opening = asyncio.Lock()
        orchestrator.register_agent_factory(AGENT, self._as_tools)
        orchestrator.register_agent_factory(CONVERSATIONS_AGENT, lambda: conversations_agent(conversations))

    async def chat(self) -> "Chat":
        async with self._opening:
            if self._chat is None:
                # In a thread: it imports for seconds, and other requests are waiting.
                self._chat = await asyncio.to_thread(self._open)
        return self._chat

    async def stop(self, conversation: str, *, user: str) -> bool:
        """End the turn that runs now, here or in another program; False when none does."""
        if self._chat is not None and self._chat.stop(conversation, user=user):
            return True
        return await self.conversations.request_stop(conversation, user=user)

    async def warm(self) -> None:
        """Make everything a first turn needs, so that it need not wait for it. Never fails anything."""
        try:
            await self.chat()
            await asyncio.to_thread(self._library.embedder.embed, ["warm"])
            tools = [tool.spec for tool in self._orchestrator.registry if tool.available]
            some = [Readable(each.name, each.description, each.input_schema, each.examples) for each in tools]
            await asyncio.to_thread(self._judge.fits, "what is there to do", some)
        except Exception as error:  # noqa: BLE001 - whoever talks first gets to hear it in full
            logger.warning("agents_not_ready", extra={"problem": str(error)})

    def _open(self) -> "Chat":
        from steward.agents.chat import Chat  # noqa: PLC0415 - Pydantic AI, see above
        from steward.agents.house import House  # noqa: PLC0415
        from steward.bootstrap.capabilities import extractor_of  # noqa: PLC0415
        from steward.models.spans import model_spans  # noqa: PLC0415

        models = catalog(
            self._settings,
            embedder=lambda: self._library.embedder,
            readers=self._readers,
            procedures=self._procedures,
            judge=self._judge,
        )
        extractor = extractor_of(models, self._library.embedder)
        making = replace(self._making(offline=models.offline), extractor=extractor)
        house = House(
            orchestrator=self._orchestrator,
            store=self.conversations,
            model=models.model,
            tracer=self._tracer,
            limits=run_limits(self._settings),
            questions=self._questions,
            spans=model_spans(self._tracer.provider),
            gaps=self._gaps,
        )
        profiles = [self._judged(kind.build(making)) for kind in self.kinds]
        chat = Chat(house, profiles, zone_of=self._zone_of)
        models.model()
        return chat

    async def _zone_of(self, user: str) -> tzinfo | None:
        """As their profile says it; the machine's, where that cannot be told now."""
        try:
            return (await self._users.get(user)).zone
        except StewardError:
            return None

    def _judged(self, profile: "Profile") -> "Profile":
        """How sure we are of each call, and how risky it is, is the same code's word for every agent."""
        from steward.agents.confidence import grounded_confidence  # noqa: PLC0415 - Pydantic AI, see above

        def rating(spec: ToolSpec) -> str:
            return assess(spec, {}, self._rules()).level.value

        confidence = grounded_confidence(self._ranker)
        return replace(profile, offer=replace(profile.offer, rating=rating, confidence=confidence))

    def _making(self, *, offline: bool) -> Making:
        return Making(
            settings=self._settings,
            orchestrator=self._orchestrator,
            ranker=self._ranker,
            judge=self._judge,
            library=self._library,
            skills=self._skills,
            offline=offline,
        )

    def _readers(self) -> "Mapping[str, UtteranceReader]":
        making = self._making(offline=True)
        return {name: build(making) for name, build in READERS.items()}

    def _procedures(self) -> "Mapping[str, Procedure]":
        making = self._making(offline=True)
        return {name: build(making) for name, build in PROCEDURES.items()}

    def _as_tools(self) -> LegacyToolAgent:
        tools = [
            ask_tool(self.chat, kind.name, kind.description, timeout=self._settings.run_seconds + GRACE)
            for kind in self.kinds
        ]
        return LegacyToolAgent(
            AGENT, tools, name="Steward's agents", capabilities=tuple(kind.name for kind in self.kinds)
        )
