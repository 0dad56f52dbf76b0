"""`steward memory`: what Steward has learned, and making it forget."""

from typing import Annotated, Any

import typer

from steward.contract.errors import InputError
from steward.surfaces.cli.client import connect, route
from steward.surfaces.cli.consent import settle
from steward.surfaces.cli.output import JsonFlag, result_exit, run, say, show_json, show_table

app = typer.Typer(help="What Steward has learned.", no_args_is_help=True)
AGENTS = ("memory",)  # whose tools these commands call; nobody waits for the others to start
AgentOption = Annotated[str | None, typer.Option(help="Only what this agent keeps for itself.")]
ProjectOption = Annotated[str | None, typer.Option(help="Only what belongs to this project.")]


@app.command("list")
def list_memories(
    *,
    agent: AgentOption = None,
    project: ProjectOption = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also what newer facts took the place of.")
    ] = False,
    limit: Annotated[int, typer.Option(help="How many at most.", min=1, max=1000)] = 50,
    as_json: JsonFlag = False,
) -> None:
    """List memories, newest first."""

    async def work() -> None:
        async with connect(agents=AGENTS) as api:
            found = await api.get(
                "/v1/memory", agent=agent, project=project, superseded=everything or None, limit=limit
            )
        if as_json:
            show_json(found)
            return
        rows = [
            (item["id"], item["timestamp"][:10], item["source"], _scope(item), _first(item) + _past(item))
            for item in found["items"]
        ]
        show_table(("ID", "DATE", "SOURCE", "SCOPE", "MEMORY"), rows, empty="Nothing is remembered yet.")
        if found["next"]:
            say(f"There are more: --limit {min(limit * 2, 1000)}", error=True)

    run(work, as_json=as_json)


@app.command("search")
def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    *,
    top_k: Annotated[int, typer.Option("--top-k", help="How many at most.")] = 5,
    agent: AgentOption = None,
    project: ProjectOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Find memories by meaning."""

    async def work() -> int:
        arguments: dict[str, Any] = {"query": query, "top_k": top_k, "agent": agent, "project": project}
        async with connect(agents=AGENTS) as api:
            result = await api.post("/v1/tools/search_memory/call", {"arguments": arguments})
        if as_json:
            show_json(result["data"] if result["status"] == "done" else result)
        elif result["status"] != "done":
            say(f"Error {result['error_code']}: {result['error']}", error=True)
        else:
            rows = [
                (item["id"], item["metadata"]["timestamp"][:10], f"{item['score']:.2f}", _first(item))
                for item in result["data"]["items"]
            ]
            show_table(("ID", "DATE", "SCORE", "MEMORY"), rows, empty="Nothing fits.")
        return result_exit(result)

    run(work, as_json=as_json)


@app.command("forget")
def forget(
    memory_id: Annotated[str | None, typer.Argument(metavar="ID", help="The memory's id.")] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Everything in the scope.")] = False,
    agent: AgentOption = None,
    project: ProjectOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Answer yes when it asks.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Forget one memory with its history, or with --all a whole scope, for good. Asks first."""

    async def work() -> int:
        if (memory_id is None) == (not everything):
            raise InputError("Say which memory to forget.", fix="Give its id, or --all.")
        arguments = {"id": memory_id, "everything": everything, "agent": agent, "project": project}
        async with connect(agents=AGENTS) as api:
            if memory_id is not None:  # an id that does not exist is said now, not after somebody agreed
                await api.get(route("memory", memory_id, "history"))
            result = await api.post("/v1/tools/forget_memory/call", {"arguments": arguments})
            result = await settle(api, result, yes=yes, as_json=as_json)
        if as_json:
            show_json(result)
        elif result["status"] == "done":
            say(f"Forgot {result['data']['forgotten']}.")
        elif result["status"] == "pending_approval":
            say(f"This waits for your yes: steward approve {result['proposal_id']}", error=True)
        else:
            say(f"Error {result['error_code']}: {result['error']}", error=True)
        return result_exit(result)

    run(work, as_json=as_json)


def _scope(item: dict[str, Any]) -> str:
    """Beside the user: whose alone it is."""
    names = (("agent", item["agent"]), ("project", item["project"]))
    return ", ".join(f"{kind} {name}" for kind, name in names if name)


def _past(item: dict[str, Any]) -> str:
    return f" (replaced by {item['superseded_by'][:8]}…)" if item["superseded_by"] else ""


def _first(item: dict[str, Any]) -> str:
    line = " ".join(str(item["content"]).split())
    return line if len(line) <= 90 else f"{line[:89]}…"
