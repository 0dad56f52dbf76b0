"""What docs/ shows can be copied: files are read by their own readers, code runs or names what there is."""

import ast
import importlib
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.main import get_command

from steward.policy.rules import parse_rules
from steward.providers.mcp.mcp_config import parse_mcp_config
from steward.providers.scripts.tools_config import parse_entry
from steward.surfaces.cli.app import app
from steward.surfaces.cli.library.knowledge import app as research_agent

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(DOCS.glob("*.md"))
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"(?:`|^\$ |^)((?:steward|research-agent) [a-z][^`\n]*)", re.MULTILINE)
_VALUED = re.compile(r"^(?P<code>\w[^#\n]*\S)\s+# (?P<value>(?:RiskLevel\.\w+|True|False))$", re.MULTILINE)


def shown(kind: str) -> list[Any]:
    found = [
        (page.name, number, text)
        for page in PAGES
        for number, (named, text) in enumerate(_FENCE.findall(page.read_text(encoding="utf-8")))
        if named == kind
    ]
    return [pytest.param(name, text, id=f"{name}-{number}") for name, number, text in found]


def _shown_in(page: str, kind: str) -> str:
    return next(text for named, text in _FENCE.findall(page) if named == kind)


def objects(text: str) -> Iterator[dict[str, Any]]:
    """A block as one object, as members of one, or as several that stand for each other, one a line."""
    try:
        yield json.loads(text if text.lstrip().startswith("{") else f"{{{text}}}")
    except json.JSONDecodeError:
        yield from (json.loads(f"{{{line}}}") for line in text.splitlines())


@pytest.mark.parametrize(("page", "text"), shown("json"))
def test_json_that_is_shown_is_read_by_whoever_reads_such_a_file(page: str, text: str) -> None:
    for shape in objects(text):
        for entry in shape.get("tools", ()):
            assert parse_entry(entry).name == entry["name"], page
        for servers in [shape["mcpServers"]] if "mcpServers" in shape else ():
            config = parse_mcp_config(json.dumps({"mcpServers": servers}))
            assert len(config.servers) == len(servers), page


@pytest.mark.parametrize(("page", "text"), shown("toml"))
def test_a_policy_that_is_shown_is_read_as_policy(page: str, text: str) -> None:
    assert tomllib.loads(text), page
    parse_rules(text)


@pytest.mark.parametrize(("page", "text"), shown("python"))
def test_code_that_is_shown_names_what_there_is_and_says_what_comes_of_it(page: str, text: str) -> None:
    tree = compile(text, page, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    known: dict[str, Any] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("steward"):
            module = importlib.import_module(str(node.module))
            known |= {each.name: getattr(module, each.name) for each in node.names}
    for line in _VALUED.finditer(text):
        assert eval(line["code"], known) == eval(line["value"], known), line[0]


def test_the_tool_that_is_shown_returns_what_its_entry_promises() -> None:
    page = (DOCS / "tools-json.md").read_text(encoding="utf-8")
    code, entry = (_shown_in(page, kind) for kind in ("python", "json"))
    made: dict[str, Any] = {}
    exec(code, made)
    jsonschema.validate(made["run"]("Ada"), json.loads(entry)["tools"][0]["output_schema"])


def test_every_command_that_the_pages_mention_exists() -> None:
    unknown: list[str] = []
    for page in PAGES:
        for line in _COMMAND.findall(page.read_text(encoding="utf-8")):
            program, *words = line.split()
            command = get_command(app if program == "steward" else research_agent)
            while (inner := getattr(command, "commands", None)) and words:
                word = words.pop(0)
                if word not in inner:
                    unknown += [f"{page.name}: {line}"] if re.fullmatch(r"[a-z][a-z-]+", word) else []
                    break
                command = inner[word]
    assert unknown == []
