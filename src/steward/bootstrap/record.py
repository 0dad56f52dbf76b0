"""The record that every instance reads: lines of this home's files, linked, signed and sent to PostgreSQL.

Owns the way from the files to the database and what follows from reading it there: calls that a kill
interrupted are written down as that, outcomes that did not reach their proposal are stored, and what was
erased is wiped from the files. Does not own the lines (telemetry/executions.py), the rows (storage/record.py)
or the chain (telemetry/chain.py).
"""

import asyncio
import hashlib
import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import orjson

from steward.contract.call import new_id
from steward.contract.errors import ErrorCode, StewardError
from steward.contract.tool import RiskLevel
from steward.storage.database.programs import Program
from steward.storage.notices import PostgresNoticeStore
from steward.storage.proposals import PostgresProposalStore
from steward.storage.record import LinkedLine, OpenChain, PostgresRecord, RecordPage, SignedRow
from steward.tasks.notices import Notice, NoticeKind
from steward.telemetry.chain import BEGINNING, SALT_BYTES, Checkpoint, Signer, digest_of, link_of
from steward.telemetry.executions import RETENTION_DAYS, ExecutionLogFile
from steward.telemetry.recorded import LineStretch, RecordedLine, file_names, unread, wipe, word

logger = logging.getLogger(__name__)

SHIP_SECONDS = 1.0
SETTLE_SECONDS = 10.0
START_SECONDS = 3.0  # what is left over by then is sent while requests are served
CLOSE_SECONDS = 2.0
ANNOUNCED = timedelta(days=7)  # how long an interrupted call is still worth telling
HEAD = "record.json"


@dataclass(frozen=True, slots=True)
class Head:
    """The last link of this home's chain, kept beside its files: the database cannot lose its end unseen."""

    number: int
    link: str


