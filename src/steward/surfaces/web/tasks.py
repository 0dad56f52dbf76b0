"""The task list: Today, Upcoming, Someday, Done; added in words, changed in place, taken back.

Owns which task stands in which view. What a task is, and every change of one, is the API's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request, Response

from steward.contract.errors import InputError
from steward.surfaces.api.identity import Identity
from steward.surfaces.api.routes import samples
from steward.surfaces.api.routes import tasks as routes
from steward.surfaces.api.routes.tasks import NewTaskBody, TaskChangeBody, TaskShape
from steward.surfaces.api.state import platform_of
from steward.surfaces.web.doing import confirmed, require
from steward.surfaces.web.rendering import page, part, told
from steward.surfaces.web.visitor import Administering, Reading, Sent, Using
from steward.tasks.wording import due_words

router = APIRouter()

VIEWS = {"today": "Today", "upcoming": "Upcoming", "someday": "Someday", "done": "Done"}
PAGE = 100
MOST_SHOWN = 500
DAYS_AHEAD = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Tasks under one heading; `day` is where a task goes that is dropped here."""

    title: str
    day: str | None
    tasks: Sequence[TaskShape]


@dataclass(frozen=True, slots=True)
class TaskFilters:
    """What the address asks for."""

    view: str = "today"
    q: str = ""
    priority: str = ""
    shown: int = PAGE  # of those that are done


Wanted = Annotated[TaskFilters, Depends()]


@router.get("/tasks")
async def show_tasks(request: Request, identity: Reading, wanted: Wanted) -> Response:
    listed = await _listed(request, identity, wanted)
    return await page(request, identity, "tasks.html", title="Tasks", here="tasks", **listed)


@router.get("/tasks/list")
async def task_list(request: Request, identity: Reading, wanted: Wanted) -> Response:
    return part("tasks_list.html", me=identity, **await _listed(request, identity, wanted))


async def _listed(request: Request, identity: Identity, wanted: TaskFilters) -> dict[str, Any]:
    view = wanted.view if wanted.view in VIEWS else "today"
    shown = min(max(wanted.shown, PAGE), MOST_SHOWN)
    today = (await _now(request, identity)).date()
    open_tasks, _ = await _tasks(request, identity, wanted, completed=False, most=MOST_SHOWN)
    more = None
    if view == "done":
        done, further = await _tasks(request, identity, wanted, completed=True, most=shown)
        more = shown + PAGE if further and shown < MOST_SHOWN else None
        groups = [Group(title="Done", day=None, tasks=done)]
    else:
        groups = grouped(open_tasks, view, today)
    counts = {name: sum(_view(task, today) == name for task in open_tasks) for name in VIEWS}
    return {
        "view": view,
        "views": VIEWS,
        "groups": groups,
        "counts": counts,
        "q": wanted.q,
        "priority": wanted.priority,
        "today": today.isoformat(),
        "shown": shown,
        "more": more,
        "empty": not open_tasks and view != "done" and not wanted.q and not wanted.priority,
    }


async def _tasks(
    request: Request, identity: Identity, wanted: TaskFilters, *, completed: bool, most: int
) -> tuple[list[TaskShape], bool]:
    """So many of them, and whether there are more."""
    found: list[TaskShape] = []
    after: int | None = 0
    while after is not None and len(found) < most:
        listed = await routes.list_tasks(
            platform_of(request),
            identity,
            completed=completed,
            search=wanted.q or None,
            priority=wanted.priority or None,
            limit=PAGE,
            after=after,
        )
        found += listed.items
        after = None if listed.next is None else int(listed.next)
    return found, after is not None


def _view(task: TaskShape, today: date) -> str:
    if task.completed:
        return "done"
    if task.due_date is None:
        return "someday"
    return "today" if task.overdue or _day(task) <= today else "upcoming"


def _day(task: TaskShape) -> date:
    return date.fromisoformat((task.due_date or "")[:10])


def grouped(tasks: Sequence[TaskShape], view: str, today: date) -> list[Group]:
    mine = [task for task in tasks if _view(task, today) == view]
    if view == "someday":
        return [Group(title="Someday", day="", tasks=mine)]
    if view == "today":
        late = [task for task in mine if task.overdue]
        now = [task for task in mine if not task.overdue]
        groups = [Group(title="Today", day=today.isoformat(), tasks=now)]
        return [Group(title="Overdue", day=None, tasks=late), *groups] if late else groups
    groups: list[Group] = []
    for ahead in range(1, DAYS_AHEAD + 1):
        day = today + timedelta(days=ahead)
        title = "Tomorrow" if ahead == 1 else f"{day:%A} {day.day} {day:%b}"
        groups.append(
            Group(title=title, day=day.isoformat(), tasks=[task for task in mine if _day(task) == day])
        )
    later = [task for task in mine if _day(task) > today + timedelta(days=DAYS_AHEAD)]
    return [*groups, Group(title="Later", day=None, tasks=later)] if later else groups


@router.get("/tasks/preview")
async def preview(request: Request, identity: Reading, sentence: str = "") -> Response:
    """What would be added, while it is written."""
    text = sentence.strip()
    read = await routes.read_tasks(platform_of(request), identity, text=text[:10_000]) if text else None
    now = await _now(request, identity)
    shown = [] if read is None else [(item, _due_words(item.due_date, now)) for item in read.items]
    return part("preview.html", items=shown)


def _due_words(due: str | None, now: datetime) -> str:
    return due_words(due, now) if due else ""


