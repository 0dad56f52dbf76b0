"""The inbox in a real browser: what waits is there at once, and is decided without a mouse."""

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from tests.browser.conftest import Place, Visitor, code_waits

pytestmark = pytest.mark.timeout(600)


def card(page: Page, proposal: str) -> Locator:
    return page.locator(f"#proposal-{proposal}")


@pytest.fixture(autouse=True)
def an_empty_inbox(api: httpx.Client) -> None:
    for each in api.get("/v1/proposals", params={"state": "waiting", "limit": 100}).json()["items"]:
        api.post(f"/v1/proposals/{each['id']}/reject", json={}).raise_for_status()


def test_a_call_that_was_made_elsewhere_appears_and_counts(visitor: Visitor, api: httpx.Client) -> None:
    page = visitor.open("approvals", "Approvals")
    proposal = code_waits(api, "print('from elsewhere')")
    expect(card(page, proposal)).to_be_visible()
    expect(page).to_have_title("(1) Approvals · Steward")
    api.post(f"/v1/proposals/{proposal}/reject", json={})
    expect(card(page, proposal).get_by_text("Nothing was run")).to_be_visible()
    expect(page).to_have_title("Approvals · Steward")


def test_the_count_is_kept_on_every_page(visitor: Visitor, api: httpx.Client) -> None:
    page = visitor.open("documents", "Documents")
    code_waits(api)
    expect(page).to_have_title("(1) Documents · Steward")
    expect(page.locator("#badge")).to_have_text("1 waiting")
    page.locator("#says").get_by_role("link", name="Look").click()
    expect(page.get_by_role("heading", name="Approvals", level=1)).to_be_visible()


def test_a_call_is_approved_by_keys_and_its_result_stands_in_place(
    visitor: Visitor, api: httpx.Client
) -> None:
    proposal = code_waits(api, "print('by keys')")
    page = visitor.open("approvals", "Approvals")
    page.keyboard.press("j")
    expect(card(page, proposal)).to_be_focused()
    page.keyboard.press("a")
    run = card(page, proposal).get_by_role("button", name="Run it now")
    expect(run).to_be_focused()
    assert api.get(f"/v1/proposals/{proposal}").json()["state"] == "waiting"
    page.keyboard.press("Enter")
    expect(card(page, proposal).get_by_text("local approved it")).to_be_visible()
    card(page, proposal).get_by_text("What came of it").click()
    done = api.get(f"/v1/proposals/{proposal}").json()
    assert (done["state"], done["receipt"]["via"]) == ("finished", "page")
    expect(card(page, proposal).get_by_text("by keys\\n").first).to_be_visible()


def test_a_call_is_rejected_by_a_key(visitor: Visitor, api: httpx.Client) -> None:
    proposal = code_waits(api)
    page = visitor.open("approvals", "Approvals")
    page.keyboard.press("r")
    expect(card(page, proposal)).to_be_focused()
    assert api.get(f"/v1/proposals/{proposal}").json()["state"] == "waiting"
    page.keyboard.press("r")
    expect(card(page, proposal).get_by_text("Nothing was run")).to_be_visible()
    assert api.get(f"/v1/proposals/{proposal}").json()["state"] == "rejected"


def test_what_comes_in_moves_nothing_that_somebody_is_about_to_decide(
    visitor: Visitor, api: httpx.Client
) -> None:
    first = code_waits(api, "print('read and understood')")
    page = visitor.open("approvals", "Approvals")
    before = card(page, first).bounding_box()
    api.post("/v1/tools/request_human_input/call", json={"arguments": {"question": "And now?"}})
    second = code_waits(api, "print('unread')")
    expect(card(page, second)).to_be_visible()
    expect(page.locator(".question").filter(has_text="And now?")).to_be_visible()
    assert card(page, first).bounding_box() == before
    page.locator(".question").filter(has_text="And now?").get_by_label("Your answer").fill("go on")
    page.keyboard.press("Enter")


def test_an_edited_call_shows_its_difference_before_and_after(visitor: Visitor, api: httpx.Client) -> None:
    proposal = code_waits(api, "print('before')")
    page = visitor.open("approvals", "Approvals")
    page.keyboard.press("j")
    page.keyboard.press("e")
    text = card(page, proposal).get_by_label("code")
    expect(text).to_be_focused()
    text.fill("print('after')\nprint(2)")
    expect(card(page, proposal).locator(".diff .add").filter(has_text="after")).to_be_visible()
    card(page, proposal).get_by_role("button", name="Run it as edited").click()
    expect(card(page, proposal).get_by_text("after editing the arguments")).to_be_visible()
    receipt = api.get(f"/v1/proposals/{proposal}").json()["receipt"]
    assert (receipt["edited"], receipt["arguments"]["code"]) == (True, "print('after')\nprint(2)")


