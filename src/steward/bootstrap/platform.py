"""Everything wired together for one workspace.

Owns the choice of implementations and the order in which they open and close. Nothing else in the
product decides which store, model, tracer or server is used.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace

from pydantic import SecretStr

from steward.agents.skills.book import SkillBook
from steward.bootstrap import home
from steward.bootstrap.agents import BY_ROTE, TalkingAgents
from steward.bootstrap.core_tools import AGENT, core_agent
from steward.bootstrap.knowledge import (
    Library,
    open_library,
)
from steward.bootstrap.local_tools import open_workshop
from steward.bootstrap.mcp_servers import Servers
from steward.bootstrap.own_servers import register_own_servers
from steward.bootstrap.paths import real_path
from steward.bootstrap.rules import WatchedRules
from steward.bootstrap.selection import LearningLog, ToolSearch, open_search
from steward.bootstrap.skills import open_skills
from steward.bootstrap.task_tools import TaskRoom, open_tasks
from steward.contract.ports import ToolRanker
from steward.contract.questions import QuestionStore
from steward.contract.tool import RiskLevel, ToolSpec
from steward.orchestrator.lifecycle import Limits
from steward.orchestrator.orchestrator import Orchestrator
from steward.orchestrator.ports import Notifier
from steward.policy.access import Keys
from steward.policy.approval import assess
from steward.policy.bounds import Bounds
from steward.providers.containment.parent import close_to_others
from steward.providers.containment.plan import Mechanism
from steward.providers.containment.probe import strongest
from steward.providers.registry_writer import RegistryWriter
from steward.settings import Settings
from steward.storage import owner_token
from steward.storage.conversations import PostgresConversationStore
from steward.storage.facts import PostgresFactStore
from steward.storage.gaps import PostgresGapStore
from steward.storage.keys import PostgresKeyStore
from steward.storage.pins import PostgresPinStore
from steward.storage.postgres import Database, Embedded, External, Place
from steward.storage.proposals import PostgresProposalStore
from steward.storage.questions import PostgresQuestionStore
from steward.storage.tasks import PostgresUserStore
from steward.tasks.model import User
from steward.tasks.users import Users
from steward.telemetry.executions import ExecutionLogFile
from steward.telemetry.log import configure_logging
from steward.telemetry.masking import MASKER
from steward.telemetry.tracing import Tracing, activate

logger = logging.getLogger(__name__)

OWN = (
    *("database", "logs", "tools", "skills", "oauth"),
    *("mcp.json", "policy.toml", "token", "instance.json", "home.json"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    settings: Settings
    database: Database
    orchestrator: Orchestrator
    rules: WatchedRules
    executions: ExecutionLogFile
    tracer: Tracing
    owner_token: str = field(repr=False)
    keys: Keys
    questions: QuestionStore
    writer: RegistryWriter
    search: ToolSearch
    tasks: TaskRoom
    library: Library
    skills: SkillBook
    agents: TalkingAgents
    servers: Servers

    @property
    def gaps(self) -> PostgresGapStore:
        return PostgresGapStore(self.database)

    @property
    def ranker(self) -> ToolRanker:
        return self.search

    async def erase_user(self, user_id: str) -> User:
        """A user with everything they own, and what was learned of them in memory."""
        user = await self.tasks.users.erase(user_id)
        await self.search.forget(user_id)
        return user

    def broken_files(self) -> dict[str, str]:
        """Files of the home that cannot be used as they stand now, and why; by name. Reads files."""
        files = self.settings
        found = {
            files.policy_file: self.rules.problem(),
            files.tools_folder / "tools.json": self.writer.problem(),
            files.mcp_file: self.servers.problem(),
            **{each.folder / "SKILL.md": each.problem for each in self.skills.unusable()},
        }
        return {str(path): problem for path, problem in found.items() if problem is not None}

    def rating(self, spec: ToolSpec) -> RiskLevel:
        """What a call to this tool is rated before its arguments are known."""
        return assess(spec, {}, self.rules.known).level


@asynccontextmanager
async def open_platform(
    settings: Settings, *, agents: Collection[str] | None = None
) -> AsyncGenerator[Platform]:
    """Everything of a workspace, with all its agents running or only those that are named."""
    looking = _begin(settings)
    async with AsyncExitStack() as stack:
        token = _token_before_the_first_line(settings, stack)
        rules = _rules(settings)
        executions = ExecutionLogFile(settings.logs_folder)
        stack.callback(_close_log, executions)
        learning = LearningLog(executions, by_rote=BY_ROTE)
        tracer = _tracer(settings, stack)
        database = await stack.enter_async_context(Database(place(settings)))
        orchestrator = _door(settings, database, learning, tracer, rules)
        _export_metrics(settings, orchestrator, stack)
        _register_core(orchestrator, settings, PostgresFactStore(database))
        questions = PostgresQuestionStore(database)
        workshop = open_workshop(settings, orchestrator, questions=questions, held=await looking, rules=rules)
        tasks = await open_tasks(orchestrator, database)
        library = await open_library(settings, database, orchestrator, stack, rules=rules)
        register_own_servers(orchestrator, settings, library.readers)
        skills = open_skills(settings, orchestrator, library.embedder)
        search = open_search(orchestrator, library, database=database, log=learning, stack=stack)
        talking = _agents(
            settings, orchestrator, search, library, skills, database=database, tracer=tracer, rules=rules
        )
        # After our own agents, so that no server of the workspace takes one of their names.
        servers = Servers(orchestrator, settings, PostgresPinStore(database), rules)
        servers.open()
        for end in (orchestrator.lifecycle.stop_all, orchestrator.settle, workshop.writer.close):
            stack.push_async_callback(end)
        await orchestrator.lifecycle.start_all(agents)
        yield Platform(
            settings=settings,
            database=database,
            orchestrator=orchestrator,
            rules=rules,
            executions=executions,
            tracer=tracer,
            owner_token=token,
            keys=Keys(PostgresKeyStore(database), root=_revealed(settings.api_key), owner=token),
            questions=questions,
            writer=workshop.writer,
            search=search,
            tasks=tasks,
            library=library,
            skills=skills,
            agents=talking,
            servers=servers,
        )


def _begin(settings: Settings) -> "asyncio.Task[Mechanism]":
    """A home, and a process that others cannot look into; what contains code here is looked for meanwhile."""
    close_to_others()
    home.ensure(settings)
    return asyncio.create_task(asyncio.to_thread(strongest), name="finding out what contains code here")


def _token_before_the_first_line(settings: Settings, stack: AsyncExitStack) -> str:
    """The owner's token, and the log, which knows what it must never show before it is written."""
    token = owner_token.ensure(settings.home)
    MASKER.register((*settings.secrets(), token))
    stack.callback(configure_logging(settings.logs_folder, debug=settings.debug).close)
    return token


