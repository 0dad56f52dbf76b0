"""A home with its files, its key and its place in the record, as several tests need it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from steward.bootstrap.record import RecordKeeper
from steward.contract.call import Caller, CallerKind, Done, ToolCall, ToolResult
from steward.contract.tool import RiskLevel
from steward.orchestrator.ports import Execution, Intent
from steward.orchestrator.proposals import Receipt
from steward.storage.database.postgres import Database, External
from steward.storage.notices import PostgresNoticeStore
from steward.storage.proposals import PostgresProposalStore
from steward.storage.record import PostgresRecord
from steward.telemetry.chain import Signer
from steward.telemetry.executions import ExecutionLogFile

NEVER = 3600.0  # seconds; nothing happens here unless the test asks for it


@dataclass
class RecordHouse:
    folder: Path
    database: Database
    log: ExecutionLogFile
    keeper: RecordKeeper

    async def begins(
        self, tool: str, *, call_id: str, user: str = "ana", receipt: Receipt | None = None, **arguments: Any
    ) -> ToolCall:
        call = ToolCall(
            tool=tool,
            arguments=arguments,
            caller=Caller(CallerKind.PERSON, user),
            user=user,
            call_id=call_id,
            correlation_id=f"turn of {call_id}",
        )
        risk = RiskLevel.IRREVERSIBLE
        await self.log.begin(
            Intent(
                at=datetime.now(UTC),
                tool=tool,
                agent="mail",
                call=call,
                risk=risk,
                user=user,
                receipt=receipt,
            )
        )
        return call

    def ends(
        self,
        call: ToolCall,
        result: ToolResult | None = None,
        *,
        at: datetime | None = None,
        begun: bool = True,
        receipt: Receipt | None = None,
    ) -> None:
        self.log.append(
            Execution(
                at=at or datetime.now(UTC),
                tool=call.tool,
                agent="mail",
                call=call,
                result=result or Done(data="sent"),
                risk=RiskLevel.IRREVERSIBLE,
                user=call.user,
                begun=begun,
                receipt=receipt,
            )
        )

    async def runs(self, tool: str = "send", *, call_id: str, user: str = "ana", **arguments: Any) -> None:
        self.ends(await self.begins(tool, call_id=call_id, user=user, **arguments))

    async def listed(self, **wanted: Any) -> list[tuple[str, str]]:
        return [(item["call_id"], item["status"]) for item in (await self.keeper.list(**wanted)).items]


@asynccontextmanager
async def record_house(folder: Path, database_url: str) -> AsyncIterator[RecordHouse]:
    await asyncio.to_thread(folder.mkdir, exist_ok=True)
    async with Database(External(database_url)) as database:
        log = ExecutionLogFile(folder / "logs", program=database.program.key)
        keeper = RecordKeeper(
            log,
            PostgresRecord(database),
            signer=Signer(folder),
            proposals=PostgresProposalStore(database),
            notices=PostgresNoticeStore(database),
            program=database.program,
            seconds=NEVER,
        )
        await keeper.open()
        yield RecordHouse(folder, database, log, keeper)
        await keeper.close()
        log.close()
