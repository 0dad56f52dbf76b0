"""Somebody without a token or key: on the same machine, on another site, behind a proxy, on an old address.

What is tried here: to be the owner without the owner's token, to use a sign-in that is not one's own, and to
get the token out of Steward or out of the owner's own programs.
"""

import json
import os
import shutil
import stat
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import httpx
import pytest
from tests.attacks.conftest import Victim, running_victim
from tests.support.owner import owner_headers, owner_token, sign_in
from tests.support.postgres import TestServer

pytestmark = pytest.mark.slow

PROXIES = {
    "X-Forwarded-For": "127.0.0.1",
    "X-Forwarded-Host": "localhost",
    "Forwarded": "for=127.0.0.1",
    "Via": "1.1 proxy.example",
    "X-Real-IP": "127.0.0.1",
    "X-Forwarded": "for=127.0.0.1",
    "X-Client-IP": "127.0.0.1",
    "CF-Connecting-IP": "127.0.0.1",
    "True-Client-IP": "127.0.0.1",
    "Tailscale-User-Login": "somebody@example.org",
    "X-Envoy-External-Address": "127.0.0.1",
}
DOORS = [
    ("GET", "/v1/tasks"),
    ("GET", "/v1/me"),
    ("GET", "/v1/conversations"),
    ("GET", "/v1/models"),
    ("GET", "/metrics"),
    ("POST", "/v1/keys"),
    ("POST", "/v1/chat"),
    ("POST", "/v1/chat/completions"),
    ("POST", "/v1/tools/list_tasks/call"),
    ("POST", "/v1/sign-in-links"),
    ("POST", "/mcp"),
    ("GET", "/mcp"),
    ("POST", "/mcp/tasks"),
]


@pytest.fixture(scope="module")
def house(postgres: TestServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Victim]:
    """As a new user has it: no key in the settings, none made."""
    with running_victim(postgres, tmp_path_factory.mktemp("house"), STEWARD_API_KEY="") as running:
        yield running


def browser(house: Victim) -> httpx.Client:
    return house.client()


def signed_in(client: httpx.Client) -> bool:
    """Whether this browser gets the page itself, and not the one that asks who it is."""
    return client.get("/waiting").status_code == 200


def link(house: Victim) -> str:
    answer = house.client().post("/v1/sign-in-links", headers=owner_headers(house.home))
    return answer.raise_for_status().json()["path"]


@pytest.mark.parametrize("key", ["stw_made_up", "stw_000000000000_" + "x" * 43])
def test_a_key_that_nobody_made_is_refused(house: Victim, key: str) -> None:
    assert house.client(key).get("/v1/tasks").status_code == 401


@pytest.mark.parametrize(("method", "path"), DOORS)
def test_another_account_of_this_machine_is_nobody(house: Victim, method: str, path: str) -> None:
    body = {"json": {"name": "mine", "role": "admin"}} if method == "POST" else {}
    assert house.client().request(method, path, **body).status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"X-API-Key": ""},
        {"Authorization": "Bearer null"},
        {"Authorization": "Basic bG9jYWw6bG9jYWw="},
        {"X-API-Key": "local"},
    ],
)
def test_an_empty_or_invented_key_is_no_key(house: Victim, headers: dict[str, str]) -> None:
    assert house.client().get("/v1/keys", headers=headers).status_code == 401


@pytest.mark.parametrize("header", PROXIES)
def test_a_proxy_in_front_lets_nobody_in(house: Victim, header: str) -> None:
    answer = house.client().get("/v1/tasks", headers={header: PROXIES[header]})
    assert answer.status_code == 401


@pytest.mark.parametrize("header", PROXIES)
def test_the_owners_token_is_worth_nothing_through_a_proxy(house: Victim, header: str) -> None:
    headers = owner_headers(house.home) | {header: PROXIES[header]}
    asked = [house.client().get("/v1/tasks", headers=headers), house.client().post("/mcp", headers=headers)]
    assert [answer.status_code for answer in asked] == [401, 401]


@pytest.mark.parametrize("header", PROXIES)
def test_the_owners_session_is_worth_nothing_through_a_proxy(house: Victim, header: str) -> None:
    client = browser(house)
    sign_in(client, house.home)
    assert client.get("/waiting", headers={header: PROXIES[header]}).status_code == 401


@pytest.mark.parametrize("path", ["/", "/v1/tasks", "/sign-in?code=x", "/healthz", "/mcp"])
def test_a_name_that_leads_here_by_rebinding_reaches_nothing(house: Victim, path: str) -> None:
    headers = owner_headers(house.home) | {"Host": "evil.example"}
    assert house.client().get(path, headers=headers).status_code == 421


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
def test_another_site_cannot_sign_a_browser_in(house: Victim, origin: str) -> None:
    answer = browser(house).post(
        "/sign-in", data={"key": owner_token(house.home)}, headers={"Origin": origin}
    )
    assert (answer.status_code, answer.cookies) == (403, {})


