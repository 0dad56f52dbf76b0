"""Writes docs/reference/, docs/requirements.md and .env.example. A test fails when they are not current.

Run `make reference` after changing a command, a setting, a route, a built-in tool or an error code.
"""

import ast
import asyncio
import inspect
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
import typer.main

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from scripts import requirements_page  # noqa: E402

from steward.contract.errors import ErrorCode, StewardError  # noqa: E402
from steward.settings import Settings  # noqa: E402
from steward.surfaces.cli.app import app  # noqa: E402

if TYPE_CHECKING:
    from steward.bootstrap import Platform

CODE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+|REJECTED|UNAUTHORIZED|CANCELLED")
MADE = "<!-- Made by `make reference`; edit the code instead. -->\n"


def commands() -> str:
    lines = [MADE, "# Commands\n", "`diana` is the same program as `steward`.\n"]
    for path, command in walk(typer.main.get_command(app), ("steward",)):
        lines.append(f"## {' '.join(path)}\n")
        lines.append(inspect.cleandoc(command.help or "").replace("\b\n", "").strip() + "\n")
        rows = [row for parameter in command.params if (row := option_row(parameter))]
        if rows:
            lines += ["| option | meaning |", "|---|---|", *rows, ""]
    return "\n".join(lines)


def walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield path, command
        return
    for name in sorted(inner):
        if not inner[name].hidden:
            yield from walk(inner[name], (*path, name))


def option_row(parameter: Any) -> str | None:
    if (
        "--help" in parameter.opts
        or "--install-completion" in parameter.opts
        or "--show-completion" in parameter.opts
    ):
        return None
    is_argument = parameter.param_type_name == "argument"
    name = parameter.name.upper() if is_argument else ", ".join(parameter.opts)
    return f"| `{name}` | {(parameter.help or '').replace('|', '/')} |"


def settings() -> str:
    lines = [
        MADE,
        "# Settings\n",
        "Read from the environment and from a `.env` file in the current folder.\n",
    ]
    lines += ["| variable | default | meaning |", "|---|---|---|"]
    for name, default, description in setting_rows():
        lines.append(f"| `{name}` | {f'`{default}`' if default else 'not set'} | {description} |")
    return "\n".join(lines) + "\n"


def setting_rows() -> Iterator[tuple[str, str, str]]:
    for field_name, field in Settings.model_fields.items():
        alias = field.validation_alias
        name = alias.choices[0] if hasattr(alias, "choices") else field_name  # type: ignore[union-attr]
        default = "" if field.default is None else str(field.default)
        if field_name == "home":
            default = "the platform's data folder"
        yield str(name), default, field.description or ""


def env_example() -> str:
    lines = ["# Made by `make reference`. Copy to .env and change what you need.\n"]
    examples = {
        "DATABASE_URL": "postgresql://steward:password@localhost:5432/steward",
        "STEWARD_API_KEY": "a-long-random-string",
        "STEWARD_MODEL": "planner",
        "AZURE_AI_FOUNDRY_ENDPOINT": "https://your-resource.services.ai.azure.com",
        "AZURE_AI_FOUNDRY_API_KEY": "your-key",
        "OPENAI_API_KEY": "your-key",
        "OPENAI_BASE_URL": "http://localhost:8000/v1",
        "OLLAMA_BASE_URL": "http://localhost:11434/v1",
        "STEWARD_RUN_COST": "0.50",
        "STEWARD_HOME": "~/.local/share/steward",
        "STEWARD_OBSIDIAN_VAULT": "~/Documents/Vault",
        "STEWARD_NOTIFY_WEBHOOK": "https://example.org/hook",
        "STEWARD_ALLOWED_ROOTS": "~/Documents:~/Projects",
    }
    for name, default, description in setting_rows():
        lines.append(f"# {description}\n# {name}={examples.get(name, default)}\n")
    return "\n".join(lines)


def errors() -> str:
    lines = [MADE, "# Error codes\n", "Stable: programs may rely on them.\n"]
    raised = {str(kind.default_code): kind.__name__ for kind in subclasses(StewardError)}
    lines += ["| code | usual error |", "|---|---|"]
    lines += [f"| `{code.value}` | {raised.get(code.value, '')} |" for code in ErrorCode]
    lines += ["\n## Codes of single rooms\n", "| code | room |", "|---|---|"]
    general = {code.value for code in ErrorCode}
    lines += [f"| `{code}` | {room} |" for code, room in room_codes() if code not in general]
    return "\n".join(lines) + "\n"


