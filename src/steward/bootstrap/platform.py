"""Everything wired together for one workspace.

Owns the choice of implementations and the order in which they open and close. Nothing else in the
product decides which store, model, tracer or server is used.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace

from pydantic import SecretStr

from steward.agents.skills.book import SkillBook
from steward.bootstrap.agents import BY_ROTE, TalkingAgents
from steward.bootstrap.jobs import add_jobs
from steward.bootstrap.knowledge import (
    Library,
    open_library,
)
from steward.bootstrap.paths import real_path
from steward.bootstrap.record import RecordKeeper
from steward.bootstrap.reminding import NoticeRoom, ScheduleRoom, open_notices, open_schedules
from steward.bootstrap.rules import WatchedRules
from steward.bootstrap.selection import LearningLog, ToolSearch, open_search
from steward.bootstrap.sharing.shared_files import ASIDE, MARKS, REPLACED, HomeFiles
from steward.bootstrap.sharing.shared_registry import SharedRegistry
from steward.bootstrap.tools.core_tools import AGENT, core_agent
from steward.bootstrap.tools.local_tools import Workshop, open_workshop
from steward.bootstrap.tools.mcp_servers import Servers
from steward.bootstrap.tools.own_servers import register_own_servers
from steward.bootstrap.tools.record_tools import RECORD_AGENT, record_agent
from steward.bootstrap.tools.skills import open_skills
from steward.bootstrap.tools.task_tools import TaskRoom, open_tasks
from steward.bootstrap.tools.undoing import (
    NOTE,
    POLICY,
    TOOL,
    UNDO_AGENT,
    Undoing,
    note_taker,
    policy_taker,
    tool_taker,
    undo_agent,
)
from steward.bootstrap.workspace import home, leftovers
from steward.contract.agent import Agent
from steward.contract.ports import ToolRanker
from steward.contract.questions import QuestionStore
from steward.contract.tool import RiskLevel, ToolSpec
from steward.orchestrator.lifecycle import LifecycleLimits
from steward.orchestrator.orchestrator import Orchestrator
from steward.orchestrator.ports import Notifier
from steward.policy.access import Keys
from steward.policy.approval import assess
from steward.policy.bounds import Bounds
from steward.providers.containment.parent import close_to_others
from steward.providers.containment.plan import Mechanism
from steward.providers.containment.probe import strongest
from steward.providers.scripts.registry_writer import RegistryWriter
from steward.settings import Settings
from steward.storage import owner_token
from steward.storage.conversations import PostgresConversationStore
from steward.storage.database.changes import ChangeFeed
from steward.storage.database.postgres import Database, Embedded, External, Place
from steward.storage.gaps import PostgresGapStore
from steward.storage.jobs import PostgresJobStore
from steward.storage.keys import PostgresKeyStore
from steward.storage.library.facts import PostgresFactStore
from steward.storage.notices import PostgresNoticeStore
from steward.storage.pins import PostgresPinStore
from steward.storage.proposals import PostgresProposalStore
from steward.storage.questions import PostgresQuestionStore
from steward.storage.record import PostgresRecord
from steward.storage.registry import PostgresRegistry
from steward.storage.tasks import PostgresUserStore
from steward.storage.undo import ROW, PostgresUndoJournal, take_row_back
from steward.tasks.model import User
from steward.tasks.users import Users
from steward.telemetry.chain import KEY_FILE, Signer
from steward.telemetry.executions import ExecutionLogFile
from steward.telemetry.log import configure_logging
from steward.telemetry.masking import MASKER
from steward.telemetry.tracing import Tracing, activate
from steward.work.kinds import JobKind
from steward.work.queue import WorkQueue

logger = logging.getLogger(__name__)

OWN = (
    *("database", "logs", "tools", "skills", "oauth"),
    *("mcp.json", "policy.toml", "token", "instance.json", "home.json", KEY_FILE),
    *(MARKS, ASIDE, REPLACED),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    settings: Settings
    database: Database
    orchestrator: Orchestrator
    rules: WatchedRules
    changes: ChangeFeed
    sharing: SharedRegistry
    executions: ExecutionLogFile
    record: RecordKeeper
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
    notices: NoticeRoom
    schedules: ScheduleRoom
    undoing: Undoing

    @property
    def work(self) -> WorkQueue:
        return self.notices.work

    @property
    def gaps(self) -> PostgresGapStore:
        return PostgresGapStore(self.database)

    @property
    def ranker(self) -> ToolRanker:
        return self.search

    async def erase_user(self, user_id: str) -> User:
        """A user with everything they own, what their calls said, and what was learned of them in memory."""
        await self.tasks.users.get(user_id)
        await self.record.erase(user_id)  # first: whoever is stopped here can still ask for it again
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
        shared = {str(files.home / path): problem for path, problem in self.sharing.problems().items()}
        return shared | {str(path): problem for path, problem in found.items() if problem is not None}

    def rating(self, spec: ToolSpec) -> RiskLevel:
        """What a call to this tool is rated before its arguments are known."""
        return assess(spec, {}, self.rules.known).level


@dataclass(frozen=True, kw_only=True)
class _Ground:
    """What the rooms stand on: the log, the database, the record and the one door."""

    token: str = field(repr=False)
    rules: WatchedRules
    database: Database
    executions: ExecutionLogFile
    learning: LearningLog
    tracer: Tracing
    record: RecordKeeper
    sharing: SharedRegistry
    undoing: Undoing
    orchestrator: Orchestrator


@dataclass(frozen=True, kw_only=True)
class _Rooms:
    """What stands on the ground: who acts and what they act on."""

    questions: QuestionStore
    writer: RegistryWriter
    search: ToolSearch
    tasks: TaskRoom
    library: Library
    skills: SkillBook
    agents: TalkingAgents
    servers: Servers
    notices: NoticeRoom
    schedules: ScheduleRoom


@asynccontextmanager
async def open_platform(
    settings: Settings, *, agents: Collection[str] | None = None
) -> AsyncGenerator[Platform]:
    """Everything of a workspace, with all its agents running or only those that are named."""
    looking = _begin(settings)
    async with AsyncExitStack() as stack:
        ground = await _ground(settings, stack)
        rooms = await _rooms(settings, ground, held=await looking, stack=stack)
        orchestrator, database = ground.orchestrator, ground.database
        for end in (orchestrator.lifecycle.stop_all, orchestrator.settle, rooms.writer.close):
            stack.push_async_callback(end)
        await orchestrator.lifecycle.start_all(agents)
        yield Platform(
            settings=settings,
            database=database,
            orchestrator=orchestrator,
            rules=ground.rules,
            changes=ChangeFeed(database),
            sharing=ground.sharing,
            executions=ground.executions,
            record=ground.record,
            tracer=ground.tracer,
            owner_token=ground.token,
            keys=Keys(PostgresKeyStore(database), root=_revealed(settings.api_key), owner=ground.token),
            questions=rooms.questions,
            writer=rooms.writer,
            search=rooms.search,
            tasks=rooms.tasks,
            library=rooms.library,
            skills=rooms.skills,
            agents=rooms.agents,
            servers=rooms.servers,
            notices=rooms.notices,
            schedules=rooms.schedules,
            undoing=ground.undoing,
        )


async def _rooms(settings: Settings, ground: _Ground, *, held: Mechanism, stack: AsyncExitStack) -> _Rooms:
    database, orchestrator, rules = ground.database, ground.orchestrator, ground.rules
    questions = PostgresQuestionStore(database)
    workshop = open_workshop(
        settings, orchestrator, questions=questions, held=held, rules=rules, shared=ground.sharing.changing
    )
    notices = open_notices(settings, database, _queue(database, stack))
    undoing = _undoing(settings, ground, workshop)
    notices.work.add(JobKind(name="sweep_undo", run=undoing.sweep, every="41 * * * *", kept=False))
    tasks = await open_tasks(
        orchestrator, database, undoing=undoing, alarm=notices.reminders, bin_days=settings.bin_days
    )
    library = await open_library(settings, database, orchestrator, stack, rules=rules, undoing=undoing)
    register_own_servers(orchestrator, settings, library.readers)
    skills = open_skills(settings, orchestrator, library.embedder)
    search = open_search(orchestrator, library, database=database, log=ground.learning, stack=stack)
    talking = _agents(settings, ground, search=search, library=library, skills=skills)
    add_jobs(notices.work, orchestrator, agents=talking, library=library)
    return _Rooms(
        questions=questions,
        writer=workshop.writer,
        search=search,
        tasks=tasks,
        library=library,
        skills=skills,
        agents=talking,
        notices=notices,
        schedules=open_schedules(
            orchestrator, database, notices, agents=talking, users=tasks.users, undoing=undoing
        ),
        # After our own agents, so that no server of the workspace takes one of their names.
        servers=_servers(orchestrator, settings, database, rules),
    )


def _begin(settings: Settings) -> "asyncio.Task[Mechanism]":
    """A home, and a process that others cannot look into; what contains code here is looked for meanwhile."""
    close_to_others()
    home.ensure(settings)
    leftovers.sweep(settings)
    return asyncio.create_task(asyncio.to_thread(strongest), name="finding out what contains code here")


def _token_before_the_first_line(settings: Settings, stack: AsyncExitStack) -> str:
    """The owner's token, and the log, which knows what it must never show before it is written."""
    token = owner_token.ensure(settings.home)
    MASKER.register((*settings.secrets(), token))
    stack.callback(configure_logging(settings.logs_folder, debug=settings.debug).close)
    return token


