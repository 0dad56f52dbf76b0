"""No pattern of the house takes time that grows faster than its text.

Collects every pattern that `src` compiles: those made on import, by watching `re` and `linear_re`, and those
made inside functions, by reading the source. Pumps each: runs of what its own repeats match, led by what
stands before them, and plain runs of spaces, digits, letters and marks. A pattern that takes longer than a
linear one would at 3,000 characters is measured at 2,500 to 20,000, and fails when four times the text costs
more than eight times the time. What RE2 runs is linear by construction; its `finditer` is measured too.
"""

import ast
import collections
import contextlib
import importlib
import io
import itertools
import logging
import os
import pkgutil
import re
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from re import _parser as parser
from typing import Any

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "steward"
LENGTHS = (2_500, 5_000, 10_000, 20_000)
SCREEN = 3_000
SLOW_AT_SCREEN = 0.002
MATCHES = 200  # of RE2, whose matching is linear: what is measured is whether each match reads to the end
SLOW = 0.05
GROWTH = 8.0
SECONDS = 2.0
RUNS = (
    " ", "a", "1", "A", "\n", "\t", '"', "'", "`", ".", ",", "-", "_", "/", "*", "(", "[", "{", "<", "|", "#",
    "a ", "a.", "a,", "1.", "a\n", "A a ", "<a", "a=", "a/", "\\", "\u2019", "\u00e9", "the ", "and ", "not ",
)  # fmt: skip
MOST = 120  # of a pattern's own pumps
ENDS = ("", "\0")
METHODS = {"compile", "search", "match", "fullmatch", "finditer", "findall", "split", "sub", "subn"}


@dataclass(frozen=True, order=True)
class Found:
    pattern: str
    flags: int
    where: str
    linear: bool


def collected() -> list[Found]:
    found: dict[tuple[str, int, bool], Found] = {}

    def note(pattern: object, flags: int, frame: Any, *, linear: bool) -> None:
        path = Path(frame.f_code.co_filename)
        if isinstance(pattern, str) and path.is_relative_to(SOURCE) and not path.stem.startswith("linear_"):
            where = f"{path.relative_to(ROOT)}:{frame.f_lineno}"
            found.setdefault((pattern, int(flags), linear), Found(pattern, int(flags), where, linear))

    with watching(note):
        modules = imported()
    for module in modules:
        for pattern, flags, line, linear in written_in(module):
            where = f"{Path(str(module.__file__)).relative_to(ROOT)}:{line}"
            found.setdefault((pattern, flags, linear), Found(pattern, flags, where, linear))
    return sorted(found.values())


@contextlib.contextmanager
def watching(note: Any) -> Iterator[None]:
    sys.path.insert(0, str(ROOT / "src"))
    from steward.contract import linear_re  # noqa: PLC0415

    plain, linear = re.compile, linear_re.compile

    def plain_compile(pattern: Any, flags: Any = 0) -> Any:
        note(pattern, flags, sys._getframe(1), linear=False)  # noqa: SLF001
        return plain(pattern, flags)

    def linear_compile(pattern: str, flags: int = 0) -> Any:
        note(pattern, flags, sys._getframe(1), linear=True)  # noqa: SLF001
        return linear(pattern, flags)

    re.compile, linear_re.compile = plain_compile, linear_compile  # type: ignore[assignment]
    try:
        yield
    finally:
        re.compile, linear_re.compile = plain, linear  # type: ignore[assignment]


def imported() -> list[Any]:
    import steward  # noqa: PLC0415

    logging.disable(logging.CRITICAL)
    modules: list[Any] = []
    for each in pkgutil.walk_packages(steward.__path__, "steward."):
        if each.name.endswith("__main__"):
            continue
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            try:
                modules.append(importlib.import_module(each.name))
            except Exception:  # noqa: BLE001 - a page that runs only inside its own program
                continue
    return modules


def written_in(module: Any) -> Iterator[tuple[str, int, int, bool]]:
    """Patterns that stand in functions, with the module's own names filled in; others' text is `x`."""
    tree = ast.parse(Path(str(module.__file__)).read_text())
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        if not (
            isinstance(node.func.value, ast.Name) and node.func.value.id == "re" and node.func.attr in METHODS
        ):
            continue
        pattern = filled(node.args[0], vars(module))
        if pattern is not None:
            flags = 2 if "IGNORECASE" in ast.unparse(node) or "_I" in ast.unparse(node) else 0
            yield pattern, flags, node.lineno, vars(module)["re"] is not re


def filled(node: ast.expr, names: dict[str, Any]) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        parts = [filled(each, names) for each in node.values]
        return "".join("x" if part is None else part for part in parts)
    if isinstance(node, ast.FormattedValue):
        with contextlib.suppress(Exception):
            value = eval(ast.unparse(node.value), dict(names))
            return value if isinstance(value, str) else None
    return None


def pumps(pattern: str, flags: int) -> Iterator[tuple[str, str, str]]:
    """What leads, what is repeated, what ends."""
    seen: set[tuple[str, str]] = set()
    tree = parser.parse(pattern, flags)
    own = [*repeats(tree, ""), ("", example(tree)), ("", example(tree, last=True))]
    for lead, unit in [*own[:MOST], *(("", run) for run in RUNS)]:
        for start in dict.fromkeys(("", lead)):
            if unit and (start, unit) not in seen:
                seen.add((start, unit))
                yield from ((start, unit, end) for end in ENDS)


