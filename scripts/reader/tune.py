"""Sets the thresholds of a reading on tools that were left out of teaching, and measures it on the unseen.

    python scripts/reader/tune.py GRAPH --data FOLDER [--dev CALLS.jsonl] [--processes 16] [--show 20]

Prints a line for each set: right, asked, refused, wrong, as shares. The sets under `--dev` take no part in
the choice.
"""

import argparse
import json
import multiprocessing
import random
import re
import sys
from collections import Counter, defaultdict
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
import made
from examples import from_collections, from_writing, held_out

from steward.language.filling import Marks, fill
from steward.language.layout import Layout
from steward.language.numbers import number_in
from steward.language.thresholds import DEFAULT, Thresholds
from steward.language.values import Said
from steward.models.minilm import DATA, MiniLM
from steward.models.reader import TaughtReader

Row = dict[str, Any]
Marked = tuple[Row, list[str], list[tuple[Layout, Marks]]]
STEPS: dict[str, tuple[float, ...]] = {
    "optional": (0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6),
    "there_share": (0.0, 0.3, 0.5, 0.7),
    "required_there_share": (0.0, 0.3, 0.5, 0.7),
    "required": (0.01, 0.03, 0.06, 0.1, 0.2),
    "choice": (0.25, 0.35, 0.45, 0.6, 0.75),
    "required_choice": (0.02, 0.05, 0.1, 0.2),
    "listed": (0.15, 0.3, 0.5),
    "several": (0.15, 0.3, 0.5),
    "one_call": (0.3, 0.4, 0.5, 0.6, 0.7),
    "start": (0.1, 0.2, 0.35, 0.5),
    "one_tool": (0.3, 0.5, 0.7),
    "also": (0.3, 0.5, 0.7, 0.85),
}


def bare(value: object) -> str:
    return re.sub(r"[ ,./\-_*^]", "", str(value)).lower().replace("'", '"')


def same(value: Any, accepted: Any) -> bool:
    if isinstance(accepted, dict) and isinstance(value, dict):
        return agree(value, {k: v if isinstance(v, list) else [v] for k, v in accepted.items()})
    if isinstance(accepted, list) and isinstance(value, list):
        return len(value) == len(accepted) and all(
            same(a, b) or (isinstance(b, list) and any(same(a, each) for each in b))
            for a, b in zip(value, accepted, strict=True)
        )
    if isinstance(accepted, bool) or isinstance(value, bool):
        return value is accepted
    if isinstance(accepted, int | float) and isinstance(value, int | float):
        return abs(value - accepted) < 1e-9
    return (
        bare(value) == bare(accepted)
        if isinstance(value, str) and isinstance(accepted, str)
        else value == accepted
    )


def agree(given: dict[str, Any], truth: dict[str, Any]) -> bool:
    for name, accepted in truth.items():
        if name not in given:
            if "" not in accepted:
                return False
        elif not any(same(given[name], each) for each in accepted):
            return False
    return all(name in truth for name in given)


def judged(calls: list[tuple[str, dict[str, Any]]], truth: list[Row]) -> bool:
    left = list(calls)
    for wanted in truth:
        hit = next((c for c in left if c[0] == wanted["name"] and agree(c[1], wanted["arguments"])), None)
        if hit is None:
            return False
        left.remove(hit)
    return not left


def decided(
    row: Row, names: list[str], marked: list[tuple[Layout, Marks]], limits: Thresholds
) -> tuple[str, list[Any]]:
    order = sorted(range(len(names)), key=lambda at: -marked[at][1].fit)
    best = marked[order[0]][1]
    if best.fit < limits.alone:
        return "refused", []
    picked = order[:1]
    if best.total[0] < limits.one_tool:
        picked += [at for at in order[1:] if marked[at][1].fit >= limits.also]
    calls, missing = [], False
    for at in picked:
        filled = fill(Said(row["request"]), *marked[at], limits)
        if at != order[0] and any(each.missing for each in filled):
            continue
        calls += [(names[at], dict(each.arguments)) for each in filled]
        missing = missing or any(each.missing for each in filled)
    return ("asked" if missing else "called"), calls


def verdict(each: Marked, limits: Thresholds) -> tuple[str, list[Any]]:
    row, names, marked = each
    what, calls = decided(row, names, marked, limits)
    if what == "refused":
        return ("refused" if row["truth"] else "right"), calls
    if what == "asked":
        return ("right" if row.get("lacks") else "asked"), calls
    return ("right" if row["truth"] and judged(calls, row["truth"]) else "wrong"), calls


def truth_of(row: Row) -> list[Row]:
    found: list[Row] = []
    for number, call in enumerate(row["calls"]):
        arguments: dict[str, Any] = {}
        for name, value in call["arguments"].items():
            accepted, spans = [value], row["spans"].get(f"{number}.{name}")
            if spans and not isinstance(value, list):
                words = row["request"][spans[0][0] : spans[0][1]]
                accepted.append(words)
                read = number_in(words, after=row["request"][spans[0][1] : spans[0][1] + 14])
                if read and isinstance(value, int | float):
                    accepted += [read.value, read.value / 100]
            outer, _, inner = name.partition(".")
            if inner:
                arguments.setdefault(outer, [{}])[0][inner] = accepted
            else:
                arguments[name] = accepted
        found.append({"name": call["name"], "arguments": arguments})
    return found


def lacks(row: Row) -> bool:
    """Whether a required value was not said."""
    for call in row["calls"]:
        tool = made.tool_of(row, call["name"]) or {"inputSchema": {}}
        needed = tool["inputSchema"].get("required") or []
        said = {name.split(".")[0] for name in call["arguments"]}
        if any(name not in said for name in needed):
            return True
    return False


