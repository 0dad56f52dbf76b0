"""Ingestion: files and folders become chunks in a collection, one transaction a document.

Owns which files are taken, what has changed, and the account of what happened. A document is stored whole
or not at all; running again after an interruption finishes the rest and repeats nothing. Memory is bounded
by the files in flight, never by the folder.
"""

import asyncio
import fnmatch
import hashlib
import os
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from steward.contract.errors import StewardError, StorageError
from steward.contract.ports import Embedder
from steward.knowledge.chunking import chunks
from steward.knowledge.model import Chunk, Collection, Document, DocumentError, EmbeddedChunk
from steward.knowledge.ports import KnowledgeStore, ReadDocument, Readers
from steward.knowledge.search import with_headers
from steward.knowledge.terms import terms

LARGEST_FILE = 50 * 1024 * 1024
IN_FLIGHT = 4
IGNORED = frozenset(
    {
        *(
            ".git",
            ".hg",
            ".svn",
            ".venv",
            "venv",
            "node_modules",
            "__pycache__",
            ".mypy_cache",
            ".pytest_cache",
        ),
        *(".ruff_cache", ".tox", ".idea", ".vscode", "dist", "build", ".DS_Store"),
    }
)
IGNORE_FILE = ".stewardignore"
_EMBED_BATCH = 64

Progress = Callable[[int, int | None, str], Awaitable[None]]