async def _ground(settings: Settings, stack: AsyncExitStack) -> _Ground:
    """The order matters: the log before its first line, the record before anything runs."""
    token, rules = _token_before_the_first_line(settings, stack), _rules(settings)
    database = Database(place(settings))
    executions = _lines(settings, database, stack)
    learning = LearningLog(executions, by_rote=BY_ROTE)
    tracer = _tracer(settings, stack)
    record = await _record(settings, database, executions, stack)
    sharing = shared_registry(settings, database)
    await sharing.open()
    rules.changing = sharing.changing
    undoing = Undoing(PostgresUndoJournal(database), record=record, bin_days=settings.bin_days)
    orchestrator = _door(settings, database, learning, tracer, rules)
    _register_core(orchestrator, settings, PostgresFactStore(database), undoing)
    _export_metrics(settings, orchestrator, stack)
    return _Ground(
        token=token,
        rules=rules,
        database=database,
        executions=executions,
        learning=learning,
        tracer=tracer,
        record=record,
        sharing=sharing,
        undoing=undoing,
        orchestrator=orchestrator,
    )


def shared_registry(settings: Settings, database: Database) -> SharedRegistry:
    """The embedded database is one home's own: there is nobody to share with."""
    store = None if settings.database_url is None else PostgresRegistry(database)
    return SharedRegistry(HomeFiles(settings.home), store)


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
        limits=LifecycleLimits(tool=settings.timeout),
        notifier=_notifier(settings),
        resolve_path=real_path(settings.ingestible),
        keeper=rules,
    )