def test_words_being_edited_stay_when_something_else_arrives(visitor: Visitor, api: httpx.Client) -> None:
    proposal = code_waits(api)
    page = visitor.open("approvals", "Approvals")
    page.keyboard.press("j")
    page.keyboard.press("e")
    text = card(page, proposal).get_by_label("code")
    text.fill("not done yet")
    card(page, proposal).get_by_role("button", name="Run it as edited").focus()
    other = code_waits(api, "print('another')")
    expect(card(page, other)).to_be_visible()
    expect(text).to_have_value("not done yet")


def test_all_alike_are_rejected_together(visitor: Visitor, api: httpx.Client) -> None:
    proposals = [code_waits(api, f"print({number})") for number in range(3)]
    page = visitor.open("approvals", "Approvals")
    card(page, proposals[0]).get_by_role("button", name="Reject all 3 alike").click()
    page.get_by_role("dialog").get_by_role("button", name="Yes").click()
    expect(page.get_by_text("Rejected 3. Nothing was run.")).to_be_visible()
    states = {api.get(f"/v1/proposals/{each}").json()["state"] for each in proposals}
    assert states == {"rejected"}


def test_a_yes_for_always_is_offered_where_it_may_be_and_becomes_a_rule(
    visitor: Visitor, api: httpx.Client
) -> None:
    schema = {"type": "object", "properties": {"who": {"type": "string"}}}
    entry = {"name": "greet_person", "description": "Shows a greeting.", "input_schema": schema}
    api.post("/v1/tools", json=entry | {"script": "greet.py", "source": "def run(who): return who"})
    call = {"arguments": {"who": "Ada"}}
    proposal = api.post("/v1/tools/greet_person/call", json=call).json()["proposal_id"]
    final = code_waits(api, "print('only once')")
    page = visitor.open("approvals", "Approvals")
    expect(card(page, final).get_by_text("Approve always…")).to_have_count(0)
    card(page, proposal).get_by_text("Approve always…").click()
    assert visitor.barriers() == []
    card(page, proposal).get_by_role("button", name="Always for this tool").click()
    expect(page.get_by_text("It does not ask again; see Policy.")).to_be_visible()
    assert api.post("/v1/tools/greet_person/call", json=call).json()["status"] == "done"
    visitor.open("policy", "Policy")
    page.get_by_role("button", name="Remove the rule on greet_person").click()
    page.get_by_role("dialog").get_by_role("button", name="Yes").click()
    expect(page.get_by_text("No rules of your own")).to_be_visible()
    api.delete("/v1/tools/greet_person").raise_for_status()


def test_a_question_is_answered_where_it_stands(visitor: Visitor, api: httpx.Client) -> None:
    asked = {"arguments": {"question": "Which colour shall it be?"}}
    api.post("/v1/tools/request_human_input/call", json=asked)
    page = visitor.open("approvals", "Approvals")
    question = page.locator(".question").filter(has_text="Which colour")
    question.get_by_label("Your answer").fill("green")
    question.get_by_role("button", name="Answer").click()
    expect(page.get_by_text("Answered. Whoever asked")).to_be_visible()
    assert all(
        each["text"] != "Which colour shall it be?" for each in api.get("/v1/questions").json()["items"]
    )


def test_receipts_are_found_by_their_words(visitor: Visitor, api: httpx.Client) -> None:
    wanted, other = code_waits(api, "print('aardvark')"), code_waits(api, "print('zebra')")
    for each in (wanted, other):
        api.post(f"/v1/proposals/{each}/reject", json={})
    page = visitor.open("approvals/decided?q=aardvark", "Decided")
    expect(card(page, wanted)).to_be_visible()
    expect(card(page, other)).to_have_count(0)


def test_whoever_may_only_read_sees_and_cannot_decide(
    chromium: Browser, steward: Place, api: httpx.Client
) -> None:
    proposal = code_waits(api)
    key = api.post("/v1/keys", json={"name": "onlooker", "role": "read"}).json()["token"]
    visitor = Visitor(chromium, steward, width="desktop", theme="light")
    visitor.page.goto(f"{steward.address}/approvals")
    visitor.page.get_by_label("Or with a key").fill(key)
    visitor.page.get_by_label("Or with a key").press("Enter")
    expect(card(visitor.page, proposal).get_by_text("Your key may not decide")).to_be_visible()
    expect(visitor.page.get_by_role("button", name="Reject")).to_have_count(0)
    visitor.context.close()
    api.delete("/v1/keys/onlooker").raise_for_status()
