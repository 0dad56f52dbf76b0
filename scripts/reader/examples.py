"""Turns teaching rows into what the reader is to say about a request and one tool.

Sources: the hand-written files beside this program, the open collections of `calls.jsonl.xz` and, for the
judgement of fit alone, `tools.jsonl.gz` and scripts/fit/written.jsonl. Tools are left out of teaching by a
hash of their name, so that every run leaves out the same ones.
"""

import gzip
import hashlib
import json
import lzma
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import written

from steward.language.acts import SpeechAct
from steward.language.layout import Encoded, Layout, ToolText, lay_out, tokens_of, tool_text
from steward.language.slots import SlotKind
from steward.models.acts import ABOUT

Row = dict[str, Any]
ACTS = {
    SpeechAct.TALK: ABOUT,
    SpeechAct.WISH: "The person wants something to be done, changed, added, sent, started or kept in mind.",
    SpeechAct.ASK: "The person wants to know something and waits for an answer.",
}
HERE = Path(__file__).parent
# What gaps and calls are measured on is never taught.
LEFT_OUT_POOLS = frozenset(
    {"metatool", "bfcl", "apibench", "api-bank", "toolalpaca", "apibank", "openfunctions_v1"}
)
OWN = frozenset(
    """add_task list_tasks complete_task update_task delete_task web_search get_current_time
    search_memory store_memory save_fact forget_memory query_knowledge_base read_file list_directory
    search_files fetch_page ingest_documents augment_knowledge manage_collections manage_projects
    code_execution log_to_obsidian find_skills use_skill calculate undo add_schedule""".split()  # noqa: SIM905 - a word list reads best as words
)
PLACEHOLDERS = frozenset({"dontcare", "don't care", ""})
MOST_CALLS = 4
SERVED = 4_000  # requests of tools that stand for what is no talk


def held_out(tool: str) -> bool:
    return hashlib.md5(tool.encode()).digest()[0] % 16 == 0


def from_collections(path: Path) -> Iterator[Row]:
    with lzma.open(path, "rt") as lines:
        for row in map(json.loads, lines):
            for number, call in enumerate(row["calls"]):
                for name, value in list(call["arguments"].items()):
                    if isinstance(value, str) and value.lower() in PLACEHOLDERS:
                        del call["arguments"][name]
                        row["spans"].pop(f"{number}.{name}", None)
            yield {key: row[key] for key in ("request", "tools", "calls", "spans", "source")}


def from_writing(folder: Path, rng: random.Random) -> Iterator[Row]:
    """Each request beside two tools of its area: siblings are what it is confused with.

    A request that stands under several tools of a file asks something of each of them.
    """
    problems: list[str] = []
    for path in sorted(folder.glob("*.txt")):
        rows = list(written.read(path, problems))
        tools = {row["tool"]["name"]: row["tool"] for row in rows}
        served: dict[str, list[Row]] = {}
        for row in rows:
            if row["calls"]:
                served.setdefault(row["request"], []).append(row)
        for row in rows:
            together = served.get(row["request"], []) if row["calls"] else [row]
            if together[0] is not row:
                continue
            right = {each["tool"]["name"]: each["tool"] for each in together}
            others = [tool for name, tool in tools.items() if name not in right]
            calls, spans = _together(together)
            yield {
                "request": row["request"],
                "tools": [*right.values(), *rng.sample(others, min(2, len(others)))],
                "calls": calls,
                "spans": spans,
                "source": f"written:{path.stem}",
                "near": not row["calls"],
            }
    if problems:
        raise SystemExit("\n".join(problems))


def _together(rows: list[Row]) -> tuple[list[Row], dict[str, list[list[int]]]]:
    """The calls of all rows, numbered on, with the places of their values."""
    calls: list[Row] = []
    spans: dict[str, list[list[int]]] = {}
    for row in rows:
        for key, places in row["spans"].items():
            number, _, name = key.partition(".")
            spans[f"{int(number) + len(calls)}.{name}"] = [list(span) for span in places]
        calls += row["calls"]
    return calls, spans


