"""`steward tools`: what can be called, and calling it."""

import json
import sys
from typing import Annotated, Any

import typer

from steward.contract.errors import InputError
from steward.surfaces.cli.client import Api, connect, route
from steward.surfaces.cli.commands.questions import settle_question
from steward.surfaces.cli.consent import settle
from steward.surfaces.cli.output import Exit, JsonFlag, result_exit, run, say, show_json, show_table, visible

app = typer.Typer(rich_markup_mode=None, help="See and call tools.", no_args_is_help=True)


@app.command("list")
def list_tools(
    namespace: Annotated[str | None, typer.Option(help="Only tools of this server.")] = None,
    category: Annotated[str | None, typer.Option(help="Only tools of this category.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """List every tool with its risk.

    \b
    Example: steward tools list --category tasks
    """

    async def work() -> None:
        async with connect() as api:
            found = await api.get("/v1/tools", namespace=namespace, category=category)
        if as_json:
            show_json(found)
            return
        rows = [
            (tool["name"], _risk(tool), tool["agent"], _standing(tool), _first_line(tool["description"]))
            for tool in found["items"]
        ]
        show_table(("TOOL", "RISK", "AGENT", "STATE", "WHAT IT DOES"), rows, empty="There are no tools yet.")

    run(work, as_json=as_json)


@app.command("call")
def call_tool(
    name: Annotated[str, typer.Argument(help="The tool's name; see 'steward tools list'.")],
    *,
    arg: Annotated[list[str] | None, typer.Option("--arg", help="key=value, as often as needed.")] = None,
    args: Annotated[str | None, typer.Option("--args", help="All arguments as one JSON object.")] = None,
    timeout: Annotated[float | None, typer.Option(help="Seconds to wait at most.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Answer yes when it asks for consent.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Call a tool through the door. Ends with 3 when the call waits for a person's yes.

    \b
    Example: steward tools call save_fact --arg text="The spare key is at Ana's."
    """

    async def work() -> int:
        async with connect() as api:
            arguments = await _arguments(api, name, arg or [], args)
            body: dict[str, Any] = {"arguments": arguments}
            if timeout is not None:
                body["timeout"] = timeout
            call = (route("tools", name, "call"), body)
            result = await settle_question(api, await api.post(*call), call, as_json=as_json)
            result = await settle(api, result, yes=yes, as_json=as_json)
        show_result(result, as_json=as_json)
        return result_exit(result)

    run(work, as_json=as_json)


def show_result(result: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        show_json(result)
        return
    match result["status"]:
        case "done":
            data = result["data"]
            text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, indent=2)
            say(visible(text) if sys.stdout.isatty() else text)
        case "pending_approval":
            say(visible(f"This waits for your yes: {result['error']}"), error=True)
            say(f"  steward approve {result['proposal_id']}", error=True)
        case _:
            say(visible(f"Failed ({result['error_code']}): {result['error']}"), error=True)


async def _arguments(api: Api, name: str, pairs: list[str], whole: str | None) -> dict[str, Any]:
    if whole is not None and pairs:
        raise InputError("Both --arg and --args were given.", fix="Use one of them.")
    if whole is not None:
        return parse_object(whole, what="--args")
    if not pairs:
        return {}
    schema = (await api.get(route("tools", name)))["input_schema"]
    return dict(parse_pair(pair, schema) for pair in pairs)


def parse_object(text: str, *, what: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InputError(f"{what} is not JSON: {error}.", fix='Example: \'{"text": "x"}\'.') from None
    if not isinstance(value, dict):
        raise InputError(f"{what} is not a JSON object.", fix='Example: \'{"text": "x"}\'.')
    return value  # pyright: ignore[reportUnknownVariableType]


def parse_pair(pair: str, schema: dict[str, Any]) -> tuple[str, Any]:
    """`key=value`, the value read as the schema's type for that key: text stays text."""
    key, separator, text = pair.partition("=")
    if not separator or not key:
        raise InputError(f"'{pair}' is not key=value.", fix='Example: --arg text="buy milk".')
    wanted = schema.get("properties", {}).get(key, {}).get("type")
    types = set[str](wanted if isinstance(wanted, list) else [wanted])  # pyright: ignore[reportUnknownArgumentType]
    if "string" in types and not (text == "null" and "null" in types):
        return key, text
    try:
        return key, json.loads(text)
    except ValueError:
        # Left as text: the tool's schema says what was expected, in better words than a JSON parser's.
        return key, text


def _risk(tool: dict[str, Any]) -> str:
    suggested = tool.get("suggested_risk")
    return f"{tool['risk']} (unrated; looks {suggested})" if suggested else str(tool["risk"])


def _standing(tool: dict[str, Any]) -> str:
    if tool.get("blocked"):
        return "quarantined"
    return "ready" if tool["available"] else "unavailable"


def _first_line(text: str) -> str:
    line = text.strip().split("\n", 1)[0]
    return line if len(line) <= 70 else f"{line[:69]}…"


__all__ = ["Exit", "app", "parse_object", "parse_pair", "show_result"]
