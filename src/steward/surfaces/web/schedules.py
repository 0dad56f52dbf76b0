"""What Steward does and says of its own accord: schedules with their times, and the notices that followed."""

from fastapi import APIRouter, Request, Response

from steward.surfaces.api.identity import Identity
from steward.surfaces.api.routes import notices as notice_routes
from steward.surfaces.api.routes import schedules as routes
from steward.surfaces.api.routes import tasks as task_routes
from steward.surfaces.api.routes.schedules import NewScheduleBody, ScheduleChangeBody
from steward.surfaces.api.routes.tasks import TaskChangeBody
from steward.surfaces.api.state import platform_of
from steward.surfaces.web.chat import AGENTS
from steward.surfaces.web.doing import confirmed, require
from steward.surfaces.web.rendering import page, part, told, unseen_notices
from steward.surfaces.web.visitor import Approving, Reading, Sent, Using

router = APIRouter()

NOTICES = 50
USUAL = next(iter(AGENTS))  # who does it where nobody is named
SNOOZED = "in 10 minutes"


@router.get("/schedules")
async def show_schedules(request: Request, identity: Reading) -> Response:
    platform = platform_of(request)
    found = await routes.list_schedules(platform, identity)
    notices = await notice_routes.list_notices(platform, identity, newest=True, limit=NOTICES)
    return await page(
        request,
        identity,
        "schedules.html",
        title="Schedules",
        here="schedules",
        schedules=found.items,
        notices=notices.items,
    )


@router.get("/schedules/list")
async def list_schedules(request: Request, identity: Reading) -> Response:
    return await _list_again(request, identity)


@router.post("/schedules")
async def add(request: Request, identity: Using, form: Sent) -> Response:
    body = NewScheduleBody(request=form["request"].strip(), when=form["when"].strip())
    require(await routes.add_schedule(platform_of(request), identity, body, response=Response()))
    return await _list_again(request, identity, headers=told("It runs at its times."))


@router.get("/schedules/{schedule_id}/edit")
async def edit(request: Request, identity: Using, schedule_id: str) -> Response:
    schedule = await routes.get_schedule(platform_of(request), identity, schedule_id)
    return part("schedule_edit.html", schedule=schedule, agents=AGENTS, usual=USUAL)


@router.post("/schedules/{schedule_id}")
async def change(request: Request, identity: Using, form: Sent, schedule_id: str) -> Response:
    """Only what was written anew: "tomorrow at 7" left as it is stays that day."""
    platform = platform_of(request)
    now = await routes.get_schedule(platform, identity, schedule_id)
    said = {name: " ".join(form[name].split()) for name in ("request", "when")}
    changed = {name: words for name, words in said.items() if words != getattr(now, name)}
    if form["agent"] and form["agent"] != (now.agent or USUAL):
        changed["agent"] = form["agent"]
    body = ScheduleChangeBody(**changed)
    if not body.model_fields_set:
        return await _list_again(request, identity)
    result = await routes.change_schedule(platform, identity, schedule_id, body, response=Response())
    require(result)
    headers = told("Changed.", undo=f"/undo?which={result.call_id}")
    return await _list_again(request, identity, headers=headers)


@router.post("/schedules/{schedule_id}/pause")
async def pause(request: Request, identity: Using, schedule_id: str) -> Response:
    await routes.pause_schedule(platform_of(request), identity, schedule_id)
    return await _list_again(request, identity, headers=told("Paused."))


@router.post("/schedules/{schedule_id}/resume")
async def resume(request: Request, identity: Using, schedule_id: str) -> Response:
    await routes.resume_schedule(platform_of(request), identity, schedule_id)
    return await _list_again(request, identity, headers=told("It runs again at its next time."))


@router.post("/schedules/{schedule_id}/remove")
async def remove(request: Request, identity: Approving, form: Sent, schedule_id: str) -> Response:
    """For good; the person was asked on the page."""
    platform = platform_of(request)
    asked = await routes.remove_schedule(platform, identity, schedule_id, response=Response())
    schedule = await routes.get_schedule(platform, identity, schedule_id)
    require(await confirmed(request, identity, asked, as_shown=form["shown"] == schedule.request))
    return await _list_again(request, identity, headers=told("Removed."))


@router.get("/notices/list")
async def list_notices(request: Request, identity: Reading) -> Response:
    found = await notice_routes.list_notices(platform_of(request), identity, newest=True, limit=NOTICES)
    return part("notices_list.html", me=identity, notices=found.items)


@router.get("/notices/unseen")
async def unseen(request: Request, identity: Reading) -> Response:
    return await _unseen_again(request, identity)


@router.post("/notices/{notice_id}/seen")
async def seen(request: Request, identity: Reading, notice_id: str) -> Response:
    await notice_routes.see_notice(platform_of(request), identity, notice_id)
    return await _unseen_again(request, identity)


@router.post("/notices/{notice_id}/snooze")
async def snooze(request: Request, identity: Using, form: Sent, notice_id: str) -> Response:
    """Be told of its task again later; until then it counts as seen."""
    body = TaskChangeBody(notify=form["until"].strip() or SNOOZED)
    platform = platform_of(request)
    require(await task_routes.change_task(platform, identity, form["task"], body, response=Response()))
    await notice_routes.see_notice(platform, identity, notice_id)
    return await _unseen_again(request, identity, headers=told("You are told again later."))


async def _list_again(
    request: Request, identity: Identity, *, headers: dict[str, str] | None = None
) -> Response:
    found = await routes.list_schedules(platform_of(request), identity)
    return part("schedules_list.html", headers=headers, me=identity, schedules=found.items)


async def _unseen_again(
    request: Request, identity: Identity, *, headers: dict[str, str] | None = None
) -> Response:
    return part("unseen.html", headers=headers, me=identity, unseen=await unseen_notices(request, identity))
