"""Documents, memory, tools, servers, policy, keys, people and activity, as people use them in a browser."""

import json
import re
import sys
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect
from tests.browser.conftest import Place, Visitor

pytestmark = pytest.mark.timeout(600)

RAW = Path(__file__).parents[1] / "servers" / "raw.py"


def test_a_document_is_dropped_in_found_and_read(visitor: Visitor, tmp_path: Path, api: httpx.Client) -> None:
    document = tmp_path / "bees.md"
    document.write_text("# Bees\n\n## Dance\n\nThe waggle dance tells other bees where flowers are.\n")
    page = visitor.open("documents", "Documents")
    page.get_by_label("Into").fill("Insects")
    page.locator("#files").set_input_files(document)
    expect(page.get_by_text("1 of 1 documents are in Insects")).to_be_visible()
    expect(page.locator(".shelf").get_by_role("link", name="Insects")).to_be_visible()
    page.get_by_label("Search passages").fill("how do bees dance")
    page.keyboard.press("Enter")
    found = page.locator(".card").filter(has_text="waggle").first
    expect(found.locator("mark").first).to_be_visible()
    found.get_by_role("link").first.click()
    expect(page.locator(".bit.here")).to_contain_text("waggle dance")
    page.go_back()
    page.get_by_role("link", name="All documents").click()
    page.get_by_label("Delete Insects").click()
    page.get_by_label("It goes with its").first.fill("Insects")
    page.get_by_role("button", name="Delete it").first.click()
    expect(page.get_by_text("Deleted the collection Insects.")).to_be_visible()
    names = [each["name"] for each in api.get("/v1/knowledge/collections").json()["items"]]
    assert "Insects" not in names


def test_a_file_that_fails_stands_beside_those_that_go_in(
    visitor: Visitor, tmp_path: Path, api: httpx.Client
) -> None:
    texts = {
        "ants.md": "# Ants\n\nAnts walk in lines.\n",
        "broken.pdf": "%PDF-1.4 broken",
        "empty.txt": "",
        "wasps.md": "\n\n".join(f"## Nest {number}\n\n{'A wasp made it. ' * 40}" for number in range(80)),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    page = visitor.open("documents", "Documents")
    page.get_by_label("Into").fill("Swarms")
    page.locator("#files").set_input_files([tmp_path / name for name in texts])
    shown = page.locator("#uploads .upload")
    expect(shown.filter(has_text="wasps.md").get_by_role("progressbar")).to_have_attribute(
        "max", re.compile(r"\d\d")
    )
    expect(page.get_by_text("2 of 4 documents are in Swarms")).to_be_visible()
    expect(shown).to_have_text(
        [re.compile("broken.pdf cannot be read"), re.compile("empty.txt holds no text")]
    )
    expect(page.get_by_label("Into")).to_have_value("Swarms")
    assert visitor.barriers() == []
    page.get_by_role("link", name="Tasks", exact=True).first.click()
    expect(page.get_by_role("heading", name="Tasks", level=1)).to_be_visible()
    expect(shown).to_have_count(2)
    shown.first.get_by_role("button", name="Close").click()
    expect(shown).to_have_count(1)
    listed = api.get("/v1/knowledge/collections/Swarms/documents").json()["items"]
    assert sorted(each["title"] for each in listed) == ["Ants", "Nest 0"]


def test_something_is_remembered_found_and_forgotten(visitor: Visitor, api: httpx.Client) -> None:
    page = visitor.open("memory", "Memory")
    page.get_by_label("Something to remember").fill("My bicycle is in the cellar.")
    page.keyboard.press("Enter")
    line = page.locator(".line").filter(has_text="bicycle")
    expect(line).to_be_visible()
    page.get_by_label("Search memory").fill("where is my bike")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="What fits")).to_be_visible()
    page.locator("[id^=memory-]").filter(has_text="bicycle").get_by_label("Forget this").click()
    page.get_by_role("dialog").get_by_role("button", name="Yes").click()
    expect(page.get_by_text("Forgotten.")).to_be_visible()
    assert all("bicycle" not in each["content"] for each in api.get("/v1/memory").json()["items"])


