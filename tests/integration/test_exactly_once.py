"""An approved call runs once, also when the program dies in the middle or two programs try at once."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.deciders import deciding

from steward.bootstrap import open_platform
from steward.contract.call import Caller, CallerKind, Done, PendingApproval, ToolCall
from steward.contract.errors import ConflictError, StewardError
from steward.contract.tool import RiskLevel, ToolSpec
from steward.orchestrator.proposals import Finished, OutcomeUnknown
from steward.providers.functions import FunctionTool, LegacyToolAgent
from steward.settings import Settings, load_settings

PROGRAM = Path(__file__).parents[1] / "programs" / "approve_and_die.py"
ANA = Caller(CallerKind.PERSON, "ana")


def settings(home: Path, url: str) -> Settings:
    return load_settings(STEWARD_HOME=home, DATABASE_URL=url, OTEL_EXPORTER_OTLP_ENDPOINT="none")


def pad(runs: list[str]) -> LegacyToolAgent:
    def launch() -> str:
        runs.append("launched")
        return "launched"

    spec = ToolSpec(name="launch", description="Launch it.", risk=RiskLevel.IRREVERSIBLE)
    return LegacyToolAgent("pad", [FunctionTool(spec, launch)])


@pytest.mark.req("ORC-FR-011")
@pytest.mark.parametrize(("moment", "launches"), [("before", 0), ("after", 1)])
async def test_a_program_killed_while_running_an_approved_call_never_has_it_repeated(
    tmp_path: Path, database_url: str, moment: str, launches: int
) -> None:
    shown = tmp_path / "runs"
    shown.touch()
    died = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, str(PROGRAM), str(tmp_path / "home"), str(shown), moment],
        env=os.environ | {"DATABASE_URL": database_url, "OTEL_EXPORTER_OTLP_ENDPOINT": "none"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert died.returncode == -signal.SIGKILL, died.stderr
    proposal_id = died.stdout.strip()
    again: list[str] = []
    async with open_platform(settings(tmp_path / "home", database_url)) as platform:
        platform.orchestrator.register_agent(pad(again))
        await platform.orchestrator.lifecycle.start_all()
        kept = await platform.orchestrator.approvals.get(proposal_id)
        with pytest.raises(ConflictError) as caught:
            await platform.orchestrator.approvals.approve(proposal_id, by=deciding(ANA.id))
    assert (type(kept.state), caught.value.code, "unknown" in caught.value.message) == (
        OutcomeUnknown,
        "PROPOSAL_ALREADY_DECIDED",
        True,
    )
    assert (shown.read_text().count("launched"), again) == (launches, [])


@pytest.mark.req("ORC-FR-011")
async def test_fifty_yeses_from_two_programs_run_it_once(tmp_path: Path, database_url: str) -> None:
    runs: list[str] = []
    async with (
        open_platform(settings(tmp_path / "one", database_url)) as one,
        open_platform(settings(tmp_path / "two", database_url)) as two,
    ):
        for platform in (one, two):
            platform.orchestrator.register_agent(pad(runs))
            await platform.orchestrator.lifecycle.start_all()
        asked = await one.orchestrator.execute(
            ToolCall(tool="launch", arguments={}, caller=Caller(CallerKind.AGENT, "m"))
        )
        assert isinstance(asked, PendingApproval)
        answers = await asyncio.gather(
            *(
                platform.orchestrator.approvals.approve(asked.proposal_id, by=deciding(ANA.id))
                for platform in (one, two)
                for _ in range(25)
            ),
            return_exceptions=True,
        )
        kept = await two.orchestrator.approvals.get(asked.proposal_id)
    done = [answer for answer in answers if isinstance(answer, Done)]
    refused = {answer.code for answer in answers if isinstance(answer, StewardError)}
    assert (len(done), refused, runs, type(kept.state)) == (
        1,
        {"PROPOSAL_ALREADY_DECIDED"},
        ["launched"],
        Finished,
    )