def from_talk(folder: Path) -> Iterator[Row]:
    """What people say that asks for no tool at all: beside whatever tool it stands, it does not fit."""
    for path in sorted(folder.glob("*.txt")):
        for line in filter(None, map(str.strip, path.read_text().splitlines())):
            yield {
                "request": line, "tools": [], "calls": [], "spans": {}, "source": "talk", "near": True,
            }  # fmt: skip


def act_rows(folder: Path, rows: list[Row], rng: random.Random) -> list[Row]:
    """Which of the three acts each line is, and that whoever asks something of a tool does not only talk.

    What no tool is for is not taught as talk: a question that nobody here can answer is one all the same.
    """

    def told(act: SpeechAct) -> Row:
        return {"name": act.value, "description": ACTS[act], "inputSchema": {}}

    found: list[Row] = []
    for act, name in ((SpeechAct.TALK, "talk"), (SpeechAct.WISH, "wish"), (SpeechAct.ASK, "ask")):
        wrong = [told(each) for each in ACTS if each is not act]
        for line in filter(None, map(str.strip, (folder / f"{name}.txt").read_text().splitlines())):
            found.append({"request": line, "right": [told(act)], "wrong": wrong, "source": "acts"})
    served = [row["request"] for row in rows if row["calls"] and row["source"].startswith("written")]
    talk = [told(SpeechAct.TALK)]
    return found + [
        {"request": each, "right": [], "wrong": talk, "source": "acts"}
        for each in rng.sample(served, min(SERVED, len(served)))
    ]


def fit_rows(tools: Path) -> Iterator[Row]:
    """Requests with a tool that serves them, or one that only sounds so; nothing is known of its slots."""

    def bare(name: str, about: str) -> dict[str, Any]:
        return {"name": name, "description": about, "inputSchema": {}}

    with gzip.open(tools, "rt") as lines:
        for row in map(json.loads, lines):
            if row["pool"].lower() in LEFT_OUT_POOLS or row["gap"] or not row["positive"]:
                continue
            right = [bare(each["name"], each["description"] or "") for each in row["positive"]]
            wrong = [bare(each["name"], each["description"] or "") for each in row["candidates"]]
            names = {each["name"] for each in right}
            yield {
                "request": row["query"][:600],
                "right": right,
                "wrong": [each for each in wrong if each["name"] not in names],
                "source": row["pool"],
            }
    for line in (HERE.parent / "fit" / "written.jsonl").read_text().splitlines():
        row = json.loads(line)
        tool = bare(row["tool"], row["about"])
        for asked in row["asks"]:
            yield {"request": asked, "right": [tool], "wrong": [], "source": "fit-written"}
        for missed in row["near"]:
            yield {"request": missed, "right": [], "wrong": [tool], "source": "fit-written"}


@dataclass
class Example:
    """One request beside one tool, and what is right to say of them."""

    layout: Layout
    fits: float
    spans: list[tuple[int, int, int]]  # slot, first and last token
    there: list[float]
    known: list[float]  # 0 where the value is there and nobody knows which words say it
    chosen: list[float]
    calls: int
    total: int
    starts: list[int]  # tokens that begin the values of a second call or a later one
    shared: list[tuple[int, int]]  # tokens that belong to every call
    about_slots: bool = True