@dataclass(slots=True)
class Report:
    """What an ingest did, for people."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    chunks: int = 0
    failed: dict[str, str] = field(default_factory=dict[str, str])
    skipped: Counter[str] = field(default_factory=Counter[str])  # by suffix

    @property
    def documents(self) -> int:
        return self.added + self.updated + self.unchanged


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    content: str
    source: str
    title: str


async def no_progress(_done: int, _total: int | None, _message: str) -> None:
    """For callers that show none."""


class Ingester:
    def __init__(
        self, store: KnowledgeStore, embedder: Embedder, readers: Readers, *, roots: Sequence[Path]
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._readers = readers
        self._roots = [Path(os.path.realpath(root)) for root in roots]

    def resolve(self, path: str | Path) -> Path:
        """The real path, if it exists and lies inside an allowed root."""
        if "\0" in str(path):
            raise DocumentError("The path holds a NUL character.", fix="Give a plain path.")
        real = Path(os.path.realpath(Path(path).expanduser()))
        if not any(real.is_relative_to(root) for root in self._roots):
            raise DocumentError(
                f"'{path}' is outside the folders that may be read.",
                code="KB_PATH_FORBIDDEN",
                fix="Move it there, or add its folder to STEWARD_ALLOWED_ROOTS.",
            )
        if not real.exists():
            raise DocumentError(f"There is no file or folder '{path}'.", fix="Check the path.")
        return real

    async def ingest(
        self, path: str | Path, collection: Collection, *, recursive: bool, progress: Progress = no_progress
    ) -> Report:
        real = self.resolve(path)
        report = Report()
        folder = real if real.is_dir() else None
        files = [real] if folder is None else [*self._files(real, recursive, report)]
        if folder is None and not self._readers.readable(real):
            raise DocumentError(
                f"{real.name} is of a kind that cannot be read.",
                fix="Ingest text, Markdown, HTML, PDF, DOCX, CSV or source code.",
            )
        await progress(0, len(files), f"{len(files)} files")
        if folder is None:
            await self._file(real, collection, None, report)
        seen: set[str] = set()
        async for file in self._each(files if folder else [], collection, folder, report):
            seen.add(str(file))
            await progress(len(seen), len(files), file.name)
        if folder is not None:
            report.removed += await self._forget_missing(collection, folder, set(map(str, files)), recursive)
        await self._store.settle(collection.id)
        return report

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
            read = ReadDocument(text.title, document.media_type, self._readers.markdown(text.content))
            await self._keep(document, read, collection, report, known)
        await self._store.settle(collection.id)
        return report

    async def forget(self, collection: Collection, sources: Sequence[str]) -> int:
        removed = await self._store.remove(collection.id, sources)
        await self._store.settle(collection.id)
        return removed

    async def _each(
        self, files: Sequence[Path], collection: Collection, folder: Path | None, report: Report
    ) -> AsyncIterator[Path]:
        """Every file, a few at a time; each is yielded when it is done with."""
        waiting: set[asyncio.Task[Path]] = set()
        remaining = iter(files)
        try:
            while True:
                while len(waiting) < IN_FLIGHT and (file := next(remaining, None)) is not None:
                    waiting.add(asyncio.create_task(self._one(file, collection, folder, report)))
                if not waiting:
                    return
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    yield task.result()
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    async def _one(self, file: Path, collection: Collection, folder: Path | None, report: Report) -> Path:
        try:
            await self._file(file, collection, folder, report)
        except StorageError:
            raise  # the database is gone or full: no other file would fare better
        except StewardError as error:
            report.failed[str(file)] = error.explain()
        except OSError as error:
            report.failed[str(file)] = f"{file.name} cannot be read: {error.strerror}."
        return file

    async def _file(self, file: Path, collection: Collection, folder: Path | None, report: Report) -> None:
        size = (await asyncio.to_thread(file.stat)).st_size
        if size > LARGEST_FILE:
            raise DocumentError(
                f"{file.name} has {size / 1e6:,.0f} MB; at most {LARGEST_FILE / 1e6:,.0f} MB are read.",
                fix="Split it into smaller files.",
            )
        source = str(file)
        sha256 = await asyncio.to_thread(_digest, file)
        known = (await self._store.known(collection.id, [source])).get(source)
        if known is not None and (known.sha256, known.embedder) == (sha256, self._embedder.name):
            report.unchanged += 1
            return
        read = await self._readers.read(file)
        document = Document(
            source=source,
            title=read.title,
            media_type=read.media_type,
            sha256=sha256,
            size=size,
            root=str(folder) if folder else None,
        )
        await self._keep(document, read, collection, report, known is not None)

    async def _keep(
        self, document: Document, read: ReadDocument, collection: Collection, report: Report, known: bool
    ) -> None:
        cut = await asyncio.to_thread(lambda: [*chunks(read.blocks)])
        if not cut:
            raise DocumentError(
                f"{Path(document.source).name} holds no text.", fix="There is nothing to ingest."
            )
        embedded: list[EmbeddedChunk] = []
        for start in range(0, len(cut), _EMBED_BATCH):
            part = cut[start : start + _EMBED_BATCH]
            embedded += await asyncio.to_thread(self._embed, document.title, part)
        if not await self._store.replace(collection.id, document, embedded, embedder=self._embedder.name):
            report.unchanged += 1
            return
        report.chunks += len(embedded)
        if known:
            report.updated += 1
        else:
            report.added += 1

    def _embed(self, title: str, part: Sequence[Chunk]) -> list[EmbeddedChunk]:
        texts = [with_headers(title, chunk.header_path, chunk.text) for chunk in part]
        vectors = self._embedder.embed(texts)
        return [
            EmbeddedChunk(chunk=chunk, vector=vector, counts=Counter(terms(text)))
            for chunk, text, vector in zip(part, texts, vectors, strict=True)
        ]

    async def _forget_missing(
        self, collection: Collection, folder: Path, seen: set[str], recursive: bool
    ) -> int:
        """Documents that were found under this folder once and are not there any more."""
        gone = [
            source
            async for source in self._store.sources_under(collection.id, str(folder))
            if source not in seen and (recursive or Path(source).parent == folder)
        ]
        return await self._store.remove(collection.id, gone) if gone else 0

    def _files(self, folder: Path, recursive: bool, report: Report) -> Iterator[Path]:
        patterns = _patterns(folder)
        for parent, folders, names in os.walk(folder):
            here = Path(parent)
            folders[:] = sorted(
                name for name in folders if recursive and not _ignored(here / name, folder, patterns)
            )
            for name in sorted(names):
                file = here / name
                if name.startswith(".") or _ignored(file, folder, patterns):
                    continue
                real = Path(os.path.realpath(file))
                if not real.is_file() or not any(real.is_relative_to(root) for root in self._roots):
                    continue  # a pipe, a broken link, or a link out of the allowed folders
                if self._readers.readable(file):
                    yield file
                else:
                    report.skipped[file.suffix.lower()] += 1


def _patterns(folder: Path) -> list[str]:
    file = folder / IGNORE_FILE
    if not file.is_file():
        return []
    lines = (line.strip() for line in file.read_text(encoding="utf-8", errors="replace").splitlines())
    return [line.rstrip("/") for line in lines if line and not line.startswith("#")]


def _ignored(path: Path, folder: Path, patterns: Sequence[str]) -> bool:
    if path.name in IGNORED or (path.name.startswith(".") and path.name != "."):
        return True
    relative = path.relative_to(folder).as_posix()
    return any(
        fnmatch.fnmatch(relative, pattern) or fnmatch.fnmatch(path.name, pattern) for pattern in patterns
    )


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