def room_codes() -> list[tuple[str, str]]:
    """Codes that a room gives where it raises or answers, read from its source."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / "src" / "steward").rglob("*.py")):
        room = path.relative_to(ROOT / "src" / "steward").parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for value in code_values(node):
                if isinstance(value, ast.Constant) and CODE.fullmatch(str(value.value)):
                    found.setdefault(str(value.value), set()).add(f"`{room}`")
    return [(code, ", ".join(sorted(rooms))) for code, rooms in sorted(found.items())]


def code_values(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.keyword(arg="code" | "error_code", value=value):
            yield value
        case ast.Assign(targets=[ast.Name(id="default_code")], value=value):
            yield value
        case ast.ClassDef(name=name, body=body) if name.endswith("Code") and name != "ErrorCode":
            yield from (item.value for item in body if isinstance(item, ast.Assign))
        case _:
            return


def subclasses(kind: type[StewardError]) -> Iterator[type[StewardError]]:
    """Of the tree itself: rooms add classes of their own, and which are loaded must not change the page."""
    for inner in kind.__subclasses__():
        if inner.__module__ == StewardError.__module__:
            yield from subclasses(inner)
            yield inner


def routes() -> str:
    from steward.surfaces.api.app import create_app  # noqa: PLC0415 - after the path is set

    lines = [MADE, "# HTTP routes\n", "The full schemas with examples are at `/docs` of a running Steward.\n"]
    lines += ["| route | what it does |", "|---|---|"]
    paths = create_app(None).openapi()["paths"]  # type: ignore[arg-type]
    for path, operations in sorted(paths.items()):
        for method, operation in operations.items():
            text = (operation.get("description") or operation["summary"]).split("\n")[0]
            lines.append(f"| `{method.upper()} {path}` | {text} |")
    return "\n".join(lines) + "\n"


def tools(platform: "Platform") -> str:
    """What stands behind the door of a new workspace. Needs a database, so a test of its own checks it."""
    lines = [MADE, "# Built-in tools\n", "What a new workspace can do; `steward tools list` shows yours.\n"]
    known = sorted(platform.orchestrator.registry, key=lambda tool: tool.spec.name)
    for tool in known:
        spec = tool.spec
        lines.append(f"## {spec.name}\n")
        lines.append(spec.description.strip() + "\n")
        also = f" Also called {', '.join(f'`{alias}`' for alias in spec.aliases)}." if spec.aliases else ""
        lines.append(f"Agent `{tool.agent_id}`, {platform.rating(spec).value.replace('_', ' ')}.{also}\n")
        properties = spec.input_schema.get("properties", {})
        if properties:
            required = set(spec.input_schema.get("required", ()))
            lines += ["| argument | needed | meaning |", "|---|---|---|"]
            for name, schema in properties.items():
                text = " ".join(str(schema.get("description", "")).split()).replace("|", "/")
                lines.append(f"| `{name}` | {'yes' if name in required else ''} | {text} |")
            lines.append("")
    return "\n".join(lines)


TOOLS_PAGE = ROOT / "docs" / "reference" / "tools.md"


async def write_tools() -> None:
    from steward.bootstrap import open_platform  # noqa: PLC0415 - only here: it takes a while
    from steward.settings import blank_environment, load_settings  # noqa: PLC0415

    os.environ = blank_environment()  # type: ignore[assignment]  # noqa: B003 - the page must not depend on it
    with tempfile.TemporaryDirectory(prefix="steward-reference-") as folder:
        os.chdir(folder)
        settings = load_settings(STEWARD_HOME=Path(folder) / "home", OTEL_EXPORTER_OTLP_ENDPOINT="none")
        async with open_platform(settings) as platform:
            TOOLS_PAGE.write_text(tools(platform), encoding="utf-8")
        os.chdir(ROOT)


def pages() -> dict[Path, str]:
    folder = ROOT / "docs" / "reference"
    return {
        folder / "commands.md": commands(),
        folder / "settings.md": settings(),
        folder / "errors.md": errors(),
        folder / "routes.md": routes(),
        ROOT / "docs" / "requirements.md": requirements_page.page(),
        ROOT / ".env.example": env_example(),
    }


if __name__ == "__main__":
    for path, text in pages().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    asyncio.run(write_tools())
