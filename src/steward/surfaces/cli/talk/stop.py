"""`steward stop`: ending an answer that is still being made, here or in another program of this home."""

from typing import Annotated, Any

import typer

from steward.surfaces.cli.client import connect, route
from steward.surfaces.cli.output import JsonFlag, run, say, show_json, visible

LOOKED_AT = 100  # conversations; whatever runs is among the latest
UserOption = Annotated[str | None, typer.Option(help="Somebody else's; only an administrator may.")]


def stop(
    conversation: Annotated[str | None, typer.Argument(help="Which one; without it, all that run.")] = None,
    *,
    user: UserOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Stop an answer that is being made. What was done until then stays done.

    \b
    Example: steward stop
    """

    async def work() -> None:
        async with connect() as api:
            if conversation is None:
                latest = await api.get("/v1/conversations", limit=LOOKED_AT, user=user)
                wanted: list[str] = [each["id"] for each in latest["items"] if each["running"]]
            else:
                wanted = [conversation]
            whose = f"?user={user}" if user else ""
            answers: dict[str, Any] = {
                each: await api.post(f"{route('conversations', each, 'stop')}{whose}") for each in wanted
            }
        stopped = [each for each, answer in answers.items() if answer["stopped"]]
        if as_json:
            show_json({"stopped": stopped})
        elif stopped:
            say(visible(f"Stopped {', '.join(stopped)}."))
        else:
            say("Nothing is being answered now.")

    run(work, as_json=as_json)


def register(app: typer.Typer) -> None:
    app.command("stop")(stop)
