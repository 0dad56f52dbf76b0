"""What a Python tool is made of: its script and the modules of the tools folder that it imports, by digest.

Owns which files those are and whether they changed. Reads sources and never runs them; that what is loaded is
what was digested is the worker's to check (worker.py). A file that a script only opens is not part of it.
"""

import ast
import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from steward.providers.scripts.workers import Stamp, stamp

MOST_FILES = 2_000
_RUNS_TEXT = frozenset({"__import__", "exec", "eval", "compile"})
_LOADS_BY_NAME = frozenset({"importlib", "runpy", "pkgutil", "zipimport", "imp"})


@dataclass(frozen=True, slots=True)
class ScriptFiles:
    """One look at a script. `digests` by path inside the folder; `stamps` of every file that could matter."""

    digests: Mapping[str, str]
    stamps: Mapping[Path, Stamp | None]

    def unchanged(self) -> bool:
        return all(stamp(path) == known for path, known in self.stamps.items())

    @property
    def packed(self) -> tuple[tuple[str, str], ...]:
        return tuple(sorted(self.digests.items()))


def look_at(folder: Path, script: str) -> ScriptFiles:
    """The script and what it imports from its folder; the whole folder where that cannot be told."""
    digests: dict[str, str] = {}
    stamps: dict[Path, Stamp | None] = {}
    waiting = [folder / script]
    while waiting and len(digests) < MOST_FILES:
        path = waiting.pop()
        if path in stamps or not path.is_relative_to(folder):
            continue
        stamps[path] = stamp(path)  # before it is read: a change in between shows
        source = _read(path)
        if source is None:
            continue
        digests[str(path.relative_to(folder))] = hashlib.sha256(source).hexdigest()
        tree = _parsed(source)
        if tree is None:
            continue
        waiting += _imported(tree, folder, path)
        if _imports_unseen(tree):
            stamps[folder] = stamp(folder)
            waiting += _every(folder)
    return ScriptFiles(digests, stamps)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _parsed(source: bytes) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None  # it cannot be run either


def _imported(tree: ast.Module, folder: Path, path: Path) -> Iterator[Path]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield from _places(folder, name.name)
        elif isinstance(node, ast.ImportFrom):
            # `from . import x` in a package of the folder starts where the file is.
            start = folder if not node.level else path.parents[min(node.level, len(path.parents)) - 1]
            module = node.module or ""
            yield from _places(start, module)
            for name in node.names:
                yield from _places(start, f"{module}.{name.name}".strip("."))


def _places(start: Path, module: str) -> Iterator[Path]:
    """Where a module and the packages around it would be, whether they are there or not."""
    parts = [part for part in module.split(".") if part]
    for depth in range(1, len(parts) + 1):
        place = start.joinpath(*parts[:depth])
        yield place / "__init__.py"
        yield place.with_name(f"{place.name}.py")


def _imports_unseen(tree: ast.Module) -> bool:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names) if any(
                each.name.partition(".")[0] in _LOADS_BY_NAME for each in names
            ):
                return True
            case ast.ImportFrom(module=str(module)) if module.partition(".")[0] in _LOADS_BY_NAME:
                return True
            case ast.Name(id=name) if name in _RUNS_TEXT:
                return True
            case _:
                pass
    return False


def _every(folder: Path) -> list[Path]:
    found: list[Path] = []
    for place, _, names in os.walk(folder):
        found += [Path(place) / name for name in names if name.endswith(".py")]
        if len(found) >= MOST_FILES:
            break
    return found[:MOST_FILES]