class Teacher:
    def __init__(
        self, encode: Callable[[str], Encoded], tools: list[dict[str, Any]], rng: random.Random
    ) -> None:
        self._encode = encode
        self._pool = tools
        self._own = [tool for tool in tools if tool["name"] in OWN]
        self._undemanding = [tool for tool in tools if not (tool.get("inputSchema") or {}).get("required")]
        self._rng = rng
        self._texts: dict[str, ToolText] = {}

    def _text(self, tool: dict[str, Any]) -> ToolText:
        key = json.dumps(tool, sort_keys=True)
        if key not in self._texts:
            if len(self._texts) > 60_000:
                self._texts.clear()
            schema = tool.get("inputSchema") or tool.get("parameters") or {}
            self._texts[key] = tool_text(tool["name"], tool.get("description") or "", schema, self._encode)
        return self._texts[key]

    def _varied(self, tool: dict[str, Any]) -> dict[str, Any]:
        """The same tool as others would define it: slots in another order, fewer words about them."""
        schema = tool.get("inputSchema") or {}
        properties = list((schema.get("properties") or {}).items())
        draw = self._rng.random
        if draw() > 0.35 or not properties:
            return tool
        if draw() < 0.6:
            self._rng.shuffle(properties)
        silent = draw() < 0.3
        told = {
            name: {k: v for k, v in each.items() if k != "description"}
            if silent and isinstance(each, dict) and draw() < 0.6
            else each
            for name, each in properties
        }
        about = tool.get("description") or ""
        about = about.split(". ")[0] if draw() < 0.3 else about
        return tool | {"description": about, "inputSchema": schema | {"properties": told}}

    def about_fit(self, row: Row) -> list[Example]:
        request = self._encode(row["request"])
        found = [self._plain(request, tool, fits=True) for tool in row["right"][:1]]
        wrong = row["wrong"] or [self._rng.choice(self._pool)]
        return found + [self._plain(request, tool, fits=False) for tool in self._rng.sample(wrong, 1)]

    def _plain(self, request: Encoded, tool: dict[str, Any], *, fits: bool) -> Example:
        layout = lay_out(request, self._text(tool))
        blank = [0.0] * len(layout.slots)
        return Example(
            layout,
            float(fits),
            [],
            blank,
            blank,
            [0.0] * len(layout.choices),
            1,
            1,
            [],
            [],
            about_slots=False,
        )

    def about(self, row: Row) -> list[Example]:
        request = self._encode(row["request"])
        if not row["tools"]:
            others = self._rng.choice((self._own, self._undemanding, self._pool))
            return [self._plain(request, self._rng.choice(others), fits=False)]
        names = {call["name"] for call in row["calls"]}
        called = [tool for tool in row["tools"] if tool["name"] in names]
        others = [tool for tool in row["tools"] if tool["name"] not in names]
        others = others[:1] if row.get("near") else self._rng.sample(others, min(1, len(others)))
        if self._rng.random() < 0.4 and not row.get("near"):
            # A tool that asks for nothing is easily taken, and Steward's own stand beside everything.
            pools = (self._pool, self._undemanding, self._own)
            others = [self._rng.choice(self._rng.choice(pools[:2] if names & OWN else pools))]
        found = [self._right(row, request, tool) for tool in called[:3]]
        return found + [
            self._plain(request, tool, fits=False) for tool in others if tool["name"] not in names
        ]

    def _right(self, row: Row, request: Encoded, tool: dict[str, Any]) -> Example:
        layout = lay_out(request, self._text(self._varied(tool)))
        mine = [number for number, call in enumerate(row["calls"]) if call["name"] == tool["name"]]
        there, known = [0.0] * len(layout.slots), [1.0] * len(layout.slots)
        chosen = [0.0] * len(layout.choices)
        spans: set[tuple[int, int, int]] = set()
        own: dict[int, set[tuple[int, int]]] = {number: set() for number in mine}
        for at, slot in enumerate(layout.slots):
            for number in mine:
                value = _value(row["calls"][number]["arguments"], slot.path)
                if value is None:
                    continue
                there[at] = 1.0
                places = tokens_of(row["spans"].get(f"{number}.{slot.name}", ()), layout.offsets)
                spans |= {(at, first, last) for first, last in places}
                own[number] |= set(places)
                if not places and slot.kind not in (SlotKind.CHOICE, SlotKind.BOOLEAN):
                    known[at] = 0.0
                for place, (owner, choice) in enumerate(layout.choices):
                    values = value if isinstance(value, list) else [value]
                    if owner == at and any(str(each).lower() == str(choice).lower() for each in values):
                        chosen[place] = 1.0
        common = set.intersection(*own.values()) if len(mine) > 1 else set()
        starts = sorted(min(places - common) for places in own.values() if places - common)[1:]
        return Example(
            layout,
            1.0,
            sorted(spans),
            there,
            known,
            chosen,
            min(len(mine), MOST_CALLS),
            min(len(row["calls"]), MOST_CALLS),
            [first for first, _ in starts],
            sorted(common),
        )


def _value(arguments: dict[str, Any], path: tuple[str, ...]) -> Any:
    """By its whole path, written with dots or as objects in objects."""
    dotted = arguments.get(".".join(path))
    if dotted is not None:
        return dotted
    found: Any = arguments
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found
