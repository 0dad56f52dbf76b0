"""What clients read of a call that was not done, seen as the strictest of them see it."""

from typing import Any

import pytest
from tests.attacks.clients import over_http
from tests.attacks.conftest import ADMIN, Victim
from tests.support.gateway_setup import told

from steward.contract.schema import compile_schema

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),
]
ERAS = pytest.mark.parametrize("era", ["auto", "legacy"])
NOT_DONE: list[tuple[str, dict[str, Any]]] = [
    ("code_execution", {"code": "print(1)"}),
    ("get_current_time", {"timezone": "Mars"}),
    ("read_file", {"path": "/nowhere"}),
    ("read_file", {"path": 7}),
    ("search_files", {}),
    ("delete_task", {"task_id": "task_none"}),
    ("complete_task", {"task_id": "task_none"}),
    ("query_knowledge_base", {}),
    ("manage_collections", {"action": "dance"}),
]


@ERAS
async def test_no_answer_breaks_the_output_schema_that_its_tool_shows(victim: Victim, era: str) -> None:
    async with over_http(victim.url, victim.key("use"), era=era) as mcp:
        schemas = {tool.name: tool.output_schema for tool in await mcp.list_tools()}
        for name, arguments in NOT_DONE:
            answer = await mcp.call_tool_mcp(name, arguments)
            shape = answer.structured_content
            assert (answer.is_error, len(answer.content[0].text) > 20) == (True, True), name
            assert shape is None or schemas[name] is None or compile_schema(schemas[name]).accepts(shape), (
                name
            )


@ERAS
async def test_the_words_name_the_command_that_approves(victim: Victim, era: str) -> None:
    async with over_http(victim.url, victim.key("use"), era=era) as mcp:
        answer = await mcp.call_tool_mcp("code_execution", {"code": f"print({era!r})"})
    assert f"steward approve {told(answer)['proposal_id']}" in answer.content[0].text


@ERAS
@pytest.mark.parametrize("path", ["/mcp", "/mcp/tasks"])
async def test_no_model_is_asked_for_whom_it_acts(victim: Victim, path: str, era: str) -> None:
    async with over_http(victim.url, victim.key("use"), path=path, era=era) as mcp:
        tools = {tool.name: tool.input_schema for tool in await mcp.list_tools()}
        shown = [name for name, schema in tools.items() if "user_id" in str(schema)]
        made = await mcp.call_tool_mcp("add_task", {"title": "buy tea", "user_id": "local"})
    assert ("add_task" in tools, shown, made.is_error) == (True, [], False)


@ERAS
@pytest.mark.parametrize("role", ["use", "owner"])
async def test_another_persons_id_is_refused_where_it_is_hidden(victim: Victim, role: str, era: str) -> None:
    key = ADMIN if role == "owner" else victim.key(role)
    async with over_http(victim.url, key, era=era) as mcp:
        refused = await mcp.call_tool_mcp("list_tasks", {"user_id": "ana"})
    assert told(refused)["error_code"] == "FORBIDDEN"


@ERAS
async def test_a_null_for_what_was_not_said_is_no_wrong_argument(victim: Victim, era: str) -> None:
    async with over_http(victim.url, victim.key("use"), era=era) as mcp:
        told_time = await mcp.call_tool_mcp("get_current_time", {"timezone": None})
        added = await mcp.call_tool_mcp("add_task", {"title": "tea", "idempotency_key": None})
        task = added.structured_content["task"]
        changed = await mcp.call_tool_mcp(
            "update_task", {"task_id": task["id"], "title": None, "completed": True, "priority": None}
        )
    assert (told_time.is_error, added.is_error, changed.is_error) == (False, False, False)
    assert changed.structured_content["task"]["title"] == "tea"


async def test_a_failure_of_the_library_is_readable_without_its_data(victim: Victim) -> None:
    async with over_http(victim.url, victim.key("use")) as mcp:
        with pytest.raises(Exception, match=r"There is no collection 'nope'. .*collections create"):
            await mcp.call_tool_mcp("query_knowledge_base", {"query": "x", "collections": "nope"})


@ERAS
async def test_a_client_that_retries_asks_once(victim: Victim, era: str) -> None:
    async with over_http(victim.url, victim.key("use"), era=era) as mcp:
        call = {"code": f"print('again {era}')"}
        answers = [await mcp.call_tool_mcp("code_execution", call) for _ in range(3)]
        other = await mcp.call_tool_mcp("code_execution", {"code": "print('other')"})
    asked = {told(answer)["proposal_id"] for answer in answers}
    assert (len(asked), told(other)["proposal_id"] in asked) == (1, False)
