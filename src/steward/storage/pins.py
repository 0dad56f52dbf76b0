"""Pinned tool definitions in PostgreSQL."""

from collections.abc import Mapping, Sequence

import asyncpg

from steward.contract.pins import Pin
from steward.storage.database import sql
from steward.storage.database.postgres import Database

SQL = sql.load("pins")


class PostgresPinStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, agent: str) -> Mapping[str, Pin]:
        rows = await self._database.fetch(SQL.pins_of_agent, agent)
        return {row["tool"]: _pin(row) for row in rows}

    async def remember(self, pins: Sequence[Pin]) -> None:
        if pins:
            await self._database.execute(
                SQL.remember_pins,
                [pin.agent for pin in pins],
                [pin.tool for pin in pins],
                [pin.digest for pin in pins],
                [pin.definition for pin in pins],
                [pin.accepted for pin in pins],
                [pin.registered for pin in pins],
            )

    async def accept(self, pin: Pin) -> None:
        await self._database.execute(
            SQL.accept_pin, pin.agent, pin.tool, pin.digest, pin.definition, pin.accepted, pin.registered
        )


def _pin(row: asyncpg.Record) -> Pin:
    return Pin(
        agent=row["agent"],
        tool=row["tool"],
        digest=row["digest"],
        definition=row["definition"],
        accepted=row["accepted"],
        registered=row["registered"],
    )