@router.post("/tasks")
async def add(request: Request, identity: Using, form: Sent) -> Response:
    sentence = form["sentence"].strip()
    if not sentence:
        raise InputError("There is nothing to add yet.", fix="Write a task.")
    platform = platform_of(request)
    added: list[str] = []
    for read in (await routes.read_tasks(platform, identity, text=sentence)).items:
        body = NewTaskBody.model_validate(read.model_dump(exclude_none=True))
        require(await routes.add_task(platform, identity, body, response=Response()))
        added.append(f"“{read.title}”")
    headers = told(f"Added {', '.join(added)}.", undo="/undo?of=tasks")
    return part("tasks_list.html", me=identity, headers=headers, **await _again(request, identity, form))


@router.get("/tasks/{task_id}/row")
async def row(request: Request, identity: Reading, task_id: str) -> Response:
    task = await routes.get_task(platform_of(request), identity, task_id)
    return part("task_part.html", me=identity, task=task)


@router.get("/tasks/{task_id}/edit")
async def edit(request: Request, identity: Using, task_id: str) -> Response:
    task = await routes.get_task(platform_of(request), identity, task_id)
    return part("task_edit.html", me=identity, task=task)


@router.get("/tasks/{task_id}/history")
async def history(request: Request, identity: Reading, task_id: str) -> Response:
    log = await routes.task_log(platform_of(request), identity, task_id)
    return part("task_history.html", me=identity, events=log.items)


@router.post("/tasks/{task_id}/tick")
async def tick(request: Request, identity: Using, form: Sent, task_id: str) -> Response:
    platform = platform_of(request)
    if form["done"]:
        result = await routes.complete_task(platform, identity, task_id, response=Response())
    else:
        body = TaskChangeBody(completed=False)
        result = await routes.change_task(platform, identity, task_id, body, response=Response())
    require(result)
    task = await routes.get_task(platform, identity, task_id)
    word = "Done:" if form["done"] else "Open again:"
    return part("task_part.html", me=identity, task=task, headers=_said(f"{word} “{task.title}”", task_id))


@router.post("/tasks/{task_id}")
async def change(request: Request, identity: Using, form: Sent, task_id: str) -> Response:
    """Only what was changed is changed."""
    platform = platform_of(request)
    before = await routes.get_task(platform, identity, task_id)
    wanted: dict[str, Any] = {
        "title": form["title"],
        "due_date": form["due_date"].strip() or None,
        "priority": form["priority"] or before.priority,
        "description": form["description"].replace("\r\n", "\n") or None,
    }
    changed = {name: value for name, value in wanted.items() if value != getattr(before, name)}
    if changed:
        body = TaskChangeBody.model_validate(changed)
        require(await routes.change_task(platform, identity, task_id, body, response=Response()))
    task = await routes.get_task(platform, identity, task_id)
    headers = _said(f"Changed “{task.title}”", task_id) if changed else None
    return part("task_part.html", me=identity, task=task, headers=headers)


@router.post("/tasks/{task_id}/move")
async def move(request: Request, identity: Using, form: Sent, task_id: str) -> Response:
    """To another day, at the same time of the day; without a day to Someday."""
    platform = platform_of(request)
    task = await routes.get_task(platform, identity, task_id)
    day = await _moved_day(request, identity, form["day"])
    time = (task.due_date or "")[10:]
    body = TaskChangeBody(due_date=None if day is None else f"{day}{time}")
    require(await routes.change_task(platform, identity, task_id, body, response=Response()))
    moved = await routes.get_task(platform, identity, task_id)
    where = moved.due_words or "someday"
    headers = _said(f"“{moved.title}”: {where}", task_id)
    return part("tasks_list.html", me=identity, headers=headers, **await _again(request, identity, form))


async def _moved_day(request: Request, identity: Identity, day: str) -> str | None:
    words = {"today": 0, "tomorrow": 1, "week": 7}
    if day in words:
        return ((await _now(request, identity)).date() + timedelta(days=words[day])).isoformat()
    if not day:
        return None
    try:
        return date.fromisoformat(day).isoformat()
    except ValueError:
        raise InputError("This is not a day.", fix="Drop the task on a day.") from None


@router.post("/tasks/{task_id}/delete")
async def delete(request: Request, identity: Using, form: Sent, task_id: str) -> Response:
    """For good; the person was asked on the page, and their click is the yes."""
    platform = platform_of(request)
    asked = await routes.delete_task(platform, identity, task_id, response=Response())
    task = await routes.get_task(platform, identity, task_id)
    require(await confirmed(request, identity, asked, as_shown=form["shown"] == task.title))
    return Response("", headers=told(f"Deleted “{task.title}”."))


@router.post("/samples")
async def bring_samples(request: Request, identity: Administering) -> Response:
    await samples.load_samples(platform_of(request), identity)
    return Response(status_code=204, headers=_changed("The samples are here, documents to search as well."))


async def _again(request: Request, identity: Identity, form: Sent) -> dict[str, Any]:
    wanted = TaskFilters(view=form["view"], q=form["q"], priority=form["of_priority"])
    return await _listed(request, identity, wanted)


async def _now(request: Request, identity: Identity) -> datetime:
    user = await platform_of(request).tasks.users.get(identity.user)
    return datetime.now(user.zone)


def _said(words: str, task_id: str) -> dict[str, str]:
    return told(words, undo=f"/undo?of={quote(f'tasks:{task_id}')}")


def _changed(words: str) -> dict[str, str]:
    return told(words)
