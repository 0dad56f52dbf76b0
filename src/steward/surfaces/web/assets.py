"""The page's own files: scripts, style, pictures. Each has its digest in its address and never changes there.

`vendor/` holds other people's scripts as their npm packages ship them; PINNED names version and SHA-256, and
a file that is something else is not served.
"""

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from fastapi import APIRouter, Request, Response

from steward.contract.errors import ConfigError, NotFoundError

router = APIRouter()

FOLDER = Path(__file__).parent / "static"
KINDS = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
}
PINNED = {
    "vendor/htmx.js": (
        "htmx.org@2.0.11",
        "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717",
    ),
    "vendor/sse.js": (
        "htmx-ext-sse@2.2.4",
        "98a46496de0c3605fbffdce9167ba427bdd9553184f83f149c261891a92c0136",
    ),
    "vendor/morph.js": (
        "idiomorph@0.8.0",
        "5811b9a7eda14878b7dab4378bf60432e1bb6f11fcfb970cc26540642650181e",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    content: bytes
    packed: bytes
    digest: str
    kind: str


@cache
def asset(name: str) -> Asset:
    content = (FOLDER / name).read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    package, known = PINNED.get(name, ("", digest))
    if digest != known:
        raise ConfigError(f"{name} is not what {package} ships.", fix="Install Steward again.")
    return Asset(
        content=content,
        packed=gzip.compress(content, 9, mtime=0),
        digest=digest[:16],
        kind=KINDS[Path(name).suffix],
    )


def address(name: str) -> str:
    return f"/static/{asset(name).digest}/{name}"


@router.get("/static/{digest}/{name:path}")
def static_file(request: Request, digest: str, name: str) -> Response:
    found = asset(name) if name in _names() else None
    if found is None or found.digest != digest:
        raise NotFoundError(f"There is no file '{name[:80]}'.", fix="Load the page again.")
    return _answer(request, found, "public, max-age=31536000, immutable")


@router.get("/sw.js")
def service_worker(request: Request) -> Response:
    """At the top, because a service worker serves what lies below it."""
    return _answer(request, asset("sw.js"), "no-cache")


@router.get("/manifest.webmanifest")
def manifest(request: Request) -> Response:
    return _answer(request, asset("steward.webmanifest"), "no-cache")


@router.get("/icon.svg")
@router.get("/favicon.ico")
def icon(request: Request) -> Response:
    return _answer(request, asset("icon.svg"), "public, max-age=86400")


@router.get("/icon-{size}.png")
def large_icon(request: Request, size: Literal["192", "512"]) -> Response:
    """For a home screen, which wants a picture that fills its shape."""
    return _answer(request, asset(f"icon-{size}.png"), "public, max-age=86400")


def _answer(request: Request, found: Asset, keeping: str) -> Response:
    headers = {"Cache-Control": keeping, "Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(found.packed, media_type=found.kind, headers=headers | {"Content-Encoding": "gzip"})
    return Response(found.content, media_type=found.kind, headers=headers)


@cache
def _names() -> frozenset[str]:
    return frozenset(
        path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.suffix in KINDS
    )
