"""`steward proposals|approve|reject`: the calls that wait for a person."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from steward.contract.deciding import Always
from steward.contract.errors import InputError
from steward.contract.showing import in_one_line
from steward.surfaces.cli.client import Api, connect, route
from steward.surfaces.cli.commands.tools import parse_object, show_result
from steward.surfaces.cli.files import write_private
from steward.surfaces.cli.output import JsonFlag, result_exit, run, say, show_json, whole_call

ANNOUNCED = timedelta(days=7)  # how long an interrupted call is told of

EveryoneFlag = Annotated[
    bool, typer.Option("--everyone", help="With --always: the rule holds for every user; for an admin.")
]
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
            since = (datetime.now(UTC) - ANNOUNCED).isoformat()
            unfinished = await api.get("/v1/executions", status="interrupted", since=since, limit=20)
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
            if item["utterance"]:
                say(f"  after “{in_one_line(item['utterance'])}”")
            say(whole_call(item) + "\n")
        if not items:
            say("Nothing waits for you.")
        for item in unfinished["items"]:
            say(f"'{item['tool']}', call {item['call_id']}: {in_one_line(item['error'])}", error=True)

    run(work, as_json=as_json)


def approve(
    proposal_id: ProposalId,
    edit: Annotated[
        str | None, typer.Option(help="Run it with these arguments (JSON) instead; both stay on record.")
    ] = None,
    *,
    always: Annotated[
        Always | None,
        typer.Option(help="Run this tool, or it with exactly these arguments, without asking from now on."),
    ] = None,
    everyone: EveryoneFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Print the whole proposed call and run exactly that, once. This is your yes; nothing more is asked.

    With --always it is a rule in policy.toml as well ('steward policy'), never for what cannot be undone.

    \b
    Example: steward approve 3f2a9c4d1b7e
    Example: steward approve 3f2a9c4d1b7e --always tool
    """

    async def work() -> int:
        body = _lasting(always, everyone=everyone)
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
        if always is not None:
            these = " with exactly these arguments" if always is Always.ARGUMENTS else ""
            say(f"'{proposal['tool']}'{these} does not ask from now on; see 'steward policy'.", error=True)
        return result_exit(result)

    run(work, as_json=as_json)


def reject(
    proposal_id: ProposalId,
    why: Annotated[str | None, typer.Option(help="Why not; kept on record.")] = None,
    *,
    always: Annotated[
        bool, typer.Option("--always", help="Never run this tool; later calls are refused, nobody is asked.")
    ] = False,
    everyone: EveryoneFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Turn a proposed call down; nothing runs.

    \b
    Example: steward reject 3f2a9c4d1b7e --why "wrong file"
    Example: steward reject 3f2a9c4d1b7e --always
    """

    async def work() -> None:
        body = _lasting(Always.TOOL if always else None, everyone=everyone) | {"why": why}
        async with connect(agents=()) as api:
            proposal = await api.post(route("proposals", proposal_id, "reject"), body)
        if as_json:
            show_json(proposal)
            return
        say(f"Rejected. '{proposal['tool']}' was not run.")
        if always:
            say("It never runs from now on; 'steward policy' lists that rule and takes it back.")

    run(work, as_json=as_json)


def register(app: typer.Typer) -> None:
    app.command()(proposals)
    app.command()(approve)
    app.command()(reject)


def _lasting(always: Always | None, *, everyone: bool) -> dict[str, Any]:
    if everyone and always is None:
        raise InputError("--everyone says for whom a rule holds, and there is none.", fix="Add --always.")
    return {} if always is None else {"always": always.value, "everyone": everyone}


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
