"""Other orchestrators drive Steward's tools, and are agents behind its door, as `examples/` has them."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.attacks.conftest import ADMIN, Victim, running_victim
from tests.peers.setup import EXAMPLES, npm, pypi
from tests.peers.windmill import Flow, StepFailedError
from tests.support.postgres import TestServer

ENVIRONMENTS = {"langgraph": "langchain", "crewai": "crewai", "autogen": "autogen"}
QUIET = {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true"}  # it would tell its maker
LIST = ["milk", "Milk", "call Ana", "Call ana"]

orchestrators = pytest.mark.parametrize("name", ENVIRONMENTS)


@pytest.fixture(scope="module")
def tidying(postgres: TestServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Victim]:
    with running_victim(postgres, tmp_path_factory.mktemp("orchestrators")) as running:
        yield running


class Person:
    """Somebody with tasks of their own, a program that works for them, and the right to say yes."""

    def __init__(self, house: Victim, name: str) -> None:
        house.client(ADMIN).post("/v1/users", json={"id": name}).raise_for_status()
        self.url, self.key = house.url, house.key("use", name)
        self.http: httpx.Client = house.acting("approve", name)
        for title in LIST:
            self.http.post("/v1/tasks", json={"title": title}).raise_for_status()

    def titles(self) -> list[str]:
        return sorted(task["title"] for task in self.http.get("/v1/tasks").json()["items"])

    def asked(self) -> list[str]:
        """Everything that anybody ever had to decide."""
        return [item["id"] for item in self.http.get("/v1/proposals").json()["items"]]

    def approve(self, proposal: str) -> None:
        self.http.post(f"/v1/proposals/{proposal}/approve", json={}).raise_for_status()

    def reject(self, proposal: str, why: str) -> None:
        self.http.post(f"/v1/proposals/{proposal}/reject", json={"why": why}).raise_for_status()


@contextmanager
def running(name: str, folder: Path, person: Person) -> Iterator[subprocess.Popen[str]]:
    command = [*pypi(ENVIRONMENTS[name], "python"), str(EXAMPLES / f"{name}.py"), "spring"]
    process = subprocess.Popen(
        command, cwd=folder, env=QUIET | environment(folder, person), stdout=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def environment(folder: Path, person: Person) -> dict[str, str]:
    return {"HOME": str(folder), "STEWARD_URL": person.url, "STEWARD_KEY": person.key}


def says(process: subprocess.Popen[str], *, after: str | None = None) -> dict[str, Any]:
    """What it reports next; of a wait, the first line that is not about the proposal `after`."""
    assert process.stdout is not None
    for line in process.stdout:
        said = json.loads(line)
        if after is None or said["proposal"] != after:
            return said
    raise AssertionError("It ended without a word.")


@pytest.mark.req("RES-ART-I.B")
@orchestrators
def test_an_orchestrator_meets_a_persons_decisions_and_goes_on_after_a_kill(
    tidying: Victim, tmp_path: Path, name: str
) -> None:
    person = Person(tidying, name)
    with running(name, tmp_path, person) as process:
        first = says(process)["proposal"]
        process.kill()
    assert person.titles() == sorted(LIST)
    person.approve(first)
    with running(name, tmp_path, person) as process:
        second = says(process)["proposal"]
        person.reject(second, "I want both.")
        done = says(process, after=second)
    assert done["removed"] == ["Milk"]
    assert done["kept"] == {"Call ana": "I want both."}
    assert person.titles() == ["Call ana", "call Ana", "milk"]
    assert sorted(person.asked()) == sorted([first, second])  # nobody was asked twice


@pytest.fixture(scope="module")
def served(tidying: Victim) -> dict[str, Person]:
    """Each orchestrator as an agent of this Steward, by its entry in mcp.json."""
    people = {name: Person(tidying, f"{name}-served") for name in ENVIRONMENTS}
    servers = {
        name: {
            "command": pypi(ENVIRONMENTS[name], "python")[0],
            "args": [str(EXAMPLES / f"{name}.py"), "--serve", "--state", str(tidying.folder / name)],
            "env": QUIET | environment(tidying.folder, person),
            "risk": {"tidy_tasks": "reversible"},
            "timeout": 120_000,
            "toolTimeout": 60_000,
        }
        for name, person in people.items()
    }
    (tidying.home / "mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    admin = tidying.client(ADMIN)
    admin.timeout = httpx.Timeout(180)
    admin.post("/v1/agents/reload").raise_for_status()
    return people


@orchestrators
def test_an_orchestrator_is_an_agent_behind_the_door_and_what_it_asks_waits_there(
    tidying: Victim, served: dict[str, Person], name: str
) -> None:
    person = served[name]

    def tidy() -> dict[str, Any]:
        answer = person.http.post(
            f"/v1/tools/{name}__tidy_tasks/call", json={"arguments": {"thread": "autumn"}}, timeout=90
        ).json()
        assert answer["status"] == "done", answer
        return answer["data"]

    waiting = tidy()
    assert (waiting["status"], person.asked()) == ("waiting", [waiting["proposal"]])
    person.approve(waiting["proposal"])
    again = tidy()
    person.reject(again["proposal"], "I want both.")
    assert tidy()["status"] == "done"
    assert person.titles() == ["Call ana", "call Ana", "milk"]
    assert tidying.client(ADMIN).get(f"/v1/agents/{name}/health").json()["healthy"] is True


# --- Windmill ---

FLOW = EXAMPLES / "windmill" / "f" / "steward" / "tidy_list.flow" / "flow.yaml"
VALIDATE = """
import { WindmillYamlValidator } from "windmill-yaml-validator";
import { readFileSync } from "node:fs";
const found = new WindmillYamlValidator().validate(readFileSync(process.argv[2], "utf8"), { type: "flow" });
console.log(JSON.stringify(found.errors));
"""


def validated(flow: Path, folder: Path) -> list[Any]:
    """What Windmill's own validator says about a flow's file."""
    node, package = npm("windmill-yaml-validator", "package.json")
    script = Path(package).parents[2] / f"validate_{folder.name}.mjs"  # from where its packages are found
    script.write_text(VALIDATE, encoding="utf-8")
    try:
        process = subprocess.run(
            [node, str(script), str(flow)], capture_output=True, text=True, timeout=60, check=True
        )
    finally:
        script.unlink()
    return json.loads(process.stdout)


def test_windmills_validator_takes_the_flow_and_would_notice_a_wrong_one(tmp_path: Path) -> None:
    wrong = tmp_path / "flow.yaml"
    wrong.write_text(FLOW.read_text(encoding="utf-8").replace("forloopflow", "loop"), encoding="utf-8")
    assert validated(FLOW, tmp_path) == []
    assert validated(wrong, tmp_path) != []


def test_windmills_steps_wait_for_a_person_and_are_repeated_without_asking_twice(tidying: Victim) -> None:
    person = Person(tidying, "windmill")
    run = Flow(FLOW, job="job-1", resource={"url": person.url, "key": person.key})
    with pytest.raises(StepFailedError, match="It waits for a person"):
        run.go_on()
    [first] = person.asked()
    run.forget("ask")  # its worker was killed before the answer was kept
    with pytest.raises(StepFailedError):
        run.go_on()
    assert person.asked() == [first]
    person.approve(first)
    with pytest.raises(StepFailedError):
        run.go_on()
    person.reject(next(each for each in person.asked() if each != first), "I want both.")
    assert run.go_on() == [
        {"title": "Milk", "removed": True, "why": None},
        {"title": "Call ana", "removed": False, "why": "I want both."},
    ]
    assert person.titles() == ["Call ana", "call Ana", "milk"]