def test_a_memory_is_corrected_in_place_and_the_correction_undone(
    visitor: Visitor, api: httpx.Client
) -> None:
    page = visitor.open("memory", "Memory")
    told = {"arguments": {"content": "The ladder is at Bens."}}
    api.post("/v1/tools/store_memory/call", json=told).raise_for_status()
    line = page.locator(".line").filter(has_text="ladder")
    expect(line).to_be_visible()
    line.get_by_label("Change this").click()
    field = page.get_by_label("What is remembered")
    expect(field).to_be_focused()
    field.fill("The ladder is at Ana's.")
    assert visitor.barriers() == []
    visitor.picture("memory-edit")
    page.get_by_role("button", name="Save").click()
    expect(line).to_contain_text("at Ana's")
    expect(line).to_be_focused()
    page.locator("#says").get_by_role("button", name="Undo").click()
    expect(line).to_contain_text("at Bens")
    line.get_by_label("Change this").click()
    page.keyboard.press("Escape")
    expect(line).to_contain_text("at Bens")


def test_a_schedule_is_changed_in_place(visitor: Visitor, api: httpx.Client) -> None:
    page = visitor.open("schedules", "Schedules")
    page.get_by_label("What to do").fill("Tell me what is due")
    page.get_by_label("When").fill("every saturday at 10:40")
    page.get_by_role("button", name="Add").click()
    line = page.locator(".line").filter(has_text="every saturday at 10:40")
    line.get_by_label("Change this schedule").click()
    editing = page.locator(".line.editing")
    editing.get_by_label("When").focus()
    with page.expect_response("**/schedules/list"):  # the list is drawn anew around what is being written
        page.evaluate("document.body.dispatchEvent(new CustomEvent('resync'))")
    visitor.settle()
    expect(editing.get_by_label("When")).to_be_focused()
    editing.get_by_label("When").fill("every sunday at 11:20")
    assert visitor.barriers() == []
    visitor.picture("schedules-edit")
    editing.get_by_role("button", name="Save").click()
    expect(page.locator("#schedules .line").filter(has_text="every sunday at 11:20")).to_be_visible()
    kept = [schedule["when"] for schedule in api.get("/v1/schedules").json()["items"]]
    assert ("every sunday at 11:20" in kept, "every saturday at 10:40" in kept) == (True, False)


def test_a_tool_is_found_tried_and_its_calls_are_drawn(visitor: Visitor) -> None:
    page = visitor.open("tools", "Tools")
    page.get_by_label("Search tools").fill("what time is it in Tokyo")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="What fits, best first")).to_be_visible()
    page.locator(".line").get_by_role("link", name="get_current_time").click()
    expect(page.get_by_role("heading", name="get_current_time", level=1)).to_be_visible()
    page.get_by_role("button", name="Call it").click()
    expect(page.locator("#tried .tag.good")).to_have_text("done")
    page.reload()
    expect(page.locator(".chart rect").first).to_be_attached()


def test_a_python_tool_is_written_tried_changed_and_removed(visitor: Visitor, api: httpx.Client) -> None:
    page = visitor.open("tools", "Tools")
    page.get_by_role("link", name="New Python tool").click()
    page.get_by_label("Name", exact=True).fill("shout")
    page.get_by_label("What it does").fill("Says a name loudly.")
    page.locator("#tool-source").fill("def run(who):\n    return who.upper()\n")
    page.get_by_label("Risk").select_option("reversible")
    page.get_by_text("More settings").click()
    assert visitor.barriers() == []
    visitor.picture("tool-new")
    page.get_by_role("button", name="Add it").click()
    expect(page.get_by_role("heading", name="shout", level=1)).to_be_visible()
    page.get_by_role("link", name="Change").click()
    source = page.locator("#tool-source")
    expect(source).to_have_value("def run(who):\n    return who.upper()\n")
    source.fill("def run(who):\n    return who.upper() + '!'\n")
    expect(page.locator("#difference .add")).to_contain_text("+ '!'")
    assert visitor.barriers() == []
    visitor.picture("tool-edit")
    page.get_by_role("button", name="Write it").click()
    expect(page.get_by_text("Changed shout.")).to_be_visible()
    assert api.get("/v1/tools/shout/source").json()["source"].endswith("upper() + '!'\n")
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Yes").click()
    expect(page.get_by_text("Removed shout.")).to_be_visible()
    assert api.get("/v1/tools/shout").status_code == 404
    page.locator("#says").get_by_role("button", name="Undo").last.click()
    expect(page.get_by_text("Taken back: removed the tool 'shout'.")).to_be_visible()
    assert api.get("/v1/tools/shout").status_code == 200


