"""`steward tools search|add|update|remove|accept`: finding tools, and deciding which there are."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Protocol

import typer

from steward.contract.errors import InputError
from steward.contract.showing import show_arguments
from steward.surfaces.cli.client import Api, connect, route
from steward.surfaces.cli.output import Exit, JsonFlag, at_terminal, run, say, show_json, show_table, visible

Name = Annotated[str, typer.Argument(help="The tool's name: letters, digits, '_' and '-'.")]
Script = Annotated[
    str | None,
    typer.Option(help="A Python file: one of yours is copied into the tools folder; else a name in it."),
]
Description = Annotated[str | None, typer.Option(help="What it does and when to prefer it.")]
InputSchema = Annotated[str | None, typer.Option(help="JSON Schema of the arguments, or @FILE.")]
OutputSchema = Annotated[str | None, typer.Option(help="JSON Schema of the result, or @FILE.")]
Function = Annotated[str | None, typer.Option(help="The function to call. Unset: run, else main.")]
Timeout = Annotated[float | None, typer.Option(help="Seconds a call may take.")]
Risk = Annotated[
    str | None, typer.Option(help="reversible, reversible_with_delay or irreversible. Unset: always asks.")
]
Category = Annotated[str | None, typer.Option(help="A word to group tools by.")]
Parallel = Annotated[bool | None, typer.Option("--parallel/--serial", help="Whether calls may overlap.")]
Network = Annotated[
    bool | None, typer.Option("--network/--no-network", help="Whether its script may use the network.")
]
Example = Annotated[list[str] | None, typer.Option(help="A request it answers, as often as useful.")]
Entry = Annotated[str | None, typer.Option("--entry", help="The whole entry as JSON, or @FILE.")]


class Submit(Protocol):
    """Sends an entry; `whole`: what it leaves out is left out on purpose."""

    __doc__: str | None

    async def __call__(
        self, api: Api, name: str, given: dict[str, Any], *, whole: bool
    ) -> dict[str, Any]: ...


def _entry_command(submit: Submit, *, done: str) -> Callable[..., None]:
    """`add` and `update` take the same options: an entry of tools.json, whole or field by field."""

    def command(
        name: Name,
        *,
        script: Script = None,
        description: Description = None,
        input_schema: InputSchema = None,
        output_schema: OutputSchema = None,
        function: Function = None,
        timeout: Timeout = None,
        risk: Risk = None,
        category: Category = None,
        parallel: Parallel = None,
        network: Network = None,
        example: Example = None,
        entry: Entry = None,
        as_json: JsonFlag = False,
    ) -> None:
        fields = _stated(
            script=script,
            description=description,
            input_schema=input_schema,
            output_schema=output_schema,
            function=function,
            timeout=timeout,
            risk=risk,
            category=category,
            parallel_capable=parallel,
            network=network,
            examples=example,
        )

        async def work() -> None:
            given = ({} if entry is None else _object(entry, "--entry")) | _parsed(fields)
            async with connect() as api:
                made = await submit(api, name, given, whole=entry is not None)
            _show(made, done, as_json=as_json)

        run(work, as_json=as_json)

    command.__doc__ = submit.__doc__
    return command


async def _add(api: Api, name: str, given: dict[str, Any], *, whole: bool) -> dict[str, Any]:  # noqa: ARG001
    """Register a Python tool; it can be called at once.

    \b
    Example: steward tools add hello --script hello.py --description "Greet somebody." --risk reversible
    """
    return await api.post("/v1/tools", _with_source(given | {"name": name}))


async def _update(api: Api, name: str, given: dict[str, Any], *, whole: bool) -> dict[str, Any]:
    """Change a Python tool; what is not given stays. Calls in flight finish as they began.

    \b
    Example: steward tools update hello --timeout 5
    """
    known: dict[str, Any] = {} if whole else (await api.get(route("tools", name)))["entry"] or {}
    return await api.put(route("tools", name), _with_source(known | given | {"name": name}))


def remove(name: Name, as_json: JsonFlag = False) -> None:
    """Take a Python tool out of tools.json; its script stays where it is.

    \b
    Example: steward tools remove hello
    """

    async def work() -> None:
        async with connect() as api:
            await api.delete(route("tools", name))
        show_json({"removed": name}) if as_json else say(f"{name} is removed.")

    run(work, as_json=as_json)


def search(
    words: Annotated[str, typer.Argument(help="What you want to do, in words.")],
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many at most.")] = 10,
    as_json: JsonFlag = False,
) -> None:
    """Find the tools that fit a request, best first.

    \b
    Example: steward tools search "what time is it in Tokyo"
    """

    async def work() -> None:
        async with connect() as api:
            found = await api.get("/v1/tools/search", q=words, limit=limit)
        if as_json:
            show_json(found)
            return
        rows = [
            (f"{tool['score']:.2f}", tool["name"], tool["risk"], tool["agent"]) for tool in found["items"]
        ]
        show_table(("FIT", "TOOL", "RISK", "AGENT"), rows, empty="No tool fits.")
        if rows:
            shown, saved = f"{len(rows)} of {found['searched']} tools", found["tokens_saved"]
            say(f"{shown}: about {saved:,} tokens less for a model than all of them.", error=True)
        for reason in found["incomplete"]:
            say(visible(f"The search is incomplete: {reason}"), error=True)

    run(work, as_json=as_json)


def accept(
    name: Name,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Accept without being asked.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Show why a server's tool is held back, and accept it as it is now. Ends with 3 when nobody said yes.

    \b
    Example: steward tools accept notes__append
    """

    async def work() -> int:
        async with connect() as api:
            tool = await api.get(route("tools", name))
            if tool["blocked"] and not as_json:
                say(visible(tool["blocked"]))
                say(f"\nAs it was last shown to anybody:\n{visible(tool['description'])}")
                say("\n".join(show_arguments(tool["input_schema"])))
            if tool["blocked"] and not yes:
                if as_json or not at_terminal():
                    show_json(tool) if as_json else say("Answer with --yes.", error=True)
                    return Exit.WAITS
                typer.confirm("Accept it as it is now?", default=False, abort=True)
            tool = await api.post(route("tools", name, "accept"), {"shown": tool["blocked"]})
        show_json(tool) if as_json else say(f"{name} is accepted.")
        return Exit.DONE

    run(work, as_json=as_json)


