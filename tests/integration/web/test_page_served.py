"""The page beside the API on one address: what is whose, what every request passes, who may do what."""

import httpx
import pytest
from fastapi.routing import APIRoute
from starlette.testclient import TestClient
from tests.integration.web.conftest import Visiting
from tests.support.owner import owner_headers

from steward.bootstrap import Platform
from steward.surfaces.api.app import create_app
from steward.surfaces.web.app import ROOMS, WebPage
from steward.surfaces.web.serving import WithPage

PAGES = (
    "/", "/chat", "/approvals", "/approvals/decided", "/tasks", "/documents", "/memory", "/tools",
    "/tools/add_task", "/schedules", "/jobs", "/servers", "/policy", "/access", "/activity",
)  # fmt: skip
# What a reader may do nevertheless: look at a difference, sign out browsers of their own, see a notice.
HARMLESS = {
    "/approvals/{proposal_id}/difference",
    "/access/visits/{visit_id}/end",
    "/notices/{notice_id}/seen",
}


async def answer(scope: object, receive: object, send: object) -> None:
    raise AssertionError("the page was asked")


@pytest.mark.req("RES-ART-I.F")
async def test_the_page_and_the_api_share_one_address(
    address: str, platform: Platform, browser: httpx.AsyncClient
) -> None:
    async with httpx.AsyncClient(base_url=address, timeout=60) as stranger:
        assert (await stranger.get("/healthz")).json()["status"] == "ok"
        missing = await stranger.get("/v1/nothing", headers=owner_headers(platform))
        assert (missing.status_code, missing.json()["code"]) == (404, "NOT_FOUND")
        assert "steward open" in (await stranger.get("/tasks")).text
        assert (await stranger.get("/", headers={"host": "evil.example"})).status_code == 421
    followed = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert (await browser.get("/", headers=followed | {"sec-fetch-dest": "document"})).status_code == 200
    assert (await browser.get("/", headers=followed | {"sec-fetch-dest": "iframe"})).status_code == 403


async def test_every_page_comes_whole_and_guarded(browser: httpx.AsyncClient) -> None:
    for path in PAGES:
        shown = await browser.get(path)
        assert (path, shown.status_code, "<h1" in shown.text) == (path, 200, True)
        policy = shown.headers["content-security-policy"]
        assert "'unsafe" not in policy
        assert (shown.headers["x-frame-options"], shown.headers["cache-control"]) == ("DENY", "no-store")


async def test_pages_of_admins_come_whole_as_well(browser: httpx.AsyncClient) -> None:
    for path in ("/new-tool", "/new-server"):
        assert (path, "<h1" in (await browser.get(path)).text) == (path, True)


async def test_what_is_not_there_is_said_in_plain_words(browser: httpx.AsyncClient) -> None:
    for path in ("/no/such/page", "/chat/none", "/approvals/none", "/tools/none"):
        part = await browser.get(path)
        assert (path, part.status_code, "<" in part.text) == (path, 404, False)
    assert "Look again" in (await browser.get("/activity/none")).text
    del browser.headers["HX-Request"]
    document = await browser.get("/no/such/page")
    assert (document.status_code, "Not here" in document.text) == (404, True)
    assert (await browser.get("/documents/words")).status_code == 422


async def test_whoever_may_only_read_changes_nothing(visiting: Visiting, browser: httpx.AsyncClient) -> None:
    """Every address that changes something asks for a role first: none was forgotten."""
    reader = await visiting("read")
    routes = [route for room in ROOMS for route in room.router.routes if isinstance(route, APIRoute)]
    changing = [route for route in routes if "GET" not in route.methods and route.path not in HARMLESS]
    assert len(changing) > 25
    for route in changing:
        path = route.path.replace("{", "").replace("}", "").replace("document_id", "1").replace("job_id", "1")
        refused = await reader.request(next(iter(route.methods)), path, content=b"")
        assert (route.path, refused.status_code) == (route.path, 403)
    for path in PAGES:
        assert (await reader.get(path)).status_code == 200


async def test_the_pages_files_never_change_at_their_address(browser: httpx.AsyncClient) -> None:
    front = (await browser.get("/")).text
    style = front.partition('rel="stylesheet" href="')[2].partition('"')[0]
    kept = await browser.get(style)
    assert (kept.status_code, "immutable" in kept.headers["cache-control"]) == (200, True)
    assert kept.headers["content-encoding"] == "gzip"
    plain = await browser.get(style, headers={"accept-encoding": "identity"})
    assert plain.text == kept.text
    for other in ("/static/0000000000000000/steward.css", style.replace("steward.css", "%2e%2e/app.py")):
        assert (await browser.get(other)).status_code == 404
    for path in ("/sw.js", "/manifest.webmanifest", "/icon.svg", "/favicon.ico", "/icon-512.png"):
        assert (await browser.get(path)).status_code == 200


async def test_leaving_ends_the_visit(browser: httpx.AsyncClient) -> None:
    assert (await browser.post("/leave")).status_code == 303
    assert (await browser.get("/tasks")).status_code == 401


async def test_a_visit_is_seen_and_ended_over_the_api(
    api: httpx.AsyncClient, visiting: Visiting, browser: httpx.AsyncClient
) -> None:
    other = await visiting("use")
    items = (await api.get("/v1/visits")).json()["items"]
    owners, others = (
        next(each["id"] for each in items if each["name"] == name) for name in ("local", "use-local")
    )
    assert f"visit-{owners}" not in (await other.get("/access")).text
    assert (await other.post(f"/access/visits/{owners}/end")).status_code == 404  # not of that key
    assert (await api.delete(f"/v1/visits/{others}")).status_code == 204
    assert (await api.delete(f"/v1/visits/{others}")).status_code == 404
    assert (await other.get("/tasks")).status_code == 401
    assert (await browser.post(f"/access/visits/{owners}/end")).status_code == 200
    assert (await browser.get("/tasks")).status_code == 401


def test_a_guest_of_the_api_is_no_visitor_of_the_page(platform: Platform) -> None:
    app = create_app(platform, page=answer, origins=frozenset({"https://friend.example"}))
    client = TestClient(app, base_url="http://127.0.0.1:8700")
    refused = client.get("/tasks", headers={"origin": "https://friend.example"})
    assert (refused.status_code, refused.json()["code"]) == (404, "NOT_FOUND")


async def test_what_is_no_request_is_not_the_pages() -> None:
    seen: list[str] = []

    async def api(scope: dict[str, str], receive: object, send: object) -> None:
        seen.append(scope["type"])

    await WithPage(api, answer)({"type": "lifespan"}, None, None)
    assert seen == ["lifespan"]


async def test_what_goes_wrong_inside_is_said_without_a_trace(
    page: WebPage, browser: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a secret detail")

    monkeypatch.setattr(page.turns, "of", broken)
    failed = await browser.get("/chat/none/live")
    assert failed.status_code == 500
    assert "a secret detail" not in failed.text
