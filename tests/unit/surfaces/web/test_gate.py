"""The page's gate: a one-time address or a key becomes a visit, and nobody else sees the page."""

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from steward.contract.errors import StorageError
from steward.policy.access import Keys, Role, new_token
from steward.surfaces.api.protection import Protection
from steward.surfaces.web import gate
from steward.surfaces.web.visits import SignInLinks, Visits
from steward.testing import MemoryKeyStore

OWNER = new_token()[1]
ELSEWHERE = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


@pytest.fixture
def keys() -> Keys:
    return Keys(MemoryKeyStore(), owner=OWNER)


@pytest.fixture
def links() -> SignInLinks:
    return SignInLinks()


@pytest.fixture
def browser(keys: Keys, links: SignInLinks, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    monkeypatch.setattr(gate, "VISITS", Visits())
    page = gate.Gate(PlainTextResponse("the page itself"), keys=keys, links=links)
    return TestClient(Protection(page), base_url="http://127.0.0.1:8700")


def test_whoever_is_not_signed_in_sees_how_to_and_nothing_else(browser: TestClient) -> None:
    front = browser.get("/tasks?x=1")
    assert (front.status_code, "steward open" in front.text, "the page" in front.text) == (200, True, False)
    assert 'name="to" value="/tasks?x=1"' in front.text
    assert "default-src 'none'" in front.headers["content-security-policy"]
    assert (front.headers["cache-control"], front.headers["x-frame-options"]) == ("no-store", "DENY")
    assert [browser.get(part).status_code for part in ("/waiting", "/static/app.js")] == [401, 401]
    assert browser.post("/tasks").status_code == 401


def test_an_address_signs_in_once_and_again_where_it_did(browser: TestClient, links: SignInLinks) -> None:
    path = links.make(OWNER)
    signed = browser.get(path)
    assert (signed.status_code, 'content="0;url=/"' in signed.text) == (200, True)
    assert browser.get("/").text == "the page itself"
    assert browser.get(path).status_code == 200  # pressed twice in the same browser
    browser.cookies.clear()
    again = browser.get(path)
    assert (again.status_code, "used before" in again.text, "set-cookie" in again.headers) == (
        401,
        True,
        False,
    )


def test_a_key_signs_in_and_leads_on_to_where_one_wanted_to_go(browser: TestClient) -> None:
    form = {"key": f" {OWNER} ", "to": "/tasks?x=1"}
    signed = browser.post("/sign-in", data=form)
    assert (signed.status_code, "url=/tasks?x=1" in signed.text) == (200, True)
    assert browser.get("/sign-in?to=/approvals").text.count("/approvals") == 2


@pytest.mark.parametrize("to", ["https://evil.example", "//evil.example", "/\\evil.example", "x", "/sign-in"])
def test_signing_in_leads_to_no_other_server(browser: TestClient, to: str) -> None:
    signed = browser.post("/sign-in", data={"key": OWNER, "to": to})
    assert 'content="0;url=/"' in signed.text


@pytest.mark.parametrize("to", ['/"><script>alert(1)</script>', "/x' onload=alert(1)", "/a\nb"])
def test_where_one_wanted_to_go_never_becomes_code(browser: TestClient, to: str) -> None:
    shown = browser.get("/sign-in", params={"to": to}).text
    assert ("<script" in shown, "' onload" in shown, "a\nb" in shown) == (False, False, False)


@pytest.mark.parametrize("form", [{}, {"key": ""}, {"key": "stw_wrong"}, {"key": "x" * 20_000}])
def test_a_wrong_key_is_said_to_be_one(browser: TestClient, form: dict[str, str]) -> None:
    refused = browser.post("/sign-in", data=form)
    assert (refused.status_code, 'role="alert"' in refused.text) == (401, True)
    assert "set-cookie" not in refused.headers


def test_signing_in_again_ends_the_visit_before(browser: TestClient) -> None:
    browser.post("/sign-in", data={"key": OWNER})
    before = browser.cookies["steward-visit"]
    browser.post("/sign-in", data={"key": OWNER})
    after = browser.cookies["steward-visit"]
    browser.cookies.clear()
    seen = [browser.get("/", headers={"cookie": f"steward-visit={word}"}).text for word in (before, after)]
    assert ["the page itself" in text for text in seen] == [False, True]


def test_a_link_from_elsewhere_is_followed_once_more_by_ourselves(browser: TestClient) -> None:
    browser.post("/sign-in", data={"key": OWNER})
    kept = browser.cookies["steward-visit"]
    browser.cookies.clear()  # a Strict cookie stays at home
    bounced = browser.get("/tasks?x=1", headers=ELSEWHERE)
    assert (bounced.status_code, "url=/sign-in?to=%2Ftasks%3Fx%3D1" in bounced.text) == (200, True)
    onward = browser.get("/sign-in?to=%2Ftasks%3Fx%3D1", headers={"cookie": f"steward-visit={kept}"})
    assert "url=/tasks?x=1" in onward.text
    assert "steward open" in browser.get("/sign-in?to=%2Ftasks").text


@pytest.mark.parametrize("header", ["x-forwarded-for", "via"])
def test_a_proxy_shows_nobody_the_owners_page(browser: TestClient, links: SignInLinks, header: str) -> None:
    passed_on = {header: "x"}
    refused = browser.get(links.make(OWNER), headers=passed_on)
    assert (refused.status_code, "proxy" in refused.text) == (401, True)
    browser.post("/sign-in", data={"key": OWNER})
    assert "the page itself" not in browser.get("/", headers=passed_on).text


async def test_a_key_of_its_own_is_good_through_a_proxy(browser: TestClient, keys: Keys) -> None:
    _, key = await keys.add("desk", Role.APPROVE)
    passed_on = {"x-forwarded-for": "192.0.2.7"}
    assert browser.post("/sign-in", data={"key": key}, headers=passed_on).status_code == 200
    assert browser.get("/", headers=passed_on).text == "the page itself"


def test_keys_that_cannot_be_looked_up_let_nobody_in(
    browser: TestClient, keys: Keys, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object, **__: object) -> None:
        raise StorageError("The database does not answer.")

    monkeypatch.setattr(keys, "admit", away)
    refused = browser.post("/sign-in", data={"key": "stw_x"})
    assert (refused.status_code, "does not answer" in refused.text) == (401, True)