def test_a_server_is_written_into_its_file_and_out_of_it(visitor: Visitor, api: httpx.Client) -> None:
    page = visitor.open("servers", "Servers")
    page.get_by_role("link", name="New server").click()
    page.get_by_label("Name").fill("back")
    entry = {
        "command": sys.executable,
        "args": [str(RAW), "--description", "Says it back."],
        "env": {"K": "hush"},
    }
    page.get_by_label("Entry of mcp.json").fill(json.dumps(entry))
    page.get_by_role("button", name="Add it").click()
    expect(page.locator("#agent-back .tag.good")).to_have_text("running")
    page.get_by_label("Change back").click()
    expect(page.get_by_label("Entry of mcp.json")).to_have_value(re.compile(r'"K": "\(kept\)"'))
    assert visitor.barriers() == []
    visitor.picture("server-edit")
    page.get_by_role("button", name="Write it").click()
    expect(page.get_by_text("Changed back.")).to_be_visible()
    other = visitor.context.new_page()
    other.goto(f"{visitor.address}/tools")
    expect(other.get_by_role("link", name="back__echo")).to_be_visible()
    page.get_by_label("Remove back").click()
    page.get_by_role("dialog").get_by_role("button", name="Yes").click()
    expect(page.locator("#agent-back")).to_have_count(0)
    expect(other.get_by_role("link", name="back__echo")).to_have_count(0)
    assert api.get("/v1/servers").json()["items"] == []


def test_one_document_goes_and_comes_back(visitor: Visitor, tmp_path: Path, api: httpx.Client) -> None:
    for name in ("moths", "beetles"):
        (tmp_path / f"{name}.md").write_text(f"# {name.capitalize()}\n\nSomething of {name}.\n")
    page = visitor.open("documents", "Documents")
    page.get_by_label("Into").fill("Night")
    page.locator("#files").set_input_files([tmp_path / "moths.md", tmp_path / "beetles.md"])
    expect(page.get_by_text("2 of 2 documents are in Night")).to_be_visible()
    page.goto(f"{visitor.address}/documents/in/Night")
    page.get_by_label("Remove Moths").click()
    page.get_by_role("dialog").get_by_role("button", name="Yes").click()
    expect(page.get_by_role("link", name="Moths")).to_have_count(0)
    titles = [each["title"] for each in api.get("/v1/knowledge/collections/Night/documents").json()["items"]]
    assert titles == ["Beetles"]
    page.locator("#says").get_by_role("button", name="Undo").last.click()
    expect(page.get_by_role("link", name="Moths")).to_be_visible()
    page.get_by_role("link", name="Moths").click()
    expect(page.get_by_role("heading", name="Moths", level=1)).to_be_visible()
    page.get_by_label("Remove Moths").click()
    page.get_by_role("dialog").get_by_role("button", name="Yes").click()
    expect(page.get_by_role("heading", name="Night", level=1)).to_be_visible()
    expect(page.get_by_role("link", name="Moths")).to_have_count(0)


def test_where_somebody_is_told_is_set_and_taken_away(visitor: Visitor, api: httpx.Client) -> None:
    page = visitor.open("schedules", "Schedules")
    page.get_by_role("link", name="say where").click()
    page.get_by_text("Where local is told").click()
    page.get_by_label("ntfy", exact=True).fill("https://ntfy.sh/a-topic")
    assert visitor.barriers() == []
    page.locator(".told form").filter(has_text="ntfy").get_by_role("button", name="Save").click()
    expect(page.get_by_text("local is told by ntfy from now on.")).to_be_visible()
    assert api.get("/v1/users/local/addresses").json()["items"] == ["ntfy"]
    page.reload()  # what was said is fading in: axe would measure that
    page.get_by_text("Where local is told").click()
    expect(page.locator(".told .tag.good")).to_have_text("on")
    assert visitor.barriers() == []
    page.get_by_label("Remove ntfy of local").click()
    expect(page.get_by_text("local is not told by ntfy any more.")).to_be_visible()
    assert api.get("/v1/users/local/addresses").json()["items"] == []
    visitor.picture("access-told")  # last: a picture leaves styles on fields, which a swap would take along


def test_a_server_is_stopped_and_started_and_others_see_it(visitor: Visitor, api: httpx.Client) -> None:
    page = visitor.open("servers", "Servers")
    agent = page.locator("#agent-time")
    agent.get_by_role("button", name="Health").click()
    expect(agent.get_by_text("Healthy.")).to_be_visible()
    agent.get_by_role("button", name="Stop").click()
    expect(agent.get_by_role("button", name="Start")).to_be_visible()
    api.post("/v1/agents/time/start").raise_for_status()
    expect(agent.get_by_role("button", name="Stop")).to_be_visible()