def test_another_site_signs_nobody_in_as_somebody_else_unasked(house: Victim) -> None:
    """What the person then writes down would be in the hands of whoever made the address."""
    admin = house.client(owner_token(house.home))
    admin.post("/v1/users", json={"id": "eve"})
    made = admin.post("/v1/keys", json={"name": "eves", "role": "use", "user": "eve"}).json()
    address = house.client(made["token"]).post("/v1/sign-in-links").json()["path"]
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    person = browser(house)
    asked = person.get(address, headers=followed)
    assert ("set-cookie" in asked.headers, signed_in(person), "eves" in asked.text) == (False, False, True)
    code = address.partition("code=")[2]
    foreign = person.post("/sign-in", data={"code": code}, headers={"Origin": "https://evil.example"})
    assert (foreign.status_code, signed_in(person)) == (403, False)
    person.post("/sign-in", data={"code": code}, headers={"Origin": house.url})
    assert signed_in(person)


def test_the_owners_own_address_signs_in_from_a_file_as_well(house: Victim) -> None:
    """`steward open` goes by way of a file, which to a browser is another site."""
    person = browser(house)
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    person.get(link(house), headers=followed)
    assert signed_in(person)


def test_another_site_cannot_use_the_session_of_this_one(house: Victim) -> None:
    client = browser(house)
    sign_in(client, house.home)
    foreign = client.get("/events", headers={"Origin": "https://evil.example"})
    assert foreign.status_code == 403


def test_the_pages_cookie_opens_no_route_of_the_api(house: Victim) -> None:
    client = browser(house)
    sign_in(client, house.home)
    assert signed_in(client)
    answers = [client.get("/v1/tasks"), client.post("/v1/keys", json={"name": "x"}), client.post("/mcp")]
    assert [answer.status_code for answer in answers] == [401, 401, 401]


def test_no_script_reads_the_pages_cookie_and_no_site_sends_it(house: Victim) -> None:
    client = browser(house)
    cookie = sign_in(client, house.home).headers["set-cookie"]
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))


def test_an_address_that_was_used_signs_nobody_else_in(house: Victim) -> None:
    address = link(house)
    owner, thief = browser(house), browser(house)
    assert owner.get(address).status_code == 200
    assert signed_in(owner)
    again = thief.get(address)
    assert (again.status_code, "set-cookie" in again.headers, signed_in(thief)) == (401, False, False)


def test_two_at_once_share_no_address(house: Victim) -> None:
    address = link(house)
    thieves = [browser(house) for _ in range(8)]
    threads = [threading.Thread(target=thief.get, args=(address,)) for thief in thieves]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(signed_in(thief) for thief in thieves) == 1


@pytest.mark.parametrize("guess", ["", "0", "a" * 43, "..", "%00", "local", "a" * 8_000])
def test_a_guessed_address_signs_nobody_in(house: Victim, guess: str) -> None:
    link(house)
    thief = browser(house)
    answer = thief.get("/sign-in", params={"code": guess})
    assert ("set-cookie" in answer.headers, signed_in(thief)) == (False, False)


def test_a_cookie_that_was_planted_beforehand_opens_nothing(house: Victim) -> None:
    planted = {"Cookie": "steward-visit=planted"}
    assert house.client().get("/waiting", headers=planted).status_code == 401
    victim = browser(house)
    signed = victim.get(link(house), headers=planted)
    assert "planted" not in signed.headers["set-cookie"]
    assert house.client().get("/waiting", headers=planted).status_code == 401


@pytest.mark.parametrize("path", ["/waiting", "/events", "/static/0/steward.js", "/sw.js"])
def test_the_pages_machinery_is_closed_to_who_is_not_signed_in(house: Victim, path: str) -> None:
    assert house.client().get(path).status_code == 401


def test_nothing_is_sent_to_the_page_by_who_is_not_signed_in(house: Victim) -> None:
    own = {"Origin": house.url, "HX-Request": "true"}
    for path in ("/tasks", "/chat", "/approvals/none/approve", "/access/keys", "/policy"):
        assert house.client().post(path, headers=own).status_code == 401


def test_who_is_not_signed_in_sees_a_page_that_says_how(house: Victim) -> None:
    answer = house.client().get("/")
    assert (answer.status_code, "steward open" in answer.text, "/events" in answer.text) == (200, True, False)


def test_a_session_ends_with_the_key_it_was_opened_with(house: Victim) -> None:
    admin = house.client(owner_token(house.home))
    made = admin.post("/v1/keys", json={"name": "lost-laptop", "role": "admin"}).json()
    client = browser(house)
    assert client.post("/sign-in", data={"key": made["token"]}).status_code == 200
    assert signed_in(client)
    admin.delete(f"/v1/keys/{made['id']}").raise_for_status()
    assert (signed_in(client), client.get("/events").status_code) == (False, 401)


