"""`steward skills`: what the assistant has been taught, and where that is written."""

from typing import Annotated, Any

import typer

from steward.surfaces.cli.client import connect, route
from steward.surfaces.cli.output import JsonFlag, run, say, show_json, show_table, visible

app = typer.Typer(help="What the assistant has been taught.", no_args_is_help=True)
HEAD = ("NAME", "DESCRIPTION", "TOOLS", "WHERE")


@app.command("list")
def list_skills(as_json: JsonFlag = False) -> None:
    """List skills, with those that cannot be used and why.

    \b
    Example: steward skills list
    """

    async def work() -> None:
        async with connect() as api:
            found = await api.get("/v1/skills")
        if as_json:
            show_json(found)
            return
        rows = [(each["name"], _about(each), _tools(each), _where(each)) for each in found["items"]]
        show_table(HEAD, rows, empty="There are no skills.")

    run(work, as_json=as_json)


@app.command("show")
def show(
    name: Annotated[str, typer.Argument(help="The skill's name.")],
    as_json: JsonFlag = False,
) -> None:
    """Show one skill: what it is for, what it may use, where it lies, and its instructions.

    \b
    Example: steward skills show csv-summary
    """

    async def work() -> None:
        async with connect() as api:
            skill = await api.get(route("skills", name))
        if as_json:
            show_json(skill)
            return
        told = [
            ("Description", skill["description"]),
            ("Tools", _tools(skill)),
            ("Where", skill["folder"]),
            ("Files", ", ".join(skill["files"])),
            ("Runs", skill["run"] or "by a language model only"),
            ("For example", "; ".join(skill["examples"])),
        ]
        say(visible(skill["name"]))
        for label, value in told:
            if value:
                say(visible(f"  {label}: {value}"))
        say(visible(f"\n{skill['instructions']}"))

    run(work, as_json=as_json)


def _about(skill: dict[str, Any]) -> str:
    return f"cannot be used: {skill['problem']}" if skill["problem"] else skill["description"]


def _tools(skill: dict[str, Any]) -> str:
    if skill["problem"]:
        return "-"
    unknown = skill["unknown_tools"]
    return (
        ", ".join(f"{name} (unknown)" if name in unknown else name for name in skill["allowed_tools"])
        or "any"
    )


def _where(skill: dict[str, Any]) -> str:
    return "comes with Steward" if skill["shipped"] else skill["folder"]
