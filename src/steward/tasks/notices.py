"""Notices: what Steward tells a person of its own accord, and where it goes.

Owns their shape and wording, and the ports for keeping and delivering them. A notice is kept first and then
delivered, so that it is never lost; its id goes along everywhere, so that a receiver who sees it twice can
tell. Does not own when it is made (reminders, schedules, the record) nor the protocols (providers).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol
from zoneinfo import ZoneInfo

LATE = timedelta(minutes=1)  # beyond this a notice says that it comes late


class NoticeKind(StrEnum):
    REMINDER = "reminder"
    SCHEDULE = "schedule"
    INTERRUPTED = "interrupted"  # a call that cannot be undone, whose outcome nobody knows


class Medium(StrEnum):
    """Ways to reach somebody who is looking at neither the page nor a terminal."""

    DESKTOP = "desktop"
    WEBHOOK = "webhook"
    NTFY = "ntfy"
    EMAIL = "email"


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """How far a notice has come on one way."""

    sent: bool
    tries: int
    at: datetime
    problem: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    id: str
    user_id: str
    kind: NoticeKind
    source: str  # the task, schedule or call it comes from
    due: datetime  # when it was to be told
    title: str
    text: str
    made_at: datetime
    number: int = 0  # in the order in which they were made
    conversation: str | None = None  # where a schedule's turn can be read and gone on with
    proposal_id: str | None = None  # what waits for a yes
    seen_at: datetime | None = None
    deliveries: Mapping[Medium, Delivery] = field(default_factory=dict[Medium, Delivery])


class NoticeStore(Protocol):
    async def list(
        self, user_id: str, *, after: int = 0, unseen: bool = False, newest: bool = False, limit: int = 100
    ) -> Sequence[Notice]:
        """In the order in which they were made, from a number on; or the newest first."""
        ...

    async def latest(self) -> int:
        """The number of the last one, of anybody."""
        ...

    async def newer(self, after: int, *, limit: int = 1000) -> Sequence[Notice]:
        """Everybody's, from a number on."""
        ...

    async def see(self, user_id: str, notice_id: str, *, at: datetime) -> Notice | None:
        """Mark it as seen; None when this user has no such notice."""
        ...

    async def put(self, notice: Notice) -> None:
        """Once for each source and time; nothing where the user is gone."""
        ...

    async def untold(self, user_id: str, kind: NoticeKind) -> Sequence[Notice]:
        """Those of a kind that nobody has shown this user yet, the first few."""
        ...

    async def note(self, notice_id: str, medium: Medium, delivery: Delivery) -> None: ...


class AddressStore(Protocol):
    """Where each user wants to be told, beside the page and the terminal."""

    async def of(self, user_id: str) -> Mapping[Medium, str]: ...

    async def put(self, user_id: str, medium: Medium, address: str) -> None: ...

    async def remove(self, user_id: str, medium: Medium) -> bool:
        """False when there was none."""
        ...


class NoticeSender(Protocol):
    """One medium."""

    def check(self, address: str) -> str:
        """The address as it is kept; raises for one that cannot be right."""
        ...

    async def send(self, notice: Notice, address: str) -> None:
        """Returns once the other side has taken it; raises `StewardError` otherwise."""
        ...


def reminder_text(*, due: datetime, now: datetime, zone: ZoneInfo, description: str | None) -> str:
    lines = [f"It is {_when(due, now, zone)}."] if now - due <= LATE else [late_words(due, now, zone)]
    return "\n".join([*lines, *([description] if description else [])])


def late_words(due: datetime, now: datetime, zone: ZoneInfo) -> str:
    return f"This comes late: it was for {_when(due, now, zone)}."


def _when(due: datetime, now: datetime, zone: ZoneInfo) -> str:
    local, today = due.astimezone(zone), now.astimezone(zone).date()
    clock = f"{local:%H:%M}"
    return clock if local.date() == today else f"{local:%a} {local.day} {local:%b} {local.year}, {clock}"


def payload(notice: Notice) -> dict[str, Any]:
    """A notice for programs."""
    return {
        "event": notice.kind.value,
        "id": notice.id,
        "number": notice.number,
        "user": notice.user_id,
        "title": notice.title,
        "text": notice.text,
        "due": notice.due.isoformat(),
        "made_at": notice.made_at.isoformat(),
        "task_id": notice.source if notice.kind is NoticeKind.REMINDER else None,
        "schedule_id": notice.source if notice.kind is NoticeKind.SCHEDULE else None,
        "call_id": notice.source if notice.kind is NoticeKind.INTERRUPTED else None,
        "conversation": notice.conversation,
        "proposal_id": notice.proposal_id,
        "seen_at": None if notice.seen_at is None else notice.seen_at.isoformat(),
    }
