"""`steward schedules`: what an agent does for you at its times, and `steward notices`: what you were told."""

from typing import Annotated, Any

import typer

from steward.contract.errors import InputError
from steward.surfaces.cli.client import Api, connect, route
from steward.surfaces.cli.commands.tools import show_result
from steward.surfaces.cli.consent import settle
from steward.surfaces.cli.output import Exit, JsonFlag, result_exit, run, say, show_json, show_table, visible

app = typer.Typer(
    rich_markup_mode=None, help="What an agent does for you at its times.", no_args_is_help=True
)
AGENTS = ("schedules",)

ScheduleId = Annotated[str, typer.Argument(help="The schedule's id; see 'steward schedules list'.")]
YesFlag = Annotated[bool, typer.Option("--yes", help="Answer yes when it asks for consent.")]


@app.command("list")
def list_schedules(as_json: JsonFlag = False) -> None:
    """Show your schedules and when each runs next.

    \b
    Example: steward schedules list
    """

    async def work() -> None:
        async with connect(agents=()) as api:
            found = await api.get("/v1/schedules")
        if as_json:
            show_json(found)
            return
        rows = [
            (each["id"], each["when"], each["request"], _next(each), each["agent"] or "assistant")
            for each in found["items"]
        ]
        show_table(("ID", "WHEN", "WHAT", "NEXT", "AGENT"), rows, empty="Nothing is scheduled.")

    run(work, as_json=as_json)


@app.command("add")
def add_schedule(
    request: Annotated[list[str], typer.Argument(help="What to do each time, said to the agent.")],
    *,
    when: Annotated[str, typer.Option(help="'every weekday at 8', 'tomorrow at 7', or an RRULE.")],
    agent: Annotated[str | None, typer.Option(help="assistant, tasks or researcher.")] = None,
    yes: YesFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Have an agent do something at its times. What needs your yes waits for it, and you are told.

    \b
    Example: steward schedules add "tell me what is due" --when "every weekday at 8"
    """

    async def work() -> int:
        body: dict[str, Any] = {"request": " ".join(request), "when": when, "agent": agent}
        async with connect(agents=AGENTS) as api:
            result = await settle(api, await api.post("/v1/schedules", body), yes=yes, as_json=as_json)
        return _tell(result, as_json=as_json)

    run(work, as_json=as_json)


@app.command("edit")
def edit_schedule(
    schedule: ScheduleId,
    *,
    request: Annotated[str | None, typer.Option(help="What to do each time from now on.")] = None,
    when: Annotated[str | None, typer.Option(help="Its new times, as for 'add'.")] = None,
    agent: Annotated[str | None, typer.Option(help="Who does it: assistant, tasks or researcher.")] = None,
    yes: YesFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Change a schedule; only what is given changes, and `steward undo` takes it back.

    \b
    Example: steward schedules edit 3f9a0c21b7de --when "every weekday at 9"
    """

    async def work() -> int:
        given = {"request": request, "when": when, "agent": agent}
        change = {name: value for name, value in given.items() if value is not None}
        if not change:
            raise InputError(
                "Nothing is to be changed.", fix="Say what is new: --request, --when or --agent."
            )
        async with connect(agents=AGENTS) as api:
            result = await api.patch(route("schedules", schedule), change)
            result = await settle(api, result, yes=yes, as_json=as_json)
        return _tell(result, as_json=as_json)

    run(work, as_json=as_json)


@app.command("pause")
def pause_schedule(
    schedule: ScheduleId,
    resume: Annotated[bool, typer.Option("--resume", help="Let it run again.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Stop a schedule for a while; --resume lets it run again.

    \b
    Example: steward schedules pause 3f9a0c21b7de
    """

    async def work() -> None:
        async with connect(agents=()) as api:
            changed = await api.post(route("schedules", schedule, "resume" if resume else "pause"))
        if as_json:
            show_json(changed)
        elif resume:
            say(f"'{changed['request']}' runs next {_next(changed)}.")
        else:
            say(f"'{changed['request']}' is paused.")

    run(work, as_json=as_json)


@app.command("remove")
def remove_schedule(schedule: ScheduleId, yes: YesFlag = False, as_json: JsonFlag = False) -> None:
    """Remove a schedule with what it told you, for good. Ends with 3 when it waits for your yes.

    \b
    Example: steward schedules remove 3f9a0c21b7de
    """

    async def work() -> int:
        async with connect(agents=AGENTS) as api:
            result = await api.delete(route("schedules", schedule))
            result = await settle(api, result, yes=yes, as_json=as_json)
        if as_json or result["status"] != "done":
            show_result(result, as_json=as_json)
            return result_exit(result)
        say(f"Removed '{result['data']['request']}' ({result['data']['when']}).")
        return Exit.DONE

    run(work, as_json=as_json)


def notices(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many of the latest.")] = 20,
    as_json: JsonFlag = False,
) -> None:
    """Show what Steward told you of its own accord, the latest last.

    \b
    Example: steward notices
    """

    async def work() -> None:
        async with connect(agents=()) as api:
            found = await api.get("/v1/notices", newest=True, limit=limit)
            await see(api, found["items"])
        found["items"].reverse()
        if as_json:
            show_json(found)
            return
        rows = [
            (each["due"][:16].replace("T", " "), each["event"], each["title"], _ways(each))
            for each in found["items"]
        ]
        show_table(("FOR", "KIND", "WHAT", "SENT BY"), rows, empty="You were not told anything yet.")

    run(work, as_json=as_json)


async def see(api: Api, shown: list[dict[str, Any]]) -> None:
    for notice in shown:
        if notice["seen_at"] is None:
            await api.post(route("notices", notice["id"], "seen"))


def worded(notice: dict[str, Any]) -> str:
    """A notice for a terminal."""
    return visible(f"{notice['event'].capitalize()}: {notice['title']}\n{notice['text']}")


def register(commands: typer.Typer) -> None:
    commands.add_typer(app, name="schedules")
    commands.command()(notices)


def _tell(result: dict[str, Any], *, as_json: bool) -> int:
    """What became of adding or changing one."""
    if as_json or result["status"] != "done":
        show_result(result, as_json=as_json)
        return Exit.USAGE if result.get("error_code") == "INVALID_INPUT" else result_exit(result)
    made = result["data"]
    next_time = "is paused" if made["paused"] else f"runs next {_next(made)}"
    say(f"{made['id']}: '{made['request']}' {next_time}.")
    return Exit.DONE


def _next(schedule: dict[str, Any]) -> str:
    if schedule["paused"]:
        return "paused"
    return "over" if schedule["next_at"] is None else schedule["next_at"][:16].replace("T", " ")


def _ways(notice: dict[str, Any]) -> str:
    told: dict[str, Any] = notice["deliveries"]
    return ", ".join(name if each["sent"] else f"{name} failed" for name, each in told.items())
