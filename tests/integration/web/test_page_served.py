"""The page beside the API on one address: what is whose, and what every request passes."""

import asyncio

import httpx
import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest
from tests.owner import owner_headers
from tests.web_visits import SECONDS, Visit, served

from steward.bootstrap import Platform
from steward.surfaces.api.app import create_app
from steward.surfaces.web import session
from steward.surfaces.web.serving import SCRIPT, Page, WithPage
from steward.surfaces.web.visits import COOKIE, Visits


async def answer(scope: object, receive: object, send: object) -> None:
    raise AssertionError("the page was asked")


async def test_the_page_and_the_api_share_one_address(platform: Platform) -> None:
    page = Page(api="http://127.0.0.1:9")
    async with (
        page.run(),
        served(create_app(platform, page=page)) as address,
        httpx.AsyncClient(base_url=address, timeout=60) as client,
    ):
        assert (await client.get("/healthz")).json()["status"] == "ok"
        missing = await client.get("/v1/nothing", headers=owner_headers(platform))
        assert (missing.status_code, missing.json()["code"]) == (404, "NOT_FOUND")
        await client.post("/sign-in", data={"key": platform.owner_token})
        front, inner = await asyncio.gather(client.get("/"), client.get("/tasks"))
        assert (front.status_code, front.text) == (200, inner.text)
        assert front.headers["x-frame-options"] == "DENY"
        assert "http" not in front.headers["content-security-policy"]
        moved = await client.get("/chat?conversation=c1")
        assert (moved.status_code, moved.headers["location"]) == (307, "/?conversation=c1")
        assert (await client.get("/chat/", follow_redirects=True)).text == front.text
        stranger = await client.get("/", headers={"host": "evil.example"})
        assert stranger.status_code == 421
        followed = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
        assert (await client.get("/", headers=followed | {"sec-fetch-dest": "document"})).status_code == 200
        assert (await client.get("/", headers=followed | {"sec-fetch-dest": "iframe"})).status_code == 403


@pytest.mark.parametrize("headers", [{"origin": "https://evil.example"}, {"host": "evil.example"}])
def test_the_socket_of_another_site_is_not_opened(platform: Platform, headers: dict[str, str]) -> None:
    client = TestClient(create_app(platform, page=answer), base_url="http://127.0.0.1:8700")
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/_stcore/stream", headers=headers):
        pass


def test_a_guest_of_the_api_is_no_visitor_of_the_page(platform: Platform) -> None:
    app = create_app(platform, page=answer, origins=frozenset({"https://friend.example"}))
    client = TestClient(app, base_url="http://127.0.0.1:8700")
    headers = {"origin": "https://friend.example"}
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/_stcore/stream", headers=headers):
        pass


async def test_what_is_no_request_is_not_the_pages() -> None:
    seen: list[str] = []

    async def api(scope: dict[str, str], receive: object, send: object) -> None:
        seen.append(scope["type"])

    await WithPage(api, answer)({"type": "lifespan"}, None, None)
    assert seen == ["lifespan"]


async def test_the_frame_shows_the_first_page_and_who_is_here(
    address: str, api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "VISITS", Visits())
    key = (await api.post("/v1/keys", json={"name": "ana", "role": "admin"})).json()["token"]
    word = session.VISITS.begin(key)
    monkeypatch.setattr(ContextProxy, "cookies", {COOKIE: word})
    app = AppTest.from_file(str(SCRIPT), default_timeout=SECONDS)
    app.secrets["steward"] = {"api": address, "proof": "the-proof-of-this-page"}
    await asyncio.to_thread(app.run, timeout=SECONDS)
    assert app.title[0].value == "Chat"
    assert app.sidebar.caption[-1].value == "Signed in: ana (admin)"
    await asyncio.to_thread(app.sidebar.button[-1].click().run, timeout=SECONDS)
    assert session.VISITS.recall(word) is None
    assert app.title[0].value == "Steward"
    Visit(app).leave()
