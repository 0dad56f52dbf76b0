"""A server of our own behind the door: bare names, our ratings, its own words when it fails."""

from typing import Any

import pytest
from fastmcp import FastMCP
from tests.support.door import Door

from steward.contract.agent import LifecycleState
from steward.contract.call import Done, Failed, PendingApproval
from steward.contract.errors import AgentError, ErrorCode, ToolError
from steward.contract.tool import Effect, Origin, RiskLevel
from steward.providers.builtin import BuiltinServerAgent, BuiltinTool
from steward.servers.base import READS, new_server


def garden() -> FastMCP:
    server = new_server("garden", "A garden.")

    @server.tool(annotations=READS)
    def look() -> dict[str, Any]:
        """Look around."""
        return {"plants": 2}

    @server.tool
    def plant(name: str, gardener: str) -> dict[str, Any]:
        """Plant something."""
        if name == "stone":
            raise ToolError("A stone does not grow.", code="NOT_A_PLANT", fix="Plant a seed.")
        return {"planted": name, "by": gardener}

    return server


RATED = {
    "look": BuiltinTool(effect=Effect.READS, risk=RiskLevel.REVERSIBLE, aliases=("peek",)),
    "plant": BuiltinTool(
        effect=Effect.WRITES_STORE,
        risk=RiskLevel.REVERSIBLE,
        examples=("Plant a rose.",),
        timeout=5,
        user_argument="gardener",
    ),
}


async def behind_a_door(**rated: BuiltinTool) -> Door:
    door = Door()
    tools = RATED | rated
    door.orchestrator.register_agent(BuiltinServerAgent("garden", garden(), tools, category="outdoors"))
    await door.orchestrator.lifecycle.start("garden")
    return door


async def test_its_tools_stand_behind_the_door_as_built_in_ones() -> None:
    door = await behind_a_door()
    specs = {tool.spec.name: tool.spec for tool in door.orchestrator.registry}
    plant = specs["plant"]
    assert (specs.keys(), plant.origin, plant.risk, plant.effect, plant.category, plant.timeout) == (
        {"look", "plant"},
        Origin.BUILTIN,
        RiskLevel.REVERSIBLE,
        Effect.WRITES_STORE,
        "outdoors",
        5,
    )
    assert (plant.examples, plant.input_schema["required"]) == (("Plant a rose.",), ["name", "gardener"])
    result = await door.call("peek")
    assert isinstance(result, Done)
    assert result.data == {"plants": 2}
    (status,) = door.orchestrator.lifecycle.statuses()
    assert (status.state, status.problem) == (LifecycleState.RUNNING, None)
    assert (await door.orchestrator.lifecycle.health("garden")).healthy
    await door.orchestrator.lifecycle.stop_all()


async def test_what_it_says_of_a_failure_arrives_with_its_code() -> None:
    door = await behind_a_door()
    result = await door.call("plant", name="stone", gardener="ana")
    assert isinstance(result, Failed)
    assert (result.code, result.error) == ("NOT_A_PLANT", "A stone does not grow. Plant a seed.")
    await door.orchestrator.lifecycle.stop_all()


async def test_a_rating_of_ours_makes_it_ask() -> None:
    risky = BuiltinTool(effect=Effect.WRITES_STORE, risk=RiskLevel.IRREVERSIBLE)
    door = await behind_a_door(plant=risky)
    assert isinstance(await door.call("plant", name="rose", gardener="ana"), PendingApproval)
    await door.orchestrator.lifecycle.stop_all()


async def test_a_tool_that_nobody_rated_keeps_the_server_out() -> None:
    agent = BuiltinServerAgent("garden", garden(), {"look": RATED["look"]})
    with pytest.raises(AgentError) as refused:
        await agent.initialize()
    assert (refused.value.code, "plant" in refused.value.message) == (ErrorCode.AGENT_INIT_FAILED, True)
    await agent.shutdown()
