"""Showing a turn at the terminal, and stopping it with Ctrl-C. Used by `ask` and `chat`."""

import asyncio
import json
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import aclosing, contextmanager, suppress
from typing import Any

import typer

from steward.agents.turn.narration import narrate
from steward.contract.errors import ErrorCode, StewardError
from steward.surfaces.cli.client import Api
from steward.surfaces.cli.output import Exit, say, visible

EXITS = {"done": Exit.DONE, "question": Exit.DONE, "pending_approval": Exit.WAITS, "gap": Exit.GAP}
SHOWN_ARGUMENTS = 100

Show = Callable[[str, dict[str, Any]], None]


async def take_turn(api: Api, body: dict[str, Any], *, show: Show) -> dict[str, Any]:
    """Say something and follow the events to the answer."""
    answer: dict[str, Any] | None = None
    # Closed at once when it is left early, so that the other side hears of it.
    async with aclosing(api.stream("/v1/chat", body)) as events:
        async for name, data in events:
            if name == "done":
                answer = data
            else:
                show(name, data)
    if answer is None:
        raise StewardError("The answer broke off.", fix="'steward log' shows what was done.")
    return answer


def exit_of(answer: dict[str, Any]) -> Exit:
    return EXITS.get(str(answer.get("status")), Exit.FAILED)


def show_quietly(_name: str, _data: dict[str, Any]) -> None:
    """For machines: only the answer is printed."""


def show_steps(name: str, data: dict[str, Any]) -> None:
    """What happens on the way, on standard error, so that the answer stays clean."""
    match name:
        case "tool_call" if narrate(data["tool"], data["arguments"]) is None:  # else it is told as progress
            _aside(f"· {data['tool']}({_arguments(data['arguments'])})")
        case "tool_result" if data["status"] not in ("done", "pending_approval") and not _told_anyway(data):
            _aside(f"  {data['status']}: {data['error']}")
        case "progress":
            _aside(f"· {data['text']}")
        case _:
            pass


def _told_anyway(data: dict[str, Any]) -> bool:
    """What is no failure here: the person's own no, and a question to them, which the answer asks."""
    return data.get("error_code") in (ErrorCode.PROPOSAL_REJECTED, ErrorCode.HUMAN_INPUT_PENDING)


def show_live(name: str, data: dict[str, Any]) -> None:
    """The same, and the answer word by word."""
    if name == "text":
        sys.stdout.write(visible(data["text"]))
        sys.stdout.flush()
    else:
        show_steps(name, data)


def show_sources(answer: dict[str, Any]) -> None:
    """Those that the answer does not name itself; without numbers, of which it has its own."""
    for source in answer["sources"]:
        if source["location"] in answer["answer"]:
            continue
        when = f", {source['date']}" if source.get("date") else ""
        say(visible(f"- {source['title']} ({source['location']}{when})"))


def _arguments(arguments: dict[str, Any]) -> str:
    text = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())
    return text if len(text) <= SHOWN_ARGUMENTS else f"{text[: SHOWN_ARGUMENTS - 1]}…"


def _aside(text: str) -> None:
    shown = visible(text)
    say(typer.style(shown, dim=True) if sys.stderr.isatty() else shown, error=True)


@contextmanager
def interruptible(stop: Callable[[], object]) -> Generator[None]:
    """While inside, Ctrl-C calls `stop` instead of ending the program."""
    loop = asyncio.get_running_loop()
    try:
        loop.add_signal_handler(signal.SIGINT, stop)
    except (NotImplementedError, RuntimeError):  # not on this platform, or not in the main thread
        yield
        return
    try:
        yield
    finally:
        with suppress(RuntimeError):
            loop.remove_signal_handler(signal.SIGINT)
