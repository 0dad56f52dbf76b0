"""One registry for all instances on a database: tools, servers, policy and skills.

The files of a home are where a person edits; PostgreSQL holds their versions. An edit of the version that is
in force becomes the next one, everywhere. An edit of an older version stops: the version that came first
stays in force everywhere, the edit lies in `conflicts/`, and health names both until a person decides
(`steward config`). A home that was never part of the registry and differs from it does not start.

Owns the judgement and the exchange. Does not own the files (shared_files.py), the versions
(storage/registry.py), nor what each room makes of a changed file.
"""

import asyncio
import logging
import os
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum

from steward.bootstrap.sharing.shared_files import (
    ASIDE,
    MARKS,
    NEVER,
    PRISTINE,
    REPLACED,
    REQUIRED,
    HomeFiles,
    LocalFile,
    Mark,
    check,
    digest,
    explained,
    in_order,
)
from steward.contract.errors import ConfigError, ErrorCode, StewardError
from steward.providers.jsonfile import locked
from steward.providers.scripts.workers import stamp
from steward.storage.database.changes import ChangeFeed, StoreChange
from steward.storage.registry import FileEdit, Newest, PostgresRegistry, RegistrySession, SharedFile

logger = logging.getLogger(__name__)

SECONDS = 1.0  # between looks at the home's files, and at the registry where nothing can be heard
ROUNDS_BETWEEN_LOOKS = 5  # at the registry where it can, in case nothing was
REGISTRY, PINS = "registry", "pins"
SETTLE = "`steward config diff` shows both; `steward config push` or `steward config pull` settles it."
Applied = Callable[[Collection[str]], Awaitable[None]]


