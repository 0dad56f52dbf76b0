"""Routes on what a user owns: take it along, bring it in."""

import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import FileResponse
from pydantic import BaseModel, Field
from starlette.background import BackgroundTask

from steward.bootstrap.workspace.ownership import export_user, import_user
from steward.surfaces.api.identity import Admin, Identity, Reader
from steward.surfaces.api.state import Here

router = APIRouter(tags=["ownership"])

ZIP = "application/zip"
BYTES = {"schema": {"type": "string", "format": "binary"}}
BODY: dict[str, Any] = {"requestBody": {"required": True, "content": {"application/octet-stream": BYTES}}}
UserQuery = Annotated[
    str | None,
    Query(max_length=64, description="Somebody else than the key's own user; needs the role admin."),
]


class Imported(BaseModel):
    """How many of each came in. What was there already stayed as it was."""

    user: str
    added: dict[str, int] = Field(examples=[{"tasks": 12, "library/documents": 3}])
    present: dict[str, int] = Field(examples=[{"tasks": 0, "library/documents": 1}])


@router.get("/v1/export", response_class=FileResponse, responses={200: {"content": {ZIP: BYTES}}})
async def export(
    platform: Here,
    identity: Reader,
    user: UserQuery = None,
    library: Annotated[bool, Query(description="With the library's collections and documents.")] = True,
) -> FileResponse:
    """Everything a user owns, as one zip file; docs/ownership.md describes what is in it."""
    owner = _owner(identity, user)
    folder = tempfile.TemporaryDirectory(prefix="steward-export-")
    try:
        file = Path(folder.name) / "export.zip"
        await export_user(platform, owner, file, library=library)
    except BaseException:
        folder.cleanup()
        raise
    return FileResponse(
        file, media_type=ZIP, filename=f"steward-{owner}.zip", background=BackgroundTask(folder.cleanup)
    )


@router.post("/v1/import", openapi_extra=BODY)
async def import_(platform: Here, identity: Admin, request: Request, user: UserQuery = None) -> Imported:
    """Bring an export in: all of it or nothing. What is there already stays as it is."""
    owner = _owner(identity, user)
    async with _received(request) as file:
        moved = await import_user(platform, owner, file)
    return Imported(user=owner, added=moved.added, present=moved.present)


def _owner(identity: Identity, user: str | None) -> str:
    if user is not None and user != identity.user:
        identity.require_admin()
    return user or identity.user


@asynccontextmanager
async def _received(request: Request) -> AsyncGenerator[Path]:
    with tempfile.TemporaryDirectory(prefix="steward-import-") as folder:
        path = Path(folder) / "import.zip"
        with path.open("wb") as file:
            async for block in request.stream():
                file.write(block)
        yield path
