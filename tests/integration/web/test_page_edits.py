"""What is edited on the page, over HTTP: tools with their scripts, servers, addresses, documents."""

import json
import sys
from html.parser import HTMLParser
from typing import Any

import httpx
import pytest
from tests.integration.web.conftest import RAW, Visiting
from tests.integration.web.test_page_rooms import told

from steward.settings import Settings

SCHEMA = {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]}
SOURCE = "def run(who):\n    return f'Hello, {who}!'\n"
CALL = {"arguments": {"who": "Ada"}}


class Form(HTMLParser):
    """The fields of a page's last form, as a browser reads them."""

    def __init__(self) -> None:
        super().__init__()
        self.fields: dict[str, str] = {}
        self._text: str | None = None
        self._choice: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        name = known.get("name") or ""
        if tag == "form":
            self.fields = {}
        elif tag == "input" and name and (known.get("type") != "checkbox" or "checked" in known):
            self.fields[name] = known.get("value") or ""
        elif tag == "textarea":
            self._text = name
            self.fields[name] = ""
        elif tag == "select":
            self._choice = name
        elif tag == "option" and self._choice is not None and "selected" in known:
            self.fields[self._choice] = known.get("value") or ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self._text is not None:
            self.fields[self._text] = self.fields[self._text].removeprefix("\n")
            self._text = None
        elif tag == "select":
            self._choice = None

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self.fields[self._text] += data


def form_of(page: str) -> dict[str, str]:
    """The form as a browser would send it, untouched."""
    form = Form()
    form.feed(page[page.index("<main") : page.index("</main>")])
    return form.fields


@pytest.fixture
async def greet(api: httpx.AsyncClient) -> str:
    entry = {"name": "greet", "description": "Greets a person.", "input_schema": SCHEMA, "script": "greet.py"}
    more = {"examples": ["two\nlines"], "timeout": 5, "risk": "reversible", "parallel_capable": False}
    (await api.post("/v1/tools", json=entry | more | {"source": SOURCE})).raise_for_status()
    return "greet"


async def test_a_tool_is_added_on_the_page_and_can_be_called(
    browser: httpx.AsyncClient, api: httpx.AsyncClient
) -> None:
    form = form_of((await browser.get("/new-tool")).text)
    assert "def run(who)" in form["source"]
    named = form | {"name": "welcome", "description": "Welcomes a person.", "risk": "reversible"}
    assert "Added welcome" in told(await browser.post("/tools", data=named))["text"]
    called = (await api.post("/v1/tools/welcome/call", json=CALL)).json()
    waiting = called["proposal_id"]
    done = (await api.post(f"/v1/proposals/{waiting}/approve", json={})).json() if waiting else called
    assert done["data"] == {"greeting": "Hello, Ada!"}
    again = await browser.post("/tools", data=named)
    assert (again.status_code, "already" in again.text) == (409, True)


async def test_a_form_that_is_sent_as_it_came_changes_nothing(
    browser: httpx.AsyncClient, api: httpx.AsyncClient, greet: str
) -> None:
    before = (await api.get(f"/v1/tools/{greet}/source")).json()
    form = form_of((await browser.get(f"/tools/{greet}/edit")).text)
    form = {name: text.replace("\n", "\r\n") for name, text in form.items()}
    assert (await browser.post(f"/tools/{greet}/change", data=form)).is_success
    assert (await api.get(f"/v1/tools/{greet}/source")).json() == before


async def test_an_edit_changes_what_runs_and_the_waiting_call_of_the_old_one_is_refused(
    browser: httpx.AsyncClient, api: httpx.AsyncClient, greet: str
) -> None:
    form = form_of((await browser.get(f"/tools/{greet}/edit")).text)
    unrated = form | {"risk": ""}
    assert (await browser.post(f"/tools/{greet}/change", data=unrated)).is_success
    asked = (await api.post(f"/v1/tools/{greet}/call", json=CALL)).json()["proposal_id"]
    form = form_of((await browser.get(f"/tools/{greet}/edit")).text)
    edited = form | {"source": "def run(who):\r\n    return f'Goodbye, {who}!'\r\n"}
    compared = (await browser.post(f"/tools/{greet}/difference", data=edited)).text
    assert ('class="cut"' in compared, "Goodbye" in compared) == (True, True)
    assert "Changed greet" in told(await browser.post(f"/tools/{greet}/change", data=edited))["text"]
    source = (await api.get(f"/v1/tools/{greet}/source")).json()["source"]
    assert source == "def run(who):\n    return f'Goodbye, {who}!'\n"
    refused = await api.post(f"/v1/proposals/{asked}/approve", json={})
    assert (refused.status_code, refused.json()["code"]) == (409, "PROPOSAL_OUTDATED")
    anew = (await api.post(f"/v1/tools/{greet}/call", json=CALL)).json()
    assert anew["status"] == "pending_approval"
    done = (await api.post(f"/v1/proposals/{anew['proposal_id']}/approve", json={})).json()
    assert done["data"] == "Goodbye, Ada!"


