"""A Steward as a server of another one: over real HTTP, ratings, questions, decisions and receipts travel."""

from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from fastmcp import Client
from tests.support.deciders import deciding
from tests.support.gateway_setup import GatewaySetup, build_house, listening, served

from steward.contract.call import Caller, CallerKind, Done, Failed, PendingApproval, ToolCall
from steward.contract.deciding import Role
from steward.contract.errors import ErrorCode, InputError
from steward.contract.tool import RiskLevel
from steward.orchestrator.proposals import Finished, Proposal, Rejected, Waiting
from steward.providers.mcp.mcp_config import HttpTransport, ServerConfig
from steward.providers.mcp.server_agent import MCPServerAgent
from steward.selection.lexical import LexicalRanker
from steward.servers.gateway.guard import GatewayGuard
from steward.servers.gateway.http import HttpGateway
from steward.servers.gateway.ports import Member
from steward.servers.gateway.server import Gateway
from steward.servers.gateway.views import View

pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")


class OneKey:
    """Everybody comes with the same key."""

    def __init__(self, role: Role, user: str = "ada") -> None:
        self.member = Member("outer", user=user, role=role)

    async def admit(self, key: str | None, scope: MutableMapping[str, Any]) -> Member | None:
        del key, scope
        return self.member


@dataclass
class Two:
    outer: GatewaySetup
    inner: GatewaySetup
    key: OneKey

    async def call(self, tool: str, **arguments: Any) -> Any:
        caller = Caller(CallerKind.AGENT, "assistant")
        return await self.outer.orchestrator.execute(
            ToolCall(tool=f"inner__{tool}", arguments=arguments, caller=caller, user="ada", session="one")
        )

    async def wiping(self, name: str = "disk") -> tuple[Proposal, Proposal]:
        """A call that waits at both, as each knows it."""
        waits = await self.call("wipe", name=name)
        assert isinstance(waits, PendingApproval), waits
        here = await self.outer.orchestrator.approvals.get(waits.proposal_id)
        assert here.elsewhere is not None
        return here, await self.inner.orchestrator.approvals.get(here.elsewhere)

    async def state(self, house: GatewaySetup, proposal: Proposal) -> Any:
        return (await house.orchestrator.approvals.get(proposal.id)).state


@asynccontextmanager
async def two(role: Role = Role.APPROVE, *, protocol: str = "auto", **config: Any) -> AsyncIterator[Two]:
    key = OneKey(role)
    async with served(doorkeeper=key) as inner:
        outer = build_house()
        server = ServerConfig(
            name="inner", namespace="inner", transport=HttpTransport(inner.url), protocol=protocol,
            **{"steward": True, **config},
        )  # fmt: skip
        outer.orchestrator.register_agent(MCPServerAgent(server))
        await outer.orchestrator.lifecycle.start_all()
        try:
            yield Two(outer, inner, key)
        finally:
            await outer.orchestrator.lifecycle.stop_all()


ERAS = pytest.mark.parametrize("protocol", ["2026-07-28", "legacy"])


async def test_what_the_inner_steward_runs_unasked_runs_unasked_from_outside():
    async with two() as houses:
        assert isinstance(await houses.call("echo", text="hi"), Done)
        rated = {tool.spec.name: tool.spec.rated_there for tool in houses.outer.orchestrator.registry}
        assert rated["inner__echo"] is RiskLevel.REVERSIBLE
        assert rated["inner__wipe"] is RiskLevel.IRREVERSIBLE


@ERAS
async def test_the_inner_proposal_is_shown_by_the_outer_one_and_decided_there_once(protocol: str):
    async with two(protocol=protocol) as houses:
        here, there = await houses.wiping()
        assert there.reason in here.reason
        assert here.risk is RiskLevel.IRREVERSIBLE
        assert houses.inner.wiped == []
        result = await houses.outer.orchestrator.approvals.approve(here.id, by=deciding("ada"))
        assert isinstance(result, Done)
        assert houses.inner.wiped == ["disk"]
        decided = await houses.state(houses.inner, there)
        assert isinstance(decided, Finished)
        assert (decided.receipt.approver, decided.receipt.client) == ("outer", "steward: ada by cli")
        assert result.native["_meta"]["steward/receipt"]["proposal_id"] == there.id


