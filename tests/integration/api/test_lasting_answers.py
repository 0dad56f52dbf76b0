"""Always and never, over the API and in a conversation: rules that hold, are listed, and go again."""

from typing import Any

import httpx
import pytest
from tests.integration.api.conftest import Connect

from steward.bootstrap import Platform
from steward.policy.access import Role

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"who": {"type": "string"}, "nick": {"type": ["string", "null"]}},
    "required": ["who"],
}


@pytest.fixture
async def greet(api: httpx.AsyncClient) -> str:
    """A tool that nobody has rated, and that seems to read."""
    entry = {"name": "greet_person", "description": "Shows a greeting.", "input_schema": SCHEMA}
    source = "def run(who, nick=None):\n    return f'Hello, {who}!'\n"
    made = await api.post("/v1/tools", json=entry | {"script": "greet.py", "source": source})
    assert made.status_code == 201, made.text
    return "greet_person"


async def call(client: httpx.AsyncClient, tool: str, **arguments: Any) -> dict[str, Any]:
    return (await client.post(f"/v1/tools/{tool}/call", json={"arguments": arguments})).json()


async def waits(client: httpx.AsyncClient, tool: str, **arguments: Any) -> str:
    result = await call(client, tool, **arguments)
    assert result["status"] == "pending_approval", result
    return result["proposal_id"]


async def rules(client: httpx.AsyncClient) -> list[dict[str, Any]]:
    return (await client.get("/v1/policy")).json()["rules"]


async def test_always_for_the_tool_runs_this_call_and_later_ones_until_the_rule_goes(
    api: httpx.AsyncClient, greet: str
) -> None:
    proposal = await waits(api, greet, who="Ada")
    offered = (await api.get(f"/v1/proposals/{proposal}")).json()
    assert (offered["always"], offered["not_always"]) == (["tool", "arguments"], None)
    done = (await api.post(f"/v1/proposals/{proposal}/approve", json={"always": "tool"})).json()
    assert (done["status"], done["data"]) == ("done", "Hello, Ada!")
    assert (await call(api, greet, who="Bob"))["status"] == "done"
    [rule] = await rules(api)
    assert (rule["tool"], rule["risk"], rule["trust"], rule["user"]) == (greet, "reversible", True, "local")
    assert (await api.delete(f"/v1/policy/rules/{rule['id']}")).status_code == 204
    assert (await call(api, greet, who="Bob"))["status"] == "pending_approval"
    assert (await api.delete(f"/v1/policy/rules/{rule['id']}")).status_code == 404


async def test_always_for_the_arguments_holds_for_these_as_they_were_edited(
    api: httpx.AsyncClient, greet: str
) -> None:
    proposal = await waits(api, greet, who="Ada")
    body = {"always": "arguments", "arguments": {"who": "Grace"}}
    await api.post(f"/v1/proposals/{proposal}/approve", json=body)
    assert (await call(api, greet, who="Grace"))["status"] == "done"
    assert (await call(api, greet, who="Ada"))["status"] == "pending_approval"


async def test_arguments_that_no_rule_can_say_are_not_offered(api: httpx.AsyncClient, greet: str) -> None:
    proposal = await waits(api, greet, who="Ada", nick=None)
    assert (await api.get(f"/v1/proposals/{proposal}")).json()["always"] == ["tool"]
    refused = await api.post(f"/v1/proposals/{proposal}/approve", json={"always": "arguments"})
    assert refused.status_code == 400
    assert (await api.get(f"/v1/proposals/{proposal}")).json()["state"] == "waiting"


async def test_never_refuses_later_calls_and_those_that_wait(api: httpx.AsyncClient, greet: str) -> None:
    other = await waits(api, greet, who="Bob")
    proposal = await waits(api, greet, who="Ada")
    rejected = (await api.post(f"/v1/proposals/{proposal}/reject", json={"always": "tool"})).json()
    assert rejected["state"] == "rejected"
    refused = await call(api, greet, who="Carl")
    assert (refused["status"], refused["error_code"]) == ("failed", "FORBIDDEN")
    late = (await api.post(f"/v1/proposals/{other}/approve", json={})).json()
    assert (late["success"], late["error_code"]) == (False, "FORBIDDEN")


@pytest.mark.parametrize("always", ["tool", "arguments"])
async def test_what_cannot_be_taken_back_is_approved_once_only(
    api: httpx.AsyncClient, platform: Platform, always: str
) -> None:
    before = platform.settings.policy_file.read_text()
    proposal = await waits(api, "code_execution", language="python", code="print(1)")
    offered = (await api.get(f"/v1/proposals/{proposal}")).json()
    assert offered["always"] == []
    assert "cannot be taken back" in offered["not_always"]
    refused = await api.post(f"/v1/proposals/{proposal}/approve", json={"always": always})
    assert (refused.status_code, refused.json()["code"]) == (409, "ALWAYS_REFUSED")
    assert (await api.get(f"/v1/proposals/{proposal}")).json()["state"] == "waiting"
    assert platform.settings.policy_file.read_text() == before