def test_a_stream_of_the_page_ends_with_its_key_while_news_keep_coming(house: Victim) -> None:
    admin = house.client(owner_token(house.home))
    made = admin.post("/v1/keys", json={"name": "lost-phone", "role": "use"}).json()
    client = browser(house)
    client.post("/sign-in", data={"key": made["token"]}).raise_for_status()
    with client.stream("GET", "/events") as stream:
        lines = stream.iter_lines()
        assert any(line.startswith("event: hello") for line in lines)
        admin.delete(f"/v1/keys/{made['id']}").raise_for_status()
        admin.post("/v1/tasks", json={"title": "not for a thief"}).raise_for_status()
        heard = [line for line in lines if line.startswith("event:")]
    assert heard == ["event: left"]


def test_only_the_owner_reads_the_token(house: Victim) -> None:
    modes = {name: stat.S_IMODE((house.home / name).stat().st_mode) for name in ("token", "instance.json")}
    assert modes == {"token": 0o600, "instance.json": 0o600}


def test_the_token_stands_in_one_file_only(house: Victim) -> None:
    token = owner_token(house.home)
    house.client(token).get("/v1/tasks", params={"status": token})
    house.client().get(f"/v1/{token}", headers={"X-Request-ID": token, "X-API-Key": token})
    house.client(token).post("/v1/tools/save_fact/call", json={"arguments": {"text": f"It is {token}."}})
    files = [path for path in house.home.rglob("*") if path.is_file()]
    assert [path.name for path in files if token.encode() in path.read_bytes()] == ["token"]


def test_who_has_no_token_learns_nothing_from_the_health(house: Victim) -> None:
    told = [house.client().get(path).json() for path in ("/healthz", "/readyz")]
    assert told == [{"status": "ok"}, {"status": "ready"}]


class Impostor(BaseHTTPRequestHandler):
    """Took the port of a Steward that ended, and repeats whatever the true one ever said in public."""

    heard: ClassVar[list[str]] = []
    said: ClassVar[dict[str, Any]] = {}

    def do_GET(self) -> None:
        self.heard.append(str(self.headers))
        body = json.dumps(self.said).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        return None


def test_a_program_that_takes_the_port_is_not_told_the_token(house: Victim, tmp_path: Path) -> None:
    Impostor.said = {"items": [], "next": None, **house.client().get("/healthz").json()}
    server = ThreadingHTTPServer(("127.0.0.1", 0), Impostor)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    home = tmp_path / "home"
    shutil.copytree(house.home, home)
    known = json.loads((home / "instance.json").read_text())
    stale = known | {"url": f"http://127.0.0.1:{server.server_port}", "pid": os.getpid()}
    (home / "instance.json").write_text(json.dumps(stale))
    environment = {**house.environment, "STEWARD_HOME": str(home)}
    try:
        Victim(house.url, tmp_path, home, house.process, environment).cli("users", "list", "--json")
    finally:
        server.shutdown()
        server.server_close()
    told = "".join(Impostor.heard)
    assert (told != "", owner_token(home) in told) == (True, False)


def test_a_client_connects_with_a_key_that_cannot_say_yes(house: Victim) -> None:
    made = json.loads(house.cli("connect", "cursor", "--json").stdout)
    client = house.client(made["api_key"])
    asked = client.post(
        "/v1/tools/code_execution/call", json={"arguments": {"language": "python", "code": "print(1)"}}
    ).json()
    answer = client.post(f"/v1/proposals/{asked['proposal_id']}/approve")
    assert (made["role"], answer.status_code) == ("use", 403)


def test_a_client_cannot_make_itself_a_better_key(house: Victim) -> None:
    made = json.loads(house.cli("connect", "openai", "--json").stdout)
    client = house.client(made["api_key"])
    answers = [
        client.post("/v1/keys", json={"name": "better", "role": "admin"}),
        client.get("/v1/keys"),
        client.delete("/v1/keys/openai"),
    ]
    assert [answer.status_code for answer in answers] == [403, 403, 403]


@pytest.mark.parametrize("name", ["local", "LOCAL", "api-key"])
def test_no_key_goes_by_the_owners_name(house: Victim, name: str) -> None:
    """Receipts, open browsers, sessions and kept answers are told apart by the names of their keys."""
    admin = house.client(owner_token(house.home))
    sign_in(browser(house), house.home)
    asked = admin.post("/v1/keys", json={"name": name, "role": "use"})
    kept = admin.get("/v1/visits").json()["items"]
    if asked.status_code == 201:
        other = house.client(asked.json()["token"])
        assert other.get("/v1/visits").json()["items"] == []
    assert (asked.status_code, len(kept) > 0) == (400, True)


def test_the_sign_in_of_a_client_is_no_better_than_its_key(house: Victim) -> None:
    made = json.loads(house.cli("connect", "vscode", "--json").stdout)
    client = house.client()
    path = client.post("/v1/sign-in-links", headers={"X-API-Key": made["api_key"]}).json()["path"]
    assert client.get(path).status_code == 200
    house.client(owner_token(house.home)).delete(f"/v1/keys/{made['key']}").raise_for_status()
    assert not signed_in(client)
