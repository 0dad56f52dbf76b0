"""Calls through the gateway over real HTTP, in both eras."""

import asyncio
from typing import Any

import httpx
import pytest
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from mcp.shared.exceptions import MCPError
from mcp_types import Implementation
from tests.support.gateway_setup import GatewaySetup, served, told

from steward.contract.deciding import Role
from steward.orchestrator.proposals import state_name
from steward.servers.gateway.ports import Member
from steward.servers.gateway.views import View

ROBOT = Implementation(name="robot", version="1")
pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
ERAS = pytest.mark.parametrize("era", ["auto", "legacy"])


def client(house: GatewaySetup, era: str, **handlers: Any) -> Client[Any]:
    return Client(house.url, mode=era, **handlers)


def says(**content: Any):
    async def handler(message: str, response_type: Any, params: Any, ctx: Any) -> dict[str, Any]:
        asked.append(message)
        return content

    asked: list[str] = []
    handler.asked = asked  # type: ignore[attr-defined]
    return handler


async def declines(message: str, response_type: Any, params: Any, ctx: Any):
    return ElicitResult(action="decline", content=None)


async def states(house: GatewaySetup) -> list[str]:
    return [state_name(proposal.state) for proposal in (await house.proposals.list()).items]


@ERAS
@pytest.mark.req("ORC-Q19", "RES-ART-II.B")
async def test_a_call_goes_through_the_door_and_back_in_both_eras(era: str):
    async with served() as house, client(house, era) as mcp:
        assert mcp.protocol_version == {"auto": "2026-07-28", "legacy": "2025-11-25"}[era]
        answer = await mcp.call_tool_mcp("echo", {"text": "hi"})
        assert answer.structured_content == {"text": "hi"}
        assert [line.tool for line in house.log.lines] == ["echo"]
        assert house.log.lines[0].call.caller.id == "local"


@ERAS
async def test_the_person_approves_in_the_client_and_exactly_that_call_runs_once(era: str):
    yes = says(approve=True)
    async with served() as house, client(house, era, elicitation_handler=yes) as mcp:
        answer = await mcp.call_tool_mcp("wipe", {"name": "disk"})
        assert (answer.is_error, answer.content[0].text) == (False, "wiped disk")
        assert house.wiped == ["disk"]
        assert await states(house) == ["finished"]
        assert '│   name = "disk"' in yes.asked[0]


@ERAS
@pytest.mark.parametrize("handler", [declines, says(approve=False)])
async def test_a_person_who_declines_in_the_client_stops_the_call(era: str, handler: Any):
    async with served() as house, client(house, era, elicitation_handler=handler) as mcp:
        answer = await mcp.call_tool_mcp("wipe", {"name": "disk"})
        assert answer.is_error
        assert told(answer)["error_code"] == "DECLINED"
        assert (house.wiped, await states(house)) == ([], ["rejected"])


@ERAS
async def test_a_client_that_cannot_ask_gets_the_proposal_id(era: str):
    async with served() as house, client(house, era) as mcp:
        answer = await mcp.call_tool_mcp("wipe", {"name": "disk"})
        proposal = (await house.proposals.list()).items[0]
        assert answer.is_error
        assert told(answer)["status"] == "pending_approval"
        assert told(answer)["proposal_id"] == proposal.id
        assert (house.wiped, await states(house)) == ([], ["waiting"])


@ERAS
async def test_a_client_never_confirms_over_http_whatever_the_view_says(era: str):
    view = View(tools=frozenset({"wipe"}), client_confirms=frozenset({"wipe"}))
    async with served(view) as house, client(house, era) as mcp:
        answer = await mcp.call_tool_mcp("wipe", {"name": "disk"})
        assert (answer.is_error, house.wiped, await states(house)) == (True, [], ["waiting"])


class Known:
    """Everybody is this member."""

    def __init__(self, member: Member) -> None:
        self.member = member

    async def admit(self, key: str | None, scope: Any) -> Member | None:
        del key, scope
        return self.member


