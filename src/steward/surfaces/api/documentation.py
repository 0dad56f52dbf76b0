"""`/docs`: the API's own page about itself, made in the browser from `/openapi.json`.

Everything comes from this package: the page works without a network, and tells nobody that it was opened.
"""

from functools import cache
from pathlib import Path

from fastapi import APIRouter, Response

router = APIRouter(include_in_schema=False)

FOLDER = Path(__file__).parent
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'"


@router.get("/docs")
async def page() -> Response:
    return Response(_read("documentation.html"), media_type="text/html", headers=_headers())


@router.get("/docs/script")
async def script() -> Response:
    return Response(_read("documentation.js"), media_type="text/javascript", headers=_headers())


@router.get("/docs/style")
async def style() -> Response:
    return Response(_read("documentation.css"), media_type="text/css", headers=_headers())


def _headers() -> dict[str, str]:
    return {"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff"}


@cache
def _read(name: str) -> bytes:
    return (FOLDER / name).read_bytes()