@ERAS
async def test_a_no_at_the_outer_one_is_a_no_at_the_inner_one(protocol: str):
    async with two(protocol=protocol) as houses:
        here, there = await houses.wiping()
        await houses.outer.orchestrator.approvals.reject(here.id, by=deciding("ada"))
        assert isinstance(await houses.state(houses.inner, there), Rejected)
        assert houses.inner.wiped == []


async def test_what_was_decided_at_the_inner_one_is_not_decided_again():
    async with two() as houses:
        here, there = await houses.wiping()
        await houses.inner.orchestrator.approvals.approve(there.id, by=deciding("ada"))
        late = await houses.outer.orchestrator.approvals.approve(here.id, by=deciding("ada"))
        assert isinstance(late, Failed)
        assert late.code == ErrorCode.PROPOSAL_ALREADY_DECIDED
        assert houses.inner.wiped == ["disk"]


async def test_a_key_that_may_not_decide_at_the_inner_one_asks_nobody_outside_and_says_where():
    async with two(Role.USE) as houses:
        said = await houses.call("wipe", name="disk")
        assert isinstance(said, Failed)
        assert said.code == ErrorCode.WAITS_ELSEWHERE
        (there,) = (await houses.inner.proposals.list()).items
        assert f"steward approve {there.id}" in said.error
        assert (await houses.outer.proposals.list()).items == []
        assert isinstance(there.state, Waiting)


async def test_the_same_call_sent_again_waits_once_at_both():
    async with two() as houses:
        first = await houses.wiping()
        assert [each.id for each in await houses.wiping()] == [each.id for each in first]


async def test_a_call_that_another_steward_asks_about_is_not_edited_here():
    async with two() as houses:
        here, _ = await houses.wiping()
        with pytest.raises(InputError, match="cannot be edited"):
            await houses.outer.orchestrator.approvals.approve(
                here.id, by=deciding("ada"), edited={"name": "other"}
            )
        assert isinstance(await houses.state(houses.outer, here), Waiting)


async def test_a_word_of_the_outer_ones_owner_asks_before_anything_is_sent():
    async with two(requires_approval=True) as houses:
        waits = await houses.call("echo", text="hi")
        assert isinstance(waits, PendingApproval)
        assert (await houses.inner.proposals.list()).items == []
        assert [line.tool for line in houses.inner.log.lines] == []


async def test_a_client_without_the_right_cannot_answer_for_the_outer_one():
    """The inner one would ask this key's holder: a client of the outer one is not that."""

    async def yes(message: str, response_type: Any, params: Any, ctx: Any) -> dict[str, bool]:
        return {"approve": True}

    async with two(steward=False, risk=(("*", RiskLevel.REVERSIBLE),)) as houses:
        gateway = Gateway(houses.outer.orchestrator, ranker=LexicalRanker(), view=View())
        app = HttpGateway(gateway, houses.outer.orchestrator, guard=GatewayGuard(OneKey(Role.USE)))
        async with app.run(), listening(app) as url, Client(url, elicitation_handler=yes) as mcp:
            answer = await mcp.call_tool_mcp("inner__wipe", {"name": "disk"})
        assert answer.is_error
        assert houses.inner.wiped == []


async def test_a_client_that_may_decide_at_the_outer_one_decides_for_both():
    async def yes(message: str, response_type: Any, params: Any, ctx: Any) -> dict[str, bool]:
        return {"approve": True}

    async with two() as houses:
        gateway = Gateway(houses.outer.orchestrator, ranker=LexicalRanker(), view=View())
        app = HttpGateway(gateway, houses.outer.orchestrator, guard=GatewayGuard(OneKey(Role.APPROVE)))
        async with app.run(), listening(app) as url, Client(url, elicitation_handler=yes) as mcp:
            answer = await mcp.call_tool_mcp("inner__wipe", {"name": "disk"})
        assert not answer.is_error, answer
        assert houses.inner.wiped == ["disk"]


async def test_only_whoever_made_a_proposal_comes_back_to_it():
    async with two() as houses:
        here, there = await houses.wiping()
        houses.key.member = Member("another", user="ada", role=Role.ADMIN)
        said = await houses.outer.orchestrator.approvals.approve(here.id, by=deciding("ada"))
        assert isinstance(said, Failed)
        assert said.code == ErrorCode.PROPOSAL_NOT_FOUND
        assert isinstance(await houses.state(houses.inner, there), Waiting)
