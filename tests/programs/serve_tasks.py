"""The task server over stdio on the database of DATABASE_URL, for clients in tests."""

import asyncio
import os

from steward.servers.tasks import build
from steward.storage.postgres import Database, External
from steward.storage.tasks import PostgresTaskStore, PostgresUserStore
from steward.tasks.model import User
from steward.tasks.service import TaskService


async def main() -> None:
    async with Database(External(os.environ["DATABASE_URL"])) as database:
        users = PostgresUserStore(database)
        await users.add(User(id="ana", name="Ana"))
        await users.add(User(id="bob", name="Bob"))
        service = TaskService(tasks=PostgresTaskStore(database), users=users)
        await build(service).run_stdio_async(show_banner=False)


asyncio.run(main())
