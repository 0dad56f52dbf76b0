"""`steward eval`: measure the product's own code on a data set."""

import importlib
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from steward.surfaces.cli.output import JsonFlag, explained, say, show_json


class Suite(StrEnum):
    CALLS = "calls"
    DATES = "dates"
    GAPS = "gaps"
    INTENTS = "intents"
    MEMORY = "memory"
    RETRIEVAL = "retrieval"
    RISK = "risk"
    TOOLS = "tools"


def evaluate(
    suite: Annotated[Suite, typer.Argument(help="What to measure.")],
    data: Annotated[Path, typer.Option(help="The file or folder with the data.")],
    as_json: JsonFlag = False,
) -> None:
    """Measure Steward on a data set and print the numbers.

    \b
    Example: steward eval risk --data tools.jsonl --json
    """
    # One module a suite, imported when asked for: some load models.
    module = importlib.import_module(f"steward.evaluation.{suite.value}")
    with explained(as_json=as_json):
        numbers = module.evaluate(data, *_needed(suite))
    if as_json:
        show_json(numbers)
        return
    for name, value in numbers.items():
        say(f"{name:24} {value:.4f}" if isinstance(value, float) else f"{name:24} {value}")


def _needed(suite: Suite) -> tuple[Any, ...]:
    """What a suite needs of the product beside the data."""
    if suite is not Suite.INTENTS:
        return ()
    from steward.bootstrap.evaluating import task_meanings  # noqa: PLC0415 - imports the agents
    from steward.evaluation.intents import NOW  # noqa: PLC0415

    return (task_meanings(NOW),)


def register(app: typer.Typer) -> None:
    app.command("eval")(evaluate)
