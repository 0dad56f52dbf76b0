"""Proposals in PostgreSQL: every step one statement, so that two programs cannot both take it.

A claim carries the key of the program that runs it (programs.py). Before anything is read, claims whose
program is gone become 'unknown': they may have happened, and are never run again. A claim whose
answer never came, because the connection was lost at that moment, has run nothing: it waits again.
"""

import builtins
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import asyncpg

from steward.contract.call import Caller, CallerKind
from steward.contract.errors import StewardError
from steward.contract.tool import RiskLevel
from steward.orchestrator.ports import Page
from steward.orchestrator.proposals import (
    Expired,
    Finished,
    OutcomeUnknown,
    Proposal,
    ProposalState,
    Receipt,
    Rejected,
    Running,
    Waiting,
)
from steward.storage.database import cursor, sql
from steward.storage.database.postgres import Database

SQL = sql.load("proposals")


class PostgresProposalStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, proposal: Proposal) -> None:
        await self._database.execute(
            SQL.add_proposal,
            proposal.id,
            proposal.tool,
            dict(proposal.arguments),
            proposal.digest,
            proposal.definition_hash,
            proposal.risk.value,
            proposal.confidence,
            proposal.reason,
            proposal.caller.kind.value,
            proposal.caller.id,
            proposal.user,
            proposal.utterance,
            proposal.call_id,
            proposal.correlation_id,
            proposal.created_at,
            proposal.expires_at,
            proposal.effect,
            proposal.elsewhere,
        )

    async def get(self, proposal_id: str) -> Proposal | None:
        await self.settle()
        row = await self._database.fetchrow(SQL.get_proposal, proposal_id)
        return _proposal(row) if row else None

    async def list(
        self,
        *,
        states: Sequence[str] = (),
        user: str | None = None,
        limit: int = 50,
        after: str | None = None,
    ) -> Page:
        created_at, last_id = cursor.decode(after)
        await self.settle()
        # One row more than asked for tells whether there is another page.
        rows = await self._database.fetch(
            SQL.list_proposals, builtins.list(states), created_at, last_id, limit + 1, user
        )
        shown = [_proposal(row) for row in rows[:limit]]
        more = len(rows) > limit and shown
        return Page(items=shown, next=cursor.encode(shown[-1].created_at, shown[-1].id) if more else None)

    async def claim(self, proposal_id: str, receipt: Receipt) -> bool:
        try:
            return await self._claimed(proposal_id, receipt)
        except BaseException as error:
            # Also of a caller who gives up: the database may have taken it down all the same.
            if not isinstance(error, StewardError) or error.in_doubt:
                self._database.program.unheard.append((proposal_id, receipt.approved_at))
            raise

    async def _claimed(self, proposal_id: str, receipt: Receipt) -> bool:
        claimed = await self._database.fetchval(
            SQL.claim_proposal,
            proposal_id,
            receipt.approver,
            receipt.approved_at,
            receipt.via,
            dict(receipt.arguments),
            receipt.digest,
            receipt.edited,
            receipt.answered_by.value,
            receipt.role,
            receipt.client,
            await self._database.program.hold(),
        )
        return bool(claimed)

    async def finish(self, proposal_id: str, result: Mapping[str, Any], *, at: datetime) -> None:
        await self._database.execute(SQL.finish_proposal, proposal_id, dict(result), at)

    async def reject(self, proposal_id: str, *, by: str, at: datetime, why: str | None) -> bool:
        return bool(await self._database.fetchval(SQL.reject_proposal, proposal_id, by, at, why))

    async def settle(self) -> None:
        """What was claimed and will not be run becomes what it is: unknown, or waiting."""
        program = self._database.program
        await program.bury()
        await self._database.execute(SQL.settle_abandoned)
        if program.unheard:  # kept until found: one that was asked for may still be on its way
            ids, times = zip(*program.unheard, strict=True)
            rows = await self._database.fetch(SQL.put_back_unheard, program.key, ids, times)
            found = {(row["id"], row["at"]) for row in rows}
            program.unheard = [each for each in program.unheard if each not in found]


def _proposal(row: asyncpg.Record) -> Proposal:
    return Proposal(
        id=row["id"],
        tool=row["tool"],
        arguments=row["arguments"],
        digest=row["digest"],
        definition_hash=row["definition_hash"],
        risk=RiskLevel(row["risk"]),
        confidence=row["confidence"],
        reason=row["reason"],
        caller=Caller(CallerKind(row["caller_kind"]), row["caller_id"]),
        user=row["user_id"],
        utterance=row["utterance"],
        call_id=row["call_id"],
        correlation_id=row["correlation_id"],
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        effect=row["effect"],
        elsewhere=row["elsewhere"],
        state=_state(row),
    )


def _state(row: asyncpg.Record) -> ProposalState:
    match row["state"]:
        case "waiting":
            return Expired() if row["expired"] else Waiting()
        case "rejected":
            return Rejected(by=row["rejected_by"], at=row["rejected_at"], why=row["rejected_why"])
        case "running":
            return Running(receipt=_receipt(row))
        case "finished":
            return Finished(receipt=_receipt(row), result=row["result"], finished_at=row["finished_at"])
        case _:
            return OutcomeUnknown(receipt=_receipt(row))


def _receipt(row: asyncpg.Record) -> Receipt:
    return Receipt(
        approver=row["approver"],
        approved_at=row["approved_at"],
        via=row["approved_via"],
        arguments=row["approved_arguments"],
        digest=row["approved_digest"],
        edited=row["edited"],
        answered_by=CallerKind(row["answered_by"]),
        role=row["approver_role"],
        client=row["approver_client"],
        definition_hash=row["definition_hash"],
    )


async def count_waiting(database: Database) -> int:
    """How many wait for a person now, of everybody."""
    return await database.fetchval(SQL.count_waiting)