def _door(
    settings: Settings,
    database: Database,
    log: LearningLog,
    tracer: Tracing,
    rules: WatchedRules,
) -> Orchestrator:
    return Orchestrator(
        proposals=PostgresProposalStore(database),
        log=log,
        tracer=tracer,
        rules=rules,
        limits=Limits(tool=settings.timeout),
        notifier=_notifier(settings),
        resolve_path=real_path(settings.ingestible),
    )


def _agents(
    settings: Settings,
    orchestrator: Orchestrator,
    search: ToolSearch,
    library: Library,
    skills: SkillBook,
    *,
    database: Database,
    tracer: Tracing,
    rules: WatchedRules,
) -> TalkingAgents:
    return TalkingAgents(
        settings,
        orchestrator,
        ranker=search,
        judge=search.judge,
        library=library,
        skills=skills,
        conversations=PostgresConversationStore(database),
        questions=PostgresQuestionStore(database),
        gaps=PostgresGapStore(database),
        users=Users(PostgresUserStore(database)),
        tracer=tracer,
        rules=lambda: rules.known,
    )


def _register_core(orchestrator: Orchestrator, settings: Settings, facts: PostgresFactStore) -> None:
    orchestrator.register_agent_factory(AGENT, lambda: core_agent(facts=facts, vault=settings.obsidian_vault))


def _close_log(executions: ExecutionLogFile) -> None:
    if unwritten := executions.close():
        logger.error("executions_unwritten", extra={"lines": unwritten, "problem": executions.problem()})


def _revealed(secret: SecretStr | None) -> str | None:
    return None if secret is None else secret.get_secret_value()


def place(settings: Settings) -> Place:
    if settings.database_url is not None:
        return External(settings.database_url.get_secret_value())
    return Embedded(settings.database_folder)


def _rules(settings: Settings) -> WatchedRules:
    home, uploads = (str(path.resolve()) for path in (settings.home, settings.uploads_folder))
    bounds = Bounds(closed=(home,), opened=(uploads,))
    own = [f"{home}/{name}" for name in OWN]  # also where they stand inside a longer text
    return WatchedRules(
        settings.policy_file, adjust=lambda read: replace(read.protecting(*own), bounds=bounds)
    )


def _tracer(settings: Settings, stack: AsyncExitStack) -> Tracing:
    """Spans are kept in the home in any case; without an endpoint they do not leave it."""
    tracer = Tracing(settings.otlp_address, settings.service_name, folder=settings.logs_folder)
    stack.callback(tracer.shutdown)
    activate(tracer)
    return tracer


def _export_metrics(settings: Settings, orchestrator: Orchestrator, stack: AsyncExitStack) -> None:
    if settings.otlp_address is None:
        return
    # Imported only where metrics leave the machine: the exporter takes a third of a second to load.
    from steward.telemetry.metrics_export import MetricsExport  # noqa: PLC0415

    export = MetricsExport(
        settings.otlp_address, orchestrator.metrics.snapshot, service_name=settings.service_name
    )
    stack.callback(export.shutdown)


def _notifier(settings: Settings) -> Notifier | None:
    if settings.notify_webhook is None and not settings.notify_desktop:
        return None
    # Imported only where somebody is told: the HTTP client takes a quarter of a second to load.
    from steward.providers.notify import AllNotifiers, DesktopNotifier, WebhookNotifier  # noqa: PLC0415

    notifiers: list[Notifier] = []
    if settings.notify_webhook is not None:
        notifiers.append(WebhookNotifier(settings.notify_webhook.get_secret_value()))
    if settings.notify_desktop:
        notifiers.append(DesktopNotifier())
    return AllNotifiers(notifiers)