async def test_a_rule_holds_for_its_maker_only_and_for_all_by_an_admins_word(
    api: httpx.AsyncClient, platform: Platform, connect: Connect, greet: str
) -> None:
    for user in ("ana", "bob"):
        await api.post("/v1/users", json={"user": user})
    _, ana = await platform.keys.add("ana-key", Role.APPROVE, user="ana")
    _, bob = await platform.keys.add("bob-key", Role.APPROVE, user="bob")
    anas, bobs = connect(key=ana), connect(key=bob)
    proposal = await waits(anas, greet, who="Ada")
    everyone = {"always": "tool", "everyone": True}
    refused = await anas.post(f"/v1/proposals/{proposal}/approve", json=everyone)
    assert (refused.status_code, refused.json()["code"]) == (403, "FORBIDDEN")
    await anas.post(f"/v1/proposals/{proposal}/approve", json={"always": "tool"})
    assert (await call(anas, greet, who="Ada"))["status"] == "done"
    waiting = await waits(bobs, greet, who="Ada")
    [rule] = await rules(api)
    assert (await bobs.delete(f"/v1/policy/rules/{rule['id']}")).status_code == 403
    await api.post(f"/v1/proposals/{waiting}/approve", json=everyone)
    assert (await call(bobs, greet, who="Ada"))["status"] == "done"
    assert (await anas.delete(f"/v1/policy/rules/{rule['id']}")).status_code == 204


async def test_a_replay_shows_what_would_change_and_writes_nothing(
    api: httpx.AsyncClient, platform: Platform, greet: str
) -> None:
    for name in ("Ada", "Bob"):
        await waits(api, greet, who=name)
    await call(api, "get_current_time")
    before = platform.settings.policy_file.read_text()
    edited = f"[ratings]\n{greet} = 'reversible'\n\n[[rule]]\ntool = 'get_current_time'\nnever = true\n"
    found = (await api.post("/v1/policy/replay", json={"text": edited})).json()
    changes = {each["tool"]: (each["before"], each["after"], each["times"]) for each in found["changes"]}
    assert changes == {greet: ("asks", "runs", 2), "get_current_time": ("runs", "refused", 1)}
    assert found["changes"][-1]["arguments"] == {"who": "Bob"}
    assert (await api.post("/v1/policy/replay", json={"text": before})).json()["changes"] == []
    broken = await api.post("/v1/policy/replay", json={"text": "trust = 1"})
    assert broken.status_code == 400
    assert platform.settings.policy_file.read_text() == before


async def say(api: httpx.AsyncClient, message: str, conversation: str | None = None) -> dict[str, Any]:
    body = {"message": message, "conversation": conversation, "agent": "assistant"}
    return (await api.post("/v1/chat", json=body)).json()


async def test_always_is_said_in_a_conversation(api: httpx.AsyncClient, greet: str) -> None:
    asked = await say(api, "greet person who Ada")
    assert (asked["status"], '"always"' in asked["answer"]) == ("pending_approval", True), asked
    done = await say(api, "yes, always", asked["conversation"])
    assert "without asking" in done["answer"]
    assert [rule["tool"] for rule in await rules(api)] == [greet]
    again = await say(api, "greet person who Bob")
    assert [each["status"] for each in again["tool_calls"]] == ["done"]


async def test_never_is_said_in_a_conversation(api: httpx.AsyncClient, greet: str) -> None:
    asked = await say(api, "greet person who Ada")
    done = await say(api, "never", asked["conversation"])
    assert "never run" in done["answer"]
    assert [(rule["tool"], rule["never"]) for rule in await rules(api)] == [(greet, True)]


async def test_what_cannot_be_taken_back_is_not_for_always_in_a_conversation(api: httpx.AsyncClient) -> None:
    await api.post("/v1/tasks", json={"title": "old reminder"})
    asked = await say(api, "delete the task old reminder")
    assert '"always"' not in asked["answer"]
    told = await say(api, "yes, always", asked["conversation"])
    assert (told["status"], "this once" in told["answer"]) == ("pending_approval", True)
    await say(api, "never", asked["conversation"])
    assert await rules(api) == []
    assert (await api.get(f"/v1/proposals/{asked['proposal_id']}")).json()["state"] == "rejected"
