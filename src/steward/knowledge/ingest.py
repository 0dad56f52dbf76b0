"""Ingestion: files and folders become chunks in a collection, one transaction a document.

Owns which files are taken, what has changed, and the account of what happened. A document is stored whole
or not at all; running again after an interruption finishes the rest and repeats nothing. Memory is bounded
by the bytes in flight, whatever the size of the folder: no list of its files is ever held.
"""

import asyncio
import hashlib
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from steward.contract.errors import StewardError, StorageError
from steward.contract.places import Places
from steward.contract.ports import Embedder
from steward.knowledge.chunking import chunks
from steward.knowledge.folders import Folder, Withhold, nothing_withheld
from steward.knowledge.model import (
    TOO_LARGE,
    Chunk,
    Collection,
    CollectionError,
    ConfigurationError,
    Document,
    DocumentError,
    EmbeddedChunk,
)
from steward.knowledge.ports import FileReaders, KnowledgeStore, ReadDocument
from steward.knowledge.report import EMPTY, Progress, Report, no_progress
from steward.knowledge.terms import term_counts
from steward.knowledge.wording import with_headers

LARGEST_FILE = 50 * 1024 * 1024
IN_FLIGHT = 4  # files, and
IN_HAND = 25 * 1024 * 1024  # bytes of them: the longest text that is read takes ten times its size meanwhile
UPLOADED = "upload:"  # before COLLECTION/FILE: where it is kept differs from machine to machine
_EMBED_BATCH = 64
_REMOVE_BATCH = 500


