"""What one run may see and use, and how Steward tells the supervisor so.

Owns the plan and the environment that contained code gets. Which mechanism holds here is found by probe.py;
what the workspace allows or narrows comes from the policy.
"""

import marshal
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from steward.policy.containment import ContainmentRules

if TYPE_CHECKING:
    from steward.providers.containment.shape import Plan

_CPU_SECONDS = 3600
_FILE_SIZE = 4 * 2**30
_OPEN_FILES = 1024
_NAMES = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TERM", "TMPDIR"}
    | {"PYTHONUTF8", "PYTHONIOENCODING", "SYSTEMROOT", "__CF_USER_TEXT_ENCODING"}
)
_NETWORK_NAMES = frozenset({"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"})
_PROXIES = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"})


class Mechanism(StrEnum):
    """What keeps code away from the rest of the machine, the strongest first."""

    BUBBLEWRAP = "bubblewrap"
    NAMESPACES = "namespaces"
    LANDLOCK = "landlock"
    SEATBELT = "seatbelt"
    NONE = "none"


UNCONTAINED = (
    "This machine cannot contain the code: it can read Steward's own files and every file of this account, "
    "and use the network."
)


def open_rules() -> ContainmentRules:
    return ContainmentRules()


@dataclass(frozen=True, slots=True, kw_only=True)
class Containment:
    """What all runs of a workspace have in common."""

    mechanism: Mechanism
    hidden: tuple[Path, ...] = ()
    rules: Callable[[], ContainmentRules] = field(default=open_rules)

    @property
    def caution(self) -> str | None:
        """What a person must know before they say yes; None where the code is contained."""
        return UNCONTAINED if self.mechanism is Mechanism.NONE else None

    def confine(
        self,
        tool: str,
        folder: Path,
        *,
        kept: Iterable[Path] = (),
        writable: Iterable[Path] = (),
        network: bool = False,
        cpu_seconds: int = _CPU_SECONDS,
    ) -> "Confinement":
        """A plan for one run of this tool, as the workspace's rules stand now."""
        rules = self.rules()
        hidden = _real([*self.hidden, *map(Path, rules.hide)])
        start = os.path.realpath(folder)
        seen = _real([*kept, *_own_program()])
        writes = _real(writable)
        if any(_below(start, path) for path in hidden) and not any(
            _below(start, path) for path in (*seen, *writes)
        ):
            start = "/"
        return Confinement(
            plan={
                "mechanism": self.mechanism.value,
                "hidden": hidden,
                "kept": [path for path in seen if any(_below(path, one) for one in hidden)],
                "writable": writes,
                "read_only": [*_real(_own_program()), *_real(map(Path, rules.read_only))],
                "network": network or rules.opens_network(tool),
                "folder": start,
                "limits": {
                    "cpu_seconds": cpu_seconds,
                    "memory": _memory(rules),
                    "file_size": _FILE_SIZE,
                    "open_files": _OPEN_FILES,
                    "processes": rules.processes,
                },
            }
        )


@dataclass(frozen=True, slots=True)
class Confinement:
    plan: "Plan"

    def words(self) -> list[str]:
        """What stands before the command on the supervisor's command line."""
        return ["--plan", marshal.dumps(dict(self.plan)).hex()]

    @property
    def network(self) -> bool:
        return self.plan["network"]

    @property
    def start(self) -> str:
        return self.plan["folder"]


def allowed_environment(environment: Mapping[str, str], *, network: bool) -> dict[str, str]:
    """What contained code sees of our environment: names that are known to hold no secret, nothing else."""
    names = _NAMES | _NETWORK_NAMES if network else _NAMES
    return {
        name: value
        for name, value in environment.items()
        if name in names or name.startswith("LC_") or (network and name.upper() in _PROXIES)
    }


def _memory(rules: ContainmentRules) -> int:
    """The workspace's word, else half of the machine's memory and 4 GiB at most."""
    if rules.memory_mib is not None:
        return rules.memory_mib * 2**20
    try:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        machine = 8 * 2**30
    return max(min(machine // 2, 4 * 2**30), 2**29)


def _own_program() -> list[Path]:
    """Steward's code and the packages it runs with: code that could change them would be Steward."""
    package = Path(__file__).parents[2]
    environment = [Path(sys.prefix)] if sys.prefix != sys.base_prefix else []
    return [*environment, package]


def _real(paths: Iterable[Path]) -> list[str]:
    return list(dict.fromkeys(os.path.realpath(path.expanduser()) for path in paths))


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
