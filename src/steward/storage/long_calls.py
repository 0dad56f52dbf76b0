"""Calls over MCP that outlast their request, in PostgreSQL, so that any instance can tell of them."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import orjson

from steward.contract.long_calls import LongCall, LongState, LongWords
from steward.storage.database import sql
from steward.storage.database.postgres import Database

SQL = sql.load("long_calls")
KEPT = timedelta(hours=24)
LEFT_AFTER = timedelta(seconds=30)  # without a beat; several are missed by then


class PostgresLongCalls:
    def __init__(
        self, database: Database, *, kept: timedelta = KEPT, left_after: timedelta = LEFT_AFTER
    ) -> None:
        self._database = database
        self._kept = kept
        self._left_after = left_after

    async def begin(self, call_id: str, *, caller: str, user: str) -> None:
        await self._database.execute(SQL.forget_long_calls, self._kept)
        await self._database.execute(SQL.begin_long_call, call_id, caller, user)

    async def beat(self, call_id: str, *, note: str | None, questions: Mapping[str, Any]) -> LongWords:
        row = await self._database.fetchrow(SQL.beat_long_call, call_id, note, _packed(questions))
        if row is None:
            return LongWords()
        return LongWords([orjson.loads(each) for each in row["answers"]], row["stopping"])

    async def end(
        self, call_id: str, state: LongState, *, note: str | None, outcome: Mapping[str, Any] | None
    ) -> None:
        packed = None if outcome is None else _packed(outcome)
        await self._database.execute(SQL.end_long_call, call_id, state.value, note, packed)

    async def get(self, call_id: str, *, caller: str, user: str) -> LongCall | None:
        row = await self._database.fetchrow(SQL.get_long_call, call_id, caller, user, self._left_after)
        if row is None:
            return None
        return LongCall(
            id=row["id"],
            state=LongState(row["state"]),
            note=row["note"],
            questions=orjson.loads(row["questions"]),
            outcome=None if row["outcome"] is None else orjson.loads(row["outcome"]),
            created_at=row["created_at"],
            changed_at=row["changed_at"],
            left=row["left_behind"],
        )

    async def answer(self, call_id: str, answers: Mapping[str, Any], *, caller: str, user: str) -> bool:
        given = _packed(answers)
        return bool(await self._database.fetchval(SQL.answer_long_call, call_id, caller, user, given))

    async def stop(self, call_id: str, *, caller: str, user: str) -> bool:
        return bool(await self._database.fetchval(SQL.stop_long_call, call_id, caller, user))


def _packed(value: Mapping[str, Any]) -> bytes:
    return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS)
