"""`steward demo`: the tour in the terminal, on a throw-away workspace.

Plays real commands against a real `steward up` and checks how each one ends, so that the tour cannot drift
from the product. Changes nothing outside its temporary folder.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import typer

from steward.contract import linear_re as re
from steward.contract.errors import StewardError
from steward.surfaces.cli.output import Exit, say, show_error

STEWARD = (sys.executable, "-m", "steward")
SECONDS_TO_STOP = 20


@dataclass(frozen=True, slots=True)
class DemoStep:
    """One command of the tour. `{proposal}` is the call that waits, `{conversation}` the latest one."""

    why: str
    command: Sequence[str]
    ends_with: Exit = Exit.DONE


TOUR = (
    DemoStep("Everything Steward can do is a tool, rated by risk.", ("tools", "list")),
    DemoStep(
        "A harmless call runs at once...",
        ("tools", "call", "save_fact", "--arg", "text=The spare key is at Ana's."),
    ),
    DemoStep(
        "...wrong arguments never reach a tool...",
        ("tools", "call", "save_fact", "--arg", "fact=x"),
        Exit.USAGE,
    ),
    DemoStep(
        "...and code runs only after a person's yes to exactly that code.",
        ("tools", "call", "code_execution", "--arg", "language=python", "--arg", "code=print(6 * 7)"),
        Exit.WAITS,
    ),
    DemoStep("It waits here, with who asked and why.", ("proposals",)),
    DemoStep("A yes runs it, once.", ("approve", "{proposal}")),
    DemoStep("A second yes runs nothing.", ("approve", "{proposal}"), Exit.FAILED),
    DemoStep(
        "Agents use the same tools. This one needs no language model...",
        ("ask", "Add call mom tomorrow, it's important", "--agent", "tasks"),
    ),
    DemoStep("...and asks before it deletes.", ("ask", "Delete call mom", "--agent", "tasks"), Exit.WAITS),
    DemoStep("Only a person's yes does it.", ("ask", "Yes, delete it", "--conversation", "{conversation}")),
    DemoStep("Every call left a line, whatever became of it.", ("log",)),
    DemoStep("And the doctor says how things stand.", ("doctor",)),
)


def demo() -> None:
    """Play the tour on a throw-away workspace (under a minute)."""
    with tempfile.TemporaryDirectory(prefix="steward-demo-") as folder:
        try:
            stage = _Stage(folder)
            with stage.up():
                stage.play(TOUR)
        except StewardError as error:
            show_error(error, as_json=False)
            raise typer.Exit(Exit.FAILED) from None
    say("\nThat was the tour. Start your own with: make run")


def register(app: typer.Typer) -> None:
    app.command()(demo)


class _Stage:
    """A workspace of its own: neither the person's settings, nor a `.env` where they stand, reach it."""

    def __init__(self, folder: str) -> None:
        from steward.settings import blank_environment  # noqa: PLC0415 - not needed for --help

        self._folder = folder
        self._environment = blank_environment() | {
            "STEWARD_HOME": folder,
            "OTEL_EXPORTER_OTLP_ENDPOINT": "none",
            "STEWARD_DAEMON": "off",  # whatever goes wrong, the tour leaves nothing behind
        }

    @contextmanager
    def up(self) -> Generator[None]:
        with subprocess.Popen(  # noqa: S603 - our own program
            [*STEWARD, "up", "--port", "0", "--no-open"],
            env=self._environment,
            cwd=self._folder,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                first = process.stdout.readline() if process.stdout else ""
                if "Steward is up" not in first:
                    raise StewardError("Steward did not start.", fix="'steward doctor' says why.")
                second = process.stdout.readline() if process.stdout else ""
                say(_dim(f"{first}{second}".strip()))
                yield
            finally:
                process.terminate()
                process.wait(SECONDS_TO_STOP)

    def play(self, tour: Sequence[DemoStep]) -> None:
        known = {"proposal": "", "conversation": ""}
        for step in tour:
            command = [_filled(part, known) for part in step.command]
            say(f"\n{typer.style(step.why, bold=True) if sys.stdout.isatty() else step.why}")
            say(_dim(f"$ steward {' '.join(_quoted(part) for part in command)}"))
            ran = subprocess.run(  # noqa: S603 - our own program
                [*STEWARD, *command],
                env=self._environment,
                cwd=self._folder,
                capture_output=True,
                text=True,
                check=False,
            )
            say((ran.stdout + ran.stderr).rstrip())
            if ran.returncode != step.ends_with:
                raise StewardError(f"This ended with {ran.returncode} instead of {int(step.ends_with)}.")
            if waiting := re.search(r"steward approve (\w+)", ran.stderr):
                known["proposal"] = waiting[1]
            if talking := re.search(r"--conversation (\w+)", ran.stderr):
                known["conversation"] = talking[1]


def _filled(part: str, known: dict[str, str]) -> str:
    for name, value in known.items():
        part = part.replace(f"{{{name}}}", value)
    return part


def _quoted(part: str) -> str:
    return json.dumps(part, ensure_ascii=False) if re.search(r"[\s'()*]", part) else part


def _dim(text: str) -> str:
    return typer.style(text, dim=True) if sys.stdout.isatty() else text
