"""The route that gives an empty workspace something to try."""

from fastapi import APIRouter
from pydantic import BaseModel

from steward.bootstrap.samples import add_samples
from steward.surfaces.api.identity import Admin
from steward.surfaces.api.state import Here

router = APIRouter(prefix="/v1/samples", tags=["samples"])


class SamplesShape(BaseModel):
    tasks: int
    documents: int


@router.post("")
async def load_samples(platform: Here, _: Admin) -> SamplesShape:
    """Sample tasks and Steward's own documentation as a collection. 409 where there is data already."""
    added = await add_samples(platform)
    return SamplesShape(tasks=added.tasks, documents=added.documents)
