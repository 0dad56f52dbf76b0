"""`steward serve tasks` for Ana and Bob, on the database of DATABASE_URL and in the home of STEWARD_HOME.

The client confirms deletions itself, as the specification has it.
"""

import asyncio
import os
import sys

from steward.storage.database.postgres import Database, External
from steward.storage.tasks import PostgresUserStore
from steward.tasks.model import User


async def add_people() -> None:
    async with Database(External(os.environ["DATABASE_URL"])) as database:
        users = PostgresUserStore(database)
        await users.add(User(id="ana", name="Ana"))
        await users.add(User(id="bob", name="Bob"))


asyncio.run(add_people())
os.execv(sys.executable, [sys.executable, "-m", "steward", "serve", "tasks", "--client-confirms"])
