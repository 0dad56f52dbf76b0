"""Python tools of tools.json, edited on the page: added, changed with their script, and removed.

Owns the form, and what was filled in as an entry. What an entry may say, and that nothing else was written
since it was shown, is the writer's to check (providers/scripts). A changed tool has another definition: a
call of the old one that still waits for a yes cannot be approved any more.
"""

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from fastapi import APIRouter, Request, Response
from pydantic import ValidationError

from steward.contract.errors import InputError
from steward.providers.scripts.tools_config import parse_entry
from steward.surfaces.api.routes import registration as routes
from steward.surfaces.api.routes.registration import NewTool, ToolUpdate
from steward.surfaces.api.state import platform_of
from steward.surfaces.web.cards import difference
from steward.surfaces.web.rendering import page, part, told
from steward.surfaces.web.visitor import Administering, Sent

router = APIRouter()

WORDS = ("description", "function", "risk", "category")
LISTS = ("examples", "files")
SWITCHES = ("network", "parallel_capable")
JSON_FIELDS = ("input_schema", "output_schema", "env")
EMPTY: dict[str, Any] = {
    "input_schema": {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]}
}
FIRST_SCRIPT = 'def run(who):\n    return {"greeting": f"Hello, {who}!"}\n'
WHAT_CHANGES = "This is what changes. A call of it that waits for a yes cannot be approved any more."


@router.get("/new-tool")
async def show_empty(request: Request, identity: Administering) -> Response:
    return await page(
        request,
        identity,
        "tool_edit.html",
        title="New Python tool",
        here="tools",
        name="",
        before="",
        shown=_shown(EMPTY, FIRST_SCRIPT),
        script="",
        shared_with=[],
    )


@router.get("/tools/{name}/edit")
async def show_form(request: Request, identity: Administering, name: str) -> Response:
    known = await routes.get_source(platform_of(request), name, identity)
    return await page(
        request,
        identity,
        "tool_edit.html",
        title=f"Change {name}",
        here="tools",
        name=name,
        before=known.fingerprint,
        shown=_shown(known.entry, known.source or ""),
        script=known.entry["script"],
        shared_with=known.shared_with,
    )


@router.post("/tools")
async def add(request: Request, identity: Administering, form: Sent) -> Response:
    name = form["name"].strip()
    entry = {"name": name, **_entry({"script": f"{name}.py"}, form)}
    body = _body(NewTool, entry, source=_lines(form["source"]))
    made = await routes.add_tool(platform_of(request), body, identity)
    return _written(f"Added {made.tool.name}. It can be called at once.", made.tool.name, made.warnings)


@router.post("/tools/{name}/change")
async def change(request: Request, identity: Administering, form: Sent, name: str) -> Response:
    """What was not touched stays to the byte; refused where it is not what the form was made from."""
    known = await routes.get_source(platform_of(request), name, identity)
    source = _new_source(known.source, form)
    body = _body(ToolUpdate, _entry(known.entry, form), source=source, before=form["before"])
    made = await routes.update_tool(platform_of(request), name, body, identity)
    return _written(f"Changed {name}. The next call runs it as it is now.", name, made.warnings)


@router.post("/tools/{name}/difference")
async def show_difference(request: Request, identity: Administering, form: Sent, name: str) -> Response:
    """What would be written, beside what stands there now."""
    known = await routes.get_source(platform_of(request), name, identity)
    try:
        after = _entry(known.entry, form)
    except InputError as error:
        return part("difference.html", lines=[], problem=error.explain(), said="")
    source = _new_source(known.source, form)
    lines = difference(
        {**known.entry, "source": known.source},
        {**after, "source": known.source if source is None else source},
    )
    return part("difference.html", lines=lines, problem=None, said=WHAT_CHANGES)


@router.post("/tools/{name}/remove")
async def remove(request: Request, identity: Administering, name: str) -> Response:
    """Out of tools.json; its script stays, and it can be brought back."""
    await routes.remove_tool(platform_of(request), name, identity)
    said = told(f"Removed {name}.", undo=_undo(name))
    return Response(status_code=204, headers=said | {"HX-Location": "/tools"})


def _shown(entry: Mapping[str, Any], source: str) -> dict[str, Any]:
    """An entry as its form has it: every field is there, as text."""
    shown: dict[str, Any] = {name: entry.get(name) or "" for name in WORDS}
    shown |= {name: "\n".join(entry.get(name) or ()) for name in LISTS}
    shown |= {name: bool(entry.get(name)) for name in SWITCHES}
    for name in JSON_FIELDS:
        shown[name] = json.dumps(entry[name], indent=2, ensure_ascii=False) if entry.get(name) else ""
    return {**shown, "timeout": str(entry.get("timeout") or ""), "source": source}


Body = TypeVar("Body", NewTool, ToolUpdate)


def _body(kind: type[Body], entry: Mapping[str, Any], **more: str | None) -> Body:
    parse_entry(entry)  # says what is wrong field by field
    try:
        return kind.model_validate({**entry, **more})
    except ValidationError:
        raise InputError("The script is too long.", fix="Split it; it may have 1 MiB.") from None


def _undo(name: str) -> str:
    return f"/undo?of=tools%3A{name}"


def _written(words: str, name: str, warnings: list[str]) -> Response:
    said = told(" ".join([words, *warnings]), undo=_undo(name))
    return Response(status_code=204, headers=said | {"HX-Location": f"/tools/{name}"})


def _entry(before: Mapping[str, Any], form: Mapping[str, str]) -> dict[str, Any]:
    """What stands there already, with what was written anew; what was emptied is left out."""
    shown, entry = _shown(before, ""), dict(before)
    for name in (*WORDS, *LISTS, *JSON_FIELDS, "timeout"):
        text = _lines(form[name])
        if name not in form or text == shown[name]:
            continue
        if text.strip():
            entry[name] = _read(name, text)
        else:
            entry.pop(name, None)
    for name in SWITCHES:
        if (name in form) != shown[name]:
            entry[name] = name in form
    return entry


def _read(name: str, text: str) -> Any:
    if name in LISTS:
        return [line.strip() for line in text.splitlines() if line.strip()]
    if name in JSON_FIELDS:
        return _json(name, text)
    return _seconds(text) if name == "timeout" else text.strip()


def _new_source(before: str | None, form: Mapping[str, str]) -> str | None:
    """The script's text where it is another one; line ends are no difference."""
    source = _lines(form["source"])
    same = "" if before is None else _lines(before)
    return None if source == same else source


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError("'timeout' is no number of seconds.", fix="Write one such as 5 or 0.5.") from None


def _json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f"'{name}' is not JSON yet: {error}.", fix="Write a JSON object.") from None
