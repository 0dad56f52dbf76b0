"""What the workspace's `policy.toml` says about code that runs on this machine: its table `[contain]`.

Owns the table's words and limits. Without it contained code has no network, sees the account's files but
not Steward's, and keeps to the default limits. How that is held is the providers' part.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from steward.policy.globs import matches_glob

KEYS = frozenset({"network", "hide", "read_only", "memory_mib", "processes"})
DEFAULT_PROCESSES = 256
_LEAST = {"memory_mib": 64, "processes": 8}
_MOST = {"memory_mib": 1024 * 1024, "processes": 30_000}


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainmentRules:
    network: tuple[str, ...] = ()  # tools, by name or pattern
    hide: tuple[str, ...] = ()
    read_only: tuple[str, ...] = ()
    memory_mib: int | None = None
    processes: int = DEFAULT_PROCESSES

    def opens_network(self, tool: str) -> bool:
        return any(matches_glob(tool, pattern) for pattern in self.network)


class ContainmentProblemError(Exception):
    """`key`, what is wrong with it, and the fix."""

    def __init__(self, key: str, problem: str, fix: str) -> None:
        super().__init__(key, problem, fix)
        self.key, self.problem, self.fix = key, problem, fix


def parse_containment(table: Mapping[str, Any]) -> ContainmentRules:
    for key in table:
        if key not in KEYS:
            raise ContainmentProblemError(
                f"contain.{key}", "is unknown.", f"Known keys here: {', '.join(sorted(KEYS))}."
            )
    memory = _number(table, "memory_mib")
    processes = _number(table, "processes")
    return ContainmentRules(
        network=_strings(table, "network"),
        hide=_paths(table, "hide"),
        read_only=_paths(table, "read_only"),
        memory_mib=memory,
        processes=DEFAULT_PROCESSES if processes is None else processes,
    )


def _strings(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value: object = table.get(key, [])
    items = cast("Sequence[object]", value) if isinstance(value, list) else (None,)
    if not all(isinstance(item, str) and item for item in items):
        raise ContainmentProblemError(
            f"contain.{key}", "must be a list of strings.", f'Write {key} = ["..."].'
        )
    return tuple(cast("Sequence[str]", items))


def _paths(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    paths = _strings(table, key)
    for path in paths:
        if not path.startswith(("/", "~/")) or not path.strip("/"):
            raise ContainmentProblemError(
                f"contain.{key}", f"holds {path!r}, which is no folder.", 'Write "/srv/data" or "~/Private".'
            )
    return paths


def _number(table: Mapping[str, Any], key: str) -> int | None:
    value: object = table.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not _LEAST[key] <= value <= _MOST[key]:
        raise ContainmentProblemError(
            f"contain.{key}",
            f"must be a whole number from {_LEAST[key]} to {_MOST[key]}.",
            f"Write {key} = {_LEAST[key] * 16}.",
        )
    return value