def register(app: typer.Typer) -> None:
    app.command()(search)
    app.command("add")(_entry_command(_add, done="added"))
    app.command("update")(_entry_command(_update, done="updated"))
    app.command()(remove)
    app.command()(accept)


def _stated(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _parsed(fields: dict[str, Any]) -> dict[str, Any]:
    schemas = [name for name in ("input_schema", "output_schema") if name in fields]
    return fields | {name: _object(fields[name], f"--{name.replace('_', '-')}") for name in schemas}


def _object(text: str, what: str) -> dict[str, Any]:
    if text.startswith("@"):
        text = _read(Path(text[1:]))
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InputError(f"{what} is not JSON: {error}.", fix='Example: \'{"type": "object"}\'.') from None
    if not isinstance(value, dict):
        raise InputError(f"{what} is not a JSON object.", fix='Example: \'{"type": "object"}\'.')
    return value  # pyright: ignore[reportUnknownVariableType]


def _with_source(entry: dict[str, Any]) -> dict[str, Any]:
    """A script that lies here is sent along under its file name; any other is one of the tools folder."""
    script = entry.get("script")
    if not isinstance(script, str) or "source" in entry or not Path(script).is_file():
        return entry
    return entry | {"script": Path(script).name, "source": _read(Path(script))}


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}.", fix="Name a readable UTF-8 file.") from None


def _show(made: dict[str, Any], what: str, *, as_json: bool) -> None:
    if as_json:
        show_json(made)
        return
    tool = made["tool"]
    say(f"{tool['name']} is {what} ({tool['risk']}).")
    for warning in made["warnings"]:
        say(f"  {warning}", error=True)