async def test_an_edit_of_an_older_version_is_refused(
    browser: httpx.AsyncClient, api: httpx.AsyncClient, greet: str, settings: Settings
) -> None:
    form = form_of((await browser.get(f"/tools/{greet}/edit")).text)
    (settings.home / "tools" / "greet.py").write_text(SOURCE.replace("Hello", "Hi"))
    late = await browser.post(f"/tools/{greet}/change", data=form | {"description": "Greets."})
    assert (late.status_code, "changed meanwhile" in late.text) == (409, True)
    stands = (await api.get(f"/v1/tools/{greet}/source")).json()
    assert (stands["entry"]["description"], "Hi" in stands["source"]) == ("Greets a person.", True)


@pytest.mark.parametrize(
    ("field", "text", "words"),
    [
        ("timeout", "soon", "no number of seconds"),
        ("timeout", "-1", "timeout"),
        ("input_schema", "{", "not JSON yet"),
        ("input_schema", "[]", "input_schema"),
        ("source", "def run(", "greet.py"),
        ("risk", "harmless", "risk"),
    ],
)
async def test_what_cannot_be_a_tool_is_refused_and_nothing_is_written(
    browser: httpx.AsyncClient, api: httpx.AsyncClient, greet: str, field: str, text: str, words: str
) -> None:
    before = (await api.get(f"/v1/tools/{greet}/source")).json()
    form = form_of((await browser.get(f"/tools/{greet}/edit")).text)
    refused = await browser.post(f"/tools/{greet}/change", data=form | {field: text})
    assert (refused.status_code, words in refused.text) == (400, True)
    assert (await api.get(f"/v1/tools/{greet}/source")).json() == before


async def test_an_edit_stays_with_its_script_and_says_who_else_runs_it(
    browser: httpx.AsyncClient, api: httpx.AsyncClient, greet: str
) -> None:
    twin = {"name": "twin", "description": "Greets as well.", "script": "greet.py", "risk": "reversible"}
    (await api.post("/v1/tools", json=twin)).raise_for_status()
    page = (await browser.get(f"/tools/{greet}/edit")).text
    assert "twin runs this script as well" in page
    other = form_of(page) | {"script": "twin.py", "source": SOURCE.replace("Hello", "Hi")}
    assert (await browser.post(f"/tools/{greet}/change", data=other)).is_success
    changed = (await api.get("/v1/tools/twin/source")).json()
    assert (changed["entry"]["script"], "Hi" in changed["source"]) == ("greet.py", True)
    assert changed["shared_with"] == [greet]


async def test_a_tool_is_removed_and_brought_back(
    browser: httpx.AsyncClient, api: httpx.AsyncClient, greet: str
) -> None:
    removed = told(await browser.post(f"/tools/{greet}/remove"))
    assert (await api.get(f"/v1/tools/{greet}")).status_code == 404
    assert (await browser.post(removed["undo"])).is_success
    assert (await api.post(f"/v1/tools/{greet}/call", json=CALL)).json()["data"] == "Hello, Ada!"


async def test_only_python_tools_are_edited_and_only_by_admins(
    browser: httpx.AsyncClient, visiting: Visiting, greet: str
) -> None:
    assert (await browser.get("/tools/add_task/edit")).status_code == 404
    assert "/tools/add_task/edit" not in (await browser.get("/tools/add_task")).text
    assert f"/tools/{greet}/edit" in (await browser.get(f"/tools/{greet}")).text
    person = await visiting("approve")
    assert f"/tools/{greet}/edit" not in (await person.get(f"/tools/{greet}")).text
    assert (await person.get(f"/tools/{greet}/edit")).status_code == 403
    assert (await person.post(f"/tools/{greet}/change", data={})).status_code == 403


def raw_server(*more: str) -> dict[str, Any]:
    return {
        "command": sys.executable,
        "args": [str(RAW), "--description", "Says it back.", *more],
        "env": {"TOKEN": "s3cret-of-the-server", "NAME": "${HOME}"},
    }


