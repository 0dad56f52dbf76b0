"""Somebody breaks or removes a file of the home while Steward runs: it fails closed, and says which file."""

import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from tests.attacks.conftest import ADMIN, Victim, running_victim
from tests.support.postgres import TestServer

pytestmark = pytest.mark.slow

SCRIPT = "def run() -> str:\n    return 'still here'\n"
TOOL = {
    "name": "greet",
    "description": "Says that it is there.",
    "script": "greet.py",
    "input_schema": {"type": "object", "properties": {}},
}
FILES = {
    "tools/greet.py": SCRIPT,
    "tools/tools.json": {"tools": [TOOL]},
    "mcp.json": {"mcpServers": {}},
    "policy.toml": '[[rule]]\ntool = "greet"\nrisk = "reversible"\ntrust = true\n',
    "skills/notes/SKILL.md": "---\nname: notes\ndescription: How notes are kept here.\n---\nWrite them.\n",
}


@pytest.fixture(scope="module")
def fragile(postgres: TestServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Victim]:
    with running_victim(postgres, tmp_path_factory.mktemp("fragile"), files=FILES) as running:
        yield running


@pytest.fixture(autouse=True)
def mended(fragile: Victim) -> Iterator[None]:
    """Every attack finds the files whole, and the next one does too."""
    yield
    for name, content in FILES.items():
        text = content if isinstance(content, str) else json.dumps(content)
        if not (fragile.home / name).is_file() or (fragile.home / name).read_text() != text:
            (fragile.home / name).parent.mkdir(parents=True, exist_ok=True)
            (fragile.home / name).write_text(text)
    until(lambda: "home" not in told(fragile) and call(fragile, "greet").json()["success"])


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline, "it did not happen within 20 s"
        time.sleep(0.2)


def admin(fragile: Victim) -> httpx.Client:
    return fragile.client(ADMIN)


def call(fragile: Victim, tool: str, **arguments: object) -> httpx.Response:
    return admin(fragile).post(f"/v1/tools/{tool}/call", json={"arguments": arguments})


def told(fragile: Victim) -> str:
    """What whoever watches the server is told."""
    answer = admin(fragile).get("/readyz")
    assert answer.status_code in (200, 503)
    return answer.text


def broken(fragile: Victim, name: str, text: str) -> Path:
    (fragile.home / name).write_text(text)
    until(lambda: Path(name).name in told(fragile))
    return fragile.home / name


def test_a_broken_tools_json_leaves_the_server_ready_and_names_file_and_line(fragile: Victim) -> None:
    broken(fragile, "tools/tools.json", '{"tools": [\n  {"name": "greet",,}\n]}')
    answer = admin(fragile).get("/readyz")
    assert (answer.status_code, "line 2" in answer.text) == (200, True)


def test_a_broken_tools_json_takes_no_tool_away(fragile: Victim) -> None:
    broken(fragile, "tools/tools.json", "{")
    assert call(fragile, "greet").json()["data"] == "still here"


def test_a_broken_tools_json_leaves_the_list_of_agents(fragile: Victim) -> None:
    broken(fragile, "tools/tools.json", "{")
    listed = admin(fragile).get("/v1/agents")
    assert (listed.status_code, "tools.json" in listed.text) == (200, True)
    assert fragile.cli("agents", "list").returncode == 0


def test_a_broken_tools_json_leaves_the_researcher(fragile: Victim) -> None:
    broken(fragile, "tools/tools.json", '{"tools": 1}')
    asked = admin(fragile).post("/v1/chat", json={"message": "What is a lighthouse?", "agent": "researcher"})
    assert (asked.status_code, "tools.json" in asked.text) == (200, False)


def test_a_tools_json_that_disappears_takes_no_tool_away(fragile: Victim) -> None:
    (fragile.home / "tools/tools.json").unlink()
    until(lambda: "tools.json" in told(fragile))
    assert call(fragile, "greet").json()["data"] == "still here"


def test_a_broken_mcp_json_is_named_while_everything_goes_on(fragile: Victim) -> None:
    broken(fragile, "mcp.json", '{"mcpServers": {"a": {"command": 1,,}}}')
    assert call(fragile, "greet").json()["success"] is True


def test_a_broken_skill_is_named_and_the_last_good_one_stays(fragile: Victim) -> None:
    assert "How notes are kept here." in admin(fragile).get("/v1/skills").text
    broken(fragile, "skills/notes/SKILL.md", "---\nname: [notes\n---\nWrite them.\n")
    assert "How notes are kept here." in admin(fragile).get("/v1/skills").text


@pytest.mark.parametrize(
    "text", ["trust = [", '[[rule]]\ntool = "greet"\nrisk = "harmless"\n', "\0", 'trust = ["delete_task"]\n']
)
def test_a_broken_policy_lets_nothing_run_until_it_is_whole(fragile: Victim, text: str) -> None:
    (fragile.home / "policy.toml").write_text(text)
    refused = call(fragile, "greet").json()
    assert (refused["success"], refused["error_code"]) == (False, "POLICY_FAILED")
    assert "policy.toml" in refused["error"]


def test_a_policy_that_disappears_lets_nothing_run_until_it_is_back(fragile: Victim) -> None:
    (fragile.home / "policy.toml").unlink()
    refused = call(fragile, "greet").json()
    assert (refused["success"], refused["error_code"]) == (False, "POLICY_FAILED")
    assert "policy.toml is missing" in refused["error"]


def test_a_policy_that_became_a_folder_lets_nothing_run(fragile: Victim) -> None:
    (fragile.home / "policy.toml").unlink()
    (fragile.home / "policy.toml").mkdir()
    try:
        assert call(fragile, "list_tasks").json()["error_code"] == "POLICY_FAILED"
    finally:
        shutil.rmtree(fragile.home / "policy.toml")


def test_while_the_policy_is_away_lists_still_answer_and_health_names_it(fragile: Victim) -> None:
    (fragile.home / "policy.toml").unlink()
    assert admin(fragile).get("/v1/tools").status_code == 200
    assert "policy.toml" in told(fragile)


def test_a_yes_that_comes_while_the_policy_is_away_runs_nothing(fragile: Victim) -> None:
    task = call(fragile, "add_task", title="Water the plants").json()["data"]
    waiting = call(fragile, "delete_task", task_id=task["task"]["id"]).json()["proposal_id"]
    (fragile.home / "policy.toml").unlink()
    admin(fragile).post(f"/v1/proposals/{waiting}/approve", json={})
    (fragile.home / "policy.toml").write_text(str(FILES["policy.toml"]))
    assert "Water the plants" in admin(fragile).get("/v1/tasks").text


def test_a_start_without_the_policy_of_a_used_home_halts(fragile: Victim, tmp_path: Path) -> None:
    for name in ("home.json", "mcp.json"):
        shutil.copy(fragile.home / name, tmp_path / name)
    shutil.copytree(fragile.home / "tools", tmp_path / "tools")
    environment = dict(fragile.environment) | {"STEWARD_HOME": str(tmp_path), "STEWARD_DAEMON": "off"}
    ran = Victim(fragile.url, tmp_path, tmp_path, fragile.process, environment).cli("tools", "list")
    assert (ran.returncode, "policy.toml is missing" in ran.stderr) == (1, True)
