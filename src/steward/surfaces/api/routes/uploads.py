"""Files that come in over HTTP for the knowledge base, and the projects that group its collections.

Owns where an uploaded file is kept: the workspace's `uploads` folder, one folder a collection, so that a
citation leads to something that is still there. Ingesting it is the tool's business, through the one door.
"""

import asyncio
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from steward.contract.call import Failed, PendingApproval, ToolCall, ToolResult, new_id
from steward.contract.errors import InputError, UnavailableError
from steward.orchestrator.orchestrator import Orchestrator
from steward.surfaces.api.events import EVENT_STREAM, EVENTS, ProgressFeed, streamed
from steward.surfaces.api.identity import Reader, Worker
from steward.surfaces.api.paging import After, Limit, cut
from steward.surfaces.api.shapes import ToolResultShape
from steward.surfaces.api.state import Here

router = APIRouter(prefix="/v1/knowledge", tags=["knowledge"])

LONGEST_NAME = 150
BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class ProjectItem(BaseModel):
    name: str
    collections: list[str]
    default_collections: list[str]


class ProjectList(BaseModel):
    items: list[ProjectItem]
    next: str | None = None


@router.get("/projects")
async def list_projects(platform: Here, _: Reader, limit: Limit = 1_000, after: After = None) -> ProjectList:
    """By name, with the collections each one groups."""
    known = await platform.library.base.projects()
    page, following = cut(known, limit=limit, after=after, key=lambda item: item.name)
    return ProjectList(
        items=[
            ProjectItem(
                name=project.name,
                collections=list(project.collections),
                default_collections=list(project.defaults),
            )
            for project in page
        ],
        next=following,
    )


@router.put(
    "/collections/{name}/files/{file_name}",
    openapi_extra=BODY,
    responses={
        200: {"content": EVENTS},
        202: {"model": ToolResultShape, "description": "Waits for approval."},
    },
    response_model=ToolResultShape,
)
async def add_file(
    platform: Here, identity: Worker, name: str, file_name: str, *, request: Request, response: Response
) -> Any:
    """Keep a file in the workspace and ingest it. The same name again replaces what it said before.

    With `Accept: text/event-stream` the answer is a stream, as that of a tool call: how far it is, then the
    result.
    """
    collection = await platform.library.base.collection(name)
    path = platform.settings.uploads_folder / collection.name / _plain(file_name)
    before = await _receive(request, path)
    feed = ProgressFeed() if EVENT_STREAM in request.headers.get("accept", "") else None
    call = ToolCall(
        tool="ingest_documents",
        arguments={"path": str(path), "collection": collection.name},
        caller=identity.caller,
        user=identity.user,
        channel=feed,
    )
    if feed is not None:
        return streamed(asyncio.create_task(_ingest(platform.orchestrator, call, path, before)), feed)
    result = await _ingest(platform.orchestrator, call, path, before)
    if isinstance(result, PendingApproval):
        response.status_code = 202
    return ToolResultShape.of(result)


async def _ingest(door: Orchestrator, call: ToolCall, path: Path, before: Path | None) -> ToolResult:
    """A file that was not taken in is not kept either: what lay there `before` comes back."""
    taken = False
    try:
        result = await door.execute(call)
        taken = not isinstance(result, Failed)
        return result
    finally:
        await asyncio.to_thread(_settle, path, before, taken=taken)


def _settle(path: Path, before: Path | None, *, taken: bool) -> None:
    if before is None:
        if not taken:
            path.unlink(missing_ok=True)
    elif taken:
        before.unlink(missing_ok=True)
    else:
        before.replace(path)


def _plain(file_name: str) -> str:
    odd = file_name.startswith(".") or any(
        ord(character) < 32 or character in "/\\" for character in file_name
    )
    if odd or len(file_name.encode(errors="replace")) > LONGEST_NAME:
        raise InputError(
            f"'{file_name[:80]}' cannot name a file.",
            fix=f"Use a plain name of at most {LONGEST_NAME} bytes, such as report.pdf.",
        )
    return file_name


async def _receive(request: Request, path: Path) -> Path | None:
    """Whole or not at all: a broken transfer leaves what was there. Gives what was there, put aside."""
    partial: Path | None = None
    try:
        await asyncio.to_thread(path.parent.mkdir, parents=True, exist_ok=True, mode=0o700)
        descriptor, temporary = await asyncio.to_thread(
            tempfile.mkstemp, prefix=f".{os.getpid()}-", dir=path.parent
        )
        partial = Path(temporary)
        with os.fdopen(descriptor, "wb") as file:
            async for piece in request.stream():
                await asyncio.to_thread(file.write, piece)
        before = await asyncio.to_thread(_put_aside, path)
        await asyncio.to_thread(partial.replace, path)
        partial = None
        return before
    except (OSError, UnicodeEncodeError) as error:
        raise UnavailableError(
            f"The file could not be kept in {path.parent}.", fix="Free space and check its permissions."
        ) from error
    finally:
        if partial is not None:
            partial.unlink(missing_ok=True)


def _put_aside(path: Path) -> Path | None:
    if not path.is_file():
        return None
    before = path.with_name(f".{new_id()}-before")
    shutil.copyfile(path, before)
    return before