def left_out(data: Path, written: Path, size: int) -> dict[str, list[Row]]:
    rng = random.Random(7)
    clean = [
        row
        for row in from_collections(data / "calls.jsonl.xz")
        if row["calls"]
        and held_out(row["calls"][0]["name"])
        and all(
            f"0.{k}" in row["spans"] or isinstance(v, bool) for k, v in row["calls"][0]["arguments"].items()
        )
    ]
    by_tool: defaultdict[str, list[Row]] = defaultdict(list)
    for row in clean:
        by_tool[row["calls"][0]["name"]].append(row)
    some = [row for _, rows in sorted(by_tool.items()) for row in rng.sample(rows, min(6, len(rows)))]
    rng.shuffle(some)
    own = [row for row in from_writing(written, rng) if held_out(row["tools"][0]["name"])]
    asked = [row for row in own if row["calls"]]
    gone = [
        row
        | {
            "tools": [each for each in row["tools"] if each["name"] != row["calls"][0]["name"]][:4],
            "calls": [],
        }
        for row in [*some[:200], *asked[:300]]
    ]
    pool = made.value_pool(clean)
    sets = {
        "collections": some[:size],
        "written, one call": [row for row in asked if len(row["calls"]) == 1],
        "written, several": [row for row in asked if len(row["calls"]) > 1],
        "near misses": [row | {"tools": row["tools"][:1]} for row in own if not row["calls"]],
        "tool taken away": [row for row in gone if row["tools"]],
        "made calls": [each for row in some[:300] if (each := made.spread(row, pool, rng, how="calls"))],
        "made lists": [each for row in some[:300] if (each := made.spread(row, pool, rng, how="list"))],
        "joined": [made.joined([row, rng.choice(asked)], rng) for row in [*some[:100], *asked[:100]]],
    }
    return {
        name: [row | {"truth": truth_of(row), "lacks": lacks(row)} for row in rows]
        for name, rows in sets.items()
    }


def of_file(path: Path) -> dict[str, list[Row]]:
    sets: defaultdict[str, list[Row]] = defaultdict(list)
    for row in map(json.loads, path.read_text().splitlines()):
        sets[row.get("source", path.stem)].append(row | {"truth": row["calls"]})
    return sets


READER: TaughtReader | None = None


def load(graph: Path) -> None:
    global READER  # noqa: PLW0603 - one for each process
    READER = TaughtReader(MiniLM(graph, tables=DATA / "minilm.onnx", threads=1))


def mark(row: Row) -> Marked:
    assert READER is not None
    tools = row["tools"][:8]
    texts = [READER.tool(t["name"], t.get("description") or "", t.get("inputSchema") or {}) for t in tools]
    return row, [tool["name"] for tool in tools], READER.mark(row["request"], texts)


def shares(rows: list[Marked], limits: Thresholds) -> dict[str, float]:
    counted = Counter(verdict(each, limits)[0] for each in rows)
    return {
        name: round(counted[name] / max(1, len(rows)), 3) for name in ("right", "asked", "refused", "wrong")
    }


def worth(job: tuple[list[Marked], Thresholds]) -> float:
    """Right is good, wrong is worse than asking."""
    rows, limits = job
    found = shares(rows, limits)
    return found["right"] - 0.3 * found["wrong"]


CHOSEN: dict[str, list[Marked]] = {}


def value(limits: Thresholds) -> float:
    weights = {
        "collections": 0.5,
        "written, one call": 2.0,
        "written, several": 1.0,
        "made calls": 0.3,
        "joined": 0.5,
    }
    weights |= {"near misses": 1.0, "tool taken away": 1.0, "made lists": 0.3}
    return sum(weight * worth((CHOSEN[name], limits)) for name, weight in weights.items() if CHOSEN.get(name))


def chosen_limits(processes: int) -> Thresholds:
    limits = DEFAULT
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        fits = [replace(limits, alone=at / 20) for at in range(2, 19)]
        limits = max(zip(pool.map(value, fits), fits, strict=True), key=lambda each: each[0])[1]
        for _ in range(2):
            for name, steps in STEPS.items():
                tries = [limits, *(replace(limits, **{name: step}) for step in steps)]
                values = pool.map(value, tries)
                limits = tries[max(range(len(tries)), key=lambda at: (round(values[at], 4), -at))]
    return limits


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("graph", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--dev", type=Path, action="append", default=[])
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--size", type=int, default=500)
    parser.add_argument("--show", type=Path)
    args = parser.parse_args()
    sets = left_out(args.data, Path(__file__).parent / "written", args.size)
    unseen = {name: rows for path in args.dev for name, rows in of_file(path).items()}
    context = multiprocessing.get_context("fork")
    with context.Pool(args.processes, load, (args.graph,)) as pool:
        marked = {name: pool.map(mark, rows, chunksize=8) for name, rows in (sets | unseen).items()}
    CHOSEN.update({name: marked[name] for name in sets})
    limits = chosen_limits(args.processes)
    print(json.dumps({name: round(value, 4) for name, value in asdict(limits).items()}))
    for name, rows in marked.items():
        print(f"{name:28} {len(rows):5}", shares(rows, DEFAULT), shares(rows, limits), flush=True)
    if args.show:
        lines = []
        for name, rows in marked.items():
            for each in rows:
                what, calls = verdict(each, limits)
                if what != "right":
                    fits = [round(marks.fit, 2) for _, marks in each[2]]
                    lines.append(json.dumps([name, what, each[0]["request"], calls, each[0]["truth"], fits]))
        args.show.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
