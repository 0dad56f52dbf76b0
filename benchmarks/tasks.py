"""What the task list costs over its database: add a task and get it, alone and 10 and 50 at once.

Beside it, on the same PostgreSQL with a pool of the same size: the bare driver (an INSERT and a SELECT, with
no check, no owner, no history), the bare driver with what ours keeps as well (the owner's check and the
history), and SQLAlchemy's ORM with its mapped classes (owner, task and history; installed for this run only).
Each round measures all ways in turn, so that a busy machine slows them alike; the best round counts.
"""

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import asyncpg

from steward.storage.database.postgres import POOL_SIZE, Database, Embedded
from steward.storage.tasks import PostgresTaskStore, PostgresUserStore
from steward.tasks.desk import Desk
from steward.tasks.model import User, new_task_id
from steward.tasks.service import TaskService
from steward.tasks.users import Users

ROUNDS, CALLS = 8, 200
CONCURRENCY = (1, 10, 50)
LIMIT = 1.5
INSERT = """
    INSERT INTO raw_tasks (id, user_id, title, priority, created_at, updated_at)
    VALUES ($1, $2, $3, 'medium', $4, $4)"""
SELECT = "SELECT * FROM raw_tasks WHERE id = $1 AND user_id = $2"
WITH_HISTORY = """
    WITH made AS (
        INSERT INTO kept_tasks (id, user_id, title, priority, created_at, updated_at)
        SELECT $1, users.id, $3, 'medium', $4, $4 FROM users WHERE users.id = $2 RETURNING *
    )
    INSERT INTO kept_events (task_id, user_id, at, action, after)
    SELECT id, user_id, $4, 'added', '{"title": "x"}' FROM made"""
TABLES = """
    CREATE TABLE raw_tasks (LIKE tasks INCLUDING ALL);
    CREATE TABLE kept_tasks (LIKE tasks INCLUDING ALL);
    CREATE TABLE kept_events (LIKE task_events INCLUDING ALL);
    CREATE TABLE orm_tasks (LIKE tasks INCLUDING ALL);
    CREATE TABLE orm_events (LIKE task_events INCLUDING ALL)"""
Way = Callable[[], Awaitable[object]]


async def keep(_connection: Any) -> None:
    pass


async def seconds(work: Way, concurrency: int) -> float:
    async def worker() -> None:
        for _ in range(CALLS // concurrency):
            await work()

    started = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(concurrency)))
    return (time.perf_counter() - started) / CALLS


def ours(database: Database) -> Way:
    people, store = PostgresUserStore(database), PostgresTaskStore(database)
    service, desk = TaskService(tasks=store, users=people), Desk(tasks=store, users=Users(people))

    async def add_get() -> None:
        added = await service.add_task("ana", {"title": "buy milk"})
        await desk.get("ana", added["task"]["id"])

    return add_get


def raw(pool: Any, insert: str, select: str) -> Way:
    async def add_get() -> None:
        task_id = new_task_id()
        await pool.execute(insert, task_id, "ana", "buy milk", datetime.now(UTC))
        dict(await pool.fetchrow(select, task_id, "ana"))

    return add_get


def sqlalchemy(url: str, folder: str) -> tuple[Way, Callable[[], Awaitable[None]]] | None:
    """The ORM as its documentation shows it, or None when it cannot be installed here."""
    uv = Path(__file__).parent.parent / ".tools" / "bin" / "uv"
    installed = subprocess.run(
        [uv, "pip", "install", "-q", "--python", sys.executable, "--target", folder, "sqlalchemy[asyncio]"],
        check=False,
    )
    if installed.returncode:
        return None
    sys.path.append(folder)
    from sqlalchemy import BigInteger, DateTime, Identity, String, select  # noqa: PLC0415
    from sqlalchemy.dialects.postgresql import JSONB  # noqa: PLC0415
    from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine  # noqa: PLC0415
    from sqlalchemy.orm import DeclarativeBase, mapped_column  # noqa: PLC0415

    class Base(DeclarativeBase):
        pass

    class OrmUser(Base):
        __tablename__ = "users"
        id = mapped_column(String, primary_key=True)

    class OrmTask(Base):
        __tablename__ = "orm_tasks"
        id = mapped_column(String, primary_key=True)
        user_id = mapped_column(String)
        title = mapped_column(String)
        priority = mapped_column(String, default="medium")
        created_at = mapped_column(DateTime(timezone=True))
        updated_at = mapped_column(DateTime(timezone=True))

    class OrmEvent(Base):
        __tablename__ = "orm_events"
        id = mapped_column(BigInteger, Identity(always=True), primary_key=True)
        task_id = mapped_column(String)
        user_id = mapped_column(String)
        at = mapped_column(DateTime(timezone=True))
        action = mapped_column(String)
        after = mapped_column(JSONB)

    engine = create_async_engine(
        url.replace("postgresql://", "postgresql+asyncpg://"), pool_size=POOL_SIZE, max_overflow=0
    )
    session_of = async_sessionmaker(engine, expire_on_commit=False)

    async def add_get() -> None:
        now, task_id = datetime.now(UTC), new_task_id()
        async with session_of.begin() as session:
            owner = await session.get_one(OrmUser, "ana")
            session.add(
                OrmTask(id=task_id, user_id=owner.id, title="buy milk", created_at=now, updated_at=now)
            )
            event = {"task_id": task_id, "user_id": owner.id, "at": now, "action": "added"}
            session.add(OrmEvent(**event, after={"title": "buy milk"}))
        async with session_of() as session:
            wanted = select(OrmTask).where(OrmTask.id == task_id, OrmTask.user_id == "ana")
            (await session.execute(wanted)).scalar_one()

    return add_get, engine.dispose


async def compare(database: Database, folder: str) -> bool:
    await PostgresUserStore(database).add(User(id="ana", name="Ana"))
    await database.execute(TABLES)
    # Without the driver's own reset of a connection that is given back, as in Steward's pool.
    pool = await asyncpg.create_pool(database.url, min_size=POOL_SIZE, max_size=POOL_SIZE, reset=keep)
    kept = SELECT.replace("raw_tasks", "kept_tasks")
    ways: dict[str, Way] = {
        "asyncpg, bare": raw(pool, INSERT, SELECT),
        "asyncpg, owner and history": raw(pool, WITH_HISTORY, kept),
        "Steward": ours(database),
    }
    orm = sqlalchemy(database.url, folder)
    if orm is None:
        print("SQLAlchemy cannot be installed here; it is left out.")
    else:
        ways["SQLAlchemy, owner and history"] = orm[0]
    within = True
    for concurrency in CONCURRENCY:
        best = dict.fromkeys(ways, float("inf"))
        for _ in range(ROUNDS):
            for name, way in ways.items():
                best[name] = min(best[name], await seconds(way, concurrency))
        base = best["asyncpg, bare"]
        print(f"\nadd + get, {concurrency} at once")
        for name, took in best.items():
            print(f"  {name:32} {took * 1e6:8.0f} us  {took / base:5.2f}")
        within = within and best["Steward"] / base <= LIMIT
    await pool.close()
    if orm is not None:
        await orm[1]()
    return within


async def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        async with Database(Embedded(Path(folder) / "database")) as database:
            within = await compare(database, str(Path(folder) / "packages"))
    print(f"\n{'within' if within else 'NOT within'} {LIMIT} times the bare driver")
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
