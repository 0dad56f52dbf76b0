"""`research-agent projects`: which collections belong together, and which of them are searched."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from steward.surfaces.cli.calling import call
from steward.surfaces.cli.client import connect
from steward.surfaces.cli.output import JsonFlag, run, say, show_json, show_table

app = typer.Typer(help="Projects group collections.", no_args_is_help=True)

NameArgument = Annotated[str, typer.Argument(help="Its name.")]


@app.command("create")
def create_project(
    name: NameArgument,
    *,
    collections: Annotated[str | None, typer.Option(help="Comma-separated names to link.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Create a project."""
    _project("create", name, collections, as_json=as_json)


@app.command("list")
def list_projects(as_json: JsonFlag = False) -> None:
    """List projects with their collections and those that a query in the project searches."""

    async def work() -> None:
        async with connect(agents=()) as api:
            found = await api.get("/v1/knowledge/projects")
        if as_json:
            show_json(found)
            return
        rows = [
            (item["name"], ", ".join(item["collections"]), ", ".join(item["default_collections"]))
            for item in found["items"]
        ]
        show_table(("PROJECT", "COLLECTIONS", "SEARCHES"), rows, empty="There are no projects yet.")

    run(work, as_json=as_json)


PROJECT_CHANGES = {
    "link": "Link collections to a project.",
    "unlink": "Take collections out of a project; the collections stay.",
    "set-defaults": "Choose which of its collections a project searches.",
}


def _project_change(action: str) -> Callable[..., None]:
    def command(
        name: NameArgument,
        collections: Annotated[str, typer.Argument(help="Comma-separated names.")],
        as_json: JsonFlag = False,
    ) -> None:
        _project(action, name, collections, as_json=as_json)

    return command


for _action, _help in PROJECT_CHANGES.items():
    app.command(_action, help=_help)(_project_change(_action))


def _project(action: str, name: str, collections: str | None, *, as_json: bool) -> None:
    def show(data: dict[str, Any]) -> None:
        project = data["project"]
        say(f"{project['name']}: {', '.join(project['collections']) or 'no collections'}")
        if project["default_collections"]:
            say(f"  searches {', '.join(project['default_collections'])}")

    arguments = {"action": action, "project_name": name, "collections": collections}
    call("manage_projects", arguments, as_json=as_json, show=show)
