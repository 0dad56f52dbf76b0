"""Names under which a server's tools are registered: `server__tool`, always valid, always the same.

Pure. A name depends only on the namespace and the set of tools, never on the order in which they came.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable

from steward.contract import linear_re as re

MAX_NAME = 64
SEPARATOR = "__"
_OTHER = re.compile(r"[^A-Za-z0-9_-]")
_HASH = 8


def registered_names(namespace: str, tools: Iterable[str]) -> dict[str, str]:
    """The registered name of each of the server's own names."""
    wanted: defaultdict[str, list[str]] = defaultdict(list)
    for tool in sorted(set(tools)):
        wanted[_valid(_full(namespace, tool))].append(tool)
    names: dict[str, str] = {}
    for name, group in wanted.items():
        for tool in group:
            keeps = len(group) == 1 or _full(namespace, tool) == name
            names[tool] = name if keeps else _marked(_OTHER.sub("_", _full(namespace, tool)), tool)
    return names


def _full(namespace: str, tool: str) -> str:
    return f"{namespace}{SEPARATOR}{tool}" if namespace else tool


def _valid(full: str) -> str:
    name = _OTHER.sub("_", full) or "_"
    return name if len(name) <= MAX_NAME else _marked(name, full)


def _marked(name: str, original: str) -> str:
    """`name` shortened to carry a mark of what it stands for."""
    mark = hashlib.sha256(original.encode()).hexdigest()[:_HASH]
    return f"{name[: MAX_NAME - _HASH - 1]}_{mark}"
