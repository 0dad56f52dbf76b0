"""Approves a proposal and is killed at a chosen moment: before or after the call takes effect.

Arguments: home folder, file that shows each run, moment (before | after | never).
The database is DATABASE_URL. Prints the proposal's id.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from steward.bootstrap import open_platform
from steward.contract.call import Caller, CallerKind, PendingApproval, ToolCall
from steward.contract.deciding import Decider, Role, Way
from steward.contract.tool import RiskLevel, ToolSpec
from steward.providers.functions import FunctionTool, LegacyToolAgent
from steward.settings import load_settings

ANA = Decider(
    caller=Caller(CallerKind.PERSON, "ana"), role=Role.ADMIN, user="ana", way=Way.CLI, client="test"
)
HOME, RUNS, MOMENT = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]


def launch() -> str:
    if MOMENT == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    with RUNS.open("a") as file:
        file.write("launched\n")
    if MOMENT == "after":
        os.kill(os.getpid(), signal.SIGKILL)
    return "launched"


def agent() -> LegacyToolAgent:
    spec = ToolSpec(name="launch", description="Launch it.", risk=RiskLevel.IRREVERSIBLE)
    return LegacyToolAgent("pad", [FunctionTool(spec, launch)])


async def main() -> None:
    async with open_platform(load_settings(STEWARD_HOME=HOME)) as platform:
        door = platform.orchestrator
        door.register_agent(agent())
        await door.lifecycle.start_all()
        asked = await door.execute(
            ToolCall(tool="launch", arguments={}, caller=Caller(CallerKind.AGENT, "m"))
        )
        assert isinstance(asked, PendingApproval)
        print(asked.proposal_id, flush=True)
        await door.approvals.approve(asked.proposal_id, by=ANA)


asyncio.run(main())