def repeats(tree: Any, lead: str) -> Iterator[tuple[str, str]]:
    """Each repeat with a text that leads to it; and the texts that lead past a repeat, over and over."""
    for operation, argument in tree:
        past = lead + example([(operation, argument)])
        match str(operation):
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                for unit in dict.fromkeys((example(argument[2]), example(argument[2], last=True))):
                    yield lead, unit
                yield "", past
                yield from repeats(argument[2], lead)
            case "BRANCH":
                for branch in argument[1]:
                    yield from repeats(branch, lead)
            case "SUBPATTERN":
                yield from repeats(argument[3], lead)
            case "ASSERT" | "ASSERT_NOT":
                yield from repeats(argument[1], lead)
            case "ATOMIC_GROUP":
                yield from repeats(argument, lead)
            case _:
                pass
        lead = past


def example(tree: Any, *, last: bool = False) -> str:
    """A text that the pattern matches, more or less; with `last` the last alternatives, else the first."""
    text = ""
    for operation, argument in tree:
        match str(operation):
            case "LITERAL":
                text += chr(argument)
            case "NOT_LITERAL" | "ANY":
                text += "a" if argument != ord("a") else "b"
            case "IN":
                text += member(argument, last=last)
            case "BRANCH":
                text += example(argument[1][-1 if last else 0], last=last)
            case "SUBPATTERN":
                text += example(argument[3], last=last)
            case "ATOMIC_GROUP":
                text += example(argument, last=last)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                text += example(argument[2], last=last) * max(1, min(int(argument[0]), 40))
            case _:
                pass
    return text


def member(items: Any, *, last: bool) -> str:
    one = re.compile(set_source(items))
    candidates = [
        chr(code) for code in (97, 32, 49, 45, 46, 65, 95, 39, 34, 10, *range(33, 127), 0x2019, 0xE9)
    ]
    fitting = [each for each in candidates if one.match(each)]
    return fitting[-1 if last else 0] if fitting else ""


def set_source(items: Any) -> str:
    kinds = {
        "DIGIT": r"\d",
        "SPACE": r"\s",
        "WORD": r"\w",
        "NOT_DIGIT": r"\D",
        "NOT_SPACE": r"\S",
        "NOT_WORD": r"\W",
    }
    written = ""
    for item, value in items:
        match str(item):
            case "NEGATE":
                written += "^"
            case "LITERAL":
                written += f"\\U{value:08x}"
            case "RANGE":
                written += f"\\U{value[0]:08x}-\\U{value[1]:08x}"
            case _:
                written += kinds[str(value).removeprefix("CATEGORY_")]
    return f"[{written}]"


class _TooLongError(Exception):
    pass


def _ring(*_: object) -> None:
    raise _TooLongError


def taken(run: Any, text: str) -> float:
    """Seconds for all matches in the text; the limit where it takes longer."""
    signal.signal(signal.SIGVTALRM, _ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    started = time.process_time()
    try:
        collections.deque(run(text), maxlen=0)
    except _TooLongError:
        return SECONDS
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return time.process_time() - started


def pumped(lead: str, unit: str, end: str, length: int) -> str:
    return lead + unit * (length // len(unit)) + end


def growth(found: Found) -> str | None:
    """What makes this pattern slow, or None."""
    from steward.contract import linear_re  # noqa: PLC0415

    compiled = linear_re.compile(found.pattern, found.flags)
    linear = found.linear and compiled.linear
    run = compiled.finditer if found.linear else re.compile(found.pattern, found.flags).finditer
    few = (lambda text: itertools.islice(run(text), MATCHES)) if linear else run
    next(iter(run("a")), None)
    for lead, unit, end in pumps(found.pattern, found.flags):
        if linear and end:
            continue  # no backtracking: what ends the text makes no difference
        text = pumped(lead, unit, end, LENGTHS[-1] if linear else SCREEN)
        limit = SLOW_AT_SCREEN * (4 if linear else 1)
        if taken(few, text) < limit or taken(few, text) < limit:
            continue
        # Three times, because a busy machine can make one measurement look steep.
        if all(times := steep(run, lead, unit, end) for _ in range(3)):
            return (
                f"{found.where} [{'RE2' if linear else 're'}] {lead!r} + {unit!r}… + {end!r} ({times})\n"
                f"    {found.pattern[:160]!r}"
            )
    return None


def steep(run: Any, lead: str, unit: str, end: str) -> str | None:
    """The times at each length, where they grow faster than it."""
    times: list[float] = []
    for length in LENGTHS:
        late = bool(times) and times[-1] > SECONDS / 4
        text = pumped(lead, unit, end, length)
        times.append(SECONDS if late else min(taken(run, text) for _ in range(2)))
    if times[-1] < SLOW or times[-1] < GROWTH * times[1] < SECONDS:
        return None
    return ", ".join(f"{length}: {each * 1000:.0f} ms" for length, each in zip(LENGTHS, times, strict=True))


def main() -> int:
    patterns = collected()
    with ProcessPoolExecutor(min(4, os.cpu_count() or 1), get_context("spawn")) as pool:
        slow: list[str] = []
        for told in filter(None, pool.map(growth, patterns, chunksize=8)):
            slow.append(told)
            print(told, flush=True)
    if slow:
        print(f"{len(slow)} of {len(patterns)} patterns grow faster than their text.")
        print("Import `linear_re` in place of `re`, and write the pattern without lookaround.")
    else:
        print(f"{len(patterns)} patterns, none grows faster than its text.")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
