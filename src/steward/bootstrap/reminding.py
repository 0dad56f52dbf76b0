"""Reminders and schedules wired together: the board, the media, and the jobs that ring and run."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING

from pydantic import SecretStr

from steward.bootstrap.tools.schedule_tools import SCHEDULES_AGENT, schedules_agent
from steward.bootstrap.tools.undoing import Undoing
from steward.contract.call import Caller, CallerKind
from steward.contract.errors import UnavailableError
from steward.conversations.model import Answer, Speaker
from steward.orchestrator.orchestrator import Orchestrator
from steward.policy.access import LOCAL_USER
from steward.settings import Settings
from steward.storage.database.postgres import Database
from steward.storage.notices import PostgresAddressStore, PostgresNoticeStore
from steward.storage.reminders import PostgresReminderStore
from steward.storage.schedules import PostgresScheduleStore, schedule_taker
from steward.tasks.notices import AddressStore, Medium, NoticeSender
from steward.tasks.schedules import Schedule
from steward.tasks.timetable import Timetable
from steward.tasks.users import Users
from steward.work.board import NoticeBoard
from steward.work.delivery import Postman
from steward.work.queue import WorkQueue
from steward.work.reminders import Reminders
from steward.work.schedules import ScheduledWork

if TYPE_CHECKING:
    from steward.bootstrap.agents import TalkingAgents

Now = Callable[[], datetime]


def _now() -> datetime:
    return datetime.now(UTC)


class LazySenders(Mapping[Medium, NoticeSender]):
    """The HTTP client behind them takes a quarter of a second to load: only where somebody is told."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @cached_property
    def _senders(self) -> Mapping[Medium, NoticeSender]:
        from steward.providers.delivery import senders  # noqa: PLC0415 - see above

        smtp = _revealed(self._settings.smtp_url)
        return senders(smtp_url=smtp, smtp_from=self._settings.smtp_from)

    def __getitem__(self, medium: Medium) -> NoticeSender:
        return self._senders[medium]

    def __iter__(self) -> Iterator[Medium]:
        return iter(Medium)

    def __len__(self) -> int:
        return len(Medium)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeRoom:
    board: NoticeBoard
    addresses: AddressStore
    senders: Mapping[Medium, NoticeSender]
    postman: Postman
    reminders: Reminders
    work: WorkQueue


@dataclass(frozen=True, slots=True)
class ScheduleRoom:
    timetable: Timetable
    running: ScheduledWork


def open_notices(settings: Settings, database: Database, work: WorkQueue, *, now: Now = _now) -> NoticeRoom:
    board, addresses = NoticeBoard(PostgresNoticeStore(database)), PostgresAddressStore(database)
    ways = LazySenders(settings)
    postman = Postman(
        board,
        senders=ways,
        addresses=addresses,
        of_owner=_of_owner(settings),
        owner=LOCAL_USER,
        now=now,
    )
    reminders = Reminders(work, PostgresReminderStore(database), postman, now=now)
    return NoticeRoom(
        board=board, addresses=addresses, senders=ways, postman=postman, reminders=reminders, work=work
    )


def open_schedules(
    orchestrator: Orchestrator,
    database: Database,
    notices: NoticeRoom,
    *,
    agents: "TalkingAgents",
    users: Users,
    undoing: Undoing,
    now: Now = _now,
) -> ScheduleRoom:
    store = PostgresScheduleStore(database)
    running = ScheduledWork(notices.work, store, notices.postman, turn=partial(_turn, agents), now=now)
    names = tuple(kind.name for kind in agents.kinds)
    undoing.add("schedule", schedule_taker(running.set))
    timetable = Timetable(store=store, users=users, ring=running.set, agents=names, now=now)
    orchestrator.register_agent_factory(SCHEDULES_AGENT, lambda: schedules_agent(timetable))
    return ScheduleRoom(timetable, running)


async def _turn(
    agents: "TalkingAgents",
    schedule: Schedule,
    *,
    conversation: str | None,
    begun: Callable[[str], Awaitable[None]],
    leaving: Callable[[], bool],
) -> Answer:
    """In a conversation of its own. Nobody is there to say yes, and its words are not somebody's now."""
    chat = await agents.chat()
    if conversation is not None:
        return await _rest_of_turn(agents, conversation, user=schedule.user_id, leaving=leaving)
    speaker = Speaker(
        user=schedule.user_id, caller=Caller(CallerKind.SYSTEM, f"schedule {schedule.id}"), decider=None
    )
    started = await chat.begin(schedule.request, speaker=speaker, agent=schedule.agent)
    await begun(started.conversation)
    return await started.run(to_be_left=leaving)


async def _rest_of_turn(
    agents: "TalkingAgents", conversation: str, *, user: str, leaving: Callable[[], bool]
) -> Answer:
    started = await (await agents.chat()).resume(conversation, user=user)
    if started is not None:
        return await started.run(to_be_left=leaving)
    known = await agents.conversations.load(conversation, user=user, turns=1)
    if known.running or not known.turns:
        raise UnavailableError("Somebody else has this turn now.")
    return known.turns[-1].answer


def _of_owner(settings: Settings) -> dict[Medium, str]:
    """The addresses in the settings are the owner's."""
    found = {
        Medium.WEBHOOK: _revealed(settings.notify_webhook),
        Medium.NTFY: _revealed(settings.notify_ntfy),
        Medium.EMAIL: settings.notify_email,
        Medium.DESKTOP: "" if settings.notify_desktop else None,
    }
    return {medium: address for medium, address in found.items() if address is not None}


def _revealed(secret: SecretStr | None) -> str | None:
    return None if secret is None else secret.get_secret_value()
