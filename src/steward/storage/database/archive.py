"""One file that carries data from one Steward to another: a zip of parts with a manifest of checksums.

Owns the container: what a file of ours looks like, and that a broken, foreign or newer one is told apart
before anything is taken from it. Does not own what the parts mean (ownership.py, backup.py).
"""

import hashlib
import json
import shutil
import zipfile
import zlib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from steward.contract.errors import ErrorCode, InputError
from steward.storage.database.failures import explain_os_error

MANIFEST = "manifest.json"
VERSION = 1
LARGEST = 64 * 2**30  # unpacked: more than that is no archive of ours but a trap
MOST_TIMES = 100  # as large unpacked as packed; JSON lines pack ten to thirty times
ALWAYS_UNPACKED = 16 * 2**20  # a small file may pack better
MOST_PARTS = 1_000
LONGEST_LINE = 64 * 2**20
_BLOCK = 1 << 20


def _broken(path: Path, why: str, fix: str = "Use a file that Steward wrote, whole.") -> InputError:
    return InputError(f"{path.name} cannot be used: {why}.", code=ErrorCode.ARCHIVE_INVALID, fix=fix)


@dataclass(slots=True)
class _Part:
    sha256: Any = field(default_factory=hashlib.sha256)
    bytes: int = 0
    lines: int = 0


class PartWriter:
    """Lines or raw bytes of one part."""

    def __init__(self, file: IO[bytes], part: _Part) -> None:
        self._file = file
        self._part = part

    def write(self, data: bytes) -> None:
        self._part.sha256.update(data)
        self._part.bytes += len(data)
        self._file.write(data)

    def line(self, text: str) -> None:
        self._part.lines += 1
        self.write(text.encode() + b"\n")


class ArchiveWriter:
    """Written beside its place and moved there at the end: whole or not at all, for its owner only."""

    def __init__(self, path: Path, *, kind: str, about: Mapping[str, Any]) -> None:
        self._path = path
        self._partial = path.with_name(f".{path.name}.partial")
        self._manifest: dict[str, Any] = {"format": kind, "version": VERSION, **about}
        self._parts: dict[str, _Part] = {}

    def __enter__(self) -> "ArchiveWriter":
        with explain_os_error(f"{self._path} cannot be written."):
            self._partial.touch(mode=0o600)
            self._zip = zipfile.ZipFile(self._partial, "w", zipfile.ZIP_DEFLATED)
        return self

    def note(self, name: str, value: Any) -> None:
        """Into the manifest."""
        self._manifest[name] = value

    @contextmanager
    def part(self, name: str) -> Generator[PartWriter]:
        part = self._parts[name] = _Part()
        with (
            explain_os_error(f"{self._path} cannot be written."),
            self._zip.open(name, "w", force_zip64=True) as file,
        ):
            yield PartWriter(file, part)

    def file(self, name: str, source: Path) -> None:
        with self.part(name) as part, source.open("rb") as data:
            while block := data.read(_BLOCK):
                part.write(block)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            with explain_os_error(f"{self._path} cannot be written."):
                if error is None:
                    self._manifest["parts"] = {
                        name: {"sha256": part.sha256.hexdigest(), "bytes": part.bytes, "lines": part.lines}
                        for name, part in self._parts.items()
                    }
                    self._zip.writestr(MANIFEST, json.dumps(self._manifest, indent=2))
                self._zip.close()
                if error is None:
                    self._partial.replace(self._path)
        finally:
            self._partial.unlink(missing_ok=True)


class ArchiveReader:
    """An archive that was checked whole before it is read. `strict` is for one that came over a wire."""

    def __init__(self, path: Path, *, kind: str, strict: bool = False) -> None:
        self._path = path
        self._strict = strict
        try:
            self._zip = zipfile.ZipFile(path)
        except (OSError, zipfile.BadZipFile) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is no archive"
            raise _broken(path, reason) from error
        try:
            self.manifest = self._checked(kind)
        except (zipfile.BadZipFile, EOFError, RuntimeError, NotImplementedError, zlib.error) as error:
            self.close()
            raise _broken(path, "it is damaged") from error
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "ArchiveReader":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._zip.close()

    def _checked(self, kind: str) -> Mapping[str, Any]:
        sizes = {item.filename: item.file_size for item in self._zip.infolist()}
        unpacked = sum(sizes.values())
        if MANIFEST not in sizes or sizes[MANIFEST] > 64 * _BLOCK or unpacked > LARGEST:
            raise _broken(self._path, "it is no archive of Steward's")
        if self._strict and len(sizes) > MOST_PARTS:
            raise _broken(self._path, f"it has more than {MOST_PARTS} parts")
        if self._strict and unpacked > max(ALWAYS_UNPACKED, MOST_TIMES * self._path.stat().st_size):
            raise _broken(self._path, f"it unpacks to more than {MOST_TIMES} times its size")
        try:
            manifest = json.loads(self._zip.read(MANIFEST))
            known = (manifest["format"], int(manifest["version"]), dict(manifest["parts"]))
        except (ValueError, KeyError, TypeError):
            raise _broken(self._path, "its manifest cannot be read") from None
        if known[0] != kind:
            raise _broken(self._path, f"it is a {known[0]}, and a {kind} is needed")
        if known[1] > VERSION:
            raise _broken(self._path, "a newer Steward wrote it", "Upgrade this one.")
        if set(known[2]) != sizes.keys() - {MANIFEST}:
            raise _broken(self._path, "its parts are not those of its manifest")
        for name, said in known[2].items():
            if self._digest(name) != said.get("sha256"):
                raise _broken(self._path, f"{name} was changed or damaged")
        return manifest

    def _digest(self, name: str) -> str:
        digest = hashlib.sha256()
        with self._zip.open(name) as file:
            while block := file.read(_BLOCK):
                digest.update(block)
        return digest.hexdigest()

    @property
    def parts(self) -> Mapping[str, Mapping[str, Any]]:
        return self.manifest["parts"]

    def lines(self, name: str) -> Generator[str]:
        """The lines of a part; none where it is not there."""
        if name not in self.parts:
            return
        with self._zip.open(name) as file:
            while line := file.readline(LONGEST_LINE + 1):
                if len(line) > LONGEST_LINE:
                    raise _broken(self._path, f"{name} has a line of more than {LONGEST_LINE} bytes")
                yield line.rstrip(b"\n").decode()

    def extract(self, name: str, target: Path) -> None:
        with explain_os_error(f"{target} cannot be written."):
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with self._zip.open(name) as file, target.open("wb") as out:
                target.chmod(0o600)
                shutil.copyfileobj(file, out)
