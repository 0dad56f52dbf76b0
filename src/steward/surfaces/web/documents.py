"""The library: find passages, read documents at the place, drop files in, keep collections and projects."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from markupsafe import Markup

from steward.contract.errors import ConflictError, NotFoundError
from steward.surfaces.api.identity import Identity
from steward.surfaces.api.routes import knowledge as routes
from steward.surfaces.api.routes import uploads
from steward.surfaces.api.state import platform_of
from steward.surfaces.web.display import markdown
from steward.surfaces.web.display.passages import marked
from steward.surfaces.web.doing import call, confirmed, problem_of, require
from steward.surfaces.web.rendering import page, told
from steward.surfaces.web.visitor import Approving, Reading, Sent, Using

router = APIRouter()

FOUND = 10
PASSAGES = 400
MARKDOWN = (".md", ".markdown")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPassage:
    """A passage that a search brought up, with the searched words marked."""

    title: str
    label: str
    score: float
    header_path: str
    source: str
    collection: str
    page: int | None
    is_markdown: bool
    text: Markup
    href: str


@router.get("/documents")
async def show_library(request: Request, identity: Reading, q: str = "", within: str = "") -> Response:
    query = q.strip()
    found, problem = await _search(request, identity, query, within) if query else ([], None)
    return await page(
        request,
        identity,
        "documents.html",
        title="Documents",
        here="documents",
        q=q,
        within=within,
        found=found,
        problem=problem,
        **await _shelves(request, identity),
    )


async def _shelves(request: Request, identity: Identity) -> dict[str, Any]:
    platform = platform_of(request)
    collections = await routes.list_collections(platform, identity)
    projects = await uploads.list_projects(platform, identity)
    return {"collections": collections.items, "projects": projects.items}


async def _search(
    request: Request, identity: Identity, query: str, within: str
) -> tuple[list[FoundPassage], str | None]:
    arguments: dict[str, Any] = {"query": query, "top_k": FOUND}
    if within.startswith("project:"):
        projects = (await uploads.list_projects(platform_of(request), identity)).items
        wanted = within.removeprefix("project:")
        names = [name for each in projects if each.name == wanted for name in each.collections]
        arguments["collections"] = ",".join(names)
    elif within:
        arguments["collections"] = within
    result = await call(request, identity, "query_knowledge_base", arguments, incidental=True)
    if problem := problem_of(result):
        return [], problem
    return [_found(hit, query) for hit in result.data["results"]], None


def _found(hit: dict[str, Any], query: str) -> FoundPassage:
    about = hit["metadata"]
    content, is_markdown = hit["content"], hit["source_document"].endswith(MARKDOWN)
    text = markdown.render(content, query, wrapped=True) if is_markdown else marked(content, query)
    number = about["chunk_sequence_id"]
    return FoundPassage(
        title=about["document_title"],
        label=hit["relevance_label"],
        score=hit["relevance_score"],
        header_path=hit["header_path"],
        source=hit["source_document"],
        collection=about["collection"],
        page=about["page"],
        is_markdown=is_markdown,
        text=Markup(text),  # noqa: S704 - both escape what they do not make themselves
        href=f"/documents/{about['document_id']}?passage={number}#p{number}",
    )


@router.get("/documents/read")
async def read_source(request: Request, identity: Reading, source: str, at: str = "") -> Response:
    """A quoted document, by where it is from: opened at the heading that was quoted."""
    found = (await routes.find_documents(platform_of(request), identity, source=source[:4_096] or " ")).items
    if not found:
        raise NotFoundError("This document is not in the library any more.", fix="Look for it by its words.")
    return await _reading(request, identity, found[0].id, header=at)


@router.get("/documents/in/{collection}")
async def show_collection(
    request: Request, identity: Reading, collection: str, after: int | None = None
) -> Response:
    listed = await routes.list_documents(platform_of(request), identity, collection, limit=100, after=after)
    return await page(
        request,
        identity,
        "collection.html",
        title=collection,
        here="documents",
        collection=collection,
        documents=listed.items,
        after=after,
        next=listed.next,
    )


@router.get("/documents/{document_id}")
async def read(
    request: Request,
    identity: Reading,
    document_id: int,
    passage: int | None = None,
    after: int | None = None,
) -> Response:
    return await _reading(request, identity, document_id, passage=passage, after=after)


async def _reading(
    request: Request,
    identity: Identity,
    document_id: int,
    *,
    passage: int | None = None,
    header: str = "",
    after: int | None = None,
) -> Response:
    if passage is not None and after is None and passage > PASSAGES // 2:
        after = passage - PASSAGES // 2
    read = await routes.read_document(
        platform_of(request), identity, document_id, limit=PASSAGES, after=after
    )
    if passage is None and header:
        passage = next(
            (item.sequence for item in read.items if _stands_under(item.header_path, header)), None
        )
    return await page(
        request,
        identity,
        "reading.html",
        title=read.document.title,
        here="documents",
        read=read,
        passage=passage,
        is_markdown=read.document.source.endswith(MARKDOWN),
    )


def _stands_under(path: str, header: str) -> bool:
    return bool(path) and (path == header or path in header or header in path)


@router.put("/documents/in/{collection}/files/{name}")
async def add_file(request: Request, identity: Using, collection: str, name: str) -> Response:
    """A file that was dropped on the page; the answer is a stream of how far it is."""
    known = {item.name for item in (await routes.list_collections(platform_of(request), identity)).items}
    if collection not in known:
        made = await call(
            request, identity, "manage_collections", {"action": "create", "collection_name": collection}
        )
        require(made)
    return await uploads.add_file(
        platform_of(request), identity, collection, name, request=request, response=Response()
    )


@router.post("/documents/in/{collection}/delete")
async def drop(request: Request, identity: Approving, form: Sent, collection: str) -> Response:
    """For good: the person has typed its name."""
    if form["typed"] != collection:
        raise ConflictError(f"Nothing was deleted. Type {collection} to confirm.")
    arguments = {"action": "delete", "collection_name": collection}
    result = await confirmed(
        request, identity, await call(request, identity, "manage_collections", arguments)
    )
    require(result)
    return Response(
        status_code=204, headers=told(f"Deleted the collection {collection}.") | {"HX-Location": "/documents"}
    )


@router.post("/documents/{document_id}/remove")
async def remove(request: Request, identity: Approving, form: Sent, document_id: int) -> Response:
    """The person was asked on the page, about the document as it was shown there."""
    platform = platform_of(request)
    known = (await routes.read_document(platform, identity, document_id, limit=1)).document
    if form["shown"] != known.ingested_at:
        raise ConflictError("Nothing was removed: it was read anew since.", fix="Look at it again.")
    asked = await routes.remove_document(platform, identity, document_id, response=Response())
    result = await confirmed(request, identity, asked)
    require(result)
    said = told(f"“{known.title}” is out of the library.", undo=f"/undo?which={result.call_id}")
    if form["from"] == "list":
        return Response("", headers=said)
    where = f"/documents/in/{quote(form['collection'], safe='')}"
    return Response(status_code=204, headers=said | {"HX-Location": where})


@router.post("/documents/projects/{name}")
async def change_project(request: Request, identity: Using, form: Sent, name: str) -> Response:
    """It groups these collections from now on, and no others."""
    projects = (await uploads.list_projects(platform_of(request), identity)).items
    project = next((each for each in projects if each.name == name), None)
    if project is None:
        raise NotFoundError(f"There is no project '{name[:80]}'.", fix="Look at the list again.")
    now, wanted = set(project.collections), set(form.all("collection"))
    for action, names in (("link", wanted - now), ("unlink", now - wanted)):
        if names:
            arguments = {"action": action, "project_name": name, "collections": ",".join(sorted(names))}
            require(await call(request, identity, "manage_projects", arguments))
    said = told("Nothing changed." if now == wanted else f"Changed {name}.")
    return Response(status_code=204, headers=said | {"HX-Location": "/documents"})


@router.post("/documents/projects")
async def make_project(request: Request, identity: Using, form: Sent) -> Response:
    arguments = {
        "action": "create",
        "project_name": form["name"].strip(),
        "collections": ",".join(form.all("collection")) or None,
    }
    made = await call(request, identity, "manage_projects", arguments)
    require(made)
    where = f"/documents?within={quote('project:' + form['name'].strip())}"
    return Response(status_code=204, headers=told("The project is made.") | {"HX-Location": where})
