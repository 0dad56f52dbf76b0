"""Writes docs/steward.1 from the commands themselves; part of `make reference`."""

from pathlib import Path
from typing import Any

import typer

from steward.surfaces.cli.app import app

PAGE = Path(__file__).parents[1] / "docs" / "steward.1"


def escaped(text: str) -> str:
    lines = text.replace("\\", "\\e").replace("-", "\\-").splitlines()
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in lines)


def paragraphs(text: str) -> list[str]:
    """A block that begins with the mark of plain lines keeps them."""
    written: list[str] = []
    for block in (text or "").strip().split("\n\n"):
        if block.lstrip().startswith("\b"):
            written += [".PP", ".nf", escaped(block.lstrip().removeprefix("\b").strip("\n")), ".fi"]
        elif block.strip():
            written += [".PP", escaped(" ".join(block.split()))]
    return written


def options(command: Any) -> list[str]:
    written: list[str] = []
    for parameter in command.params:
        names = (
            ", ".join(parameter.opts)
            if parameter.param_type_name == "option"
            else str(parameter.name).upper()
        )
        written += [".TP", f"\\fB{escaped(names)}\\fR", escaped(getattr(parameter, "help", None) or "")]
    return written


def commands(group: Any, path: str) -> list[str]:
    written: list[str] = []
    for name, command in sorted(getattr(group, "commands", {}).items()):
        if command.hidden:
            continue
        whole = f"{path} {name}"
        written += [f'.SS "{escaped(whole)}"', *paragraphs(command.help or ""), *options(command)]
        written += commands(command, whole)
    return written


def page() -> str:
    root: Any = typer.main.get_command(app)
    head = [
        '.TH STEWARD 1 "" "Steward" "User Commands"',
        ".SH NAME",
        "steward \\- an assistant that acts for you and asks first",
    ]
    synopsis = [".SH SYNOPSIS", "\\fBsteward\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]", ".SH DESCRIPTION"]
    exits = [
        ".SH EXIT STATUS",
        *(f".TP\n\\fB{code}\\fR\n{meaning}" for code, meaning in EXITS),
    ]
    return (
        "\n".join(
            [
                *head,
                *synopsis,
                *paragraphs(root.help),
                *options(root),
                ".SH COMMANDS",
                *commands(root, "steward"),
                *exits,
            ]
        )
        + "\n"
    )


EXITS = (
    (0, "Done."),
    (1, "Failed."),
    (2, "Bad usage."),
    (3, "Waits for approval."),
    (4, "A tool is missing."),
)

if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
