"""The files server: reading, and only reading, below the folders that the user allowed.

Owns `read_file`, `list_directory` and `search_files`. What lies inside a root is `contract/places`.
Every path is resolved before it is judged, and what is opened is checked again by its descriptor,
so that a link put there in between leads nowhere.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Annotated, Literal

from fastmcp import FastMCP
from pydantic import BaseModel, Field

from steward.contract.errors import ForbiddenError, InputError, NotFoundError, ToolError
from steward.contract.places import Places
from steward.servers.base import READS, new_server

MAX_BYTES = 1_000_000
MAX_ENTRIES = 1_000
SNIFF = 8_192
LONGEST_PATTERN = 1_000


class FileContent(BaseModel):
    path: str
    content: str
    size: int = Field(description="Bytes in the file.")


class Entry(BaseModel):
    name: str
    kind: Literal["file", "folder", "other"]
    size: int


class Listing(BaseModel):
    path: str
    entries: list[Entry]
    truncated: bool = Field(description="Whether there are more entries than are shown.")


class Matches(BaseModel):
    paths: list[str]
    truncated: bool


@dataclass(frozen=True, slots=True)
class Roots:
    """The folders that may be read, and how a path outside them is refused."""

    places: Places

    @classmethod
    def of(cls, folders: Sequence[Path], *, closed: Sequence[Path] = ()) -> "Roots":
        return cls(Places.of(folders, closed=closed))

    def resolve(self, path: str) -> Path:
        """Where a path really leads; refuses what lies outside every root, and Steward's own home."""
        if not path or "\0" in path:
            raise InputError("A path is needed.", fix="Name a file below an allowed folder.")
        if not self.places.folders:
            raise ForbiddenError(
                "No folder may be read: Steward was started in / or in your home folder, "
                "which it never takes as a whole.",
                fix="Name folders in STEWARD_ALLOWED_ROOTS, or start Steward in the folder to read.",
            )
        real = self.places.real(path)
        if self.places.closes(real):
            raise ForbiddenError(
                f"'{path[:200]}' belongs to Steward itself (STEWARD_HOME) and is read by nobody here.",
                fix="Use a path outside STEWARD_HOME.",
            )
        if not self.places.holds(real):
            raise ForbiddenError(
                f"'{path[:200]}' lies outside the folders that may be read.",
                fix="Use a path below one of STEWARD_ALLOWED_ROOTS.",
            )
        return real


def read_text(roots: Roots, path: str, *, max_bytes: int) -> FileContent:
    real = roots.resolve(path)
    descriptor = _open(real, path)
    facts = os.fstat(descriptor)
    if not stat.S_ISREG(facts.st_mode):
        os.close(descriptor)
        raise InputError(f"'{path}' is not a file.", fix="Use list_directory to look into a folder.")
    with os.fdopen(descriptor, "rb") as file:
        if facts.st_size > max_bytes:
            raise ToolError(
                f"'{path}' has {facts.st_size:,} bytes; at most {max_bytes:,} can be read.",
                code="FILE_TOO_LARGE",
                fix="Choose a smaller file.",
            )
        raw = file.read(max_bytes + 1)
    if len(raw) > max_bytes or b"\0" in raw[:SNIFF]:
        raise _binary(path)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _binary(path) from error
    return FileContent(path=str(real), content=text, size=len(raw))


def _open(real: Path, path: str) -> int:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(real, flags)
    except FileNotFoundError as error:
        raise NotFoundError(
            f"There is no file '{path}'.", fix="Use list_directory to see what is there."
        ) from error
    except PermissionError as error:
        raise ForbiddenError(f"'{path}' may not be read.", fix="Check the file's permissions.") from error
    except OSError as error:
        raise InputError(f"'{path}' cannot be opened.", fix="Name a plain file.") from error
    opened = Path(f"/proc/self/fd/{descriptor}")
    # A folder above it may have become a link since it was resolved: ask what was really opened.
    if opened.exists() and os.path.realpath(opened) != str(real):
        os.close(descriptor)
        raise ForbiddenError(f"'{path}' moved while it was read.", fix="Try again.")
    return descriptor


def _binary(path: str) -> ToolError:
    return ToolError(
        f"'{path}' is not text.", code="FILE_IS_BINARY", fix="Only UTF-8 text files can be read."
    )


def list_folder(roots: Roots, path: str) -> Listing:
    real = roots.resolve(path)
    try:
        with os.scandir(real) as found:
            entries = sorted((_entry(item) for item in found), key=lambda entry: entry.name)
    except FileNotFoundError as error:
        raise NotFoundError(f"There is no folder '{path}'.", fix="Check the path.") from error
    except NotADirectoryError as error:
        raise InputError(f"'{path}' is not a folder.", fix="Use read_file for a file.") from error
    except PermissionError as error:
        raise ForbiddenError(f"'{path}' may not be read.", fix="Check the folder's permissions.") from error
    return Listing(path=str(real), entries=entries[:MAX_ENTRIES], truncated=len(entries) > MAX_ENTRIES)


def _entry(item: "os.DirEntry[str]") -> Entry:
    if item.is_dir(follow_symlinks=False):
        return Entry(name=item.name, kind="folder", size=0)
    if item.is_file(follow_symlinks=False):
        return Entry(name=item.name, kind="file", size=item.stat(follow_symlinks=False).st_size)
    return Entry(name=item.name, kind="other", size=0)


def find_files(roots: Roots, pattern: str, path: str) -> Matches:
    start = roots.resolve(path)
    found: list[str] = []
    for file in _walk(start, roots.places):
        if fnmatch(file.name, pattern) or fnmatch(str(file.relative_to(start)), pattern):
            if len(found) == MAX_ENTRIES:
                return Matches(paths=found, truncated=True)
            found.append(str(file))
    return Matches(paths=found, truncated=False)


def _walk(start: Path, places: Places) -> Iterator[Path]:
    for folder, folders, files in os.walk(start, followlinks=False):
        folders[:] = sorted(name for name in folders if not places.closes(Path(folder) / name))
        for name in sorted(files):
            yield Path(folder) / name


def build(places: Places, *, max_bytes: int = MAX_BYTES) -> FastMCP:
    server = new_server("steward-files", "Reads text files below the allowed folders. It cannot write.")
    allowed = Roots(places)

    @server.tool(annotations=READS)
    def read_file(path: Annotated[str, Field(description="A text file below an allowed folder.")]) -> str:
        """The contents of a text file.

        Prefer query_knowledge_base for finding something in many documents. Prefer fetch_page for addresses
        on the web.
        """
        return read_text(allowed, path, max_bytes=max_bytes).content

    @server.tool(annotations=READS)
    def list_directory(
        path: Annotated[str, Field(description="A folder below an allowed one.")] = ".",
    ) -> Listing:
        """What is in a folder.

        Prefer search_files for a file whose name is known in part.
        """
        return list_folder(allowed, path)

    @server.tool(annotations=READS)
    def search_files(
        pattern: Annotated[
            str,
            Field(
                description="A file name pattern such as '*.md'.", min_length=1, max_length=LONGEST_PATTERN
            ),
        ],
        path: Annotated[str, Field(description="The folder to start from.")] = ".",
    ) -> Matches:
        """Find files by name below a folder.

        Use it instead of list_directory when the folder is not known. Prefer query_knowledge_base for what
        files say.
        """
        return find_files(allowed, pattern, path)

    return server
