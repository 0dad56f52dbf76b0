"""Reads files in a few worker processes with limits on memory and time.

Owns the processes: started on first use, replaced when one dies or overruns, ended with the pool.
"""

import asyncio
import os
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import orjson

from steward.knowledge.model import Block, ContentType, DocumentError
from steward.knowledge.ports import ReadDocument

WORKERS = max(1, min(4, os.cpu_count() or 1))
DEADLINE = 120.0
LONGEST_HERE = 4_000  # characters that are read in this process
_LINE_LIMIT = 2**28  # a block; the longest text that is read fits in, however it is escaped


class DocumentReaders:
    """An async context manager; `read` may be called from many tasks."""

    def __init__(self, *, workers: int = WORKERS, deadline: float = DEADLINE) -> None:
        self._free: asyncio.Queue[Process | None] = asyncio.Queue()
        self._all: set[Process] = set()
        self._deadline = deadline
        for _ in range(workers):
            self._free.put_nowait(None)

    async def __aenter__(self) -> "DocumentReaders":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        for process in self._all:
            with suppress(ProcessLookupError):
                process.kill()
        for process in self._all:
            await process.wait()
        self._all.clear()

    def readable(self, path: Path) -> bool:
        from steward.documents.readers import READABLE  # noqa: PLC0415 - see `markdown`

        return path.suffix.lower() in READABLE

    async def markdown(self, text: str) -> tuple[Block, ...]:
        """A text that is no file. A long one is read as files are: it may have been made to be slow."""
        if len(text) > LONGEST_HERE:
            with tempfile.TemporaryDirectory(prefix="steward-text-") as folder:
                file = Path(folder) / "text.md"
                await asyncio.to_thread(file.write_text, text, encoding="utf-8", errors="replace")
                return (await self.read(file)).blocks
        from steward.documents.markdown import markdown_blocks  # noqa: PLC0415 - only for who stores text

        return tuple(markdown_blocks(text))

    async def read(self, path: Path) -> ReadDocument:
        process = await self._free.get()
        try:
            if process is None or process.returncode is not None:
                process = await self._start()
            read = await asyncio.wait_for(self._ask(process, path), self._deadline)
        except TimeoutError:
            await self._end(process)
            process = None
            raise DocumentError(
                f"{path.name} could not be read within {self._deadline:.0f} s.",
                fix="Split it into smaller files.",
            ) from None
        except BaseException:
            await self._end(process)
            process = None
            raise
        finally:
            self._free.put_nowait(process)
        if isinstance(read, DocumentError):
            raise read
        return read

    async def _ask(self, process: Process, path: Path) -> ReadDocument | DocumentError:
        """A refusal is returned: the worker that gave it goes on."""
        assert process.stdin is not None
        process.stdin.write(orjson.dumps(str(path)) + b"\n")
        head = await self._line(process, path)
        if "error" in head:
            await self._line(process, path)
            details = {"path": path.name}
            return DocumentError(head["error"], code=head.get("code"), fix=head["fix"], details=details)
        blocks: list[Block] = []
        while item := await self._line(process, path):
            kind, headers = ContentType(item["kind"]), tuple(item["headers"])
            blocks.append(
                Block(text=item["text"], kind=kind, headers=headers, page=item["page"], start=item["start"])
            )
        return ReadDocument(title=head["title"], media_type=head["media_type"], blocks=tuple(blocks))

    async def _line(self, process: Process, path: Path) -> dict[str, Any]:
        """What the worker says next; nothing where its answer ends."""
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            await process.stdin.drain()
            line = await process.stdout.readline()
        except (ConnectionError, ValueError):
            line = b""
        if not line:
            raise DocumentError(
                f"{path.name} made its reader stop.", fix="It may be damaged, or far too large."
            )
        return orjson.loads(line) if line.strip() else {}

    async def _start(self) -> Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "steward.documents.worker",
            stdin=PIPE,
            stdout=PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=_LINE_LIMIT,
        )
        self._all.add(process)
        return process

    async def _end(self, process: Process | None) -> None:
        if process is None:
            return
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        self._all.discard(process)