def test_a_broken_policy_is_refused_and_a_good_one_written(visitor: Visitor, api: httpx.Client) -> None:
    page = visitor.open("policy", "Policy")
    text = page.locator("#text")
    before = text.input_value()
    text.fill("[[rule]\n")
    page.get_by_role("button", name="Write it").click()
    expect(page.get_by_text("Nothing was written.")).to_be_visible()
    assert api.get("/v1/policy").json()["text"] == before
    visitor.problems.clear()  # the refusal is an answer with an error's status, which browsers note
    text.fill(before + '\n[[rule]]\ntool = "mail__*"\nrisk = "irreversible"\n')
    page.get_by_role("button", name="Write it").click()
    expect(page.locator(".shelf").get_by_text("mail__*")).to_be_visible()
    assert "mail__*" in api.get("/v1/policy").json()["text"]


def test_a_key_and_a_person_are_made_and_ended(visitor: Visitor, api: httpx.Client) -> None:
    page = visitor.open("access", "Access")
    page.get_by_text("New person").click()
    page.get_by_label("Id").fill("bea")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("#user-bea")).to_be_visible()
    page.get_by_text("New key").click()
    page.locator("#key-name").fill("tablet")
    page.get_by_role("button", name="Make it").click()
    expect(page.locator("#made pre")).to_contain_text("stw_")
    page.reload()
    key = page.locator(".line").filter(has_text="tablet")
    key.get_by_role("button", name="Revoke").click()
    page.get_by_role("dialog").get_by_role("button", name="Yes").click()
    expect(key).to_have_count(0)
    person = page.locator("#user-bea")
    person.get_by_label("Erase bea").click()
    person.get_by_label("Erases everything").fill("bea")
    person.get_by_role("button", name="Erase").click()
    expect(person).to_have_count(0)
    assert "bea" not in [user["id"] for user in api.get("/v1/users").json()["items"]]


def test_another_browser_is_signed_out_from_here(
    visitor: Visitor, chromium: Browser, steward: Place, api: httpx.Client
) -> None:
    other = Visitor(chromium, steward, width="desktop", theme="light")
    other.sign_in()
    [newest, *_] = api.get("/v1/visits").json()["items"]
    page = visitor.open("access", "Access")
    page.locator(f"#visit-{newest['id']}").get_by_role("button", name="Sign it out").click()
    expect(page.locator(f"#visit-{newest['id']}")).to_have_count(0)
    other.page.goto(f"{steward.address}/tasks")
    expect(other.page.get_by_role("button", name="Sign in")).to_be_visible()
    other.context.close()


def test_activity_is_filtered_by_its_address_and_exported(visitor: Visitor, api: httpx.Client) -> None:
    api.post("/v1/tools/get_current_time/call", json={"arguments": {}})
    page = visitor.open("activity?tool=get_current_time", "Activity")
    expect(page.locator(".exec").first).to_be_visible()
    assert set(page.locator(".exec > summary > b").all_text_contents()) == {"get_current_time"}
    with page.expect_download() as download:
        page.get_by_role("link", name="Export").click()
    lines = Path(download.value.path()).read_text().splitlines()
    assert lines
    assert {json.loads(line)["tool"] for line in lines} == {"get_current_time"}
    page.locator(".exec > summary").first.click()
    page.get_by_role("link", name="Show the whole run").first.click()
    expect(page.locator(".fall .bar.tool").first).to_be_visible()
    expect(page.get_by_role("link", name="Open in Jaeger")).to_be_visible()


def test_documents_and_calls_of_others_appear_by_themselves(visitor: Visitor, api: httpx.Client) -> None:
    page = visitor.open("documents", "Documents")
    other = visitor.context.new_page()
    other.goto(f"{visitor.address}/activity?tool=manage_collections")
    made = {"arguments": {"action": "create", "collection_name": "born-elsewhere"}}
    api.post("/v1/tools/manage_collections/call", json=made).raise_for_status()
    expect(page.locator(".shelf").get_by_role("link", name="born-elsewhere")).to_be_visible()
    call = other.locator(".exec").filter(has_text="born-elsewhere")
    expect(call).to_have_count(1)
    call.locator("summary").click()
    call.get_by_role("link", name="Show the whole run").click()
    other.locator(".span > summary").first.click()
    expect(other.locator(".span").filter(has_text="born-elsewhere").first).to_be_visible()


def test_the_theme_that_is_chosen_stays(visitor: Visitor) -> None:
    page = visitor.open("tasks", "Tasks")
    switch = page.locator("[data-theme-switch]")
    switch.click()
    switch.click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