class EmptyDocumentError(DocumentError):
    """There is no text in it: of one file an error, in a folder nothing to speak of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    content: str
    source: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """One ingest: where to, what was named, and whom to tell."""

    collection: Collection
    root: Path | None  # the file or folder; none for a text
    report: Report
    remove_missing: bool = False  # whether the text of files that are gone goes for good
    pieces: Progress = no_progress  # told how much of a document is done


class _Room:
    """Room for so many bytes of documents at once; one that is larger than all of it goes alone."""

    def __init__(self, size: int) -> None:
        self._size = self._free = size
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def take(self, wanted: int) -> AsyncGenerator[None]:
        wanted = min(wanted, self._size)
        async with self._changed:
            await self._changed.wait_for(lambda: self._free >= wanted)
            self._free -= wanted
        try:
            yield
        finally:
            async with self._changed:
                self._free += wanted
                self._changed.notify_all()


def _nothing_there(path: Path) -> DocumentError:
    return DocumentError(f"There is no file or folder '{path}'.", fix="Check the path.")


class Ingester:
    def __init__(
        self,
        store: KnowledgeStore,
        embedder: Embedder,
        readers: FileReaders,
        *,
        places: Places,
        withhold: Withhold = nothing_withheld,
        uploads: Path | None = None,
    ) -> None:
        """What lies in `uploads` is known by its name there: every instance has such a folder of its own."""
        self._uploads = None if uploads is None else places.real(uploads)
        self._store = store
        self._embedder = embedder
        self._readers = readers
        self._places = places
        self._withhold = withhold
        self._room = _Room(IN_HAND)

    def resolve(self, path: str | Path) -> Path:
        """The real path, if it lies inside an allowed root."""
        if "\0" in str(path):
            raise DocumentError("The path holds a NUL character.", fix="Give a plain path.")
        real = self._places.real(path)
        if self._places.holds(real):
            return real
        if self._places.closes(real):
            raise DocumentError(
                f"'{path}' belongs to Steward itself (STEWARD_HOME) and is not ingested.",
                code="KB_PATH_FORBIDDEN",
                fix="Name a path outside STEWARD_HOME.",
            )
        folders = self._places.folders
        named = ", ".join(map(str, folders)) or "none is named"
        if not any(folder.is_dir() for folder in folders):
            raise ConfigurationError(
                f"None of the folders that may be read is there: {named}.",
                fix="Set STEWARD_ALLOWED_ROOTS to folders that exist; / and your home folder are never taken "
                "by themselves.",
            )
        raise DocumentError(
            f"'{path}' is outside the folders that may be read.",
            code="KB_PATH_FORBIDDEN",
            fix=f"Move it into {' or '.join(map(str, folders))}, or add its folder to STEWARD_ALLOWED_ROOTS "
            "and start Steward again ('steward down' ends it).",
        )

    async def ingest(
        self,
        path: str | Path,
        collection: Collection,
        *,
        recursive: bool,
        remove_missing: bool = False,
        progress: Progress = no_progress,
    ) -> Report:
        """The text of files that are gone stays and is counted, unless `remove_missing`: that is for good."""
        real = self.resolve(path)
        report = Report()
        job = _Job(collection=collection, root=real, report=report, remove_missing=remove_missing)
        if real.is_dir():
            folder = await asyncio.to_thread(Folder.open, real, self._places.holds, self._readers.readable)
            await self._folder(job, folder, recursive, progress)
        elif not real.exists():
            await self._gone(job, real)
        elif self._readers.readable(real):
            await self._file(real, replace(job, pieces=progress))
        else:
            raise DocumentError(
                f"{real.name} is of a kind that cannot be read.",
                fix="Ingest text, Markdown, HTML, PDF, DOCX, CSV or source code.",
            )
        await self._store.settle(collection.id)
        return report

    async def _folder(self, job: _Job, folder: Folder, recursive: bool, progress: Progress) -> None:
        """Walked twice, so that the total is known without a list of files that could be millions."""
        total = await asyncio.to_thread(self._count, folder, recursive, job.report)
        await progress(0, total, f"{total} files")
        done = 0
        async for file in self._each(self._taken(folder, recursive), job):
            done += 1
            await progress(done, max(done, total), file.name)  # files may have come since they were counted
        stored = self._store.files_under(job.collection.id, str(folder.path))
        await self._missing(
            job,
            (
                file.source
                async for file in stored
                if (recursive or Path(file.source).parent == folder.path)
                and not folder.takes(Path(file.source))
            ),
        )

    def _count(self, folder: Folder, recursive: bool, report: Report) -> int:
        total = 0
        for file in folder.walk(recursive=recursive):
            if not self._readers.readable(file):
                report.skipped[file.suffix.lower()] += 1
            elif (what := self._withhold(file)) is not None:
                report.withhold(file, what)
            else:
                total += 1
        return total

    def _taken(self, folder: Folder, recursive: bool) -> Iterator[Path]:
        """Each file of a folder passes the rule of a path that is named by itself."""
        return (file for file in folder.files(recursive=recursive) if self._withhold(file) is None)

    async def _gone(self, job: _Job, path: Path) -> None:
        """What was read from a file or folder that is not there any more.

        Not what was read from a folder that was ingested as such: a drive that is not mounted looks the same.
        """
        below = self._store.files_under(job.collection.id, str(path))
        await self._missing(job, (file.source async for file in below if file.root != str(path)))
        await self._let_go(job, [self._source(path)])
        if not job.report.removed and not job.report.missing:
            raise _nothing_there(path)

    async def check(self, path: str | Path, collection: Collection) -> None:
        """Raises for a place that may not be read, or where there neither is nor was anything."""
        real = self.resolve(path)
        if not real.exists() and not await self._was_there(real, collection):
            raise _nothing_there(real)

    async def _was_there(self, path: Path, collection: Collection) -> bool:
        if await self._store.known(collection.id, [str(path)]):
            return True
        return any([True async for _ in self._store.files_under(collection.id, str(path))])

    async def _missing(self, job: _Job, sources: AsyncIterator[str]) -> None:
        gone: list[str] = []
        async for source in sources:
            gone.append(source)
            if len(gone) >= _REMOVE_BATCH:
                await self._let_go(job, gone)
                gone.clear()
        await self._let_go(job, gone)

    async def _let_go(self, job: _Job, gone: Sequence[str]) -> None:
        """Their text is removed where a person wanted that, or where it only moved; else it is counted."""
        if job.remove_missing:
            job.report.removed += await self._store.remove(job.collection.id, gone)
        else:
            job.report.removed += await self._store.remove_moved(job.collection.id, gone)
            job.report.missing += len(await self._store.known(job.collection.id, gone))

    async def add_texts(self, texts: Iterable[Text], collection: Collection) -> Report:
        """Texts that are no files; a source is an identity, so that saying it again replaces what it said."""
        report = Report()
        for text in texts:
            data = text.content.encode()
            document = Document(
                source=text.source,
                title=text.title,
                media_type="text/markdown",
                sha256=hashlib.sha256(data).hexdigest(),
                size=len(data),
            )
            known = text.source in await self._store.known(collection.id, [text.source])
            blocks = await self._readers.markdown(text.content)
            read = ReadDocument(text.title, document.media_type, blocks)
            job = _Job(collection=collection, root=None, report=report)
            await self._keep(document, read, job, known=known)
        await self._store.settle(collection.id)
        return report

    async def _each(self, files: Iterator[Path], job: _Job) -> AsyncIterator[Path]:
        """Every file, a few at a time; each is yielded when it is done with."""
        waiting: set[asyncio.Task[Path]] = set()
        try:
            while True:
                while len(waiting) < IN_FLIGHT:
                    # In a thread: thousands that are not taken may lie before the next one.
                    if (file := await asyncio.to_thread(next, files, None)) is None:
                        break
                    waiting.add(asyncio.create_task(self._one(file, job)))
                if not waiting:
                    return
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    yield task.result()
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    async def _one(self, file: Path, job: _Job) -> Path:
        try:
            await self._file(file, job)
        except (StorageError, CollectionError):
            raise  # the database or the collection is gone: no other file would fare better
        except EmptyDocumentError:
            job.report.skipped[EMPTY] += 1
            await self._let_go(job, [self._source(file)])
        except StewardError as error:
            job.report.fail(file, error)
        return file

    async def _file(self, file: Path, job: _Job) -> None:
        try:
            size = (await asyncio.to_thread(file.stat)).st_size
            if size > LARGEST_FILE:
                raise DocumentError(
                    f"{file.name} has {size / 1e6:,.0f} MB; at most {LARGEST_FILE / 1e6:,.0f} MB are read.",
                    code=TOO_LARGE,
                    fix="Split it into smaller files.",
                )
            async with self._room.take(size):
                await self._changed_file(file, size, job)
        except OSError as error:
            raise DocumentError(
                f"{file.name} cannot be read: {error.strerror}.", fix="Check that it is there and readable."
            ) from error

    async def _changed_file(self, file: Path, size: int, job: _Job) -> None:
        source = self._source(file)
        uploaded = source != str(file)
        sha256 = await asyncio.to_thread(_digest, file)
        known = (await self._store.known(job.collection.id, [source])).get(source)
        if uploaded:  # as it was known before instances shared a library
            await self._store.remove(job.collection.id, [str(file)])
        if known == sha256:
            job.report.unchanged += 1
            return
        read = await self._readers.read(file)
        document = Document(
            source=source,
            title=read.title,
            media_type=read.media_type,
            sha256=sha256,
            size=size,
            root=None if uploaded else str(job.root),
            metadata={"kept_at": f"{socket.gethostname()}:{file}"} if uploaded else {},
        )
        await self._keep(document, read, job, known=known is not None)

    def _source(self, file: Path) -> str:
        """What a document is called in its collection."""
        if self._uploads is None or not file.is_relative_to(self._uploads):
            return str(file)
        return f"{UPLOADED}{file.relative_to(self._uploads).as_posix()}"

    async def _keep(self, document: Document, read: ReadDocument, job: _Job, *, known: bool) -> None:
        name = Path(document.source).name
        cut = await asyncio.to_thread(lambda: [*chunks(read.blocks)])
        if not cut:
            raise EmptyDocumentError(f"{name} holds no text.", fix="There is nothing to ingest.")
        stored = await self.keep(
            document, cut, job.collection, told=lambda done: job.pieces(done, len(cut), name)
        )
        if not stored:
            job.report.unchanged += 1
            return
        job.report.chunks += len(cut)
        if known:
            job.report.updated += 1
        else:
            job.report.added += 1

    async def keep(
        self,
        document: Document,
        cut: Sequence[Chunk],
        collection: Collection,
        *,
        told: Callable[[int], Awaitable[None]] | None = None,
    ) -> bool:
        """Store a document that was read and cut already. False when the same one is there."""
        embedded: list[EmbeddedChunk] = []
        for start in range(0, len(cut), _EMBED_BATCH):
            if told is not None:
                await told(start)
            part = cut[start : start + _EMBED_BATCH]
            embedded += await asyncio.to_thread(self._embed, document.title, part)
        stored = await self._store.replace(collection.id, document, embedded, embedder=self._embedder.name)
        if told is not None:
            await told(len(cut))
        return stored

    def _embed(self, title: str, part: Sequence[Chunk]) -> list[EmbeddedChunk]:
        texts = [with_headers(title, chunk.header_path, chunk.text) for chunk in part]
        vectors = self._embedder.embed(texts)
        return [
            EmbeddedChunk(chunk=chunk, vector=vector, counts=term_counts(text))
            for chunk, text, vector in zip(part, texts, vectors, strict=True)
        ]


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