class RecordKeeper:
    def __init__(
        self,
        log: ExecutionLogFile,
        store: PostgresRecord,
        *,
        signer: Signer,
        proposals: PostgresProposalStore,
        notices: PostgresNoticeStore,
        program: Program,
        seconds: float = SHIP_SECONDS,
    ) -> None:
        self.log = log
        self.store = store
        self.signer = signer
        self._proposals = proposals
        self._notices = notices
        self._program = program
        self._seconds = seconds
        self._sent = -1  # the log's count when everything was last sent
        self._sending = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self.found: list[Mapping[str, Any]] = []  # interrupted calls that this start has found

    async def open(self) -> None:
        """Send what an earlier program left, say what it did not finish, and go on from there."""
        try:
            await self._program.hold()
            async with asyncio.timeout(START_SECONDS):
                await self.send()
                self.found = await self.settle()
        except (StewardError, TimeoutError) as error:
            logger.warning("record_behind", extra={"problem": str(error) or "It takes longer."})
        self._task = asyncio.create_task(self._keep(), name="record")

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        with suppress(StewardError, TimeoutError):  # the next start sends it
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.send()

    async def _keep(self) -> None:
        waited = 0.0
        while True:
            await asyncio.sleep(self._seconds)
            waited += self._seconds
            try:
                if self._sent != self.log.written:
                    await self.send()
                if waited >= SETTLE_SECONDS:
                    waited = 0.0
                    await self.send()
                    await self.settle()
            except StewardError as error:
                logger.warning("record_behind", extra={"problem": error.message})
            except Exception:
                logger.exception("record_failed")

    # --- from the files to the database ---

    async def send(self) -> None:
        """Everything in this home's files is in the database when this returns."""
        self.log.catch_up()
        async with self._sending:
            written = self.log.written
            while await self._send_some():
                pass
            self._sent = written

    async def _send_some(self) -> bool:
        home = self.signer.home
        async with self.store.chain(home, self.signer.public_key, beginning=BEGINNING) as chain:
            news = unread(self.log.files, await chain.positions())
            known: set[str] = set()
            sent: LineStretch | None = None
            while (stretch := await asyncio.to_thread(next, news, None)) is not None:
                if stretch.begin == 0:
                    known = await chain.known(stretch.day)
                await self._link(chain, stretch, known)
                sent = stretch
                if not known:
                    break
            if sent is not None and sent.begin == 0:
                await self._retire(chain)
            head = Head(chain.length, chain.link.hex())
        if sent is not None:
            await asyncio.to_thread(_write_head, self.log.files.folder / HEAD, head)
        return sent is not None

    async def _link(self, chain: OpenChain, stretch: LineStretch, known: set[str]) -> None:
        fresh = [
            line
            for line in stretch.lines
            if not line.entry.get("erased")
            and (not known or hashlib.md5(line.content, usedforsecurity=False).hexdigest() not in known)
        ]
        linked: list[LinkedLine] = []
        number, link = chain.length, chain.link
        for line in fresh:
            salt = os.urandom(SALT_BYTES)
            digest = digest_of(salt, line.content)
            number, link = number + 1, link_of(link, number + 1, digest)
            linked.append(_linked(line, stretch, number=number, digest=digest, link=link, salt=salt))
        checkpoint = self.signer.signed(number=number, link=link, at=datetime.now(UTC)) if linked else None
        row = None if checkpoint is None else _row(checkpoint)
        await chain.add(linked, row, file=stretch.file, position=stretch.end)

    async def _retire(self, chain: OpenChain) -> None:
        """The last thirty days that have lines are kept, in the database as in the files."""
        first = await chain.first_kept(RETENTION_DAYS)
        before = None if first is None else await chain.link_at(first - 1)
        if first is not None and before is not None:
            start = self.signer.signed(number=first - 1, link=before, at=datetime.now(UTC), kind="start")
            await chain.sign(_row(start))
            await chain.drop_through(first - 1)
        await chain.forget_files(file_names(self.log.files))

    # --- what follows from it ---

    async def settle(self) -> list[Mapping[str, Any]]:
        """Write down what a kill interrupted, store outcomes that were not, wipe what was erased."""
        await self._proposals.settle()
        interrupted: list[Mapping[str, Any]] = []
        async with self.store.sweep() as abandoned:
            for call in abandoned or ():
                line = interruption(call.entry, now=datetime.now(UTC))
                if (notice := _notice(line)) is not None:
                    await self._notices.put(notice)  # first: the line is written once, this may be twice
                self.log.note(line)
                interrupted.append(line)
                logger.warning(
                    "call_interrupted", extra={"call_id": line["call_id"], "interrupted_tool": line["tool"]}
                )
            if interrupted:
                await self.send()
        for proposal_id, line, at in await self.store.unstored_outcomes():
            await self._proposals.finish(proposal_id, _envelope(line), at=at)
        erased = await self.store.unwiped(self.signer.home)
        if erased:
            await asyncio.to_thread(wipe, self.log.files, {key for _, key in erased})
            await self.store.note_wiped([row_id for row_id, _ in erased])
        return interrupted

    async def erase(self, user: str) -> None:
        """Nothing this user's calls said stays in the record; that they were made does."""
        await self.send()
        owned = await self.store.owned(user)
        if not owned:
            return
        self.log.note(
            {
                "at": datetime.now(UTC).isoformat(timespec="microseconds"),
                "tool": "erase_user",
                "status": "erased",
                "call_id": new_id(),
                "lines": _ranges(owned),
            }
        )
        await self.send()
        await self.store.erase(user)
        await self.settle()

    # --- reading ---

    async def list(self, **wanted: Any) -> RecordPage:
        self.log.catch_up()
        if self._sent != self.log.written:
            await self.send()
        return await self.store.list(**wanted)

    async def callers(self, owner: str | None = None) -> Sequence[str]:
        return await self.store.callers(owner)


async def recently_interrupted(store: PostgresRecord, *, owner: str | None = None) -> RecordPage:
    """Calls of the last days whose outcome nobody knows, newest first."""
    return await store.list(status="interrupted", since=datetime.now(UTC) - ANNOUNCED, owner=owner, limit=100)


def interruption(intent: Mapping[str, Any], *, now: datetime) -> dict[str, Any]:
    """The line for a call that was about to run when its program ended."""
    yes: Mapping[str, Any] = intent.get("approved") or {}
    said = f", approved by {yes['by']}" if "by" in yes else ""
    begun = str(intent.get("at"))[:19].replace("T", " ")
    names = ("tool", "agent", "caller", "user", "correlation_id", "call_id", "approved", "risk", "confidence")
    return {
        "at": now.isoformat(timespec="microseconds"),
        **{name: intent[name] for name in names if name in intent},
        "status": "interrupted",
        "code": ErrorCode.OUTCOME_UNKNOWN.value,
        "outcome_unknown": True,
        "started_at": intent.get("at"),
        "duration_ms": 0.0,
        "output": None,
        "error": "It was interrupted: Steward ended while "
        f"'{intent.get('tool')}' ran (begun {begun} UTC{said}). "
        "Whether it took effect is unknown, and it was not repeated. Look at what it would have changed "
        "before you call it again.",
    }


