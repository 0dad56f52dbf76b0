"""The agents that people talk to: who there is, and what each is made of.

Names and descriptions are known at once. What an agent is made of stands in `profiles.py`. It is loaded when
a person first talks, because Pydantic AI takes seconds. To add an agent, give it a line in `KINDS` and in
`PROFILES` there.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import TYPE_CHECKING

from steward.agents.skills.book import SkillBook
from steward.bootstrap.knowledge import Library
from steward.bootstrap.models import catalog, run_limits
from steward.bootstrap.tools.ask_tools import ask_tool
from steward.bootstrap.tools.conversation_tools import CONVERSATIONS_AGENT, conversations_agent
from steward.contract.errors import StewardError
from steward.contract.ports import ToolRanker
from steward.contract.questions import QuestionStore
from steward.contract.tool import ToolSpec
from steward.conversations.ports import ConversationStore
from steward.language.reading import Readable
from steward.orchestrator.orchestrator import Orchestrator
from steward.policy.approval import Rules, assess
from steward.providers.functions import LegacyToolAgent
from steward.selection.fit import FitJudge
from steward.settings import Settings
from steward.storage.gaps import PostgresGapStore
from steward.tasks.notices import NoticeStore
from steward.tasks.users import Users
from steward.telemetry.tracing import Tracing

if TYPE_CHECKING:
    from steward.agents.chat import Chat
    from steward.agents.profile import Profile
    from steward.bootstrap.profiles import Making
    from steward.models.catalog import Catalog
    from steward.models.planner.procedures import Procedure
    from steward.models.planner.readers import Interpreter

logger = logging.getLogger(__name__)

AGENT = "agents"
GRACE = 10.0  # seconds beyond a run's own limit, so that its words on that arrive


@dataclass(frozen=True, slots=True)
class AgentKind:
    name: str  # `profiles.py` knows by it what the agent is made of
    description: str


KINDS: tuple[AgentKind, ...] = (
    AgentKind("assistant", "Helps with anything there is a tool or a skill for."),
    AgentKind("tasks", "Keeps the person's task list: add, show, complete, change, delete."),
    AgentKind("researcher", "Finds things out in memory, documents and the web, with sources."),
)

BY_ROTE = frozenset({"researcher"})  # memory, documents, web: always in this order


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
        notices: NoticeStore,
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
        self._notices = notices
        self._users = users
        self._tracer = tracer
        self._rules = rules
        self._chat: Chat | None = None
        self._models: Catalog | None = None
        self._opening = asyncio.Lock()
        orchestrator.register_agent_factory(AGENT, self._as_tools)
        orchestrator.register_agent_factory(CONVERSATIONS_AGENT, lambda: conversations_agent(conversations))

    async def chat(self) -> "Chat":
        async with self._opening:
            if self._chat is None:
                # In a thread: it imports for seconds, and other requests are waiting.
                self._chat = await asyncio.to_thread(self._open)
        return self._chat

    async def models(self) -> "Catalog":
        """The models that the agents talk with, for whoever asks one directly."""
        await self.chat()
        assert self._models is not None
        return self._models

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
        from steward.agents.turn.context import TurnContext  # noqa: PLC0415
        from steward.bootstrap.capabilities import extractor_of  # noqa: PLC0415
        from steward.bootstrap.profiles import PROFILES  # noqa: PLC0415
        from steward.models.spans import model_spans  # noqa: PLC0415

        self._models = models = catalog(
            self._settings,
            embedder=lambda: self._library.embedder,
            readers=self._readers,
            procedures=self._procedures,
            judge=self._judge,
        )
        extractor = extractor_of(models, self._library.embedder)
        making = replace(self._making(offline=models.offline), extractor=extractor)
        context = TurnContext(
            orchestrator=self._orchestrator,
            store=self.conversations,
            model=models.model,
            tracer=self._tracer,
            limits=run_limits(self._settings),
            questions=self._questions,
            spans=model_spans(self._tracer.provider),
            gaps=self._gaps,
            notices=self._notices,
        )
        profiles = [self._judged(PROFILES[kind.name](making)) for kind in self.kinds]
        chat = Chat(context, profiles, zone_of=self._zone_of)
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
        from steward.agents.turn.confidence import grounded_confidence  # noqa: PLC0415 - Pydantic AI, see above

        def rating(spec: ToolSpec) -> str:
            return assess(spec, {}, self._rules()).level.value

        confidence = grounded_confidence(self._ranker)
        return replace(profile, offer=replace(profile.offer, rating=rating, confidence=confidence))

    def _making(self, *, offline: bool) -> "Making":
        from steward.bootstrap.profiles import Making  # noqa: PLC0415 - Pydantic AI, see above

        return Making(
            settings=self._settings,
            orchestrator=self._orchestrator,
            ranker=self._ranker,
            judge=self._judge,
            library=self._library,
            skills=self._skills,
            offline=offline,
        )

    def _readers(self) -> "Mapping[str, Interpreter]":
        from steward.bootstrap.profiles import READERS  # noqa: PLC0415 - Pydantic AI, see above

        making = self._making(offline=True)
        return {name: build(making) for name, build in READERS.items()}

    def _procedures(self) -> "Mapping[str, Procedure]":
        from steward.bootstrap.profiles import PROCEDURES  # noqa: PLC0415 - Pydantic AI, see above

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
