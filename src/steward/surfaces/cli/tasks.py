"""`steward tasks`: the to-do list at the terminal.

A task is meant by its id, the start of its id, or words of its title. Several that fit are listed and
nothing is touched.
"""

import sys
from enum import StrEnum
from typing import Annotated, Any

import typer

from steward.contract.errors import ErrorCode, InputError
from steward.surfaces.cli.client import Api, connect, route
from steward.surfaces.cli.consent import settle
from steward.surfaces.cli.output import (
    Exit,
    JsonFlag,
    at_terminal,
    result_exit,
    run,
    say,
    show_json,
    show_table,
)
from steward.surfaces.cli.tools import show_result

app = typer.Typer(rich_markup_mode=None, help="Your to-do list.", no_args_is_help=True)

Words = Annotated[list[str], typer.Argument(help="The task in words, with its date and priority.")]
Reference = Annotated[list[str], typer.Argument(help="Words of its title, its id, or the start of its id.")]
YesFlag = Annotated[bool, typer.Option("--yes", help="Answer yes when it asks for consent.")]
AGENTS = ("tasks",)  # whose tools these commands call; nobody waits for the others to start
SHORT_ID = 6
CLEAR = "none"


class Priority(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


PriorityOption = Annotated[Priority | None, typer.Option(help="How important it is.")]
NoteOption = Annotated[str | None, typer.Option("--note", help="More about it.")]


@app.command("add")
def add_task(
    words: Words,
    *,
    due: Annotated[
        str | None, typer.Option(help="When it is due; the words are then the title as they are.")
    ] = None,
    priority: PriorityOption = None,
    note: NoteOption = None,
    repeat: Annotated[str | None, typer.Option(help="A rule such as FREQ=WEEKLY;BYDAY=MO.")] = None,
    literal: Annotated[bool, typer.Option("--literal", help="Look for no date in the words.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Add a task. A date, a time, a priority or "every monday" in the words is understood.

    \b
    Example: steward tasks add buy milk tomorrow 5pm --priority high
    """

    async def work() -> int:
        said = {"due_date": due, "priority": priority and priority.value, "description": note}
        given = {name: value for name, value in (said | {"recurrence": repeat}).items() if value is not None}
        text = " ".join(words)
        async with connect(agents=AGENTS) as api:
            read = [{"title": text}]
            if due is None and not literal:
                read = (await api.get("/v1/tasks/read", text=text))["items"]
            results = [
                await api.post("/v1/tasks", {k: v for k, v in task.items() if v is not None} | given)
                for task in read
            ]
            return await _tell_all(api, results, as_json=as_json)

    run(work, as_json=as_json)


@app.command("list")
def list_tasks(
    *,
    everything: Annotated[bool, typer.Option("--all", help="Finished ones as well.")] = False,
    done: Annotated[bool, typer.Option("--done", help="Only finished ones.")] = False,
    today: Annotated[bool, typer.Option("--today", help="Only what is due today.")] = False,
    overdue: Annotated[bool, typer.Option("--overdue", help="Only what is late.")] = False,
    before: Annotated[str | None, typer.Option(help="Only what is due before: friday, 2027-03-01.")] = None,
    after: Annotated[str | None, typer.Option(help="Only what is due after.")] = None,
    priority: PriorityOption = None,
    search: Annotated[str | None, typer.Option(help="Only what mentions this.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100)] = 50,
    as_json: JsonFlag = False,
) -> None:
    """Show your tasks, by when they are due.

    \b
    Example: steward tasks list --today
    """

    async def work() -> None:
        first, last = ("yesterday", "tomorrow") if today else (after, "tomorrow" if overdue else before)
        async with connect(agents=AGENTS) as api:
            found = await api.get(
                "/v1/tasks",
                completed=None if everything else done,
                due_after=first,
                due_before=last,
                priority=priority and priority.value,
                search=search,
                limit=limit,
            )
        if overdue:
            found["items"] = [task for task in found["items"] if task["overdue"]]
        if as_json:
            show_json(found)
        else:
            show_tasks(found["items"], empty="Nothing to do." if not done else "Nothing is done yet.")

    run(work, as_json=as_json)


@app.command("done")
def complete_task(reference: Reference, as_json: JsonFlag = False) -> None:
    """Mark a task as done. One that repeats comes back with its next date.

    \b
    Example: steward tasks done milk
    """

    async def work() -> int:
        async with connect(agents=AGENTS) as api:
            task = await _meant(api, reference)
            result = await api.post(route("tasks", task["id"], "complete"))
            return await _tell(api, result, as_json=as_json)

    run(work, as_json=as_json)


@app.command("edit")
def edit_task(
    reference: Reference,
    *,
    title: Annotated[str | None, typer.Option(help="Its new title.")] = None,
    due: Annotated[str | None, typer.Option(help="Its new date, such as 'next friday 5pm'; or none.")] = None,
    priority: PriorityOption = None,
    note: Annotated[str | None, typer.Option("--note", help="Its new description; or none.")] = None,
    repeat: Annotated[str | None, typer.Option(help="Its new rule; or none.")] = None,
    reopen: Annotated[bool, typer.Option("--reopen", help="It is not done after all.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Change a task; only what is given changes.

    \b
    Example: steward tasks edit dentist --due "next friday at 5pm"
    """

    async def work() -> int:
        said = {"title": title, "due_date": due, "priority": priority and priority.value}
        said |= {"description": note, "recurrence": repeat, "completed": False if reopen else None}
        clearable = ("due_date", "description", "recurrence")
        change = {
            name: None if value == CLEAR and name in clearable else value
            for name, value in said.items()
            if value is not None
        }
        async with connect(agents=AGENTS) as api:
            task = await _meant(api, reference)
            return await _tell(api, await api.patch(route("tasks", task["id"]), change), as_json=as_json)

    run(work, as_json=as_json)


@app.command("rm")
def remove_task(reference: Reference, yes: YesFlag = False, as_json: JsonFlag = False) -> None:
    """Delete a task for good. Ends with 3 when it waits for your yes.

    \b
    Example: steward tasks rm old reminder
    """

    async def work() -> int:
        async with connect(agents=AGENTS) as api:
            task = await _meant(api, reference)
            if at_terminal() and not (yes or as_json):
                say(f"Delete '{task['title']}'? This cannot be undone.", error=True)
            result = await api.delete(route("tasks", task["id"]))
            result = await settle(api, result, yes=yes, as_json=as_json)
            return await _tell(api, result, as_json=as_json)

    run(work, as_json=as_json)


@app.command("log")
def task_log(reference: Reference, as_json: JsonFlag = False) -> None:
    """Show what happened to a task.

    \b
    Example: steward tasks log milk
    """

    async def work() -> None:
        async with connect(agents=AGENTS) as api:
            task = await _meant(api, reference)
            found = await api.get(route("tasks", task["id"], "log"))
        if as_json:
            show_json(found)
            return
        rows = [
            (event["at"][:16].replace("T", " "), _action(event), _changes(event)) for event in found["items"]
        ]
        show_table(("WHEN", "WHAT", "CHANGE"), rows, empty="Nothing happened to it.")

    run(work, as_json=as_json)


@app.command("undo")
def undo(
    reference: Annotated[
        list[str] | None, typer.Argument(help="Only a change of this task; otherwise the last of any.")
    ] = None,
    yes: YesFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Take the last change back. A deletion is final; taking an addition back is one, and asks.

    \b
    Example: steward tasks undo
    """

    async def work() -> int:
        async with connect(agents=AGENTS) as api:
            task_id = (await _meant(api, reference))["id"] if reference else None
            undone = await api.post("/v1/tasks/undo", {"task_id": task_id})
            if "status" in undone:  # the task would go with it: a deletion, as any other
                result = await settle(api, undone, yes=yes, as_json=as_json)
                return await _tell(api, result, as_json=as_json)
        if as_json:
            show_json(undone)
        else:
            say(f"{undone['message']}.")
        return Exit.DONE

    run(work, as_json=as_json)


async def _meant(api: Api, reference: list[str]) -> dict[str, Any]:
    """The one task that the words mean; several or none is a question back, and nothing is touched."""
    words = " ".join(reference)
    found = (await api.get("/v1/tasks/find", reference=words))["items"]
    if len(found) == 1:
        return found[0]
    if not found:
        raise InputError(
            f"No task matches '{words}'.", code="TASK_NOT_FOUND", fix="See 'steward tasks list --all'."
        )
    listed = "; ".join(f"{_short(task)} {task['title']}" for task in found[:10])
    more = f" and {len(found) - 10} more" if len(found) > 10 else ""
    raise InputError(
        f"{len(found)} tasks match '{words}': {listed}{more}.",
        code=ErrorCode.INVALID_INPUT,
        fix="Say more of its title, or use its id.",
    )


async def _tell_all(api: Api, results: list[dict[str, Any]], *, as_json: bool) -> int:
    if len(results) == 1:
        return await _tell(api, results[0], as_json=as_json)
    if as_json:
        show_json({"items": results, "next": None})
        return max(result_exit(result) for result in results)
    return max([await _tell(api, result, as_json=False) for result in results])


async def _tell(api: Api, result: dict[str, Any], *, as_json: bool) -> int:
    if as_json or result["status"] != "done":
        show_result(result, as_json=as_json)
        return _exit(result)
    data = result["data"]
    say(f"{data['message']}{await _when(api, data)}.")
    return Exit.DONE


async def _when(api: Api, data: dict[str, Any]) -> str:
    """When it is due, in words, after it was added or moved."""
    task = data.get("task", {})
    if not task.get("due_date") or data.get("changes", ["due_date"]) == []:
        return ""
    shown = await api.get(route("tasks", task["id"]))
    return f", due {shown['due_words']}" if shown["due_words"] else ""


def _exit(result: dict[str, Any]) -> int:
    """What the person typed wrong is bad usage; what went wrong is a failure."""
    if str(result.get("error_code")).startswith("INVALID_"):
        return Exit.USAGE
    return result_exit(result)


def show_tasks(tasks: list[dict[str, Any]], *, empty: str) -> None:
    """Numbered, with due dates in words; late ones stand out."""
    if not tasks or not sys.stdout.isatty():
        rows = [
            (str(number), task["title"], task["due_words"] or "", task["priority"], _state(task), task["id"])
            for number, task in enumerate(tasks, 1)
        ]
        show_table(("#", "TASK", "DUE", "PRIORITY", "STATE", "ID"), rows, empty=empty)
        return
    from rich.console import Console  # noqa: PLC0415 - only a terminal needs it
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table("#", "TASK", "DUE", "PRIORITY", "ID", box=None, header_style="bold", pad_edge=False)
    for number, task in enumerate(tasks, 1):
        done = task["completed"]
        title = Text(("✓ " if done else "") + task["title"].replace("\n", " "), "dim strike" if done else "")
        if task.get("recurrence"):
            title.append(" ↻", "dim")
        due = Text(task["due_words"] or "", _due_style(task))
        priority = Text("" if task["priority"] == "medium" else task["priority"], _PRIORITY[task["priority"]])
        table.add_row(Text(str(number), "dim"), title, due, priority, Text(_short(task), "dim"))
    Console().print(table)


_PRIORITY = {"high": "bold red", "medium": "", "low": "dim"}


def _due_style(task: dict[str, Any]) -> str:
    if task["completed"]:
        return "dim"
    if task["overdue"]:
        return "bold red"
    return "yellow" if str(task["due_words"]).startswith("today") else ""


def _state(task: dict[str, Any]) -> str:
    return "done" if task["completed"] else "overdue" if task["overdue"] else "open"


def _short(task: dict[str, Any]) -> str:
    return str(task["id"]).removeprefix("task_")[:SHORT_ID]


def _action(event: dict[str, Any]) -> str:
    return f"{event['action']} (taken back)" if event["undone"] else str(event["action"])


def _changes(event: dict[str, Any]) -> str:
    before: dict[str, Any] = event["before"] or {}
    after = {name: value for name, value in event["after"].items() if name != "follow_up"}
    if event["action"] == "added":
        return str(after.get("title", ""))
    return "; ".join(f"{name}: {_value(before.get(name))} → {_value(after[name])}" for name in after)


def _value(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, dict):
        day: dict[str, Any] = value  # pyright: ignore[reportUnknownVariableType]
        return str(day["at"])[:16].replace("T", " ") if day["has_time"] else str(day["on"])
    return str(value)
