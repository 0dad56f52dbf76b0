"""Names under which a server's tools are registered: `server__tool`, always valid, always the same.

Pure. A name depends on the namespace, the set of tools and the names that were given before, never on the
order in which the tools came.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping

from steward.contract import linear_re as re

MAX_NAME = 64
SEPARATOR = "__"
_OTHER = re.compile(r"[^A-Za-z0-9_-]")
_HASH = 8


def registered_names(
    namespace: str, tools: Iterable[str], *, kept: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The registered name of each of the server's own names.

    `kept` are the names that were given before, by the server's own name. They stay, and nobody else gets
    them, whether their tool is still there or not: a person may have rated what they stand for. A tool for
    which no name is left has none.
    """
    given = {own: name for own, name in (kept or {}).items() if name.startswith(_full(namespace, ""))}
    taken = set(given.values())
    wanted: defaultdict[str, list[str]] = defaultdict(list)
    names: dict[str, str] = {}
    for tool in sorted(set(tools)):
        if tool in given:
            names[tool] = given[tool]
        else:
            wanted[_valid(_full(namespace, tool))].append(tool)
    for name, group in wanted.items():
        for tool in group:
            keeps = name not in taken and (len(group) == 1 or _full(namespace, tool) == name)
            chosen = name if keeps else _marked(_OTHER.sub("_", _full(namespace, tool)), tool)
            if chosen not in taken:
                names[tool] = chosen
                taken.add(chosen)
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
