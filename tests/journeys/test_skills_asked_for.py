"""The skill executor's stories as their document tries them: a scripted model, real tools, a real server."""

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.scripted_model import CallTools, Say, ScriptedModel, scripted_model
from tests.support.talking import TalkSetup, open_house, tools, wire

from steward.conversations.model import AnswerStatus

FOLDER = Path(__file__).parents[1] / "servers"
SERVERS = {"notes": FOLDER / "modern.py", "plans": FOLDER / "plans.py"}
HELLO = {
    "name": "hello_world",
    "description": "Greet the world.",
    "script": "hello_world.py",
    "risk": "reversible",
}


@pytest.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as server:
        yield server


@pytest.fixture
def equipped(tmp_path: Path) -> Path:
    """A folder whose Steward has a tool of its own and a server with resources."""
    folder = tmp_path / "home" / "tools"
    folder.mkdir(parents=True)
    (folder / "tools.json").write_text(json.dumps({"tools": [HELLO]}))
    (folder / "hello_world.py").write_text("def run():\n    return 'Hello from a file of your own'\n")
    servers = {name: {"command": sys.executable, "args": [str(path)]} for name, path in SERVERS.items()}
    (tmp_path / "home" / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    return tmp_path


@pytest.fixture
async def wired(equipped: Path, database_url: str, model: ScriptedModel) -> AsyncIterator[TalkSetup]:
    async with open_house(equipped, database_url, **wire(model)) as house:
        yield house


@pytest.fixture
async def house(equipped: Path, database_url: str) -> AsyncIterator[TalkSetup]:
    """With the planner."""
    async with open_house(equipped, database_url, STEWARD_MODEL="planner") as house:
        yield house


@pytest.mark.req("SKL-US3-IT", "SKL-FR-004")
async def test_a_tool_of_ones_own_is_used_when_it_is_asked_for(house: TalkSetup) -> None:
    asked = ("Use hello_world", "Please run the hello_world tool", "greet the world", "Call hello_world now")
    found = [await house.ask(said, "assistant") for said in asked]
    assert [tools(answer) for answer in found] == [["hello_world"]] * len(asked)
    assert {"Hello from a file of your own" in answer.answer for answer in found} == {True}


@pytest.mark.parametrize("said", ["Hello!", "What a wonderful world", "What is hello_world?"])
async def test_a_tool_of_ones_own_is_left_alone_by_who_asks_for_nothing(house: TalkSetup, said: str) -> None:
    assert "hello_world" not in tools(await house.ask(said, "assistant"))


@pytest.mark.req("SKL-US2-IT")
async def test_a_program_is_written_run_once_agreed_and_its_result_used(
    wired: TalkSetup, model: ScriptedModel
) -> None:
    program = "a, b = 0, 1\nfor _ in range(90):\n    a, b = b, a + b\nprint(a)"
    model.answer(CallTools(("code_execution", {"code": program})), Say("It is 2880067194370816120."))
    waits = await wired.ask("What is the 90th number of the Fibonacci sequence?", "assistant")
    done = await wired.ask("yes", "assistant", conversation=waits.conversation)
    assert (waits.status, tools(done)) == (AnswerStatus.PENDING_APPROVAL, ["code_execution"])
    assert "2880067194370816120" in json.dumps(done.tool_calls[0].data)  # computed, not said
    assert done.answer == "It is 2880067194370816120."


@pytest.mark.req("SKL-US2-IT")
@pytest.mark.parametrize(
    "said",
    ["Calculate the 90th number of the Fibonacci sequence", "Compute the 100th term of the Padovan sequence"],
)
async def test_without_a_model_that_writes_it_says_that_no_program_is_written(
    house: TalkSetup, said: str
) -> None:
    found = await house.ask(said, "assistant")
    assert (found.status, {"code_execution", "calculate"} & set(tools(found))) == (AnswerStatus.GAP, set())
    assert "program" in found.answer


@pytest.mark.req("SKL-US3-IT")
async def test_a_hello_world_of_tools_json_is_offered_and_used(
    wired: TalkSetup, model: ScriptedModel
) -> None:
    model.answer(CallTools(("hello_world", {})), Say("Hello from a file of your own"))
    found = await wired.ask("Use hello_world", "assistant")
    offered = {each["function"]["name"] for each in model.requests[0]["tools"]}
    assert ("hello_world" in offered, found.tool_calls[-1].data) == (True, "Hello from a file of your own")


@pytest.mark.req("SKL-US4.2")
@pytest.mark.parametrize(
    "said",
    [
        "Read the resource plans://release-plan",
        "What does the release plan say?",
        "Who owns the release in the release plan?",
    ],
)
async def test_a_resource_that_is_named_or_described_is_read_and_quoted(house: TalkSetup, said: str) -> None:
    found = await house.ask(said, "assistant")
    [read] = [call for call in found.tool_calls if call.tool == "read_resource"]
    assert (read.arguments["uri"], "Ana owns it" in found.answer) == ("plans://release-plan", True)


async def test_a_resource_that_nothing_speaks_of_is_not_read(house: TalkSetup) -> None:
    found = await house.ask("How tall is the Brennan Tower?", "assistant")
    assert "read_resource" not in tools(found)


@pytest.mark.req("SKL-US4-IT", "SKL-US4.2")
async def test_a_servers_resources_are_listed_read_and_used(wired: TalkSetup, model: ScriptedModel) -> None:
    model.answer(
        CallTools(("list_resources", {"server": "notes"})),
        CallTools(("read_resource", {"server": "notes", "uri": "note://today"})),
        Say("Water the plants."),
    )
    found = await wired.ask("What does today's note of my notes server say?", "assistant")
    *_, listed, read = found.tool_calls  # its own memory is looked at before any model answers
    assert "note://today" in json.dumps(listed.data)
    assert "Water the plants." in json.dumps(read.data)
    assert "Water the plants." in json.dumps(model.requests[-1]["messages"])  # what the model answered from
