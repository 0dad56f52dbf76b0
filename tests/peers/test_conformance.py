"""The MCP conformance suite against the gateway and against our connections, in both eras.

The gateway is tested as it is served: calls go through the door, approvals and search are switched on, and
the suite's fixtures are tools of a server behind it.
"""

import asyncio
import os
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.peers.setup import FIXTURES, meeting, npm, own, server

from steward.contract.tool import RiskLevel
from steward.servers.gateway.long_calls import LongCalls
from steward.servers.gateway.views import View
from steward.storage.database.postgres import Database
from steward.storage.long_calls import PostgresLongCalls

SUITES = ("2025-11-25", "2026-07-28")
AT_ONCE = 2
ATTEMPTS = 2  # a scenario may be starved by whatever else this machine does
_RESULT = re.compile(r"^[✓✗] (?P<name>\S+): (?P<passed>\d+) passed, (?P<failed>\d+) failed", re.MULTILINE)
_LISTED = re.compile(r"^  - (?P<name>\S+) \[(?P<versions>[^\]]*)\]", re.MULTILINE)

NOT_OURS = {
    "auth/2025-03-26-oauth-metadata-backcompat": "the suite's server names an issuer that is not its own "
    "(RFC 8414, section 3.3, has clients refuse that); 0.2.0 corrected it",
}
"""Scenarios that cannot pass and why that is the suite's doing. One that passes must leave this list."""

EXTENSIONS = frozenset(
    {
        "tasks-lifecycle",
        "tasks-capability-negotiation",
        "tasks-wire-fields",
        "tasks-request-state-removal",
        "tasks-mrtr-input",
        "tasks-request-headers",
        "tasks-dispatch-and-envelope",
        "tasks-mrtr-composition",
    }
)
"""What is served of the extensions, which the suite runs but does not score. `tasks-required-task-error`
wants a tool that cannot be called without a handle, and none here is such a tool;
`tasks-status-notifications` tests nothing yet.
"""


class Everything(frozenset[str]):
    def __contains__(self, name: object) -> bool:
        return True


async def run(*command: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *command,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")},
    )
    try:
        output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return output.decode()


def suite(version: str) -> list[str]:
    return npm(f"conformance-{version}", "dist/index.js")


@pytest.mark.req("ORC-Q19", "ORC-FR-004")
@pytest.mark.parametrize("version", SUITES)
async def test_every_server_scenario_passes_against_the_gateway(
    version: str, database: Database, tmp_path: Path
):
    behind = replace(
        server("suite", own("conformance_server.py"), namespace=""), risk=(("*", RiskLevel.REVERSIBLE),)
    )
    searching = View(many=0, pinned=Everything())
    chosen = ["--suite", "all"] if version == "2025-11-25" else ["--requirements", version]
    long_calls = LongCalls(PostgresLongCalls(database), after=0.3)
    async with meeting(behind, view=searching, long_calls=long_calls) as met:
        command = [*suite(version), "server", "--url", met.url, *chosen, "-o", str(tmp_path)]
        output = await run(*command)
        assert met.orchestrator.metrics is not None
    results = {found["name"]: int(found["failed"]) for found in _RESULT.finditer(output)}
    unscored = set(re.findall(r"^  [✓✗] (\S+) \(extension\)", output, re.MULTILINE)) - EXTENSIONS
    assert version == "2025-11-25" or set(results) >= EXTENSIONS, output[-2000:]
    assert len(results) > 30, output[-2000:]
    assert {name for name, failed in results.items() if failed} - unscored == set(), output[-4000:]


@pytest.mark.req("ORC-ASM-1")
@pytest.mark.req("ORC-Q19", "ORC-FR-004", "ORC-FR-005")
@pytest.mark.parametrize("version", SUITES)
async def test_every_client_scenario_passes_with_our_connections(version: str, tmp_path: Path):
    names = await client_scenarios(version)
    assert len(names) > 20
    turns = asyncio.Semaphore(AT_ONCE)
    outcomes = await asyncio.gather(*(play(version, name, tmp_path, turns) for name in names))
    failed = {name: told for name, told in zip(names, outcomes, strict=True) if told is not None}
    excused = {name for name in NOT_OURS if name in names and version == "2025-11-25"}
    assert set(failed) == excused, "\n\n".join(f"{name}: {told}" for name, told in failed.items())


async def client_scenarios(version: str) -> list[str]:
    """What the suite asks of clients; extensions are its own extra, and it does not score them."""
    listed = (
        (await run(*suite(version), "list")).partition("Client scenarios")[2].partition("Authorization")[0]
    )
    wanted = {"2025-11-25", "2025-06-18", "2025-03-26", "draft"} if version == "2025-11-25" else {version}
    return [
        found["name"]
        for found in _LISTED.finditer(listed)
        if wanted & {each.strip() for each in found["versions"].split(",")}
    ]


async def play(version: str, name: str, folder: Path, turns: asyncio.Semaphore) -> str | None:
    """None when it passed, else what the suite said."""
    client = f"{sys.executable} {FIXTURES / 'conformance_client.py'}"
    chosen = ["--spec-version", version] if version == "2026-07-28" else []
    output = ""
    for _ in range(ATTEMPTS):
        async with turns:
            output = await run(
                *suite(version), "client", "--command", client, "--scenario", name, "-o", str(folder), *chosen
            )
        if "OVERALL: PASSED" in output:
            return None
    return output[-1500:]
