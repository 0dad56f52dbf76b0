"""code_execution: Python and shell, bounded in time and output."""

import asyncio
import os
from pathlib import Path
from typing import Any

import psutil
import pytest
import uvloop
from tests.support.waiting import until

from steward.contract.call import Done, Failed, ToolResult
from steward.contract.schema import compile_schema
from steward.contract.tool import RiskLevel
from steward.providers import code_execution
from steward.providers.code_execution import SPEC, code_execution_tool
from steward.providers.containment.plan import Containment, Mechanism
from steward.providers.containment.probe import strongest
from steward.providers.functions import LegacyToolAgent


def workbench(folder: Path, environment: dict[str, str] | None = None) -> LegacyToolAgent:
    inside = Containment(mechanism=strongest())
    tool = code_execution_tool(folder, containment=inside, environment=environment or {"PATH": os.defpath})
    return LegacyToolAgent("code", [tool])


async def run(folder: Path, environment: dict[str, str] | None = None, **arguments: Any) -> ToolResult:
    assert compile_schema(SPEC.input_schema).problems(arguments) == ()
    return await workbench(folder, environment).execute("code_execution", arguments)


def sleeping(seconds: str) -> list[int]:
    """Processes of the machine that sleep for exactly this long: contained ones have other numbers inside."""
    found = psutil.process_iter(["cmdline"])
    return [one.pid for one in found if (one.info["cmdline"] or [])[-1:] == [seconds]]


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
    code = "sleep 600.125 & echo one; setsid sleep 600.125 & echo two; wait"
    result = await run(tmp_path, language="shell", code=code, timeout_seconds=1)
    assert isinstance(result, Failed)
    assert (result.code, result.outcome_unknown) == ("TOOL_EXECUTION_TIMEOUT", True)
    assert result.data["stdout"].split() == ["one", "two"]
    assert sleeping("600.125") == []


async def test_a_cancelled_run_is_killed_with_its_children(tmp_path: Path) -> None:
    call = asyncio.create_task(run(tmp_path, language="shell", code="sleep 600.375 & touch started; wait"))
    await until(lambda: (tmp_path / "started").exists() and len(sleeping("600.375")) == 1)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert sleeping("600.375") == []


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


@pytest.mark.slow
@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_no_call_fails_because_its_program_ended_before_its_input_was_written(
    tmp_path: Path, loop: str
) -> None:
    """200 calls, 24 at a time, of programs that end at once, on both event loops that Steward runs on."""

    async def all_calls() -> list[ToolResult]:
        places, agent = asyncio.Semaphore(24), workbench(tmp_path)

        async def one() -> ToolResult:
            async with places:
                return await agent.execute(
                    "code_execution", {"language": "shell", "code": ":", "stdin": "x" * 200_000}
                )

        return await asyncio.gather(*(one() for _ in range(200)))

    results = asyncio.run(all_calls()) if loop == "asyncio" else uvloop.run(all_calls())
    assert [result for result in results if result != printed("")] == []


async def test_of_the_environment_the_program_sees_only_what_is_known_to_be_harmless(tmp_path: Path) -> None:
    given = {"PATH": os.defpath, "LC_ALL": "C.UTF-8", "TOWN": "Rome", "SMTP_PASS": "x", "HTTPS_PROXY": "x"}
    result = await run(tmp_path, given, language="shell", code="env | grep -v -E '^(PWD|OLDPWD|SHLVL|_)='")
    assert isinstance(result, Done)
    assert sorted(result.data["stdout"].split()) == ["LC_ALL=C.UTF-8", f"PATH={os.defpath}"]


def test_a_run_that_cannot_be_contained_says_so_before_the_yes(tmp_path: Path) -> None:
    tool = code_execution_tool(tmp_path, containment=Containment(mechanism=Mechanism.NONE), environment={})
    assert tool.spec.caution is not None
    assert "cannot contain" in tool.spec.caution
    assert workbench(tmp_path).manifest().tools[0].caution is None


def test_it_is_rated_irreversible() -> None:
    assert SPEC.risk is RiskLevel.IRREVERSIBLE


async def test_of_skills_and_uploads_the_code_sees_what_it_names_and_cannot_change_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for name in ("skills/sums", "skills/other", "uploads/1"):
        (home / name).mkdir(parents=True)
        (home / name / "file").write_text(name)
    (home / "skills" / "out").symlink_to(home)
    tool = code_execution_tool(
        home / "code",
        containment=Containment(mechanism=strongest(), hidden=(home,)),
        environment={"PATH": os.defpath},
        material=(home / "skills", home / "uploads"),
    )
    agent = LegacyToolAgent("code", [tool])
    code = f"cat '{home}/skills/sums/file' {home}/uploads/1/file; ls {home}/skills; ls {home}/skills/out; "
    code += f"echo x > {home}/skills/sums/file || echo refused"
    result = await agent.execute("code_execution", {"language": "shell", "code": code})
    assert isinstance(result, Done)
    assert result.data["stdout"] == "skills/sumsuploads/1sums\nrefused\n"