class SharingStep(StrEnum):
    NONE = "none"
    PULL = "pull"
    PUSH = "push"
    CLASH = "clash"  # two edits of one version
    DIFFERS = "differs"  # a home that was never part of the registry


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A file that is not the same here and there."""

    path: str
    step: SharingStep
    here: bytes | None
    there: bytes | None
    made_by: str | None  # where the registry's version is from


def judge(
    path: str, *, here: str | None, mark: Mark | None, there: SharedFile | None, unedited: bool, empty: bool
) -> SharingStep:
    """What is to be done about one file. `mark`: None for a home that was never part of the registry;
    `unedited`: it is as a new home has it, or was a version once; `empty`: the registry holds nothing."""
    version, newest = (0, None) if there is None else (there.version, there.sha256)
    if here == newest:
        return SharingStep.NONE
    if mark is None or mark.version > version:  # never met, or a registry that went back in time
        return (
            SharingStep.PUSH
            if empty
            else SharingStep.PULL
            if here is None or unedited
            else SharingStep.DIFFERS
        )
    edited, moved = here != mark.sha256, version > mark.version
    lost = here is None and path in REQUIRED  # whoever lost it has no rules; the others keep theirs
    if lost or not edited:
        return SharingStep.PULL if moved else SharingStep.NONE
    if not moved:
        return SharingStep.PUSH
    return (
        SharingStep.PULL if here is None else SharingStep.CLASH
    )  # what somebody goes on with outweighs a removal


@dataclass(frozen=True, kw_only=True)
class _Compared:
    """The home beside the registry, while nobody changes either."""

    session: RegistrySession
    registry: str
    local: Mapping[str, LocalFile]
    heads: Mapping[str, SharedFile]
    marks: Mapping[str, Mark]
    steps: Mapping[str, SharingStep]

    def of(self, *steps: SharingStep) -> list[str]:
        return in_order([path for path, step in self.steps.items() if step in steps])

    def seen(self, path: str) -> str | None:
        local = self.local.get(path)
        return None if local is None else local.sha256


@dataclass
class SharedRegistry:
    """Without a store (the embedded database is one home's own) there is nobody to share with."""

    files: HomeFiles
    store: PostgresRegistry | None
    _problems: dict[str, str] = field(default_factory=dict[str, str])
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _agreed: tuple[str, Mapping[str, Mark]] | None = None  # to be written down once it is committed
    _unapplied: frozenset[str] = frozenset()  # taken over, and no room was told yet
    _stamps: Mapping[str, object] = field(default_factory=dict[str, object])
    _newest: Newest | None = None

    async def open(self) -> None:
        """Before anything reads the home's files. A home that starts out different halts here."""
        if self.store is None:
            return
        stamps = await asyncio.to_thread(self.files.stamps)
        async with self._alone(self.store) as session:
            compared = await self._compare(session)
            different = compared.of(SharingStep.DIFFERS)
            if different:
                raise ConfigError(
                    f"{self.files.home} is not what the other instances on this database have: "
                    f"{', '.join(different)}.",
                    code=ErrorCode.CONFIG_DIFFERS,
                    fix=SETTLE,
                )
            taken = await self._settle(compared)
        self._stamps = await asyncio.to_thread(self._stamps_after, stamps, taken)

    def problems(self) -> dict[str, str]:
        """What is not shared as it stands, by path in the home. Reads files."""
        if self.store is None:
            return {}
        first = "Two edits of one version: what came first is in force"
        clashes = {path: f"{first}, yours lies in {ASIDE}/{path}. {SETTLE}" for path in self.files.aside()}
        return self._problems | clashes

    @asynccontextmanager
    async def changing(self) -> AsyncGenerator[None]:
        """A change of the home's files on top of the newest version, shared when it is made."""
        if self.store is None:
            yield
            return
        async with self._alone(self.store) as session:
            self._unapplied |= await self._settle(await self._compare(session))
            yield
            await self._settle(await self._compare(session))

    async def sync(self) -> frozenset[str]:
        """Send what was edited here, take what was elsewhere; the paths that were taken."""
        if self.store is None:
            return frozenset()
        async with self._alone(self.store) as session:
            return await self._settle(await self._compare(session))

    # --- by a person's word ---

    async def differences(self) -> Sequence[Difference]:
        """What differs, and what was put aside, with both texts."""
        async with self._alone(self._shared()) as session:
            compared = await self._compare(session)
            aside = await asyncio.to_thread(self.files.aside)
            changed = {path: step for path, step in compared.steps.items() if step is not SharingStep.NONE}
            steps = changed | dict.fromkeys(aside, SharingStep.CLASH)
            there = await self._contents(compared, list(steps))
            return [
                Difference(
                    path=path,
                    step=step,
                    here=aside.get(path) or await asyncio.to_thread(self.files.read, path),
                    there=there.get(path),
                    made_by=compared.heads[path].made_by if path in compared.heads else None,
                )
                for path, step in sorted(steps.items())
            ]

    async def decide(self, step: SharingStep, paths: Collection[str]) -> Sequence[str]:
        """Push what lies here, or what was put aside, over the registry's; or pull the registry's over it."""
        differing = {each.path: each for each in await self.differences()}
        if unknown := sorted(set(paths) - differing.keys()):
            raise ConfigError(f"{unknown[0]} does not differ.", fix="See `steward config diff`.")
        chosen = [differing[path] for path in in_order(list(paths or differing))]
        async with self._alone(self._shared()) as session:
            edits: list[FileEdit] = []
            for each in chosen:
                if step is SharingStep.PUSH:
                    edits.append(await asyncio.to_thread(self._insist, each))
                else:
                    await asyncio.to_thread(self._give_in, each)
            await session.push(edits, by=self._name)
            compared = await self._compare(session)
            if not compared.of(SharingStep.DIFFERS):
                await self._settle(compared)
        for each in chosen:
            await asyncio.to_thread(self.files.drop_aside, each.path)
        return [each.path for each in chosen]

    def _insist(self, each: Difference) -> FileEdit:
        if each.here is None and each.path in REQUIRED:
            raise ConfigError(f"{each.path} is missing here.", fix="`steward config pull` brings it back.")
        if each.here is not None:
            check(each.path, each.here)
        now = self.files.read(each.path)
        if now != each.here:
            self.files.put(each.path, each.here, seen=None if now is None else digest(now))
        return self._edit(each.path, each.here)

    def _give_in(self, each: Difference) -> None:
        if each.there is not None:
            check(each.path, each.there)
        if each.here is not None:
            self.files.put_aside(each.path, each.here, folder=REPLACED)
        now = self.files.read(each.path)
        if now != each.there:
            self.files.put(each.path, each.there, seen=None if now is None else digest(now))

    # --- while a program runs ---

    @asynccontextmanager
    async def followed(self, feed: ChangeFeed, apply: Applied, *, poll: bool) -> AsyncGenerator[None]:
        """Within it edits go out and come in. `apply` gets the paths that changed here, or `PINS`; `poll`:
        nothing can be heard, so the registry is looked at every second."""
        if self.store is None:
            yield
            return
        news = asyncio.Event()

        def tell(change: StoreChange | None) -> None:
            if change is None or change.room in ("registry", PINS):
                news.set()

        following = asyncio.create_task(
            self._follow(self.store, news, apply, poll=poll), name="sharing the registry"
        )
        try:
            async with feed.heard(tell):
                yield
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)

    async def _follow(
        self, store: PostgresRegistry, news: asyncio.Event, apply: Applied, *, poll: bool
    ) -> None:
        rounds = 0
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(news.wait(), SECONDS)
            rounds += 1
            look = poll or news.is_set() or rounds % ROUNDS_BETWEEN_LOOKS == 0
            news.clear()
            try:
                changed = await self._round(store, look=look)
            except (StewardError, OSError) as error:
                if REGISTRY not in self._problems:
                    logger.warning("registry_not_shared", extra={"problem": explained(error)})
                self._problems = {**self._problems, REGISTRY: f"Not shared now: {explained(error)}"}
                continue
            if changed:
                await apply(changed)

    async def _round(self, store: PostgresRegistry, *, look: bool) -> frozenset[str]:
        stamps = await asyncio.to_thread(self.files.stamps)
        before = self._stamps
        edited = {path for path in {*stamps, *before} if stamps.get(path) != before.get(path)}
        newest = await store.newest() if look else self._newest
        moved = newest != self._newest
        if not (edited or moved or self._unapplied or REGISTRY in self._problems):
            return frozenset()
        taken = await self.sync()
        self._stamps = await asyncio.to_thread(self._stamps_after, stamps, taken)
        pins = (
            {PINS}
            if newest is not None and self._newest is not None and newest.pins != self._newest.pins
            else ()
        )
        changed = frozenset((*edited, *taken, *self._unapplied, *pins))
        self._newest, self._unapplied = newest, frozenset()
        return changed

    def _stamps_after(self, before: Mapping[str, object], taken: Collection[str]) -> Mapping[str, object]:
        """What an edit is told by from now on. A taken file that is not what was taken was edited meanwhile:
        it keeps the stamp from before, by which the next round sees that."""
        marks = dict[str, Mark]() if self._agreed is None else self._agreed[1]
        after = dict(before)
        for path in taken:
            now = stamp(self.files.home / path)  # before its content: a later edit has another one
            content = self.files.read(path)
            if (None if content is None else digest(content)) == marks.get(path, NEVER).sha256:
                after[path] = now
        return after

    # --- one exchange ---

    @property
    def _name(self) -> str:
        return f"{socket.gethostname()}:{self.files.home}"

    def _shared(self) -> PostgresRegistry:
        if self.store is None:
            raise ConfigError(
                "This home shares its files with nobody: it has a database of its own.",
                fix="Set DATABASE_URL to the PostgreSQL of the other instances.",
            )
        return self.store

    @asynccontextmanager
    async def _alone(self, store: PostgresRegistry) -> AsyncGenerator[RegistrySession]:
        """Nobody else changes the registry or this home's marks meanwhile."""
        async with self._turn:
            lock = locked(self.files.home / MARKS)
            await asyncio.to_thread(lock.__enter__)
            try:
                self._agreed = None
                async with store.alone() as session:
                    yield session
                await asyncio.to_thread(self._write_down)  # only now it is true
            finally:
                await asyncio.to_thread(lock.__exit__, None, None, None)

    def _write_down(self) -> None:
        if self._agreed is not None:
            self.files.mark(*self._agreed)

    async def _compare(self, session: RegistrySession) -> _Compared:
        registry, heads = await session.id(), await session.heads()
        local = await asyncio.to_thread(self.files.look)
        # What was settled a moment ago in the same exchange is not written down yet.
        agreed = None if self._agreed is None else self._agreed[1]
        marks = agreed or await asyncio.to_thread(self.files.marks, registry)
        former = await session.former((path, file.sha256) for path, file in local.items()) | PRISTINE
        steps: dict[str, SharingStep] = {}
        for path in sorted({*local, *heads}):
            here = local[path].sha256 if path in local else None
            steps[path] = judge(
                path,
                here=here,
                mark=None if marks is None else marks.get(path, NEVER),
                there=heads.get(path),
                unedited=(path, here) in former,
                empty=not heads,
            )
        return _Compared(
            session=session, registry=registry, local=local, heads=heads, marks=marks or {}, steps=steps
        )

    async def _contents(self, compared: _Compared, paths: Sequence[str]) -> Mapping[str, bytes]:
        wanted = [compared.heads[path] for path in paths if path in compared.heads]
        return await compared.session.contents([file for file in wanted if file.sha256 is not None])

    async def _settle(self, compared: _Compared) -> frozenset[str]:
        """Take and send; the paths that were taken. What can be neither stays as it is, and is named."""
        differs = f"It differs from what the other instances have. {SETTLE}"
        self._problems = dict.fromkeys(compared.of(SharingStep.DIFFERS), differs)
        if self.files.too_many is not None:
            self._problems["tools"] = self.files.too_many
        taken = await self._take(compared)
        pushed = await self._send(compared)
        marks: dict[str, Mark] = {}
        for path, step in compared.steps.items():
            head = compared.heads.get(path)
            if path in pushed:
                marks[path] = pushed[path]
            elif head is not None and (path in taken or step is SharingStep.NONE):
                marks[path] = Mark(head.version, head.sha256)
            elif path in compared.marks:
                marks[path] = compared.marks[path]
        self._agreed = (compared.registry, marks)
        return taken

    async def _take(self, compared: _Compared) -> frozenset[str]:
        wanted = compared.of(SharingStep.PULL, SharingStep.CLASH)
        contents = await self._contents(compared, wanted)
        taken: set[str] = set()
        for path in wanted:
            try:
                if await asyncio.to_thread(self._take_one, path, compared, contents.get(path)):
                    taken.add(path)
            except (StewardError, OSError) as error:
                self._problems[path] = f"The newest version cannot be taken over: {explained(error)}"
                logger.warning("registry_not_taken", extra={"file": path, "problem": explained(error)})
                break  # what comes after it may rely on it, the rules above all
        return frozenset(taken)

    def _take_one(self, path: str, compared: _Compared, content: bytes | None) -> bool:
        if content is not None:
            check(path, content)
        if compared.steps[path] is SharingStep.CLASH:
            mine = self.files.read(path)
            if mine is not None:
                self.files.put_aside(path, mine)
            logger.warning("registry_conflict", extra={"file": path})
        executable = compared.heads[path].executable if path in compared.heads else False
        return self.files.put(path, content, seen=compared.seen(path), executable=executable)

    async def _send(self, compared: _Compared) -> Mapping[str, Mark]:
        edits: list[FileEdit] = []
        for path in compared.of(SharingStep.PUSH):
            content = await asyncio.to_thread(self.files.read, path)
            try:
                if content is not None:
                    await asyncio.to_thread(check, path, content)
            except StewardError as error:
                self._problems[path] = f"It is not shared as it stands: {error.explain()}"
                continue
            edits.append(self._edit(path, content))
        versions = await compared.session.push(edits, by=self._name)
        return {edit.path: Mark(versions[edit.path], edit.sha256) for edit in edits}

    def _edit(self, path: str, content: bytes | None) -> FileEdit:
        return FileEdit(path=path, content=content, executable=os.access(self.files.home / path, os.X_OK))
