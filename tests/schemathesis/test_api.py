"""The API against its own description: generated requests never meet a server error or an unknown shape.

Part of `make test-all`.
"""

import asyncio
import os
import sys
from pathlib import Path

import pytest
from tests.support.running import steward_up

CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,"
    "unsupported_method,ignored_auth"
)
KEY = "a-key-for-generated-requests"


@pytest.mark.timeout(1200)
async def test_generated_requests_are_answered_as_described(tmp_path: Path, database_url: str) -> None:
    async with steward_up(tmp_path, database_url, STEWARD_API_KEY=KEY, STEWARD_RATE_LIMIT="0") as steward:
        run = await asyncio.create_subprocess_exec(
            str(Path(sys.executable).with_name("schemathesis")), "run", f"{steward.url}/openapi.json",
            "--header", f"X-API-Key: {KEY}", "--checks", CHECKS, "--phases", "examples,coverage,fuzzing",
            "--max-examples", "25", "--seed", "1", "--no-color", "--warnings", "off",
            # Stopping an agent on purpose would take away what the other requests are about; a stream has no
            # end, so that each look at one takes ten seconds (test_notice_routes.py reads it).
            "--exclude-path-regex", "/(start|stop|stream)$",
            cwd=tmp_path, env=os.environ, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        output, _ = await run.communicate()
    assert run.returncode == 0, output.decode()[-8_000:]
