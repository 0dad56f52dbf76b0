"""What an orchestrator needs to work through Steward's door: call, be told to wait, come back later.

A call that a person must agree to answers with a proposal's number at once, and nothing blocks. Whoever
asked keeps that number in its own checkpoint; `decision` says what became of it, today or next week,
whichever process asks. Each step has a name of its own, sent as `Idempotency-Key`: a step that is repeated
after a kill asks nobody twice.
"""

import argparse
import contextlib
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

SECONDS_BETWEEN_LOOKS = 0.5


@dataclass(frozen=True)
class Done:
    data: Any


@dataclass(frozen=True)
class Waits:
    """For a person: `steward approve ID`, or the page."""

    proposal: str


@dataclass(frozen=True)
class NotDone:
    why: str


Answer = Done | Waits | NotDone


class Door:
    """Steward's tools for one run (`thread`) of an orchestrator. The key needs the role `use`, no more."""

    def __init__(self, url: str, key: str, *, thread: str) -> None:
        self._http = httpx.Client(base_url=url, headers={"X-API-Key": key}, timeout=60)
        self._thread = thread

    def call(self, tool: str, arguments: dict[str, Any], *, step: str) -> Answer:
        said = self._http.post(
            f"/v1/tools/{tool}/call",
            json={"arguments": arguments},
            headers={"Idempotency-Key": f"{self._thread}/{step}"},
        ).json()
        return Waits(said["proposal_id"]) if said.get("status") == "pending_approval" else _answer(said)

    def decision(self, proposal: str) -> Answer:
        said = self._http.get(f"/v1/proposals/{proposal}").raise_for_status().json()
        match said["state"]:
            case "waiting" | "running":
                return Waits(proposal)
            case "finished":
                return _answer(said["result"])
            case state:
                return NotDone(said["rejected_why"] or state)


def _answer(said: dict[str, Any]) -> Answer:
    """A tool's answer, or why there is none: a failure of the tool, or a problem with the request."""
    if said.get("status") == "done":
        return Done(said["data"])
    return NotDone(said.get("error") or said.get("detail") or "It failed.")


# --- what the examples do with it ---


@dataclass
class Tidied:
    """How far a run has come: tasks that were on the list twice, and what became of them."""

    removed: list[str] = field(default_factory=list[str])
    kept: dict[str, str] = field(default_factory=dict[str, str])  # title -> why
    waits_for: str | None = None

    def as_json(self) -> dict[str, Any]:
        status = "waiting" if self.waits_for else "done"
        return {"status": status, "proposal": self.waits_for, "removed": self.removed, "kept": self.kept}


def doubles(tasks: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Open tasks whose title an older one has already; the older one stays."""
    seen: set[str] = set()
    found: list[dict[str, str]] = []
    for task in sorted(tasks, key=lambda each: each["created_at"]):
        words = task["title"].casefold()
        if words in seen:
            found.append({"id": task["id"], "title": task["title"]})
        seen.add(words)
    return found


# Goes on with a run until it is done or must wait; a run that was never begun begins.
Tidy = Callable[[Door, str, Path], Tidied]


def main(name: str, tidy: Tidy) -> None:
    """`NAME.py THREAD` tidies and waits for each yes; `NAME.py --serve` offers that as a tool."""
    parser = argparse.ArgumentParser(
        description="Removes tasks that are on the list twice, asking each time."
    )
    parser.add_argument("thread", nargs="?", help="names the run; the same name goes on with it")
    parser.add_argument("--serve", action="store_true", help="be an MCP server on stdio")
    parser.add_argument("--state", type=Path, default=Path(".tidy"), help="where runs are kept")
    given = parser.parse_args()
    given.state.mkdir(parents=True, exist_ok=True)

    def go_on(thread: str) -> dict[str, Any]:
        door = Door(os.environ["STEWARD_URL"], os.environ["STEWARD_KEY"], thread=f"{name}/{thread}")
        with contextlib.redirect_stdout(sys.stderr):  # standard output is the server's, or the answer's
            return tidy(door, thread, given.state).as_json()

    if given.serve:
        _serve(name, go_on)
        return
    if not given.thread:
        parser.error("give the run a name")
    while True:
        said = go_on(given.thread)
        print(json.dumps(said), flush=True)
        if said["status"] == "done":
            return
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _serve(name: str, go_on: Callable[[str], dict[str, Any]]) -> None:
    import anyio.to_thread  # noqa: PLC0415 - only whoever serves needs MCP
    from mcp.server.fastmcp import FastMCP  # noqa: PLC0415

    server = FastMCP(name)

    @server.tool()
    async def tidy_tasks(thread: str) -> dict[str, Any]:  # pyright: ignore[reportUnusedFunction]
        """Remove tasks that are on the list twice. Each removal waits for a person; call again with the same
        thread to go on after the decision."""
        return await anyio.to_thread.run_sync(go_on, thread)

    server.run()
