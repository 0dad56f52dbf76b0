"""What the door costs: the same function bare and governed, with 1 agent and with 12 agents and 60 tools.

All stages on; spans kept nowhere (trace export off); the execution log writes to a real file.
Prints microseconds (of the fastest round) and ratios: `make bench` or `python benchmarks/door.py`.
"""

import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from steward.contract.call import Caller, CallerKind, Done, ToolCall
from steward.contract.tool import Effect, Origin, RiskLevel, ToolSpec
from steward.orchestrator.orchestrator import Orchestrator
from steward.policy.rules import Rules
from steward.providers.functions import FunctionTool, LegacyToolAgent
from steward.telemetry.executions import ExecutionLogFile
from steward.telemetry.traces import NoTracing
from steward.testing import MemoryProposalStore

CALLER = Caller(CallerKind.AGENT, "benchmark")
SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["text"],
    "additionalProperties": False,
}
ARGUMENTS: dict[str, Any] = {"text": "the spare key is at Ana's", "n": 3}
ROUNDS, CALLS = 200, 50


async def work(text: str, n: int = 1) -> dict[str, Any]:
    return {"text": text, "n": n}


def agent(number: int, tools: int) -> LegacyToolAgent:
    specs = [
        ToolSpec(
            name=f"a{number}_t{index}",
            description="Works.",
            input_schema=SCHEMA,
            output_schema={"type": "object"},
            origin=Origin.BUILTIN,
            effect=Effect.READS,
            risk=RiskLevel.REVERSIBLE,
        )
        for index in range(tools)
    ]
    return LegacyToolAgent(f"agent{number}", [FunctionTool(spec, work) for spec in specs])


async def door(folder: Path, agents: int) -> Orchestrator:
    orchestrator = Orchestrator(
        proposals=MemoryProposalStore(), log=ExecutionLogFile(folder), tracer=NoTracing(), rules=Rules
    )
    for number in range(agents):
        orchestrator.register_agent(agent(number, 5))
    await orchestrator.lifecycle.start_all()
    return orchestrator


async def governed(orchestrator: Orchestrator) -> float:
    started = time.perf_counter()
    for _ in range(CALLS):
        result = await orchestrator.execute(ToolCall(tool="a0_t0", arguments=ARGUMENTS, caller=CALLER))
        assert isinstance(result, Done)
    return (time.perf_counter() - started) / CALLS * 1e6


async def bare() -> float:
    started = time.perf_counter()
    for _ in range(CALLS):
        await work(**ARGUMENTS)
    return (time.perf_counter() - started) / CALLS * 1e6


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        one, twelve = await door(Path(folder), 1), await door(Path(folder), 12)
        rows: list[tuple[float, float, float]] = []
        for _ in range(ROUNDS):  # interleaved, so that the machine's moods fall on all alike
            rows.append((await bare(), await governed(one), await governed(twelve)))
    columns = list(zip(*rows, strict=True))
    # As timeit does: the fastest round is the code, the rest is what else the machine was doing.
    plain, small, large = (min(column) for column in columns)
    usual = statistics.median(columns[1])
    over = f"over the bare call: {small - plain:.1f} us (budget 150), ratio {small / plain:.0f}"
    print(f"bare call                     {plain:8.1f} us")
    print(f"governed, 1 agent, 5 tools    {small:8.1f} us   {over}; median {usual:.1f} us")
    grown = f"against 1 agent: ratio {large / small:.2f} (budget 1.1)"
    print(f"governed, 12 agents, 60 tools {large:8.1f} us   {grown}")


if __name__ == "__main__":
    asyncio.run(main())
