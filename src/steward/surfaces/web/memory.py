"""What is remembered: look, search, add, correct, forget."""

from typing import Any

from fastapi import APIRouter, Request, Response

from steward.surfaces.api.identity import Identity
from steward.surfaces.api.routes import memory as routes
from steward.surfaces.api.state import platform_of
from steward.surfaces.web.doing import call, confirmed, require
from steward.surfaces.web.rendering import page, part, told
from steward.surfaces.web.visitor import Approving, Reading, Sent, Using

router = APIRouter()

PAGE = 50


@router.get("/memory")
async def show_memory(request: Request, identity: Reading, q: str = "", after: str | None = None) -> Response:
    """Newest first, or by meaning where something is looked for."""
    query = q.strip()
    found: list[dict[str, object]] = []
    if query:
        result = await call(
            request, identity, "search_memory", {"query": query, "top_k": 20}, incidental=True
        )
        require(result)
        found = result.data["items"]
    listed = await _listed(request, identity, after)
    words = found if query else None
    return await page(
        request, identity, "memory.html", title="Memory", here="memory", q=q, found=words, **listed
    )


@router.get("/memory/list")
async def list_again(request: Request, identity: Reading, after: str | None = None) -> Response:
    return part("memory_list.html", me=identity, **await _listed(request, identity, after))


async def _listed(request: Request, identity: Identity, after: str | None) -> dict[str, Any]:
    listed = await routes.list_memories(platform_of(request), identity, limit=PAGE, after=after or None)
    return {"memories": listed.items, "next": listed.next, "after": after}


@router.get("/memory/{memory_id}/history")
async def history(request: Request, identity: Reading, memory_id: str) -> Response:
    past = await routes.memory_history(platform_of(request), identity, memory_id)
    return part("memory_history.html", memories=past.items[1:])


@router.get("/memory/{memory_id}/row")
async def row(request: Request, identity: Reading, memory_id: str) -> Response:
    return part("memory_row.html", me=identity, each=await _one(request, identity, memory_id))


@router.get("/memory/{memory_id}/edit")
async def edit(request: Request, identity: Using, memory_id: str) -> Response:
    return part("memory_edit.html", each=await _one(request, identity, memory_id))


@router.post("/memory/{memory_id}")
async def correct(request: Request, identity: Using, form: Sent, memory_id: str) -> Response:
    arguments = {"content": form["content"].strip(), "corrected_id": memory_id}
    result = await call(request, identity, "store_memory", arguments)
    require(result)
    headers = told("Changed.", undo=f"/undo?which={result.call_id}") if result.data != memory_id else None
    kept = await _one(request, identity, result.data)
    return part("memory_row.html", headers=headers, me=identity, each=kept)


async def _one(request: Request, identity: Identity, memory_id: str) -> routes.MemoryItem:
    past = await routes.memory_history(platform_of(request), identity, memory_id)
    return next(each for each in past.items if each.id == memory_id)


@router.post("/memory")
async def remember(request: Request, identity: Using, form: Sent) -> Response:
    result = await call(request, identity, "store_memory", {"content": form["content"].strip()})
    require(result)
    return Response(status_code=204, headers=told("Remembered."))


@router.post("/memory/{memory_id}/forget")
async def forget(request: Request, identity: Approving, memory_id: str) -> Response:
    """For good; the person was asked on the page."""
    asked = await call(request, identity, "forget_memory", {"id": memory_id})
    result = await confirmed(request, identity, asked)
    require(result)
    return Response("", headers=told("Forgotten."))
