"""A session acts for its own user only; a tool with codes of its own answers wrong arguments itself."""

from typing import Any

import pytest
from tests.support.deciders import deciding
from tests.support.door import MODEL, PERSON, Door, tool

from steward.contract.call import Done, Failed, PendingApproval, ToolCall, ToolResult
from steward.contract.errors import ErrorCode
from steward.contract.tool import Origin, RiskLevel

SCHEMA = {
    "type": "object",
    "properties": {"who": {"type": "string"}, "what": {"type": "string"}},
    "required": ["who", "what"],
}


def write(**given: Any) -> dict[str, Any]:
    return given


async def call(door: Door, user: str | None, **arguments: Any) -> ToolResult:
    return await door.orchestrator.execute(
        ToolCall(tool="write", arguments=arguments, caller=MODEL, user=user)
    )


@pytest.fixture
async def door() -> Door:
    return await Door().with_tools(tool(write, input_schema=SCHEMA, user_argument="who"))


async def test_the_sessions_user_is_filled_in(door: Door) -> None:
    for arguments in ({}, {"who": None}, {"who": "ana"}):
        result = await call(door, "ana", what="x", **arguments)
        assert isinstance(result, Done)
        assert result.data == {"who": "ana", "what": "x"}


async def test_another_user_is_refused_and_nothing_runs(door: Door) -> None:
    for who in ("bob", "", 7, ["ana"]):
        result = await call(door, "ana", what="x", who=who)
        assert isinstance(result, Failed)
        assert result.code == ErrorCode.FORBIDDEN


async def test_without_a_session_the_caller_names_the_user(door: Door) -> None:
    named = await call(door, None, what="x", who="bob")
    missing = await call(door, None, what="x")
    assert isinstance(named, Done)
    assert isinstance(missing, Failed)
    assert (named.data, missing.code) == ({"who": "bob", "what": "x"}, ErrorCode.INVALID_ARGUMENTS)


async def test_what_is_approved_acts_for_whom_it_was_proposed() -> None:
    risky = tool(write, input_schema=SCHEMA, user_argument="who", risk=RiskLevel.IRREVERSIBLE)
    door = await Door().with_tools(risky)
    waiting = await call(door, "ana", what="x")
    assert isinstance(waiting, PendingApproval)
    proposal = await door.orchestrator.approvals.get(waiting.proposal_id)
    assert proposal.arguments == {"what": "x", "who": "ana"}
    done = await door.orchestrator.approvals.approve(waiting.proposal_id, by=deciding(PERSON.id))
    assert isinstance(done, Done)
    again = await call(door, "ana", what="x")
    assert isinstance(again, PendingApproval)
    stolen = await door.orchestrator.approvals.approve(
        again.proposal_id, by=deciding(PERSON.id), edited={"what": "x", "who": "bob"}
    )
    assert isinstance(stolen, Failed)
    assert stolen.code == ErrorCode.FORBIDDEN


async def test_only_a_built_in_tool_may_check_its_arguments_itself() -> None:
    door = await Door().with_tools(
        tool(write, input_schema=SCHEMA, checks_itself=True),
        tool(write, name="theirs", input_schema=SCHEMA, checks_itself=True, origin=Origin.LOCAL),
    )
    ours, theirs = await door.call("write", what=7), await door.call("theirs", what=7)
    assert isinstance(ours, Done)
    assert isinstance(theirs, Failed)
    assert (ours.data, theirs.code) == ({"what": 7}, ErrorCode.INVALID_ARGUMENTS)
