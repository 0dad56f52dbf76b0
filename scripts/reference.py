"""Writes docs/reference/ and .env.example from the code. A test fails when they are not current.

Run `make reference` after changing a command, a setting, a route, a built-in tool or an error code.
"""

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
import typer.main

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "src"))

from steward.contract.errors import ErrorCode, StewardError  # noqa: E402
from steward.settings import Settings  # noqa: E402
from steward.surfaces.cli.app import app  # noqa: E402

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
    lines = [MADE, "# Error codes\n", "Stable: programs may rely on them. Tools add codes of their own.\n"]
    raised = {str(kind.default_code): kind.__name__ for kind in subclasses(StewardError)}
    lines += ["| code | usual error |", "|---|---|"]
    lines += [f"| `{code.value}` | {raised.get(code.value, '')} |" for code in ErrorCode]
    return "\n".join(lines) + "\n"


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


def pages() -> dict[Path, str]:
    folder = ROOT / "docs" / "reference"
    return {
        folder / "commands.md": commands(),
        folder / "settings.md": settings(),
        folder / "errors.md": errors(),
        folder / "routes.md": routes(),
        ROOT / ".env.example": env_example(),
    }


if __name__ == "__main__":
    for path, text in pages().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