def _notice(line: Mapping[str, Any]) -> Notice | None:
    """For whose call it was, where it cannot be undone: for terminal, page and conversation."""
    user = line.get("user")
    if line.get("risk") != RiskLevel.IRREVERSIBLE.value or not isinstance(user, str):
        return None
    now = datetime.fromisoformat(line["at"])
    begun = _time(line.get("started_at")) or now
    return Notice(
        id=new_id(),
        user_id=user,
        kind=NoticeKind.INTERRUPTED,
        source=line["call_id"],
        due=begun,
        title=line["tool"],
        text=line["error"],
        made_at=now,
    )


def told(line: Mapping[str, Any]) -> str:
    """An interrupted call in one line, for a person."""
    return f"'{line['tool']}' ({line.get('risk') or 'not rated'}, {line['call_id']}): {line['error']}"


def _linked(
    line: RecordedLine, stretch: LineStretch, *, number: int, digest: bytes, link: bytes, salt: bytes
) -> LinkedLine:
    entry = line.entry
    program = entry.get("program")
    return LinkedLine(
        number=number,
        digest=digest,
        link=link,
        salt=salt,
        content=line.content.decode(),
        file=stretch.file,
        day=stretch.day,
        at=_moment(entry, stretch),
        tool=word(entry, "tool") or "-",
        status=line.key[1],
        call_id=line.key[0],
        correlation_id=word(entry, "correlation_id"),
        owner=word(entry, "user"),
        program=program if isinstance(program, int) else None,
        caller=_caller(entry),
        incidental=entry.get("incidental") is True,
    )


def _caller(entry: Mapping[str, Any]) -> str | None:
    said = entry.get("caller")
    if not isinstance(said, Mapping):
        return None
    kind, name = (word(cast("Mapping[str, Any]", said), part) for part in ("kind", "id"))
    return None if kind is None or name is None else f"{kind}:{name}"


def _moment(entry: Mapping[str, Any], stretch: LineStretch) -> datetime:
    return _time(entry.get("at")) or datetime.combine(stretch.day, datetime.min.time(), UTC)


def _time(said: object) -> datetime | None:
    with suppress(ValueError):
        at = datetime.fromisoformat(said) if isinstance(said, str) else None
        return None if at is None or at.tzinfo is None else at
    return None


def _row(checkpoint: Checkpoint) -> SignedRow:
    return SignedRow(
        number=checkpoint.number,
        kind=checkpoint.kind,
        link=checkpoint.link,
        at=checkpoint.at,
        signature=checkpoint.signature,
    )


def _ranges(places: Sequence[tuple[str, int]]) -> list[list[Any]]:
    """Neighbours together: [home, first, last]."""
    ranges: list[list[Any]] = []
    for home, number in places:
        if ranges and ranges[-1][0] == home and ranges[-1][2] == number - 1:
            ranges[-1][2] = number
        else:
            ranges.append([home, number, number])
    return ranges


def _envelope(line: Mapping[str, Any]) -> dict[str, Any]:
    """The result that a line tells of, in the shape that proposals keep."""
    return {
        "status": line["status"],
        "success": line["status"] == "done",
        "data": line.get("output"),
        "error": line.get("error"),
        "error_code": line.get("code"),
        "retryable": False,
        "outcome_unknown": bool(line.get("outcome_unknown")),
        "proposal_id": None,
        "call_id": line["call_id"],
        "correlation_id": line.get("correlation_id"),
        "duration_ms": line.get("duration_ms", 0.0),
    }


def _write_head(path: Path, head: Head) -> None:
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    with suppress(OSError):  # a full disk: the next one is written
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(orjson.dumps(head))
        partial.replace(path)


def read_head(folder: Path) -> Head | None:
    try:
        kept = orjson.loads((folder / HEAD).read_bytes())
        return Head(int(kept["number"]), str(kept["link"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