@ERAS
async def test_whoever_may_not_decide_is_not_even_asked(era: str):
    yes = says(approve=True)
    async with served(doorkeeper=Known(Member("robot", user="ana", role=Role.USE))) as house:
        async with client(house, era, elicitation_handler=yes) as mcp:
            answer = await mcp.call_tool_mcp("wipe", {"name": "disk"})
        assert told(answer)["status"] == "pending_approval"
        assert (yes.asked, house.wiped, await states(house)) == ([], [], ["waiting"])


@pytest.mark.parametrize("content", [{"approve": True}, {"approve": False}])
async def test_an_answer_that_comes_back_with_a_lesser_key_decides_nothing(content: Any):
    door = Known(Member("ana", user="ana", role=Role.APPROVE))

    async def answers(message: str, response_type: Any, params: Any, ctx: Any) -> dict[str, Any]:
        door.member = Member("ana", user="ana", role=Role.USE)
        return content

    async with served(doorkeeper=door) as house:
        async with client(house, "auto", elicitation_handler=answers) as mcp:
            answer = await mcp.call_tool_mcp("wipe", {"name": "disk"})
        assert (answer.is_error, house.wiped, await states(house)) == (True, [], ["waiting"])


@ERAS
async def test_a_task_tool_answers_in_its_own_envelope_while_it_waits_and_after_a_no(era: str):
    view = View(task_envelopes=frozenset({"wipe"}))
    async with served(view) as house:
        async with client(house, era) as mcp:
            waits = (await mcp.call_tool_mcp("wipe", {"name": "disk"})).structured_content
        async with client(house, era, elicitation_handler=declines) as mcp:
            declined = (await mcp.call_tool_mcp("wipe", {"name": "disk"})).structured_content
    assert (waits["success"], waits["code"]) == (False, "CONFIRMATION_REQUIRED")
    assert (declined["success"], declined["code"]) == (False, "CONFIRMATION_DECLINED")


@ERAS
async def test_the_receipt_of_a_yes_in_the_client_is_the_servers_word(era: str):
    async with served() as house:
        async with client(house, era, elicitation_handler=says(approve=True), client_info=ROBOT) as mcp:
            await mcp.call_tool_mcp("wipe", {"name": "disk"})
        receipt = (await house.proposals.list()).items[0].state.receipt
    assert (receipt.approver, receipt.role, receipt.client) == ("local", "admin", "robot")
    assert (receipt.via, receipt.answered_by.value) == ("elicitation", "person")


@ERAS
async def test_progress_and_log_lines_reach_the_client(era: str):
    heard: list[Any] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        heard.append((done, total, message))

    async with served() as house, client(house, era) as mcp:
        answer = await mcp.call_tool_mcp("count", {"to": 2}, progress_handler=progress)
    assert answer.content[0].text == "counted"
    assert heard == [(1, 2, "step 1"), (2, 2, "step 2")]


async def test_log_lines_of_a_tool_reach_a_handshake_client_at_its_level():
    lines: list[Any] = []

    async def log(message: Any) -> None:
        lines.append((message.level, message.data))

    async with served() as house, client(house, "legacy", log_handler=log) as mcp:
        await mcp.call_tool_mcp("count", {"to": 1})
        await mcp.set_logging_level("error")
        await mcp.call_tool_mcp("count", {"to": 1})
    assert lines == [("info", "counted")]


@ERAS
async def test_a_tools_question_reaches_the_person_and_the_answer_the_tool(era: str):
    async with served() as house, client(house, era, elicitation_handler=says(name="Ada")) as mcp:
        answer = await mcp.call_tool_mcp("ask", {})
        assert answer.structured_content == {"answer": {"action": "accept", "name": "Ada"}}


@ERAS
async def test_questions_put_at_once_are_all_answered(era: str):
    async with served() as house, client(house, era, elicitation_handler=says(name="Ada")) as mcp:
        answer = await mcp.call_tool_mcp("ask_twice", {})
        assert answer.structured_content == {"answers": ["Ada", "Ada"]}


@ERAS
async def test_a_tool_learns_that_nobody_can_be_asked(era: str):
    async with served() as house, client(house, era) as mcp:
        answer = await mcp.call_tool_mcp("ask", {})
        assert answer.structured_content == {"answer": None}


