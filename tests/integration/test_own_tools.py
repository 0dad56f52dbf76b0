"""The tools that tell what Steward itself holds: memories, documents, the record."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.talking import ANA, TalkSetup, open_house

from steward.contract.call import Done, Failed, ToolCall


@pytest.fixture
async def house(tmp_path: Path, database_url: str) -> AsyncIterator[TalkSetup]:
    async with open_house(tmp_path, database_url) as house:
        yield house


async def call(house: TalkSetup, tool: str, **arguments: Any) -> Any:
    result = await house.platform.orchestrator.execute(
        ToolCall(tool=tool, arguments=arguments, caller=ANA.caller, user=ANA.user)
    )
    assert isinstance(result, Done), result
    return result.data


async def test_list_memories_holds_what_was_stored_newest_first(house: TalkSetup) -> None:
    for told in ("The gate code is 7731.", "Marta likes tulips."):
        await call(house, "store_memory", content=told)

    listed = await call(house, "list_memories")

    assert [each["content"] for each in listed["items"]] == ["Marta likes tulips.", "The gate code is 7731."]
    assert listed["total"] == 2


async def test_documents_are_listed_and_read_as_they_were_added(
    house: TalkSetup, tea_and_bread: Path
) -> None:
    await call(house, "manage_collections", action="create", collection_name="food")
    await call(house, "ingest_documents", path=str(tea_and_bread), collection="food")

    listed = await call(house, "list_documents")
    read = await call(house, "read_document", document="Tea")

    assert {each["title"] for each in listed["documents"]} == {"Tea", "Bread"}
    assert any("eighty degrees" in each["text"] for each in read["passages"])


async def test_a_document_that_is_not_there_is_said_so(house: TalkSetup) -> None:
    result = await house.platform.orchestrator.execute(
        ToolCall(tool="read_document", arguments={"document": "nothing"}, caller=ANA.caller, user=ANA.user)
    )

    assert isinstance(result, Failed)
    assert result.code == "NOT_FOUND"


async def test_show_record_tells_changes_and_leaves_out_what_only_read(house: TalkSetup) -> None:
    await call(house, "add_task", user_id="local", title="buy nails")
    await call(house, "list_tasks", user_id="local")

    question = ToolCall(
        tool="request_human_input", arguments={"question": "Which nails?"}, caller=ANA.caller, user=ANA.user
    )
    assert isinstance(
        await house.platform.orchestrator.execute(question), Failed
    )  # nobody is there to answer
    shown = await call(house, "show_record", about="changes")

    assert [each["tool"] for each in shown["items"]] == ["add_task"]
    assert "buy nails" in shown["items"][0]["what"]


async def test_show_record_tells_what_waits_and_why_it_was_asked(house: TalkSetup) -> None:
    added = await call(house, "add_task", user_id="local", title="buy nails")
    await house.platform.orchestrator.execute(
        ToolCall(
            tool="delete_task",
            arguments={"user_id": "local", "task_id": added["task"]["id"]},
            caller=ANA.caller,
            user=ANA.user,
        )
    )

    waiting = await call(house, "show_record", about="waiting")

    assert [each["tool"] for each in waiting["items"]] == ["delete_task"]
    assert "taken back" in waiting["items"][0]["why"]


async def test_show_record_is_each_persons_own(house: TalkSetup) -> None:
    await call(house, "add_task", user_id="local", title="buy nails")

    result = await house.platform.orchestrator.execute(
        ToolCall(tool="show_record", arguments={}, caller=ANA.caller, user="somebody-else")
    )

    assert isinstance(result, Done)
    assert result.data["items"] == []
