"""code_execution: Python and shell, bounded in time and output."""

import asyncio
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.waiting import until

from steward.contract.call import Done, Failed, ToolResult
from steward.contract.schema import compile_schema
from steward.contract.tool import RiskLevel
from steward.providers import code_execution
from steward.providers.code_execution import SPEC, code_execution_tool, without_secrets
from steward.providers.functions import LegacyToolAgent


async def run(folder: Path, environment: dict[str, str] | None = None, **arguments: Any) -> ToolResult:
    assert compile_schema(SPEC.input_schema).problems(arguments) == ()
    agent = LegacyToolAgent("code", [code_execution_tool(folder, environment=environment)])
    return await agent.execute("code_execution", arguments)


def files(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def printed(text: str) -> Done:
    return Done(data={"exit_code": 0, "stdout": text, "stderr": "", "truncated": False})


@pytest.mark.req("SKL-FR-007", "SKL-US2.1")
async def test_python_summarises_a_csv_file_in_the_working_folder(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("town,amount\nRome,3\nOslo,4\n")
    code = "import csv; print(sum(int(r['amount']) for r in csv.DictReader(open('sales.csv'))))"
    result = await run(tmp_path, code=code)
    assert result == printed("7\n")
    assert isinstance(result, Done)
    assert SPEC.output_schema is not None
    assert compile_schema(SPEC.output_schema).accepts(result.data)


async def test_shell_reads_its_input_and_leaves_files_for_the_next_run(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    assert await run(folder, language="shell", code="cat > note; pwd", stdin="hello") == printed(
        f"{folder}\n"
    )
    assert await run(folder, language="shell", code="cat note") == printed("hello")


@pytest.mark.req("SKL-US2.2")
async def test_a_failing_program_is_explained_by_its_own_last_words(tmp_path: Path) -> None:
    result = await run(tmp_path, code="print('so far')\nundefined_name")
    assert isinstance(result, Failed)
    assert result.code == "TOOL_EXECUTION_ERROR"
    assert "exit code 1: NameError: name 'undefined_name' is not defined" in result.error
    assert (result.data["exit_code"], result.data["stdout"]) == (1, "so far\n")


async def test_a_program_that_fails_silently_or_by_a_signal_is_explained_too(tmp_path: Path) -> None:
    silent = await run(tmp_path, language="shell", code="exit 4")
    killed = await run(tmp_path, language="shell", code="kill -9 $$")
    assert isinstance(silent, Failed)
    assert isinstance(killed, Failed)
    assert "exit code 4 and printed no error" in silent.error
    assert "signal 9" in killed.error


@pytest.mark.req("SKL-FR-014", "SKL-EDGE-01")
async def test_a_program_that_takes_too_long_is_killed_with_its_children(tmp_path: Path) -> None:
    code = "sleep 600 & echo $!; setsid sleep 600 & echo $!; wait"
    result = await run(tmp_path, language="shell", code=code, timeout_seconds=1)
    assert isinstance(result, Failed)
    assert (result.code, result.outcome_unknown) == ("TOOL_EXECUTION_TIMEOUT", True)
    pids = [int(word) for word in result.data["stdout"].split()]
    assert len(pids) == 2
    assert [pid for pid in pids if psutil.pid_exists(pid)] == []


async def test_a_cancelled_run_is_killed_with_its_children(tmp_path: Path) -> None:
    call = asyncio.create_task(
        run(tmp_path, language="shell", code="sleep 600 & echo $! > pid.new; mv pid.new pid; wait")
    )
    await until((tmp_path / "pid").exists)
    pid = int((tmp_path / "pid").read_text())
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert not psutil.pid_exists(pid)


async def test_long_output_is_cut_and_endless_output_is_stopped(tmp_path: Path) -> None:
    long = await run(tmp_path, code="print('x' * 300_000)")
    assert isinstance(long, Done)
    assert (len(long.data["stdout"]), long.data["truncated"]) == (code_execution.KEPT_BYTES, True)
    endless = await run(tmp_path, language="shell", code="yes")
    assert isinstance(endless, Failed)
    assert "more than 16 MiB" in endless.error
    assert len(endless.data["stdout"]) == code_execution.KEPT_BYTES


async def test_a_program_may_be_long_and_leaves_no_file_of_ours(tmp_path: Path) -> None:
    assert await run(tmp_path, code="# " + "x" * 200_000 + "\nprint('long')") == printed("long\n")
    failed = await run(tmp_path, code="x = 1\nraise ValueError(x)")
    assert isinstance(failed, Failed)
    assert "line 2" in failed.data["stderr"]
    assert "raise ValueError(x)" in failed.data["stderr"]
    assert files(tmp_path) == []


async def test_a_program_that_does_not_read_its_input_runs_all_the_same(tmp_path: Path) -> None:
    assert await run(tmp_path, language="shell", code="echo done", stdin="x" * 250_000) == printed("done\n")


def test_secrets_of_ours_are_not_passed_on() -> None:
    environment = {"PATH": "/bin", "STEWARD_HOME": "x", "AZURE_AI_FOUNDRY_API_KEY": "x", "GITHUB_TOKEN": "x"}
    assert without_secrets(environment) == {"PATH": "/bin"}


async def test_the_program_sees_the_environment_it_is_given(tmp_path: Path) -> None:
    result = await run(tmp_path, {"TOWN": "Rome"}, code="import os; print(os.environ.get('TOWN'))")
    assert result == printed("Rome\n")


def test_it_is_rated_irreversible() -> None:
    assert SPEC.risk is RiskLevel.IRREVERSIBLE
