"""`steward jobs`: work that outlives its request, how far it is, and what was given up."""

from typing import Annotated, Any

import typer

from steward.surfaces.cli.client import connect, route
from steward.surfaces.cli.output import JsonFlag, run, say, show_json, show_table, visible

app = typer.Typer(help="See, cancel and retry jobs.", no_args_is_help=True)

JobId = Annotated[int, typer.Argument(help="The job's id; see 'steward jobs list'.", min=1, max=2**63 - 1)]


@app.command("list")
def list_jobs(
    state: Annotated[
        str | None, typer.Option(help="waiting, running, done, failed (given up) or cancelled.")
    ] = None,
    *,
    kind: Annotated[str | None, typer.Option(help="Only jobs of this kind, e.g. turn or call.")] = None,
    limit: Annotated[int, typer.Option(help="How many at most.", min=1, max=1000)] = 50,
    as_json: JsonFlag = False,
) -> None:
    """List jobs, newest first.

    \b
    Example: steward jobs list --state failed
    """

    async def work() -> None:
        async with connect(agents=()) as api:
            found = await api.get("/v1/jobs", state=state, kind=kind, limit=limit)
        if as_json:
            show_json(found)
            return
        rows = [
            (item["id"], item["state"], item["kind"], _far(item), item["title"]) for item in found["items"]
        ]
        show_table(("ID", "STATE", "KIND", "DONE", "WHAT"), rows, empty="There are no jobs.")

    run(work, as_json=as_json)


@app.command("show")
def show_job(job_id: JobId, as_json: JsonFlag = False) -> None:
    """Show one job: how far it is, what it gave, why it failed.

    \b
    Example: steward jobs show 17
    """
    _one("", job_id, as_json=as_json)


@app.command("cancel")
def cancel_job(job_id: JobId, as_json: JsonFlag = False) -> None:
    """Cancel a job. One that runs is asked to stop; what it did until then stays.

    \b
    Example: steward jobs cancel 17
    """
    _one("cancel", job_id, as_json=as_json)


@app.command("retry")
def retry_job(job_id: JobId, as_json: JsonFlag = False) -> None:
    """Let a job that failed or was cancelled wait for a worker again.

    \b
    Example: steward jobs retry 17
    """
    _one("retry", job_id, as_json=as_json)


def show_queued(queued: dict[str, Any], *, as_json: bool) -> None:
    """What was put into the queue instead of being waited for."""
    if as_json:
        show_json(queued)
    else:
        say(f"Job {queued['job']} goes on without you: steward jobs show {queued['job']}")


def _one(action: str, job_id: int, *, as_json: bool) -> None:
    async def work() -> None:
        async with connect(agents=()) as api:
            if action:
                job = await api.post(route("jobs", str(job_id), action), {})
            else:
                job = await api.get(route("jobs", str(job_id)))
        if as_json:
            show_json(job)
        else:
            _show(job)

    run(work, as_json=as_json)


def _show(job: dict[str, Any]) -> None:
    state = f"{job['state']}, asked to stop" if job["stopping"] else job["state"]
    say(visible(f"{job['id']}  {state}  {job['title']}"))
    say(
        f"  kind {job['kind']}, queue {job['queue']}, begun {job['attempts']} times, failed {job['failures']}"
    )
    if far := _far(job):
        say(visible(f"  done {far}  {job['note']}".rstrip()))
    if job["error"]:
        say(visible(f"  {job['error_code']}: {job['error']}"))
    if job["kind"] == "turn" and job["result"]:
        say(visible(f"  {job['result'].get('answer', '')}"))


def _far(job: dict[str, Any]) -> str:
    if job["total"]:
        return f"{job['done']}/{job['total']}"
    return str(job["done"]) if job["done"] else ""
