"""Answers to requests that name an Idempotency-Key, kept for a day in PostgreSQL."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from steward.storage.database import sql
from steward.storage.database.postgres import Database

SQL = sql.load("replays")
KEPT = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """What is known of a request that was sent before. `status` is None while nobody knows its answer."""

    request: str
    status: int | None
    headers: Sequence[tuple[str, str]] = ()
    body: bytes = b""


class ReplayStore:
    def __init__(self, database: Database, *, kept: timedelta = KEPT) -> None:
        self._database = database
        self._kept = kept

    async def claim(self, caller: str, key: str, *, user: str, request: str) -> KeptAnswer | None:
        """None: it is the first one and may run. Otherwise what was sent under this key before."""
        await self._database.execute(SQL.forget_replays, self._kept)
        if await self._database.fetchval(SQL.claim_replay, caller, key, user, request):
            return None
        row = await self._database.fetchrow(SQL.get_replay, caller, key)
        if row is None:  # it was released between the two questions
            return await self.claim(caller, key, user=user, request=request)
        headers = tuple((name, value) for name, value in row["headers"] or ())
        return KeptAnswer(row["request"], row["status"], headers, row["body"] or b"")

    async def keep(self, caller: str, key: str, replay: KeptAnswer) -> None:
        headers = [list(each) for each in replay.headers]
        await self._database.execute(SQL.keep_replay, caller, key, replay.status, headers, replay.body)

    async def release(self, caller: str, key: str) -> None:
        """It was refused before anything ran: the key is free again."""
        await self._database.execute(SQL.release_replay, caller, key)
