"""The suite `tools`: is the right tool among the first that a request finds?

Runs the index that the product runs. Past requests (`examples.jsonl`) are learned as they would be from use.
"""

import statistics
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from steward.contract import linear_re as re
from steward.contract.errors import InputError
from steward.contract.tool import ToolSpec
from steward.evaluation.data import read_rows
from steward.models.embedding import MiniLMEmbedder
from steward.selection.index import ToolIndex

DEPTH = 5
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


def evaluate(path: Path) -> dict[str, Any]:
    """The share of queries whose first, or first five, hold a gold tool, and the median time of a search."""
    if not path.is_dir():
        raise InputError(f"{path} is not a folder.", fix="Give one with tools.jsonl and queries.jsonl.")
    tools, named = read_tools(read_rows(path / "tools.jsonl"))
    queries = read_rows(path / "queries.jsonl") if (path / "queries.jsonl").exists() else ()
    examples = read_rows(path / "examples.jsonl") if (path / "examples.jsonl").exists() else ()
    embedder = MiniLMEmbedder()
    index = ToolIndex(embedder)
    index.sync(tools)
    texts = index.missing()
    index.supply(dict(zip(texts, embedder.embed(texts), strict=True)))
    _learn(index, embedder, examples, named)
    asked = [str(row["query"]) for row in queries] or [tool.description[:200] for tool in tools[::20]]
    ranks: list[int | None] = []
    times: list[float] = []
    for number, query in enumerate(asked):
        started = time.perf_counter()
        found = index.rank(query, tools, limit=DEPTH)
        times.append(time.perf_counter() - started)
        if queries:
            gold = {named.get(name) for name in _gold(path, queries[number], number + 1)}
            names = [hit.tool.name for hit in found]
            ranks.append(next((at for at, name in enumerate(names) if name in gold), None))
    numbers: dict[str, Any] = {"n": len(asked)}
    if ranks:
        numbers["hit@1"] = round(sum(rank == 0 for rank in ranks) / len(ranks), 4)
        numbers["hit@5"] = round(sum(rank is not None for rank in ranks) / len(ranks), 4)
    return {**numbers, "p50_ms": round(statistics.median(times) * 1000, 2)}


def read_tools(rows: Sequence[Mapping[str, Any]]) -> tuple[list[ToolSpec], dict[str, str]]:
    """The tools under names that we can call, and which of those a name of the data means."""
    tools: list[ToolSpec] = []
    named: dict[str, str] = {}
    taken: set[str] = set()
    for row in rows:
        said = str(row["name"])
        name = _UNSAFE.sub("_", said)[:60]
        while name in taken:
            name = f"{name[:58]}_{len(taken) % 97}"
        taken.add(name)
        named.setdefault(said, name)
        tools.append(
            ToolSpec(
                name=name,
                description=str(row.get("description") or ""),
                input_schema=_schema(row.get("inputSchema")),
            )
        )
    return tools, named


def _schema(given: Any) -> Mapping[str, Any]:
    """Some data sets give the properties alone."""
    if not isinstance(given, Mapping):
        return {"type": "object"}
    schema = cast("Mapping[str, Any]", given)
    described = schema and all(isinstance(value, Mapping) for value in schema.values())
    return {"type": "object", "properties": schema} if described and "properties" not in schema else schema


def _learn(
    index: ToolIndex, embedder: MiniLMEmbedder, rows: Sequence[Mapping[str, Any]], named: Mapping[str, str]
) -> None:
    pairs = [(str(row["query"]), named[name]) for row in rows for name in row["tools"] if name in named]
    vectors = embedder.embed([query for query, _ in pairs])
    index.learn((query, tool, vector) for (query, tool), vector in zip(pairs, vectors, strict=True))


def _gold(path: Path, row: Mapping[str, Any], number: int) -> Sequence[str]:
    gold = row.get("tools")
    if not isinstance(gold, list) or not gold:
        raise InputError(f"{path / 'queries.jsonl'}, row {number}: needs the tools that are right.")
    return cast("list[str]", gold)