async def test_a_server_is_added_changed_and_removed(
    browser: httpx.AsyncClient, api: httpx.AsyncClient, settings: Settings
) -> None:
    added = await browser.post("/servers", data={"name": "raw", "entry": json.dumps(raw_server())})
    assert told(added)["text"] == "Added raw."
    assert (await api.get("/v1/tools/raw__echo")).status_code == 200
    form = form_of((await browser.get("/servers/raw/edit")).text)
    shown = json.loads(form["entry"])
    assert shown["env"] == {"TOKEN": "(kept)", "NAME": "${HOME}"}
    assert "s3cret-of-the-server" not in (await browser.get("/servers")).text
    shown["timeout"] = 9_000
    changed = await browser.post("/servers/raw/change", data=form | {"entry": json.dumps(shown)})
    assert "Changed raw" in told(changed)["text"]
    written = json.loads(settings.mcp_file.read_text())["mcpServers"]["raw"]
    assert (written["env"], written["timeout"]) == (raw_server()["env"], 9_000)
    late = await browser.post("/servers/raw/change", data=form | {"entry": json.dumps(shown)})
    assert (late.status_code, "changed meanwhile" in late.text) == (409, True)
    assert told(await browser.post("/servers/raw/remove"))["text"] == "Removed raw."
    assert (await api.get("/v1/tools/raw__echo")).status_code == 404


async def test_a_configuration_of_another_program_is_pasted_as_it_is(
    browser: httpx.AsyncClient, api: httpx.AsyncClient
) -> None:
    pasted = json.dumps({"mcpServers": {"raw": raw_server(), "other": raw_server()}})
    assert (
        told(await browser.post("/servers", data={"name": "", "entry": pasted}))["text"]
        == "Added raw, other."
    )
    names = [each["name"] for each in (await api.get("/v1/servers")).json()["items"]]
    assert names == ["other", "raw"]
    again = await browser.post("/servers", data={"name": "raw", "entry": json.dumps(raw_server())})
    assert (again.status_code, "already" in again.text) == (409, True)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("{", "not JSON yet"),
        ("[]", "JSON object"),
        ("{}", "Nothing was written"),
        ('{"command": "x", "timeout": "soon"}', "Nothing was written"),
        ('{"command": "x", "env": {"TOKEN": "(kept)"}}', "Nothing is kept at"),
    ],
)
async def test_what_cannot_be_a_server_is_refused(
    browser: httpx.AsyncClient, settings: Settings, entry: str, words: str
) -> None:
    before = settings.mcp_file.read_text()
    refused = await browser.post("/servers", data={"name": "raw", "entry": entry})
    assert (refused.status_code, words in refused.text) == (400, True)
    assert settings.mcp_file.read_text() == before


async def test_only_the_owner_writes_what_runs_as_their_account(
    browser: httpx.AsyncClient, api: httpx.AsyncClient, visiting: Visiting, settings: Settings
) -> None:
    """Not even an admin's key: a server runs beside all containment."""
    await browser.post("/servers", data={"name": "raw", "entry": json.dumps(raw_server())})
    before = settings.mcp_file.read_text()
    admin = await visiting("admin")
    page = (await admin.get("/servers")).text
    assert ("raw" in page, "/servers/raw/edit" in page) == (True, False)
    entry = {"name": "mine", "entry": json.dumps(raw_server()), "before": ""}
    for path in ("/servers", "/servers/raw/change", "/servers/raw/remove"):
        assert (path, (await admin.post(path, data=entry)).status_code) == (path, 403)
    assert (await admin.get("/servers/raw/edit")).status_code == 403
    token = (await api.post("/v1/keys", json={"name": "root", "role": "admin"})).json()["token"]
    key = {"X-API-Key": token}
    body = {"servers": {"mine": raw_server()}}
    assert (await api.post("/v1/servers", json=body, headers=key)).status_code == 403
    assert (await api.delete("/v1/servers/raw", headers=key)).status_code == 403
    assert (await api.get("/v1/servers/raw", headers=key)).json()["entry"]["env"]["TOKEN"] == "(kept)"
    assert settings.mcp_file.read_text() == before


async def test_a_key_gets_another_role_and_keeps_its_token(
    browser: httpx.AsyncClient, api: httpx.AsyncClient
) -> None:
    made = (await api.post("/v1/keys", json={"name": "tablet", "role": "use"})).json()
    key = {"X-API-Key": made["token"]}
    assert (await api.post("/v1/tasks", json={"title": "one"}, headers=key)).is_success
    changed = await browser.post(f"/access/keys/{made['id']}", data={"role": "read"})
    assert told(changed)["text"] == "tablet has the role read from its next request on."
    assert (await api.post("/v1/tasks", json={"title": "two"}, headers=key)).status_code == 403
    assert (await api.get("/v1/tasks", headers=key)).is_success
    assert (await browser.post(f"/access/keys/{made['id']}", data={"role": "king"})).status_code == 400
    assert (await browser.post("/access/keys/none", data={"role": "use"})).status_code == 404


