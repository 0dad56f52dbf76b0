"""A command that is one of the library's tools: called through the door, settled where it asks, and shown."""

from collections.abc import Callable
from typing import Any

from steward.surfaces.cli.client import Api, connect, route
from steward.surfaces.cli.commands.jobs import show_queued
from steward.surfaces.cli.consent import settle
from steward.surfaces.cli.output import result_exit, run, say, show_json
from steward.surfaces.cli.progress import call_with_progress

Show = Callable[[dict[str, Any]], None]
LIBRARY = ("knowledge",)  # the agent whose tools these commands call; nobody waits for the others to start


def call(
    tool: str,
    arguments: dict[str, Any],
    *,
    as_json: bool,
    show: Show,
    yes: bool = False,
    doing: str | None = None,
) -> None:
    async def work() -> int:
        async with connect(agents=LIBRARY) as api:
            return await call_tool(api, tool, arguments, as_json=as_json, show=show, yes=yes, doing=doing)

    run(work, as_json=as_json)


def queue(tool: str, arguments: dict[str, Any], *, as_json: bool) -> None:
    """Leave the call to a worker."""

    async def work() -> None:
        async with connect(agents=LIBRARY) as api:
            body = {"arguments": arguments, "background": True}
            show_queued(await api.post(route("tools", tool, "call"), body), as_json=as_json)

    run(work, as_json=as_json)


async def call_tool(
    api: Api,
    tool: str,
    arguments: dict[str, Any],
    *,
    as_json: bool,
    show: Show,
    yes: bool = False,
    doing: str | None = None,
) -> int:
    """Call a tool and show its answer. `doing`: what a person at a terminal reads meanwhile."""
    given = {key: value for key, value in arguments.items() if value is not None}
    if doing is None:
        result = await api.post(route("tools", tool, "call"), {"arguments": given})
    else:
        result = await call_with_progress(api, tool, given, doing=doing)
    result = await settle(api, result, yes=yes, as_json=as_json)
    if as_json:
        show_json(result["data"] if result["status"] == "done" else result)
    elif result["status"] == "done":
        show(result["data"])
    elif result["status"] == "pending_approval":
        say(f"This waits for your yes: {result['error']}", error=True)
        say(f"  steward approve {result['proposal_id']}", error=True)
    else:
        say(f"Error {result['error_code']}: {result['error']}", error=True)
    return result_exit(result)
