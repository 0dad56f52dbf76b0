"""A client that a program generates from `/openapi.json`, imported and used."""

import json
import subprocess
from pathlib import Path

from tests.attacks.conftest import Victim
from tests.peers.setup import FIXTURES, pypi


def test_a_python_client_is_generated_and_used_with_its_types(house: Victim, tmp_path: Path) -> None:
    document = tmp_path / "openapi.json"
    document.write_bytes(house.client().get("/openapi.json").raise_for_status().content)
    made = subprocess.run(
        [*pypi("openapi-client", "openapi-python-client"), "generate", "--path", str(document),
         "--output-path", str(tmp_path / "generated"), "--meta", "none"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    used = subprocess.run(
        [*pypi("openapi-client", "python"), str(FIXTURES / "generated_client.py"), house.url,
         house.key("use"), str(tmp_path)],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert used.returncode == 0, used.stdout + used.stderr
    said = json.loads(used.stdout.splitlines()[-1])
    assert (said["added"], said["missing"], said["tools"]) == (True, "TOOL_NOT_FOUND", True)
    assert "from a generated client" in said["titles"]
    assert said["executed"][0] == ["add_task", "done", "person"]
