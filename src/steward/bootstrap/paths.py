"""Paths as the door and the library judge them: where they lead, and what a file by itself would ask for."""

from collections.abc import Callable
from pathlib import Path

from steward.contract.places import Places
from steward.policy.bounds import why_withheld
from steward.policy.rules import Rules


def real_path(places: Places) -> Callable[[str], str]:
    """Follows a path. One that is a file of a closed folder under another name reads as that folder."""

    def resolve(path: str) -> str:
        real = places.real(path)
        return str(places.closed[0] if places.closes(real) else real)

    return resolve


def single_path_rule(places: Places, rules: Callable[[], Rules]) -> Callable[[Path], str | None]:
    """For each file of a folder the rule of a path that is named by itself: what it is, if that asks."""
    resolve = real_path(places)

    def withheld(file: Path) -> str | None:
        return why_withheld(str(file), resolve=resolve, protected=rules().protected)

    return withheld
