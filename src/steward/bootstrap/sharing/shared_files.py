"""The files of a home that instances share: which they are, what of them is agreed, and writing them.

Owns the marks of a home (`shared.json`: the version and digest of each file as last agreed) and where an edit
lies that lost (`conflicts/`). Does not own what is done about a difference (sharing.py).
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, cast

from steward.agents.skills.book import FILE as SKILL_FILE
from steward.agents.skills.book import parse as parse_skill
from steward.bootstrap.workspace.home import FILES as FRESH
from steward.contract.errors import ConfigError, StewardError
from steward.policy.rules import parse_rules
from steward.providers.jsonfile import locked, replace_file
from steward.providers.mcp.mcp_config import parse_mcp_config
from steward.providers.scripts.tools_config import parse_tools
from steward.providers.scripts.workers import Stamp, stamp

POLICY, SERVERS, TOOLS = "policy.toml", "mcp.json", "tools/tools.json"
REQUIRED = (POLICY, SERVERS, TOOLS)
FOLDERS = ("tools", "skills")
MARKS = "shared.json"
ASIDE = "conflicts"  # edits of a version that somebody else had changed already
REPLACED = "replaced"  # what a person let go of with `steward config pull`
LARGEST = 4 * 1024 * 1024
MOST = 5_000
_LEFT_OUT = (".lock", ".pyc", ".pyo", ".new", "~")


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


PRISTINE = frozenset((path, digest(text.encode())) for path, text in FRESH.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalFile:
    sha256: str
    executable: bool


@dataclass(frozen=True, slots=True)
class Mark:
    """What a home and the registry agreed on last."""

    version: int
    sha256: str | None


NEVER = Mark(0, None)


def shareable(path: str) -> bool:
    """Whether a path of the registry names a file that may be written into a home."""
    pure = PurePosixPath(path)
    if path in REQUIRED:
        return True
    plain = str(pure) == path and not any(
        part.startswith(".") or part == "__pycache__" or "\\" in part or "\0" in part for part in pure.parts
    )
    return plain and len(pure.parts) > 1 and pure.parts[0] in FOLDERS and not path.endswith(_LEFT_OUT)


def check(path: str, content: bytes) -> None:
    """Raise `StewardError` for a file that Steward could not use; such a one is neither sent nor taken."""
    if len(content) > LARGEST:
        raise ConfigError(f"{path} has {len(content)} bytes.", fix=f"At most {LARGEST} are shared.")
    is_skill = path.startswith("skills/") and path.count("/") == 2 and path.endswith(f"/{SKILL_FILE}")
    if path not in REQUIRED and not is_skill:
        return
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8.", fix="Save the file as UTF-8.") from error
    if path == POLICY:
        parse_rules(text, source=path)
    elif path == SERVERS:
        parse_mcp_config(text, Path(path))
    elif path == TOOLS:
        parse_tools(text, Path(path))
    else:
        parse_skill(text, Path(path).parent)


class HomeFiles:
    """All methods block: async callers use a thread."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._seen: dict[str, tuple[Stamp | None, LocalFile]] = {}
        self.too_many: str | None = None

    def stamps(self) -> Mapping[str, Stamp | None]:
        """By which an edit is seen without reading the files."""
        return {path: stamp(self.home / path) for path in self._paths()}

    def look(self) -> Mapping[str, LocalFile]:
        found: dict[str, LocalFile] = {}
        for path in self._paths():
            place = self.home / path
            now = stamp(place)
            known = self._seen.get(path)
            if known is None or known[0] != now:
                try:
                    content = place.read_bytes()
                    executable = os.access(place, os.X_OK)
                except OSError:
                    continue  # gone since it was listed
                known = (now, LocalFile(sha256=digest(content), executable=executable))
            found[path] = known[1]
            self._seen[path] = known
        return found

    def _paths(self) -> list[str]:
        paths = [path for path in (POLICY, SERVERS) if (self.home / path).is_file()]
        for folder in FOLDERS:
            for path in self._below(self.home / folder):
                if len(paths) >= MOST:
                    self.too_many = f"More than {MOST} files lie in tools and skills; the rest is not shared."
                    return paths
                paths.append(path)
        self.too_many = None
        return paths

    def _below(self, folder: Path) -> Iterator[str]:
        real = folder.resolve()
        for place, folders, names in os.walk(folder):
            folders[:] = sorted(name for name in folders if not name.startswith((".", "__pycache__")))
            for name in sorted(names):
                path = (Path(place) / name).relative_to(self.home).as_posix()
                # A link that leads out of the folder is the machine's own.
                if shareable(path) and (self.home / path).resolve().is_relative_to(real):
                    yield path

    def read(self, path: str) -> bytes | None:
        try:
            return (self.home / path).read_bytes()
        except OSError:
            return None

    def put(self, path: str, content: bytes | None, *, seen: str | None, executable: bool = False) -> bool:
        """Make the file what it is to be, unless it is not what was `seen` any more."""
        if not shareable(path):
            raise ConfigError(f"The registry names a file that is none: {path!r}.", fix="Remove it there.")
        place = self.home / path
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with locked(place):
            before = self.read(path)
            if (None if before is None else digest(before)) != seen:
                return False
            if content is None:
                place.unlink(missing_ok=True)
            else:
                replace_file(place, content)
                if executable:
                    place.chmod(place.stat().st_mode | 0o100)
        return True

    # --- edits that lost ---

    def put_aside(self, path: str, content: bytes, *, folder: str = ASIDE) -> Path:
        place = self.home / folder / path
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_file(place, content)
        return place

    def aside(self) -> Mapping[str, bytes]:
        folder = self.home / ASIDE
        places = sorted(place for place in folder.rglob("*") if place.is_file())
        named = ((place.relative_to(folder).as_posix(), place) for place in places)
        return {path: place.read_bytes() for path, place in named if shareable(path)}

    def drop_aside(self, path: str) -> None:
        place = self.home / ASIDE / path
        place.unlink(missing_ok=True)
        for folder in place.relative_to(self.home).parents:
            if folder.parts:
                try:
                    (self.home / folder).rmdir()
                except OSError:
                    return  # there is more in it

    # --- what was agreed ---

    def marks(self, registry: str) -> Mapping[str, Mark] | None:
        """None where this home never met that registry."""
        try:
            known: Any = json.loads((self.home / MARKS).read_text(encoding="utf-8"))
            if known["registry"] != registry:
                return None
            files = cast("dict[str, list[Any]]", known["files"])
            return {path: Mark(int(version), sha256) for path, (version, sha256) in files.items()}
        except (OSError, ValueError, KeyError, TypeError):
            return None  # as good as new: what lies here is compared with the registry by its content

    def mark(self, registry: str, marks: Mapping[str, Mark]) -> None:
        files = {path: [mark.version, mark.sha256] for path, mark in sorted(marks.items())}
        text = json.dumps({"registry": registry, "files": files}, indent=1) + "\n"
        if self.read(MARKS) != text.encode():
            replace_file(self.home / MARKS, text.encode())


def explained(error: StewardError | OSError) -> str:
    return error.explain() if isinstance(error, StewardError) else str(error)


def in_order(paths: Sequence[str]) -> list[str]:
    """Scripts before the list that names them, and what is trusted last: a new rule meets the new tool."""
    rank = {TOOLS: 1, SERVERS: 2, POLICY: 3}
    return sorted(paths, key=lambda path: (rank.get(path, 0), path))
