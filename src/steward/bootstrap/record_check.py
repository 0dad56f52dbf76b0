"""Whether the record still says what it said: the chains, their checkpoints, and this home's own files.

Owns `steward log verify` and exported receipts. Changes nothing. What was erased on a user's wish is told
from what was taken out: an erasure is itself a line of a signed chain.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime
from hashlib import sha256
from typing import Any, cast

import orjson

from steward.bootstrap.record import RecordKeeper, read_head
from steward.contract.errors import ErrorCode, NotFoundError
from steward.storage.record import HomeRow, LinkedLine, SignedRow
from steward.telemetry.chain import BEGINNING, Checkpoint, Kind, digest_of, home_of, link_of, signed_by
from steward.telemetry.recorded import Key, file_names, key_of, local_lines

MOST_PROBLEMS = 100
ENDS = ("done", "failed", "pending_approval", "interrupted", "erased")
RECEIPT = "steward-receipt-1"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenPlace:
    """A place where the record is not what it was."""

    home: str
    what: str
    number: int | None = None
    call_id: str | None = None
    tool: str | None = None
    at: str | None = None


@dataclass(slots=True)
class Verified:
    lines: int = 0
    erased: int = 0
    homes: dict[str, str] = field(default_factory=dict[str, str])  # by name: the key's fingerprint
    problems: list[BrokenPlace] = field(default_factory=list[BrokenPlace])
    hidden: dict[str, BrokenPlace] = field(
        default_factory=dict[str, BrokenPlace]
    )  # ended, and no line says how

    def shape(self) -> dict[str, Any]:
        shown = [asdict(problem) for problem in self.problems[:MOST_PROBLEMS]]
        return {
            "whole": not self.problems,
            "lines": self.lines,
            "erased": self.erased,
            "homes": self.homes,
            "problems": shown,
        }


async def verify(keeper: RecordKeeper) -> Verified:
    await keeper.send()
    found = Verified()
    erased = _erased(await keeper.store.erasures())
    for home in await keeper.store.homes():
        found.homes[home.home] = sha256(home.public_key).hexdigest()
        found.problems += await _Chain(keeper, home, found, erased.get(home.home, [])).problems()
    if keeper.signer.home not in found.homes:
        what = "the whole chain of this home was removed"
        found.problems.append(BrokenPlace(home=keeper.signer.home, what=what))
    # A home's call may have been ended by another home, whose chain came before; its lines are checked.
    told = await keeper.store.ended(list(found.hidden), ENDS)
    found.problems += [problem for call, problem in found.hidden.items() if call not in told]
    return found


def _erased(lines: Iterable[Mapping[str, Any]]) -> dict[str, list[tuple[int, int]]]:
    ranges: dict[str, list[tuple[int, int]]] = {}
    for line in lines:
        for home, first, last in cast("list[tuple[str, int, int]]", line.get("lines") or []):
            ranges.setdefault(home, []).append((first, last))
    return ranges


class _Chain:
    """One home's chain, read once from its first line to its last."""

    def __init__(
        self, keeper: RecordKeeper, home: HomeRow, found: Verified, erased: list[tuple[int, int]]
    ) -> None:
        self._keeper = keeper
        self._home = home
        self._found = found
        self._erased = erased
        self._said: list[BrokenPlace] = []
        self._contents: dict[str, list[tuple[Key, str | None]]] = {}  # this home's lines, by file

    async def problems(self) -> list[BrokenPlace]:
        home = self._home.home
        if home_of(self._home.public_key) != home:
            self._say("its public key was replaced")
        checkpoints = {(row.number, row.kind): row for row in await self._keeper.store.checkpoints(home)}
        for row in checkpoints.values():
            if not signed_by(_checkpoint(home, row), self._home.public_key):
                self._say(f"the checkpoint at line {row.number} is not signed by its home")
        last = await self._walk(checkpoints)
        if (last, "through") not in checkpoints and last:
            self._say(f"no checkpoint covers line {last}", number=last)
        if home == self._keeper.signer.home:
            self._held_against_home(last)
            self._said += await asyncio.to_thread(self._held_against_files)
        return self._said

    async def _walk(self, checkpoints: Mapping[tuple[int, str], SignedRow]) -> int:
        start = max((number for number, kind in checkpoints if kind == "start"), default=0)
        number = start
        link = checkpoints[start, "start"].link if start else BEGINNING
        async for line in self._keeper.store.lines(self._home.home):
            if line.number != number + 1:
                self._say(f"lines {number + 1} to {line.number - 1} were removed", number=number + 1)
                link = None
            self._check(line, link)
            signed = checkpoints.get((line.number, "through"))
            if signed is not None and signed.link != line.link:
                self._tell(line, "it, or a line before it, was changed after it was signed")
            number, link = line.number, line.link
        if number < self._home.length:
            self._say(f"lines {number + 1} to {self._home.length} were removed", number=number + 1)
        return number

    def _check(self, line: LinkedLine, before: bytes | None) -> None:
        self._found.lines += 1
        if self._home.home == self._keeper.signer.home:
            said = ((line.call_id, line.status), line.content)
            self._contents.setdefault(line.file, []).append(said)
        if line.content is None or line.salt is None:
            if any(first <= line.number <= last for first, last in self._erased):
                self._found.erased += 1
            else:
                self._tell(line, "its content was removed")
        elif digest_of(line.salt, line.content.encode()) != line.digest or not _says(line):
            self._tell(line, "it was changed")
            return
        self._seen(line)
        if before is not None and link_of(before, line.number, line.digest) != line.link:
            self._tell(line, "it was changed")

    def _seen(self, line: LinkedLine) -> None:
        """Lists leave an intent out once its outcome is there: nothing may be left out without one."""
        if line.status in ENDS:
            self._found.hidden.pop(line.call_id, None)
            if line.ended and line.status != "interrupted":
                self._tell(line, "it was hidden from lists")
        elif line.ended and line.content is not None:
            what = "it was hidden from lists, and no line says what became of it"
            self._found.hidden[line.call_id] = self._problem(what, number=line.number, call_id=line.call_id)

    def _held_against_home(self, last: int) -> None:
        """What the home itself remembers of its chain's end."""
        head = read_head(self._keeper.log.files.folder)
        if head is not None and head.number > last:
            self._say(f"lines {last + 1} to {head.number} were removed from the end", number=last + 1)
        if self._home.public_key != self._keeper.signer.public_key:
            self._say("its public key is not this home's")

    def _held_against_files(self) -> list[BrokenPlace]:
        files = self._keeper.log.files
        here = file_names(files)
        oldest = min(here.values(), default=date.max)
        said: list[BrokenPlace] = []
        for name, contents in self._contents.items():
            day = date.fromisoformat(name.partition(".")[0][-10:])
            if name not in here:
                gone = f"its file {name.partition(':')[0]} was removed from the home"
                said += [self._problem(gone)] if day > oldest else []
                continue
            local: dict[Key, list[str | None]] = {}
            for line in local_lines(files, day):
                erased = line.entry.get("erased")
                local.setdefault(line.key, []).append(None if erased else line.content.decode())
            for key, content in contents:
                if key not in local:
                    said.append(self._problem("it was removed from its file", call_id=key[0]))
                elif content not in local[key]:
                    said.append(self._problem("its file and the database differ", call_id=key[0]))
        return said

    def _tell(self, line: LinkedLine, what: str) -> None:
        self._said.append(
            BrokenPlace(
                home=self._home.home,
                what=what,
                number=line.number,
                call_id=line.call_id,
                tool=line.tool,
                at=line.at.astimezone(UTC).isoformat(timespec="seconds"),
            )
        )

    def _say(self, what: str, *, number: int | None = None) -> None:
        self._said.append(self._problem(what, number=number))

    def _problem(self, what: str, *, number: int | None = None, call_id: str | None = None) -> BrokenPlace:
        return BrokenPlace(home=self._home.home, what=what, number=number, call_id=call_id)