def _undoing(settings: Settings, ground: _Ground, workshop: Workshop) -> Undoing:
    """Who takes back what is no room's own; the rooms add themselves."""
    undoing = ground.undoing
    undoing.add(ROW, take_row_back)
    undoing.add(NOTE, note_taker(settings.obsidian_vault))
    undoing.add(POLICY, policy_taker(ground.rules))
    undoing.add(TOOL, tool_taker(workshop.writer))
    ground.orchestrator.register_agent_factory(UNDO_AGENT, lambda: undo_agent(undoing))
    proposals = PostgresProposalStore(ground.database)
    ground.orchestrator.register_agent_factory(
        RECORD_AGENT,
        lambda: record_agent(ground.record, undoing.journal, proposals, find=_finder(ground.orchestrator)),
    )
    return undoing


def _finder(orchestrator: Orchestrator) -> Callable[[str], ToolSpec | None]:
    def find(name: str) -> ToolSpec | None:
        found = orchestrator.registry.find(name)
        return None if found is None else found.spec

    return find


def _servers(
    orchestrator: Orchestrator, settings: Settings, database: Database, rules: WatchedRules
) -> Servers:
    servers = Servers(orchestrator, settings, PostgresPinStore(database), rules)
    servers.open()
    return servers


def _queue(database: Database, stack: AsyncExitStack) -> WorkQueue:
    work = WorkQueue(
        address=lambda: database.direct_url,
        listens=lambda: database.can_listen,
        store=PostgresJobStore(database),
        revive=lambda: database.fetchval("SELECT 1"),
    )
    stack.push_async_callback(work.close)
    return work


