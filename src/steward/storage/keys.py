"""Keys in PostgreSQL."""

from collections.abc import Sequence

import asyncpg

from steward.contract.errors import ConflictError
from steward.policy.access import Key, Role
from steward.storage.database import sql
from steward.storage.database.postgres import Database

SQL = sql.load("keys")


class PostgresKeyStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, key: Key) -> None:
        row = (key.id, key.name, key.role.word, key.user, key.digest, key.created_at)
        if not await self._database.fetchval(SQL.add_key, *row):
            raise ConflictError(
                f"There already is a key named '{key.name}'.", fix="Revoke it first, or choose another name."
            )

    async def get(self, key_id: str) -> Key | None:
        row = await self._database.fetchrow(SQL.get_key, key_id)
        return None if row is None else _key(row)

    async def list(self) -> Sequence[Key]:
        return [_key(row) for row in await self._database.fetch(SQL.list_keys)]

    async def set_role(self, key_id: str, role: Role) -> bool:
        return bool(await self._database.fetchval(SQL.set_role, key_id, role.word))

    async def remove(self, key_id: str) -> bool:
        return bool(await self._database.fetchval(SQL.remove_key, key_id))


def _key(row: asyncpg.Record) -> Key:
    return Key(
        id=row["id"],
        name=row["name"],
        role=Role.parse(row["role"]),
        user=row["user_id"],
        digest=row["digest"],
        created_at=row["created_at"],
    )
