"""`steward policy`: the workspace's own rules, and what an edit of them would change."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from steward.contract.errors import InputError
from steward.contract.showing import in_one_line
from steward.surfaces.cli.client import connect, route
from steward.surfaces.cli.output import JsonFlag, run, say, show_json, show_table
from steward.surfaces.cli.since import parse_since

app = typer.Typer(help="Your own rules: what asks, what does not, and what never runs.")

SHOWN_ARGUMENTS = 60


@app.callback(invoke_without_command=True)
def policy(context: typer.Context) -> None:
    """Your own rules: what asks, what does not, and what never runs."""
    if context.invoked_subcommand is None:
        list_rules()


@app.command("list")
def list_rules(as_json: JsonFlag = False) -> None:
    """List the rules of policy.toml, with the id that removes each.

    \b
    Example: steward policy list
    """

    async def work() -> None:
        async with connect(agents=()) as api:
            found = await api.get("/v1/policy")
        if as_json:
            show_json({"items": found["rules"], "next": None, "problem": found["problem"]})
            return
        if found["problem"]:
            say(f"No call passes now: {found['problem']}", error=True)
        rows = [(rule["id"], rule["tool"], *_told(rule)) for rule in found["rules"]]
        empty = "There are no rules of yours: the built-in ratings hold."
        show_table(("ID", "TOOL", "RULE", "FOR", "WHEN"), rows, empty=empty)

    run(work, as_json=as_json)


@app.command()
def allow(
    tool: Annotated[str, typer.Argument(help="A tool's name; see 'steward tools list'.")],
    as_json: JsonFlag = False,
) -> None:
    """Let a tool run without asking, for everybody. Not to be had for what cannot be undone.

    \b
    Example: steward policy allow notes__append
    """

    async def work() -> None:
        async with connect() as api:
            allowed = await api.post(route("tools", tool, "trust"), {})
        show_json(allowed) if as_json else say(f"'{allowed['name']}' runs without asking from now on.")

    run(work, as_json=as_json)


@app.command()
def remove(
    rule: Annotated[str, typer.Argument(help="A rule's id; see 'steward policy list'.")],
    as_json: JsonFlag = False,
) -> None:
    """Take a rule out of policy.toml.

    \b
    Example: steward policy remove 3f2a9c4d
    """

    async def work() -> None:
        async with connect(agents=()) as api:
            await api.delete(route("policy", "rules", rule))
        show_json({"removed": rule}) if as_json else say(f"Removed {rule}. It holds from the next call on.")

    run(work, as_json=as_json)


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="policy.toml as you have edited it, in a file of its own.")],
    *,
    since: Annotated[str | None, typer.Option(help="Only calls since then: a date, 24h, 7d.")] = None,
    limit: Annotated[int, typer.Option(help="The latest so many calls.")] = 2_000,
    save: Annotated[bool, typer.Option("--save", help="Write it as the policy after showing that.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Show which recorded calls an edited policy would decide otherwise. Runs nothing.

    \b
    Example: steward policy replay edited.toml --since 7d
    """

    async def work() -> None:
        text = _text(file)
        body = {"text": text, "since": None if since is None else parse_since(since).isoformat()}
        async with connect() as api:
            before = (await api.get("/v1/policy"))["text"]
            found = await api.post("/v1/policy/replay", body | {"limit": limit})
            if save:
                await api.put("/v1/policy", {"text": text, "before": before})
        if as_json:
            show_json(found | {"saved": save})
            return
        rows = [
            (each["tool"], f"{each['before']} -> {each['after']}", str(each["times"]), *_latest(each))
            for each in found["changes"]
        ]
        empty = "No decision would change."
        show_table(("TOOL", "DECISION", "CALLS", "USER", "LATEST", "WHY"), rows, empty=empty)
        gone = f", {found['gone']} of them of tools that are gone" if found["gone"] else ""
        end = "Saved." if save else "Nothing was saved."
        say(f"{found['calls']} recorded calls{gone}. {end}", error=True)

    run(work, as_json=as_json)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read: {error}.", fix="Name a readable UTF-8 file.") from error


def _told(rule: dict[str, Any]) -> tuple[str, str, str]:
    """What a rule says, for whom, and when."""
    trust = {True: "does not ask", False: "asks", None: None}[rule["trust"]]
    said = ["never runs" if rule["never"] else None, rule["risk"], trust]
    when = [f"{name}={pattern}" for name, pattern in rule["when"].items()]
    if rule["arguments"] is not None:
        when.append(in_one_line(json.dumps(rule["arguments"], ensure_ascii=False)))
    return ", ".join(filter(None, said)), rule["user"] or "everybody", " ".join(when)


def _latest(change: dict[str, Any]) -> tuple[str, str, str]:
    arguments = in_one_line(json.dumps(change["arguments"], ensure_ascii=False))
    cut = arguments if len(arguments) <= SHOWN_ARGUMENTS else f"{arguments[: SHOWN_ARGUMENTS - 1]}…"
    return change["user"] or "-", f"{change['at'][:16]} {cut}", in_one_line(change["why"])
