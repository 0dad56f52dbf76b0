"""Two functions behind the door: one runs at once, one waits for a person. Checks itself; exit code 0."""

import asyncio

from steward.contract.call import Caller, CallerKind, Done, PendingApproval, ToolCall
from steward.contract.deciding import Decider, Role, Way
from steward.contract.tool import Effect, Origin, RiskLevel, ToolSpec
from steward.orchestrator.orchestrator import Orchestrator
from steward.policy.rules import Rules
from steward.providers.functions import FunctionTool, LegacyToolAgent
from steward.testing import MemoryExecutionLog, MemoryProposalStore, MemoryTracer

watered: list[str] = []


def count_plants() -> int:
    return 7


def repot(plant: str) -> str:
    watered.append(plant)
    return f"repotted {plant}"


AGENT = LegacyToolAgent(
    "balcony",
    [
        FunctionTool(
            ToolSpec(
                name="count_plants", description="How many plants there are.", risk=RiskLevel.REVERSIBLE
            ),
            count_plants,
        ),
        FunctionTool(
            ToolSpec(
                name="repot",
                description="Repot a plant.",
                input_schema={
                    "type": "object",
                    "properties": {"plant": {"type": "string"}},
                    "required": ["plant"],
                },
                origin=Origin.LOCAL,
                effect=Effect.WRITES_OUTSIDE,
                risk=RiskLevel.IRREVERSIBLE,
            ),
            repot,
        ),
    ],
)


async def main() -> None:
    door = Orchestrator(
        proposals=MemoryProposalStore(), log=MemoryExecutionLog(), tracer=MemoryTracer(), rules=Rules
    )
    door.register_agent(AGENT)
    await door.lifecycle.start_all()
    model, person = Caller(CallerKind.AGENT, "model"), Caller(CallerKind.PERSON, "ana")
    ana = Decider(caller=person, role=Role.APPROVE, user="ana", way=Way.CLI)

    counted = await door.execute(ToolCall(tool="count_plants", arguments={}, caller=model))
    assert isinstance(counted, Done)
    assert counted.data == 7

    waiting = await door.execute(
        ToolCall(tool="repot", arguments={"plant": "fern"}, caller=model, user="ana")
    )
    assert isinstance(waiting, PendingApproval)
    assert watered == []

    done = await door.approvals.approve(waiting.proposal_id, by=ana)
    assert isinstance(done, Done)
    assert watered == ["fern"]
    print("ok: counted at once, repotted after a yes")


if __name__ == "__main__":
    asyncio.run(main())
