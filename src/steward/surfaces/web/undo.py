"""The button that takes the last change back, on every room of the page."""

from fastapi import APIRouter, Request, Response

from steward.surfaces.api.routes import undo as routes
from steward.surfaces.api.state import platform_of
from steward.surfaces.web.doing import require
from steward.surfaces.web.rendering import told
from steward.surfaces.web.visitor import Using

router = APIRouter()


@router.post("/undo")
async def undo(request: Request, identity: Using, of: str = "", which: str = "") -> Response:
    """The last change, the last one of a room or a thing, or the one with this id."""
    body = routes.UndoBody(of=of or None, id=which or None)
    result = await routes.undo(platform_of(request), identity, body, response=Response())
    require(result)
    back = f"/undo?which={result.data['id']}"
    return Response(status_code=204, headers=told(result.data["message"], undo=None if which else back))
