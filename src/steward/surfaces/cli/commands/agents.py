"""`steward agents`: who provides the tools, and how they are."""

from typing import Annotated

import typer

from steward.contract.errors import UnavailableError
from steward.surfaces.cli.client import Api, connect, route
from steward.surfaces.cli.output import Exit, JsonFlag, run, say, show_json, show_table

app = typer.Typer(rich_markup_mode=None, help="See, start, stop and check agents.", no_args_is_help=True)

AgentId = Annotated[str, typer.Argument(help="The agent's id; see 'steward agents list'.")]


@app.command("list")
def list_agents(as_json: JsonFlag = False) -> None:
    """List the agents with their states.

    \b
    Example: steward agents list
    """

    async def work() -> None:
        async with connect() as api:
            found = await api.get("/v1/agents")
        if as_json:
            show_json(found)
            return
        rows = [
            (item["id"], item["state"], str(len(item["tools"])), item["problem"] or "")
            for item in found["items"]
        ]
        show_table(("AGENT", "STATE", "TOOLS", "PROBLEM"), rows, empty="There are no agents.")

    run(work, as_json=as_json)


@app.command()
def health(agent_id: AgentId, as_json: JsonFlag = False) -> None:
    """Ask an agent how it is.

    \b
    Example: steward agents health core
    """

    async def work() -> int:
        async with connect() as api:
            answer = await api.get(route("agents", agent_id, "health"))
        if as_json:
            show_json(answer)
        else:
            say(f"{agent_id}: {'healthy' if answer['healthy'] else 'not healthy'}. {answer['detail']}")
            for name, value in answer["facts"].items():
                say(f"  {name}: {value}")
        return Exit.DONE if answer["healthy"] else Exit.FAILED

    run(work, as_json=as_json)


@app.command()
def start(agent_id: AgentId, as_json: JsonFlag = False) -> None:
    """Start an agent of the running Steward.

    \b
    Example: steward agents start core
    """
    _change(agent_id, "start", as_json=as_json)


@app.command()
def stop(agent_id: AgentId, as_json: JsonFlag = False) -> None:
    """Stop an agent of the running Steward; its tools go until it is started again.

    \b
    Example: steward agents stop core
    """
    _change(agent_id, "stop", as_json=as_json)


@app.command()
def reload(as_json: JsonFlag = False) -> None:
    """Read mcp.json again in the running Steward: new servers start, removed ones stop, the others go on.

    \b
    Example: steward agents reload
    """

    async def work() -> None:
        async with connect() as api:
            _require_running(api)
            done = await api.post("/v1/agents/reload")
        if as_json:
            show_json(done)
            return
        for what, names in done.items():
            if names:
                say(f"{what}: {', '.join(names)}")
        if not any(done.values()):
            say("Nothing changed.")

    run(work, as_json=as_json)


def _change(agent_id: str, action: str, *, as_json: bool) -> None:
    async def work() -> None:
        async with connect() as api:
            _require_running(api)
            answer = await api.post(route("agents", agent_id, action))
        if as_json:
            show_json(answer)
        else:
            say(f"{answer['id']} is {answer['state']}.")

    run(work, as_json=as_json)


def _require_running(api: Api) -> None:
    if not api.running:
        raise UnavailableError(
            "No Steward runs for this home, so there is nothing to start or stop.",
            fix="Start it with 'steward up'.",
        )
