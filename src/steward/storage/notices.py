"""Notices and the addresses they go to, in PostgreSQL."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import asyncpg

from steward.contract.errors import ConflictError, NotFoundError
from steward.storage.database import sql
from steward.storage.database.postgres import Database, Session
from steward.tasks.notices import Delivery, Medium, Notice, NoticeKind

SQL = sql.load("notices")


class PostgresNoticeStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(
        self, user_id: str, *, after: int = 0, unseen: bool = False, newest: bool = False, limit: int = 100
    ) -> Sequence[Notice]:
        rows = await self._database.fetch(SQL.list_notices, user_id, after, unseen, limit, newest)
        return [notice_of(row) for row in rows]

    async def latest(self) -> int:
        return int(await self._database.fetchval(SQL.latest_notice))

    async def newer(self, after: int, *, limit: int = 1000) -> Sequence[Notice]:
        return [notice_of(row) for row in await self._database.fetch(SQL.newer_notices, after, limit)]

    async def see(self, user_id: str, notice_id: str, *, at: datetime) -> Notice | None:
        row = await self._database.fetchrow(SQL.see_notice, user_id, notice_id, at)
        return None if row is None else notice_of(row)

    async def put(self, notice: Notice) -> None:
        await self._database.execute(SQL.put_notice, *_columns(notice))

    async def untold(self, user_id: str, kind: NoticeKind) -> Sequence[Notice]:
        return [notice_of(row) for row in await self._database.fetch(SQL.untold_notices, user_id, kind.value)]

    async def note(self, notice_id: str, medium: Medium, delivery: Delivery) -> None:
        shape = {
            "sent": delivery.sent,
            "tries": delivery.tries,
            "at": delivery.at.isoformat(),
            "problem": delivery.problem,
        }
        await self._database.execute(SQL.note_delivery, notice_id, medium.value, shape)


class PostgresAddressStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, user_id: str) -> Mapping[Medium, str]:
        rows = await self._database.fetch(SQL.addresses_of, user_id)
        return {Medium(row["medium"]): row["address"] for row in rows}

    async def put(self, user_id: str, medium: Medium, address: str) -> None:
        try:
            await self._database.execute(SQL.put_address, user_id, medium.value, address)
        except ConflictError as refused:
            raise NotFoundError(
                f"There is no user '{user_id[:80]}'.", code="INVALID_USER", fix="See 'steward users list'."
            ) from refused

    async def remove(self, user_id: str, medium: Medium) -> bool:
        return bool(await self._database.fetchval(SQL.remove_address, user_id, medium.value))


async def keep_notice(session: Session, notice: Notice) -> Notice:
    """The notice as it is kept; the one that is there already for the same source and time."""
    row = await session.fetchrow(SQL.add_notice, *_columns(notice))
    if row is not None:
        return notice_of(row)
    there = await find_notice(session, notice.source, notice.due)
    assert there is not None
    return there


def _columns(notice: Notice) -> tuple[object, ...]:
    return (
        notice.id,
        notice.user_id,
        notice.kind.value,
        notice.source,
        notice.due,
        notice.title,
        notice.text,
        notice.conversation,
        notice.proposal_id,
        notice.made_at,
    )


async def find_notice(session: Session, source: str, due: datetime) -> Notice | None:
    row = await session.fetchrow(SQL.notice_of, source, due)
    return None if row is None else notice_of(row)


def notice_of(row: asyncpg.Record) -> Notice:
    deliveries: Mapping[str, Any] = row["deliveries"]
    return Notice(
        id=row["id"],
        number=row["number"],
        user_id=row["user_id"],
        kind=NoticeKind(row["kind"]),
        source=row["source"],
        due=row["due"],
        title=row["title"],
        text=row["text"],
        conversation=row["conversation"],
        proposal_id=row["proposal_id"],
        made_at=row["made_at"],
        seen_at=row["seen_at"],
        deliveries={Medium(name): _delivery(said) for name, said in deliveries.items()},
    )


def _delivery(said: Mapping[str, Any]) -> Delivery:
    return Delivery(
        sent=said["sent"],
        tries=said["tries"],
        at=datetime.fromisoformat(said["at"]),
        problem=said["problem"],
    )
