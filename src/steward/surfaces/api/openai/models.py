"""`/v1/models`: the agents, as models."""

from typing import Any

from fastapi import APIRouter

from steward.surfaces.api.identity import Reader
from steward.surfaces.api.openai.answering import require_model
from steward.surfaces.api.openai.embeddings import makes_vectors
from steward.surfaces.api.openai.wire import ERRORS
from steward.surfaces.api.state import Here

router = APIRouter(prefix="/v1", tags=["openai"])

OWNER = "steward"
MADE = 1_767_225_600  # when these models were "created": a client only wants a number


@router.get("/models", responses=ERRORS)
async def list_models(platform: Here, _: Reader) -> dict[str, Any]:
    """Who can be talked to. What makes vectors answers under its own name, and is no chat model."""
    return {"object": "list", "data": [_model(kind.name) for kind in platform.agents.kinds]}


@router.get("/models/{name:path}", responses=ERRORS)
async def get_model(platform: Here, name: str, _: Reader) -> dict[str, Any]:
    if not makes_vectors(platform.library.embedder.name, name):
        require_model(platform, name)
    return _model(name)


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": MADE, "owned_by": OWNER}
