"""Which files of the tools folder a script needs: what it imports from there, and what those import.

Owns the reading of imports without running anything. A contained script sees these files and no others of
the folder; what it opens or imports under a name made at run time must stand in its entry's `files`.
"""

import ast
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

_MOST_FILES = 500
_LARGEST = 1024 * 1024


def imported_beside(script: Path, folder: Path) -> tuple[Path, ...]:
    """Modules as files, packages as folders; the script itself is not among them."""
    found: dict[Path, None] = {}
    pending = [script]
    read = {script}
    while pending and len(read) < _MOST_FILES:
        for name in _imports(pending.pop()):
            for place, sources in _places(folder, name):
                found[place] = None
                pending += [source for source in sources if source not in read]
                read.update(sources)
    return tuple(path for path in found if path != script)


def _places(folder: Path, name: str) -> Iterator[tuple[Path, list[Path]]]:
    module, package = folder / f"{name}.py", folder / name
    if module.is_file():
        yield module, [module]
    elif package.is_dir():
        yield package, sorted(package.rglob("*.py"))[:_MOST_FILES]


def _imports(path: Path) -> frozenset[str]:
    try:
        status = path.stat()
    except OSError:
        return frozenset()
    if status.st_size > _LARGEST:
        return frozenset()
    return _imports_of(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=1024)
def _imports_of(path: Path, _changed: int, _size: int) -> frozenset[str]:
    """The first parts of the names: `import a.b` and `from a.b import c` are both `a`."""
    try:
        module = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return frozenset()  # running it says what is wrong
    names: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return frozenset(names)