def _agents(
    settings: Settings, ground: _Ground, *, search: ToolSearch, library: Library, skills: SkillBook
) -> TalkingAgents:
    database, rules = ground.database, ground.rules
    return TalkingAgents(
        settings,
        ground.orchestrator,
        ranker=search,
        judge=search.judge,
        library=library,
        skills=skills,
        conversations=PostgresConversationStore(database),
        questions=PostgresQuestionStore(database),
        gaps=PostgresGapStore(database),
        notices=PostgresNoticeStore(database),
        users=Users(PostgresUserStore(database)),
        tracer=ground.tracer,
        rules=lambda: rules.known,
    )


def _register_core(
    orchestrator: Orchestrator, settings: Settings, facts: PostgresFactStore, undoing: Undoing
) -> None:
    def made() -> Agent:
        return core_agent(facts=facts, vault=settings.obsidian_vault, wrote=undoing.note_entry)

    orchestrator.register_agent_factory(AGENT, made)


def _lines(settings: Settings, database: Database, stack: AsyncExitStack) -> ExecutionLogFile:
    executions = ExecutionLogFile(settings.logs_folder, program=database.program.key)
    stack.callback(_close_log, executions)
    return executions


async def _record(
    settings: Settings, database: Database, executions: ExecutionLogFile, stack: AsyncExitStack
) -> RecordKeeper:
    """The database, and the record in it: what an earlier program left is there before anything runs."""
    await stack.enter_async_context(database)
    record = RecordKeeper(
        executions,
        PostgresRecord(database),
        signer=Signer(settings.home),
        proposals=PostgresProposalStore(database),
        notices=PostgresNoticeStore(database),
        program=database.program,
    )
    stack.push_async_callback(record.close)
    await record.open()
    return record


def _close_log(executions: ExecutionLogFile) -> None:
    if unwritten := executions.close():
        logger.error("executions_unwritten", extra={"lines": unwritten, "problem": executions.problem()})


def _revealed(secret: SecretStr | None) -> str | None:
    return None if secret is None else secret.get_secret_value()


def place(settings: Settings) -> Place:
    if settings.database_url is not None:
        return External(settings.database_url.get_secret_value(), _revealed(settings.direct_url))
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
    if not (settings.notify_webhook or settings.notify_ntfy or settings.notify_desktop):
        return None
    # Imported only where somebody is told: the HTTP client takes a quarter of a second to load.
    from steward.providers.notify import (  # noqa: PLC0415
        AllNotifiers,
        DesktopNotifier,
        NtfyNotifier,
        WebhookNotifier,
    )

    notifiers: list[Notifier] = []
    if settings.notify_webhook is not None:
        notifiers.append(WebhookNotifier(settings.notify_webhook.get_secret_value(), settings.page_url))
    if settings.notify_ntfy is not None:
        notifiers.append(NtfyNotifier(settings.notify_ntfy.get_secret_value(), settings.page_url))
    if settings.notify_desktop:
        notifiers.append(DesktopNotifier())
    return AllNotifiers(notifiers)
