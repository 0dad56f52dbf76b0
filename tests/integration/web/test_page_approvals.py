"""The Approvals page, as its script runs it."""

from typing import Any

import httpx
from tests.integration.web.conftest import Visiting
from tests.waiting import until

from steward.bootstrap import Platform

MAIL: dict[str, Any] = {
    "name": "mail_send",
    "description": "Send a mail.",
    "input_schema": {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]},
    "script": "mail_send.py",
    "risk": "reversible_with_delay",
}
SOURCE = "def run(to):\n    return {'sent_to': to}\n"


async def mail_waits(api: httpx.AsyncClient) -> str:
    """A call that asks and could be allowed for good."""
    if (await api.get("/v1/tools/mail_send")).status_code == 404:
        assert (await api.post("/v1/tools", json=MAIL | {"source": SOURCE})).status_code == 201
    call = {"arguments": {"to": "ana@example.org"}}
    return (await api.post("/v1/tools/mail_send/call", json=call)).json()["proposal_id"]


async def code_waits(api: httpx.AsyncClient) -> str:
    call = {"arguments": {"language": "python", "code": "print(6 * 7)"}}
    return (await api.post("/v1/tools/code_execution/call", json=call)).json()["proposal_id"]


async def state(api: httpx.AsyncClient, proposal: str) -> str:
    return (await api.get(f"/v1/proposals/{proposal}")).json()["state"]


async def decided(page: Any, api: httpx.AsyncClient, proposal: str) -> None:
    """The page has shown what became of an approved call."""

    async def drawn() -> bool:
        await page.draw()
        return await state(api, proposal) == "finished" and page.app.session_state["jobs"] == {}

    await until(drawn)


async def test_an_empty_inbox_says_what_will_come(visiting: Visiting) -> None:
    page = visiting("approvals")
    await page.draw()
    assert "Nothing waits for you" in page.text()
    assert "Nothing was decided yet" in page.text()


async def test_what_cannot_be_undone_runs_only_after_its_name_was_typed(
    visiting: Visiting, api: httpx.AsyncClient
) -> None:
    proposal = await code_waits(api)
    page = visiting("approvals")
    await page.draw()
    assert "print(6 * 7)" in page.text()
    assert "Always allow this tool here" not in page.labels()
    await page.press("Approve and run")
    assert "Type code_execution to confirm" in page.text()
    assert await state(api, proposal) == "waiting"
    next(field for field in page.app.text_input if field.key == f"typed-{proposal}").set_value(
        "code_execution"
    )
    await page.press("Approve and run")
    await decided(page, api, proposal)
    assert "approved it" in page.text()
    assert "through the page" in page.text()


async def test_a_no_runs_nothing(visiting: Visiting, api: httpx.AsyncClient) -> None:
    proposal = await code_waits(api)
    page = visiting("approvals")
    await page.draw()
    await page.press("Reject")
    assert await state(api, proposal) == "rejected"
    assert "Nothing was run" in page.text()


async def test_edited_arguments_are_shown_as_a_difference_and_stay_on_the_record(
    visiting: Visiting, api: httpx.AsyncClient
) -> None:
    proposal = await mail_waits(api)
    page = visiting("approvals")
    await page.draw()
    await page.write("Arguments, as JSON", "{nonsense")
    assert "not JSON yet" in page.text()
    await page.write("Arguments, as JSON", "[]")
    assert "Arguments are an object" in page.text()
    await page.write("Arguments, as JSON", '{"to": "bo@example.org"}')
    assert '-to = "ana@example.org"' in page.text()
    await page.press("Approve and run")
    await decided(page, api, proposal)
    receipt = (await api.get(f"/v1/proposals/{proposal}")).json()["receipt"]
    assert (receipt["arguments"], receipt["edited"]) == ({"to": "bo@example.org"}, True)
    await page.draw()
    assert "after editing the arguments" in page.text()
    assert '+to = "bo@example.org"' in page.text()


async def test_a_tool_that_may_be_trusted_is_allowed_for_good(
    visiting: Visiting, api: httpx.AsyncClient, platform: Platform
) -> None:
    proposal = await mail_waits(api)
    page = visiting("approvals")
    await page.draw()
    await page.press("Always allow this tool here")
    await decided(page, api, proposal)
    assert 'tool = "mail_send"\ntrust = true' in platform.settings.policy_file.read_text()
    again = await api.post("/v1/tools/mail_send/call", json={"arguments": {"to": "ana@example.org"}})
    assert again.json()["status"] == "done"


async def test_a_call_that_fails_after_a_yes_says_so(visiting: Visiting, api: httpx.AsyncClient) -> None:
    await api.post("/v1/tools", json=MAIL | {"source": "def run(to):\n    raise ValueError('no such box')\n"})
    proposal = await mail_waits(api)
    page = visiting("approvals")
    await page.draw()
    await page.press("Approve and run")
    await decided(page, api, proposal)
    assert "It failed" in page.labels()


async def test_a_call_decided_elsewhere_is_not_run_again(visiting: Visiting, api: httpx.AsyncClient) -> None:
    proposal = await mail_waits(api)
    page = visiting("approvals")
    await page.draw()
    await api.post(f"/v1/proposals/{proposal}/reject", json={"why": "not now"})
    await page.press("Approve and run")
    assert "not now" in page.text()
    assert await state(api, proposal) == "rejected"


async def test_a_policy_that_says_otherwise_is_not_overruled_by_a_button(
    visiting: Visiting, api: httpx.AsyncClient, platform: Platform
) -> None:
    proposal = await mail_waits(api)
    platform.settings.policy_file.write_text('[[rule]]\ntool = "mail_send"\ntrust = false\n')
    page = visiting("approvals")
    await page.draw()
    await page.press("Always allow this tool here")

    async def ended() -> bool:
        await page.draw()
        return page.app.session_state["jobs"] == {}

    await until(ended)
    assert await state(api, proposal) == "waiting"


async def test_a_key_that_may_not_decide_sees_but_has_no_buttons(
    visiting: Visiting, api: httpx.AsyncClient
) -> None:
    await code_waits(api)
    call = {"arguments": {"question": "Which town?"}}
    await api.post("/v1/tools/request_human_input/call", json=call)
    key = (await api.post("/v1/keys", json={"name": "reader", "role": "read"})).json()["token"]
    page = visiting("approvals")
    page.app.session_state["key"] = key
    await page.draw()
    assert "it needs the role" in page.text()
    assert "Approve and run" not in page.labels()


async def test_a_question_is_answered(visiting: Visiting, api: httpx.AsyncClient) -> None:
    for asked in ({"question": "Which town?", "choices": ["Rome", "Oslo"]}, {"question": "Which street?"}):
        call = {"arguments": asked}
        await api.post("/v1/tools/request_human_input/call", json=call)
    page = visiting("approvals")
    await page.draw()
    page.app.radio[0].set_value("Oslo")
    await page.press("Answer")
    (left,) = (await api.get("/v1/questions")).json()["items"]
    assert left["text"] == "Which street?"
    next(field for field in page.app.text_input if field.label == "Your answer").set_value("Main street")
    await page.press("Answer")
    assert (await api.get("/v1/questions")).json()["items"] == []
