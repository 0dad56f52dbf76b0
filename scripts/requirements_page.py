"""docs/requirements.md: each requirement in our words, the test that proves it, and through which surface.

Owns the choice of one test for each id: the one nearest to what a user has. `make reference` writes the page.
"""

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

ROOT = Path(__file__).parent.parent
TITLES = {
    "RES": "The researcher",
    "ORC": "Agents and the orchestrator",
    "SKL": "Tools and skills",
    "KB": "The knowledge base",
    "TODO": "The task assistant",
}
# The nearest to a user first: where a test lies says what it goes through.
SURFACES = (
    ("tests/browser/", "page in a browser"),
    ("tests/integration/web/", "page"),
    ("tests/integration/cli/", "command line"),
    ("tests/journeys/test_first_day", "command line"),
    ("tests/journeys/test_task_ask", "command line"),
    ("tests/journeys/test_knowledge_served", "MCP over a pipe"),
    ("tests/journeys/test_served", "MCP over a pipe"),
    ("tests/journeys/", "conversation"),
    ("tests/peers/", "another program"),
    ("tests/integration/api/", "HTTP"),
    ("tests/attacks/", "a running Steward"),
    ("tests/integration/test_gateway", "MCP"),
    ("tests/integration/test_mcp", "MCP"),
    ("tests/integration/test_task_", "MCP"),
    ("tests/integration/test_knowledge_server", "MCP"),
    ("tests/integration/", "platform in one process"),
    ("tests/contract/", "port"),
    ("tests/", "Python"),
)


@dataclass(frozen=True, slots=True, order=True)
class Proof:
    """A test that names an id; `case` where only that case of it does."""

    path: str
    name: str
    case: str | None = None

    def stands_for(self, ran: str) -> bool:
        """Whether what pytest ran (its whole name) is this test, or a case of it."""
        own = f"{self.path}::{self.name}"
        return ran == own or ran.startswith(f"{own}[" if self.case is None else f"{own}[{self.case}")


def tests() -> Iterator[tuple[str, Proof]]:
    """Every id that a test names, with that test."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for found, case in _ids(node):
                    yield found, Proof(path.relative_to(ROOT).as_posix(), node.name, case)


def _ids(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, str | None]]:
    for mark in node.decorator_list:
        if _is_call(mark, "req"):
            yield from ((found, None) for found in _words(mark))
        for inner in ast.walk(mark):
            if _is_call(inner, "param"):
                case = next((_word(each.value) for each in inner.keywords if each.arg == "id"), None)
                marks = [each for word in inner.keywords for each in ast.walk(word.value)]
                named = [found for each in marks if _is_call(each, "req") for found in _words(each)]
                yield from ((found, case) for found in named)


def _is_call(node: ast.AST, name: str) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name


def _words(call: ast.Call) -> list[str]:
    return [word for each in call.args if (word := _word(each)) is not None]


def _word(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def surface(path: str) -> tuple[int, str]:
    return next((rank, name) for rank, (start, name) in enumerate(SURFACES) if path.startswith(start))


def page() -> str:
    listed = tomllib.loads((ROOT / "tests" / "requirements.toml").read_text(encoding="utf-8"))
    known = {prefix: rows for prefix, rows in listed.items() if prefix != "open"}
    proofs: dict[str, list[tuple[int, str, str]]] = {}
    for found, test in tests():
        proofs.setdefault(found, []).append((surface(test.path)[0], test.path, test.name))
    count = sum(map(len, known.values()))
    lines = [
        "# Requirements",
        "",
        f"The {count} requirements of the five specifications, each with the test nearest to what a user",
        "has. Written by `make reference` from `tests/requirements.toml` and the marks in the tests;",
        "`make mutate` looks for proofs that prove nothing.",
    ]
    for prefix, rows in known.items():
        lines += [
            "",
            f"## {TITLES[prefix]}",
            "",
            "| id | what it asks | surface | test |",
            "|---|---|---|---|",
        ]
        for key, words in rows.items():
            _, path, name = min(proofs[f"{prefix}-{key}"])
            shown = words.replace("|", "\\|")
            proof = f"[{name[5:].replace('_', ' ')}](../{path})"
            lines.append(f"| {prefix}-{key} | {shown} | {surface(path)[1]} | {proof} |")
    return "\n".join(lines) + "\n"
