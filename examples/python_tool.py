"""A Python tool from nothing to its second version, while calls go on. Checks itself; exit code 0."""

import asyncio
import tempfile
from pathlib import Path

from steward.contract.call import Caller, CallerKind, Done, Failed, ToolCall, ToolResult
from steward.orchestrator.orchestrator import Orchestrator
from steward.policy.rules import Rules
from steward.providers.scripts.registry_writer import AddTool, RegistryWriter, UpdateTool
from steward.providers.scripts.script_agent import ScriptToolsAgent
from steward.providers.scripts.tools_config import ToolsFile, parse_entry
from steward.testing import MemoryExecutionLog, MemoryProposalStore, MemoryTracer

ENTRY = parse_entry(
    {
        "name": "celsius",
        "description": "Convert degrees Fahrenheit to Celsius.",
        "input_schema": {"type": "object", "properties": {"f": {"type": "number"}}, "required": ["f"]},
        "output_schema": {"type": "number"},
        "script": "celsius.py",
        "risk": "reversible",
        "timeout": 10,
    }
)
FIRST = "def run(f):\n    return (f - 32) * 5 / 9\n"
SECOND = "def run(f):\n    return round((f - 32) * 5 / 9, 1)\n"


async def main(folder: Path) -> None:
    file = ToolsFile(folder)
    file.initialise()
    door = Orchestrator(
        proposals=MemoryProposalStore(), log=MemoryExecutionLog(), tracer=MemoryTracer(), rules=Rules
    )
    agent = ScriptToolsAgent(file)
    door.register_agent(agent)
    await door.lifecycle.start_all()
    writer = RegistryWriter(agent, owner=lambda _: None)

    async def celsius(degrees: object) -> ToolResult:
        person = Caller(CallerKind.PERSON, "ana")
        return await door.execute(ToolCall(tool="celsius", arguments={"f": degrees}, caller=person))

    await writer.submit(AddTool(ENTRY, FIRST))
    first = await celsius(100)
    assert isinstance(first, Done)
    assert abs(first.data - 37.7777) < 0.001

    await writer.submit(UpdateTool(ENTRY, SECOND))
    second = await celsius(100)
    assert isinstance(second, Done)
    assert second.data == 37.8

    wrong = await celsius("warm")
    assert isinstance(wrong, Failed)
    assert wrong.code == "INVALID_ARGUMENTS"
    await door.lifecycle.stop_all()
    print("ok: added, called, replaced, called again, and held to its schema")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(main(Path(name)))
