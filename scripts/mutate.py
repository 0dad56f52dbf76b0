"""Switches features off one by one and lists the requirements whose tests stay green without them.

`python scripts/mutate.py [--nothing] [FEATURE ...]`. Each feature (`mutation/features.toml`) is a function
that raises when it is off, or gives what no feature would, here and in all that is started. A requirement
is proven when a test that names it ran and failed. `--nothing` runs the same tests with nothing
off: what fails then proves nothing. Everything is imported once, each feature is switched off in a fork, and
the database server stays, so that a feature costs little more than its tests. It takes many minutes, so CI
does not run it: `make mutate`.
"""

import contextlib
import importlib
import io
import multiprocessing
import os
import signal
import sys
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HERE = ROOT / "scripts" / "mutation"
sys.path[:0] = [str(ROOT), str(HERE)]

from scripts.requirements_page import Proof, tests  # noqa: E402
from switching import Switch, hide_words  # noqa: E402
from tests.support.postgres import running_server  # noqa: E402

SECONDS = 60  # a test that waits for what is off has failed
SECONDS_A_FEATURE = 600  # and one that does not even end then proves nothing
FORK = multiprocessing.get_context("fork")
OPTIONS = (
    *("-q", "--tb=no", "--show-capture=no", "--no-cov", "-p", "no:cacheprovider", "-p", "no:xdist"),
    *("-o", "addopts=--strict-markers", "-o", f"timeout={SECONDS}"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
)


@dataclass(frozen=True, slots=True)
class Feature:
    """What is switched off, and which requirements cannot hold without it.

    They are ids, by how they begin; one before a `$` is whole.
    """

    switch: Switch
    needs: tuple[str, ...]


@dataclass(eq=False)  # a plugin is known by itself
class Outcomes:
    """A pytest plugin: whether each test, by pytest's own name for it, passed."""

    passed: dict[str, bool] = field(default_factory=dict[str, bool])
    tell: Callable[[tuple[str, bool]], None] = lambda _: None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or not report.passed:
            self.tell((report.nodeid, report.passed))

    def note(self, test: str, passed: bool) -> None:
        self.passed[test] = self.passed.get(test, True) and passed

    def failed(self, proof: Proof) -> bool:
        return any(not fine for test, fine in self.passed.items() if proof.stands_for(test))

    def ran(self, proof: Proof) -> bool:
        return any(proof.stands_for(test) for test in self.passed)

    def show(self, proofs: Iterable[Proof]) -> str:
        told = (
            f"{proof.path}::{proof.name}" + ("" if self.ran(proof) else " (did not run)") for proof in proofs
        )
        return ", ".join(sorted(told))


def features() -> dict[str, Feature]:
    told = tomllib.loads((HERE / "features.toml").read_text("utf-8"))
    known = {each.name for each in fields(Switch)}
    return {
        name: Feature(Switch(**{key: row[key] for key in row if key in known}), tuple(row["needs"]))
        for name, row in told.items()
    }


def concerned(feature: Feature) -> dict[str, set[Proof]]:
    """The tests of each requirement that needs this feature."""
    found: dict[str, set[Proof]] = {}
    for identifier, test in tests():
        if any(_is_below(identifier, start) for start in feature.needs):
            found.setdefault(identifier, set()).add(test)
    return found


def _is_below(identifier: str, start: str) -> bool:
    if start.endswith("$"):
        return identifier == start[:-1]
    rest = identifier.removeprefix(start)
    return identifier.startswith(start) and (not rest or not rest[0].isalnum() or start.endswith("."))


@contextlib.contextmanager
def switched(switch: Switch) -> Iterator[None]:
    """With this function off, here and in every program that starts meanwhile."""
    before = dict(os.environ)
    os.environ.update(switch.environment())
    if switch.waits:
        os.environ["STEWARD_BUSY"] = "1.5"
    os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE), before.get("PYTHONPATH", "")])
    undo = _switch_off(switch)
    try:
        yield
    finally:
        undo()
        os.environ.clear()
        os.environ.update(before)


