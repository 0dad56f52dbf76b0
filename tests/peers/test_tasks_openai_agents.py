"""The OpenAI Agents SDK keeps a task list through the task server, over stdio."""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest
from tests.peers.setup import FIXTURES, ROOT, pypi

SERVER = ROOT / "tests" / "programs" / "serve_tasks.py"


@pytest.mark.req("TODO-PHASE-intelligence")
@pytest.mark.req("TODO-TOOL-1", "TODO-TOOL-2", "TODO-TOOL-3", "TODO-TOOL-4", "TODO-TOOL-5")
async def test_an_agent_of_the_openai_sdk_keeps_the_list(database_url: str, tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *pypi("openai-agents", "python"),
        str(FIXTURES / "openai_agents_tasks.py"),
        sys.executable,
        str(SERVER),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={
            "PATH": os.environ["PATH"],
            "HOME": os.environ.get("HOME", "/"),
            "DATABASE_URL": database_url,
            "STEWARD_HOME": str(tmp_path),
            "OTEL_EXPORTER_OTLP_ENDPOINT": "none",
        },
    )
    output, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    told = json.loads(output)
    assert told["said"] == "done"
    assert [(answer["success"], answer.get("code")) for answer in told["answers"]] == [
        (True, None),
        (True, None),
        (True, None),
        (True, None),
        (False, "INVALID_TITLE"),
        (True, None),
        (False, "TASK_NOT_FOUND"),
    ]
    assert told["answers"][3]["task"]["priority"] == "high"
    assert told["answers"][3]["task"]["completed"] is True
