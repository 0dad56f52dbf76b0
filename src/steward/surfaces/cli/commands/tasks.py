"""`steward tasks`: the to-do list at the terminal.

A task is meant by its id, the start of its id, or words of its title. Several that fit are listed and
nothing is touched.
"""

import sys
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, assert_never

import typer

from steward.contract.errors import ErrorCode, InputError
from steward.surfaces.cli.client import Api, connect, route
from steward.surfaces.cli.commands.tools import show_result
from steward.surfaces.cli.commands.undo import UNDO_AGENT, take_back
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
from steward.tasks.wording import due_words

app = typer.Typer(rich_markup_mode=None, help="Your to-do list.", no_args_is_help=True)

Words = Annotated[list[str], typer.Argument(help="The task in words, with its date and priority.")]
Reference = Annotated[list[str], typer.Argument(help="Words of its title, its id, or the start of its id.")]
YesFlag = Annotated[bool, typer.Option("--yes", help="Answer yes when it asks for consent.")]
AGENTS = ("tasks",)  # whose tools these commands call; nobody waits for the others to start
SHORT_ID = 6
_PAGE = 100
_URGENCY = ("high", "medium", "low")
CLEAR = "none"


class SortChoice(StrEnum):
    DUE = "due"
    PRIORITY = "priority"
    TITLE = "title"
    ADDED = "added"


class PriorityChoice(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


PriorityOption = Annotated[PriorityChoice | None, typer.Option(help="How important it is.")]
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
    notify: Annotated[bool, typer.Option("--notify", help="Remind me when it is due.")] = False,
    literal: Annotated[bool, typer.Option("--literal", help="Look for no date in the words.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Add a task. A date, a time, a priority, "every monday" or "remind me" in the words is understood.

    \b
    Example: steward tasks add buy milk tomorrow 5pm --priority high
    """

    async def work() -> int:
        said: dict[str, Any] = {"due_date": due, "priority": priority and priority.value, "description": note}
        said |= {"recurrence": repeat, "notify": True if notify else None}
        given = {name: value for name, value in said.items() if value is not None}
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
    tag: Annotated[str | None, typer.Option(help="Only what has this #tag in its title or note.")] = None,
    sort: Annotated[SortChoice, typer.Option(help="What comes first.")] = SortChoice.DUE,
    user: Annotated[str | None, typer.Option(help="Somebody else's, if you are an administrator.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100)] = 50,
    as_json: JsonFlag = False,
) -> None:
    """Show your tasks, by when they are due or as --sort says. A tag is a word like #garden in a task.

    \b
    Example: steward tasks list --today
    Example: steward tasks list --tag garden --sort priority
    """

    async def work() -> None:
        first, last = ("yesterday", "tomorrow") if today else (after, "tomorrow" if overdue else before)
        async with connect(agents=AGENTS) as api:
            found = await _listed(
                api,
                limit if tag is None and not overdue and sort is SortChoice.DUE else None,
                completed=None if everything else done,
                due_after=first,
                due_before=last,
                priority=priority and priority.value,
                search=search or (tag and f"#{tag.lstrip('#')}"),
                user=user,
            )
        kept = [task for task in found["items"] if (not overdue or task["overdue"]) and _has_tag(task, tag)]
        found["items"] = _sorted(kept, sort)[:limit]
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
    notify: Annotated[
        bool | None, typer.Option("--notify/--no-notify", help="Remind me when it is due, or not.")
    ] = None,
    reopen: Annotated[bool, typer.Option("--reopen", help="It is not done after all.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Change a task; only what is given changes.

    \b
    Example: steward tasks edit dentist --due "next friday at 5pm"
    """

    async def work() -> int:
        said: dict[str, Any] = {"title": title, "due_date": due, "priority": priority and priority.value}
        said["notify"] = notify
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


@app.command("snooze")
def snooze(
    reference: Annotated[
        list[str] | None, typer.Argument(help="The task; otherwise the one you were reminded of last.")
    ] = None,
    *,
    until: Annotated[
        str, typer.Option(help="When to be reminded again: 'in 1 hour', '5pm'.")
    ] = "in 10 minutes",
    as_json: JsonFlag = False,
) -> None:
    """Be reminded of a task again later. Its due date stays.

    \b
    Example: steward tasks snooze dentist --until "tomorrow at 9"
    """

    async def work() -> int:
        async with connect(agents=AGENTS) as api:
            task_id = (await _meant(api, reference))["id"] if reference else await _last_told(api)
            result = await api.patch(route("tasks", task_id), {"notify": until})
        if as_json or result["status"] != "done":
            show_result(result, as_json=as_json)
            return _exit(result)
        task = result["data"]["task"]
        now = datetime.now(datetime.fromisoformat(task["notify_at"]).tzinfo)
        say(f"I'll remind you of '{task['title']}' {due_words(task['notify_at'], now)}.")
        return Exit.DONE

    run(work, as_json=as_json)


async def _last_told(api: Api) -> str:
    """The task of the latest reminder."""
    told = (await api.get("/v1/notices", newest=True, limit=50))["items"]
    tasks = [str(notice["task_id"]) for notice in told if notice["task_id"]]
    if not tasks:
        raise InputError(
            "You were not reminded of anything lately.", fix="Say which task: steward tasks snooze dentist."
        )
    return tasks[0]


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
def undo_task(
    reference: Annotated[
        list[str] | None, typer.Argument(help="Only a change of this task; otherwise the last of any.")
    ] = None,
    yes: YesFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Take the last change of a task back. 'steward undo' does so for anything.

    \b
    Example: steward tasks undo
    """

    async def work() -> int:
        async with connect(agents=(*AGENTS, UNDO_AGENT)) as api:
            task_id = (await _meant(api, reference))["id"] if reference else None
            body = {"of": "tasks" if task_id is None else f"tasks:{task_id}"}
            return await take_back(api, body, yes=yes, as_json=as_json)

    run(work, as_json=as_json)


async def _listed(api: Api, most: int | None, **wanted: Any) -> dict[str, Any]:
    """One page; all of them where `most` is None, as what comes first is known only then."""
    found = await api.get("/v1/tasks", limit=most or _PAGE, **wanted)
    while most is None and found["next"] is not None:
        page = await api.get("/v1/tasks", limit=_PAGE, after=found["next"], **wanted)
        found = {"items": [*found["items"], *page["items"]], "next": page["next"]}
    return found


def _has_tag(task: dict[str, Any], tag: str | None) -> bool:
    words = f"{task['title']} {task.get('description') or ''}".casefold().split()
    return tag is None or f"#{tag.lstrip('#').casefold()}" in {word.strip(".,;:!?()") for word in words}


def _sorted(tasks: list[dict[str, Any]], sort: SortChoice) -> list[dict[str, Any]]:
    """What is done comes last, whatever comes first; equals stay by when they are due."""
    match sort:
        case SortChoice.DUE:
            return tasks
        case SortChoice.PRIORITY:
            return sorted(tasks, key=lambda task: (task["completed"], _URGENCY.index(task["priority"])))
        case SortChoice.TITLE:
            return sorted(tasks, key=lambda task: (task["completed"], task["title"].casefold()))
        case SortChoice.ADDED:
            return sorted(tasks, key=lambda task: (task["completed"], task["created_at"]))
        case _:
            assert_never(sort)


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
