"""`steward proposals|approve|reject`: the calls that wait for a person."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from steward.contract.showing import in_one_line
from steward.surfaces.cli.client import Api, connect, route
from steward.surfaces.cli.files import write_private
from steward.surfaces.cli.output import JsonFlag, result_exit, run, say, show_json, whole_call
from steward.surfaces.cli.tools import parse_object, show_result

ProposalId = Annotated[str, typer.Argument(help="The proposal's id; see 'steward proposals'.")]


def proposals(
    everything: Annotated[bool, typer.Option("--all", help="Decided ones as well.")] = False,
    export: Annotated[Path | None, typer.Option(help="Write all of them, with receipts, as JSON.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Show the calls that wait for your yes, each of them whole.

    \b
    Example: steward proposals --export receipts.json
    """

    async def work() -> None:
        async with connect(agents=()) as api:
            items = await _all(api, state=None if everything or export is not None else "waiting")
        if export is not None:
            _write(export, items)
        if as_json:
            show_json({"items": items, "next": None})
            return
        if export is not None:
            say(f"Wrote {len(items)} proposals to {export}.", error=True)
            return
        for item in items:
            say(f"{item['id']}  {item['state']}, {item['risk']}, asked by {in_one_line(item['caller'])}")
            say(whole_call(item) + "\n")
        if not items:
            say("Nothing waits for you.")

    run(work, as_json=as_json)


def approve(
    proposal_id: ProposalId,
    edit: Annotated[
        str | None, typer.Option(help="Run it with these arguments (JSON) instead; both stay on record.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Print the whole proposed call and run exactly that, once. This is your yes; nothing more is asked.

    \b
    Example: steward approve 3f2a9c4d1b7e
    """

    async def work() -> int:
        body: dict[str, Any] = {}
        if edit is not None:
            body["arguments"] = parse_object(edit, what="--edit")
        async with connect() as api:
            proposal = await api.get(route("proposals", proposal_id))
            edited = body.get("arguments")
            if edited is not None and edited != proposal["arguments"]:
                proposal |= {"arguments": edited, "effect": None, "reason": "You changed its arguments."}
            # With --json standard output is for the result alone.
            say(whole_call(proposal), error=as_json)
            result = await api.post(route("proposals", proposal_id, "approve"), body)
        show_result(result, as_json=as_json)
        return result_exit(result)

    run(work, as_json=as_json)


def reject(
    proposal_id: ProposalId,
    why: Annotated[str | None, typer.Option(help="Why not; kept on record.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Turn a proposed call down; nothing runs.

    \b
    Example: steward reject 3f2a9c4d1b7e --why "wrong file"
    """

    async def work() -> None:
        async with connect(agents=()) as api:
            proposal = await api.post(route("proposals", proposal_id, "reject"), {"why": why})
        if as_json:
            show_json(proposal)
        else:
            say(f"Rejected. '{proposal['tool']}' was not run.")

    run(work, as_json=as_json)


def register(app: typer.Typer) -> None:
    app.command()(proposals)
    app.command()(approve)
    app.command()(reject)


async def _all(api: Api, *, state: str | None) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    after: str | None = None
    while True:
        page = await api.get("/v1/proposals", state=state, limit=500, after=after)
        items += page["items"]
        after = page["next"]
        if after is None:
            return items


def _write(path: Path, items: list[dict[str, Any]]) -> None:
    write_private(path, (json.dumps({"items": items}, ensure_ascii=False, indent=2) + "\n").encode())