async def test_where_somebody_is_told_is_edited(browser: httpx.AsyncClient, api: httpx.AsyncClient) -> None:
    await api.post("/v1/users", json={"id": "ana"})
    where = "/access/users/ana/addresses"
    assert "ana@example.org" in (await browser.get(where)).text  # as a hint in the field
    kept = await browser.post(f"{where}/ntfy", data={"address": "https://:s3cret@ntfy.sh/ana"})
    assert told(kept)["text"] == "ana is told by ntfy from now on."
    assert "s3cret" not in kept.text
    assert (await api.get("/v1/users/ana/addresses")).json()["items"] == ["ntfy"]
    wrong = await browser.post(f"{where}/email", data={"address": "not an address"})
    assert (wrong.status_code, "no e-mail address" in wrong.text) == (400, True)
    assert (await browser.post(f"{where}/desktop", data={})).is_success
    assert (await api.get("/v1/users/ana/addresses")).json()["items"] == ["desktop", "ntfy"]
    assert "not told by ntfy" in told(await browser.post(f"{where}/ntfy/remove"))["text"]
    assert (await api.get("/v1/users/ana/addresses")).json()["items"] == ["desktop"]
    assert (await browser.post(f"{where}/ntfy/remove")).status_code == 404
    assert (await browser.post(f"{where}/pigeon", data={"address": "x"})).status_code == 422


async def put(browser: httpx.AsyncClient, name: str, text: str) -> None:
    (await browser.put(f"/documents/in/Insects/files/{name}", content=text)).raise_for_status()


async def documents(api: httpx.AsyncClient) -> list[dict[str, Any]]:
    return (await api.get("/v1/knowledge/collections/Insects/documents")).json()["items"]


BEES = "# Bees\n\nThe waggle dance tells other bees where flowers are.\n"


async def test_one_document_is_removed_and_brought_back_with_its_passages(
    browser: httpx.AsyncClient, api: httpx.AsyncClient
) -> None:
    await put(browser, "bees.md", BEES)
    await put(browser, "ants.md", "# Ants\n\nAnts walk in lines.\n")
    bees = next(each for each in await documents(api) if each["title"] == "Bees")
    assert f"/documents/{bees['id']}/remove" in (await browser.get("/documents/in/Insects")).text
    shown = {"shown": bees["ingested_at"], "from": "reading", "collection": "Insects"}
    removed = await browser.post(f"/documents/{bees['id']}/remove", data=shown)
    assert (told(removed)["text"], removed.headers["hx-location"]) == (
        "“Bees” is out of the library.",
        "/documents/in/Insects",
    )
    assert [each["title"] for each in await documents(api)] == ["Ants"]
    found = (await browser.get("/documents", params={"q": "waggle dance", "within": "Insects"})).text
    assert "waggle" not in found.replace('value="waggle dance"', "")
    (receipt,) = (await api.get("/v1/proposals", params={"state": "finished"})).json()["items"]
    assert (receipt["tool"], receipt["receipt"]["via"]) == ("remove_document", "page")
    assert (await browser.post(told(removed)["undo"])).is_success
    assert [each["title"] for each in await documents(api)] == ["Ants", "Bees"]
    assert (
        "<mark>waggle</mark>"
        in (await browser.get("/documents", params={"q": "waggle dance", "within": "Insects"})).text
    )


async def test_a_document_that_was_read_anew_since_is_not_removed(
    browser: httpx.AsyncClient, api: httpx.AsyncClient
) -> None:
    await put(browser, "bees.md", BEES)
    (bees,) = await documents(api)
    await put(browser, "bees.md", BEES + "\nAnd how far.\n")
    shown = {"shown": bees["ingested_at"], "from": "list", "collection": "Insects"}
    refused = await browser.post(f"/documents/{bees['id']}/remove", data=shown)
    assert (refused.status_code, "read anew since" in refused.text) == (409, True)
    assert len(await documents(api)) == 1


async def test_removing_a_document_asks_whoever_is_not_at_the_page(
    browser: httpx.AsyncClient, api: httpx.AsyncClient, visiting: Visiting
) -> None:
    await put(browser, "bees.md", BEES)
    (bees,) = await documents(api)
    asked = await api.delete(f"/v1/knowledge/documents/{bees['id']}")
    assert (asked.status_code, asked.json()["status"]) == (202, "pending_approval")
    card = (await browser.get("/approvals")).text
    assert "Takes the document" in card
    assert len(await documents(api)) == 1
    assert (await (await visiting("use")).post(f"/documents/{bees['id']}/remove")).status_code == 403
    assert (await api.delete("/v1/knowledge/documents/99999")).status_code == 422
    approved = await api.post(f"/v1/proposals/{asked.json()['proposal_id']}/approve", json={})
    assert (approved.json()["success"], await documents(api)) == (True, [])
