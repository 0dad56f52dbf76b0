"""Routes on jobs: work that outlives its request, how far it is, and what was given up."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from steward.contract.jobs import JobState, StoredJob
from steward.surfaces.api.identity import Reader, Worker
from steward.surfaces.api.paging import After, Limit
from steward.surfaces.api.state import Here

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])

JobId = Annotated[int, Path(ge=1, le=2**63 - 1, description="The job's id.", examples=[17])]


class JobShape(BaseModel):
    id: str
    kind: str = Field(examples=["turn"])
    queue: str
    title: str
    user: str | None = Field(description="None: Steward's own housekeeping.")
    state: JobState
    attempts: int = Field(description="How often it was begun; interruptions count here as well.")
    failures: int
    stopping: bool = Field(description="It runs, and was asked to stop.")
    due_at: datetime | None = Field(description="Not before; after a failure, the next try.")
    created_at: datetime | None
    updated_at: datetime | None
    done: int
    total: int | None
    note: str = Field(description="What it does now.")
    error: str | None = Field(description="Why it failed last.")
    error_code: str | None
    result: Any = None

    @classmethod
    def of(cls, job: StoredJob) -> "JobShape":
        return cls(
            id=str(job.id),
            kind=job.kind,
            queue=job.queue,
            title=job.title,
            user=job.user,
            state=job.state,
            attempts=job.attempts,
            failures=job.failures,
            stopping=job.stopping,
            due_at=job.due_at,
            created_at=job.created_at,
            updated_at=job.updated_at,
            done=job.done,
            total=job.total,
            note=job.note,
            error=job.error,
            error_code=job.error_code,
            result=job.result,
        )


class JobList(BaseModel):
    items: list[JobShape]
    next: str | None = None


class QueuedJob(BaseModel):
    """What was put into the queue instead of being waited for."""

    job: str = Field(description="See `GET /v1/jobs/{job}`.")
    conversation: str | None = None


@router.get("")
async def list_jobs(
    platform: Here,
    identity: Reader,
    *,
    state: Annotated[list[JobState] | None, Query(description="failed: the dead letters.")] = None,
    kind: Annotated[str | None, Query(max_length=128)] = None,
    limit: Limit = 50,
    after: After = None,
) -> JobList:
    """Yours, newest first; an administrator sees everybody's and Steward's own."""
    page = await platform.work.store.list(
        user=identity.only, states=state or (), kind=kind, limit=limit, after=after
    )
    return JobList(items=[JobShape.of(job) for job in page.items], next=page.next)


@router.get("/{job_id}")
async def get_job(platform: Here, job_id: JobId, identity: Reader) -> JobShape:
    return JobShape.of(await platform.work.store.get(job_id, user=identity.only))


@router.post("/{job_id}/cancel")
async def cancel_job(platform: Here, job_id: JobId, identity: Worker) -> JobShape:
    """One that waits is cancelled; one that runs is asked to stop. What it did until then stays."""
    return JobShape.of(await platform.work.store.cancel(job_id, user=identity.only))


@router.post("/{job_id}/retry")
async def retry_job(platform: Here, job_id: JobId, identity: Worker) -> JobShape:
    """One that failed or was cancelled waits for a worker again, with a clean slate."""
    return JobShape.of(await platform.work.store.retry(job_id, user=identity.only))
