"""Reads the teaching requests that were written by hand: a short text form, each value marked in its place.

    @ book_table | Reserves a table at a restaurant.
    - restaurant* text: Name of the restaurant
    - people* int: Number of guests
    - date text: Day, as YYYY-MM-DD
    - seating one(indoor, outdoor, bar): Where to sit
    - needs texts: Dietary needs
    - contact.phone text: Phone number of the guest
    > table for [four=4|people] at [Luigi's|restaurant], [outside=outdoor|seating]
    > get me a table at [Nobu|restaurant] for [2|people] and one at [Roka|restaurant/2] for [3|people/2]
    x which restaurants near me are open now

A star marks what is required. `[words|parameter]` is a value that stands in the request,
`[words=value|parameter]` one that stands there in other words, `{parameter=value}` at the end one that is
only implied; `/2` belongs to a second call, and a value without a number belongs to each call. The same
parameter twice makes a list. `x` starts a request that the tool does not serve, though it sounds alike. Run
as a program it checks files and counts what is in them.

    = thing: buy milk; call the plumber; renew the passport
    ~ (please |could you |)(add|put) [<thing>|title] (to my list|on the list)

`=` names a pool of words, separated by semicolons; `~` is a request with `<pool>` and `(either|or|)` in it,
and stands for several requests that are drawn from it.
"""

import json
import random
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DRAWN = 6  # requests of a line with pools
ONE_OF = re.compile(r"\(([^()]*\|[^()]*)\)")
POOL = re.compile(r"<([\w-]+)>")
FOLDER = Path(__file__).parent / "written"
TYPES = {"text": "string", "int": "integer", "num": "number", "bool": "boolean"}
LISTS = {"texts": "string", "ints": "integer", "nums": "number", "bools": "boolean"}
MARK = re.compile(r"\[([^\[\]|]*?)(?:=([^\[\]|=]*))?\|([\w.-]+)(?:/(\d))?\]")
IMPLIED = re.compile(r"\{([\w.-]+)(?:/(\d))?=([^{}]*)\}\s*")
PARAMETER = re.compile(r"- ([\w.-]+)(\*?) (\w+)(?:\(([^)]*)\))?(?:: (.*))?$")


@dataclass
class WrittenTool:
    name: str
    description: str
    properties: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    required: list[str] = field(default_factory=list[str])

    def definition(self) -> dict[str, Any]:
        """As an MCP server would give it: dotted names become objects."""
        root: dict[str, Any] = {"type": "object", "properties": {}, "required": []}
        for path, schema in self.properties.items():
            *outer, last = path.split(".")
            place = root
            for name in outer:
                empty: dict[str, Any] = {"type": "object", "properties": {}, "required": []}
                if path in self.required and name not in place["required"]:
                    place["required"].append(name)
                place = place["properties"].setdefault(name, empty)
            place["properties"][last] = schema
            if path in self.required:
                place["required"].append(last)
        return {"name": self.name, "description": self.description, "inputSchema": root}


def parameter(line: str) -> tuple[str, bool, dict[str, Any]]:
    found = PARAMETER.match(line)
    if not found:
        raise ValueError("a parameter is '- name* type: description'")
    name, star, kind, choices, about = found.groups()
    options = [choice.strip() for choice in (choices or "").split(",") if choice.strip()]
    schema: dict[str, Any]
    if kind in ("one", "many"):
        if not options:
            raise ValueError(f"'{kind}' names its choices: {kind}(a, b)")
        schema = {"type": "string", "enum": options}
        schema = schema if kind == "one" else {"type": "array", "items": schema}
    elif kind in TYPES:
        schema = {"type": TYPES[kind]}
    elif kind in LISTS:
        schema = {"type": "array", "items": {"type": LISTS[kind]}}
    else:
        raise ValueError(f"no type '{kind}'")
    return name, bool(star), schema | ({"description": about} if about else {})


def typed(text: str, schema: dict[str, Any]) -> Any:
    kind = schema.get("type")
    if kind == "array":
        return typed(text, schema["items"])
    if "enum" in schema:
        same = [choice for choice in schema["enum"] if choice.lower() == text.strip().lower()]
        if not same:
            raise ValueError(f"'{text}' is no choice of {schema['enum']}: write [words=choice|parameter]")
        return same[0]
    if kind == "boolean":
        if text.lower() not in ("true", "false"):
            raise ValueError(f"'{text}' is neither true nor false: write [words=true|parameter]")
        return text.lower() == "true"
    if kind in ("integer", "number"):
        bare = re.sub(r"[,$€£%]|(?<=\d)(st|nd|rd|th)\b", "", text).strip()
        try:
            return int(bare) if kind == "integer" or bare.lstrip("-").isdigit() else float(bare)
        except ValueError:
            raise ValueError(f"'{text}' is no number: write [words=3|parameter]") from None
    return text


