"""What changed in the store, heard as it happens, whichever program did it.

Owns the connection that listens to PostgreSQL's notifications (migration 0075), one for a program. A
connection that is lost is made anew; what was missed meanwhile cannot be known, and is told as such. Behind a
pooler nothing is heard: without STEWARD_DIRECT_URL the counts of the tables are looked at every second.
"""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from steward.contract.errors import StewardError
from steward.storage.database.failures import FOREIGN
from steward.storage.database.postgres import Database

logger = logging.getLogger(__name__)

CHANNEL = "steward_changes"
SECONDS_BEFORE_AGAIN = 1.0
# Every table with a trigger that tells a change; the jobs' is in a schema of its own.
_COUNTS = """
    SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables
    WHERE relid IN (
        SELECT tgrelid FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
        WHERE prosrc LIKE '%steward_changes%'
    )"""


@dataclass(frozen=True, slots=True)
class StoreChange:
    room: str  # approvals, tasks, conversations, notices, schedules, jobs, registry or pins
    user: str | None
    id: str


Told = Callable[[StoreChange | None], None]  # None: something may have been missed


class ChangeFeed:
    """The changes of one database, for as many as want to hear of them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._told: list[Told] = []
        self._following: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def heard(self, tell: Told) -> AsyncGenerator[None]:
        """Within it, `tell` is called for each change, in this loop."""
        self._told.append(tell)
        if self._following is None:
            self._following = asyncio.create_task(self._follow(), name="hearing what changed")
        else:
            tell(None)
        try:
            yield
        finally:
            self._told.remove(tell)
            if not self._told:
                await self._end()

    async def _end(self) -> None:
        if self._following is not None:
            following, self._following = self._following, None
            following.cancel()
            with suppress(asyncio.CancelledError):
                await following

    def _tell(self, change: StoreChange | None) -> None:
        for tell in tuple(self._told):
            tell(change)

    async def _follow(self) -> None:
        if not self._database.can_listen:
            logger.warning(
                "changes_are_polled", extra={"fix": "Set STEWARD_DIRECT_URL to PostgreSQL itself."}
            )
            await self._poll()
        while True:
            try:
                connection = await self._database.connection()
            except (StewardError, *FOREIGN) as error:
                logger.warning("changes_not_heard", extra={"problem": type(error).__name__})
                await asyncio.sleep(SECONDS_BEFORE_AGAIN)
                self._tell(None)
                continue
            lost = asyncio.Event()
            try:
                connection.add_termination_listener(lambda _, lost=lost: lost.set())
                await connection.add_listener(CHANNEL, self._read)
                self._tell(None)
                await lost.wait()
            except FOREIGN:
                pass  # lost before it listened: once more
            finally:
                connection.terminate()

    async def _poll(self) -> None:
        before: object = None
        while True:
            with suppress(StewardError):  # a database that is away has no news
                now = await self._database.fetchval(_COUNTS)
                if now != before:
                    before = now
                    self._tell(None)
            await asyncio.sleep(SECONDS_BEFORE_AGAIN)

    def _read(self, _connection: object, _pid: int, _channel: str, payload: Any) -> None:
        room, user, identity = json.loads(payload)
        self._tell(StoreChange(room, user, str(identity)))