@ERAS
async def test_a_tool_may_use_the_clients_model(era: str):
    async def model(messages: Any, params: Any, ctx: Any) -> str:
        return "42"

    async with served() as house, client(house, era, sampling_handler=model) as mcp:
        answer = await mcp.call_tool_mcp("think", {})
        assert answer.structured_content == {"thought": "42"}


@ERAS
async def test_a_tool_that_fails_says_so_with_its_code(era: str):
    async with served() as house, client(house, era) as mcp:
        answer = await mcp.call_tool_mcp("fail", {})
        assert answer.is_error
        assert told(answer)["error_code"] == "DISK_FULL"
        assert "Free some." in answer.content[0].text


@ERAS
async def test_wrong_arguments_are_the_tools_error_and_an_unknown_tool_the_protocols(era: str):
    async with served() as house, client(house, era) as mcp:
        wrong = await mcp.call_tool_mcp("echo", {"text": 1})
        assert told(wrong)["error_code"] == "INVALID_ARGUMENTS"
        with pytest.raises(MCPError) as unknown:
            await mcp.call_tool_mcp("nothing", {})
        assert unknown.value.error.code == -32602


@ERAS
async def test_a_client_that_gives_up_stops_its_call(era: str):
    async with served() as house, client(house, era) as mcp:
        calling = asyncio.create_task(mcp.call_tool_mcp("wait", {}))
        async with asyncio.timeout(10):
            await house.started.wait()
            calling.cancel()
            await house.stopped.wait()
        await asyncio.gather(calling, return_exceptions=True)
        assert (await mcp.call_tool_mcp("echo", {"text": "still here"})).structured_content == {
            "text": "still here"
        }


async def test_an_answer_cannot_be_carried_over_to_another_call():
    """2026-07-28: the state is sealed for one tool and its arguments."""
    async with served() as house, httpx.AsyncClient() as http:
        capable = {"elicitation": {"form": {}}}
        first = await modern_call(http, house.url, "wipe", {"name": "mine"}, capable)
        state = first["result"]["requestState"]
        (question,) = first["result"]["inputRequests"]
        yes = {question: {"action": "accept", "content": {"approve": True}}}
        other = await modern_call(
            http, house.url, "wipe", {"name": "yours"}, capable, requestState=state, inputResponses=yes
        )
        forged = await modern_call(
            http, house.url, "wipe", {"name": "mine"}, capable, requestState="v1.x", inputResponses=yes
        )
        assert (other["error"]["code"], forged["error"]["code"], house.wiped) == (-32602, -32602, [])
        same = await modern_call(
            http, house.url, "wipe", {"name": "mine"}, capable, requestState=state, inputResponses=yes
        )
        assert same["result"]["content"][0]["text"] == "wiped mine"
        again = await modern_call(
            http, house.url, "wipe", {"name": "mine"}, capable, requestState=state, inputResponses=yes
        )
        said = again["result"]["_meta"]["steward/result"]
        assert (said["error_code"], house.wiped) == ("PROPOSAL_ALREADY_DECIDED", ["mine"])


async def test_a_missing_answer_is_asked_for_again():
    async with served() as house, httpx.AsyncClient() as http:
        capable = {"elicitation": {"form": {}}}
        for tool, arguments in (("wipe", {"name": "x"}), ("ask", {})):
            first = (await modern_call(http, house.url, tool, arguments, capable))["result"]
            again = await modern_call(
                http,
                house.url,
                tool,
                arguments,
                capable,
                requestState=first["requestState"],
                inputResponses={},
            )
            assert again["result"]["inputRequests"] == first["inputRequests"]


async def modern_call(
    http: httpx.AsyncClient,
    url: str,
    tool: str,
    arguments: dict[str, Any],
    capabilities: dict[str, Any],
    **more: Any,
) -> dict[str, Any]:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    }
    params = {"name": tool, "arguments": arguments, "_meta": meta, **more}
    answer = await http.post(
        url,
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params},
        headers={
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            "mcp-name": tool,
        },
    )
    return answer.json()