def _switch_off(switch: Switch) -> Callable[[], None]:
    if switch.file:
        return hide_words(switch.file, switch.without)
    if not switch.module:
        return lambda: None
    owner, name = switch.place(importlib.import_module(switch.module))
    real = getattr(owner, name)
    kept = owner.__dict__[name]  # a property or a class method as it stands
    instead = switch.instead(real)
    places = [(owner, name, kept)]
    if owner is sys.modules[switch.module]:  # other modules may have taken it over by its name
        places += [
            (module, each, real)
            for module in list(sys.modules.values())
            for each, value in list(getattr(module, "__dict__", {}).items())
            if value is real and module is not owner
        ]
    for where, each, _ in places:
        setattr(where, each, instead)

    def undo() -> None:
        for where, each, was in places:
            setattr(where, each, was)

    return undo


def run(proofs: Iterable[Proof], switch: Switch) -> Outcomes:
    """In a fork, so that nothing of one feature reaches the next."""
    named = sorted({f"{proof.path}::{proof.name}" for proof in proofs})
    found = Outcomes()
    heard, said = FORK.Pipe(duplex=False)
    fork = FORK.Process(target=_run_here, args=(named, switch, said.send))
    fork.start()
    said.close()
    deadline = time.monotonic() + SECONDS_A_FEATURE
    with contextlib.suppress(EOFError):
        while heard.poll(max(0.0, deadline - time.monotonic())):
            found.note(*heard.recv())
    if fork.is_alive():
        fork.join(max(1.0, deadline - time.monotonic()))
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(fork.pid or 0, signal.SIGKILL)  # what its tests left running
    fork.join()
    return found


def _run_here(named: Sequence[str], switch: Switch, tell: Callable[[tuple[str, bool]], None]) -> None:
    os.setsid()
    with switched(switch), _silence():
        pytest.main([*OPTIONS, *named], plugins=[Outcomes(tell=tell)])


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


def check(name: str, feature: Feature) -> set[str]:
    """The requirements that stay green without this feature; says which."""
    proofs = concerned(feature)
    found = run(set[Proof]().union(*proofs.values()), feature.switch)
    green = {each for each, named in proofs.items() if not any(map(found.failed, named))}
    print(f"{name}: {len(proofs)} requirements, {len(green)} green without it", flush=True)
    for identifier in sorted(green):
        print(f"  {identifier}: {found.show(proofs[identifier])}", flush=True)
    return green


def check_nothing(chosen: Iterable[Feature]) -> int:
    """Says which of these tests fail, or do not run, while everything is there; how many."""
    proofs = {proof for feature in chosen for named in concerned(feature).values() for proof in named}
    found = run(proofs, Switch())
    bad = [proof for proof in proofs if found.failed(proof) or not found.ran(proof)]
    print(f"nothing: {len(proofs)} tests, {len(bad)} fail with everything there", flush=True)
    for proof in bad:
        print(f"  {found.show([proof])}", flush=True)
    return len(bad)


def main(words: Sequence[str]) -> int:
    there = features()
    chosen = [word for word in words if word != "--nothing"]
    unknown = sorted(set(chosen) - there.keys())
    if unknown:
        print(f"No such feature: {', '.join(unknown)}. There are: {', '.join(there)}.")
        return 2
    os.chdir(ROOT)
    named = {name: there[name] for name in chosen or there}
    with running_server():
        wanted = {
            proof.path for feature in named.values() for each in concerned(feature).values() for proof in each
        }
        with _silence():  # for what it imports
            pytest.main([*OPTIONS, "--collect-only", *sorted(wanted)])
        if "--nothing" in words:
            return 1 if check_nothing(named.values()) else 0
        green = {each for name, feature in named.items() for each in check(name, feature)}
    if not chosen:
        without = {each for each, _ in tests()}.difference(*map(concerned, there.values()))
        print(f"No switch for {len(without)} requirements: {', '.join(sorted(without))}")
        green |= without
    return 1 if green else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