def request(line: str, tool: WrittenTool) -> dict[str, Any]:
    """One request without its marks, its calls and where their values stand."""
    implied = [(m[1], m[2], m[3], None) for m in IMPLIED.finditer(line)]
    line = IMPLIED.sub("", line).strip()
    plain, values, end = "", [*implied], 0
    for mark in MARK.finditer(line):
        plain += line[end : mark.start()]
        spot = (len(plain), len(plain) + len(mark[1]))
        values.append((mark[3], mark[4], mark[1] if mark[2] is None else mark[2], spot))
        plain += mark[1]
        end = mark.end()
    plain += line[end:]
    if "[" in plain and "|" in plain:
        raise ValueError("a mark is [words|parameter] or [words=value|parameter]")
    count = max([int(number) for _, number, _, _ in values if number], default=1)
    calls: list[dict[str, Any]] = [{} for _ in range(count)]
    spans: dict[str, list[tuple[int, int]]] = {}
    for name, number, text, spot in values:
        if name not in tool.properties:
            raise ValueError(f"{tool.name} has no parameter '{name}'")
        schema = tool.properties[name]
        value = typed(text, schema)
        several = count > 1 and any(other == name and n for other, n, _, _ in values)
        members = [int(number or 1) - 1] if number or several else range(count)
        for index in members:
            if schema["type"] == "array":
                calls[index].setdefault(name, []).append(value)
            else:
                calls[index][name] = value
            if spot:
                spans.setdefault(f"{index}.{name}", []).append(spot)
    return {"request": plain, "calls": [{"name": tool.name, "arguments": c} for c in calls], "spans": spans}


def drawn(template: str, pools: dict[str, list[str]]) -> list[str]:
    """Requests that a template stands for; the same ones at every reading."""
    rng = random.Random(template)
    found: dict[str, None] = {}
    for _ in range(4 * DRAWN):
        text = template
        while ONE_OF.search(text):
            text = ONE_OF.sub(lambda m: rng.choice(m[1].split("|")), text)
        missing = [name for name in POOL.findall(text) if name not in pools]
        if missing:
            raise ValueError(f"no pool '{missing[0]}'")
        text = POOL.sub(lambda m: rng.choice(pools[m[1]]), text)
        found[" ".join(text.split())] = None
        if len(found) == DRAWN:
            break
    return list(found)


def blocks(path: Path) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            yield number, line.rstrip()


def read(path: Path, problems: list[str]) -> Iterator[dict[str, Any]]:
    """Rows `{area, tool, request, calls, spans}`; an empty `calls` is a near miss."""
    tool = WrittenTool("", "")
    pools: dict[str, list[str]] = {}
    for number, line in blocks(path):
        try:
            if line.startswith("@ "):
                name, _, about = line[2:].partition(" | ")
                tool = WrittenTool(name.strip(), about.strip())
                if not tool.description:
                    raise ValueError("a tool is '@ name | description'")
            elif line.startswith("- "):
                name, needed, schema = parameter(line)
                tool.properties[name] = schema
                if needed:
                    tool.required.append(name)
            elif line.startswith("= "):
                name, _, words = line[2:].partition(": ")
                pools[name.strip()] = [each.strip() for each in words.split(";") if each.strip()]
            elif line.startswith(("> ", "~ ")):
                lines = [line[2:]] if line[0] == ">" else drawn(line[2:], pools)
                for each in lines:
                    yield {"area": path.stem, "tool": tool.definition()} | request(each, tool)
            elif line.startswith("x "):
                yield {
                    "area": path.stem,
                    "tool": tool.definition(),
                    "request": line[2:].strip(),
                    "calls": [],
                    "spans": {},
                }
            else:
                raise ValueError("a line starts with '@ ', '- ', '> ', '~ ', '= ', 'x ' or '#'")
        except ValueError as error:
            problems.append(f"{path.name}:{number}: {error}")


def main(paths: list[Path]) -> int:
    problems: list[str] = []
    rows = [row for path in paths for row in read(path, problems)]
    tools = {json.dumps(row["tool"]["name"]) for row in rows}
    served = [row for row in rows if row["calls"]]
    print(
        f"{len(paths)} files, {len(tools)} tools, {len(served)} requests, {len(rows) - len(served)} misses,"
    )
    several = sum(len(row["calls"]) > 1 for row in served)
    kinds = [type(v).__name__ for row in served for call in row["calls"] for v in call["arguments"].values()]
    print(f"{several} with several calls; values:", {kind: kinds.count(kind) for kind in sorted(set(kinds))})
    print("\n".join(problems))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main([Path(name) for name in sys.argv[1:]] or sorted(FOLDER.glob("*.txt"))))