def _says(line: LinkedLine) -> bool:
    """Whether the columns by which lines are found say what the line says."""
    return key_of(orjson.loads(line.content or "{}")) == (line.call_id, line.status)


def _checkpoint(home: str, row: SignedRow) -> Checkpoint:
    return Checkpoint(
        home=home,
        number=row.number,
        link=row.link,
        at=row.at,
        kind=cast("Kind", row.kind),
        signature=row.signature,
    )


async def receipt(keeper: RecordKeeper, wanted: str, *, owner: str | None = None) -> dict[str, Any]:
    """All that is on record of a call or proposal, with what it takes to check it without Steward."""
    await keeper.send()
    keys = {home.home: home.public_key for home in await keeper.store.homes()}
    lines: list[dict[str, Any]] = []
    for home, number in await keeper.store.places(wanted):
        covered = await keeper.store.covering(home, number)
        if covered is None:
            continue
        signed, rows = covered
        before = next((row["link"] for row in rows if row["number"] == number - 1), BEGINNING)
        line, *rest = [row for row in rows if row["number"] >= number]
        if line["content"] is None:
            continue
        lines.append(
            {
                "home": home,
                "public_key": keys[home].hex(),
                "number": number,
                "content": line["content"],
                "salt": line["salt"].hex(),
                "before": before.hex(),
                "following": [row["digest"].hex() for row in rest],
                "checkpoint": {
                    "number": signed.number,
                    "at": signed.at.astimezone(UTC).isoformat(timespec="microseconds"),
                    "kind": signed.kind,
                    "signature": signed.signature.hex(),
                },
            }
        )
    if not lines or (owner is not None and not any(_of(line, owner) for line in lines)):
        raise NotFoundError(
            f"The record has no call or proposal '{wanted}'.",
            code=ErrorCode.NOT_FOUND,
            fix="'steward log --json' shows ids. What was erased, or is older than thirty days, is gone.",
        )
    return {"format": RECEIPT, "made_at": datetime.now(UTC).isoformat(timespec="seconds"), "lines": lines}


def _of(line: Mapping[str, Any], owner: str) -> bool:
    return orjson.loads(line["content"]).get("user") == owner
