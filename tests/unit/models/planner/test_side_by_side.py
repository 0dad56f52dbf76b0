"""Which calls of one message may be made at once."""

from typing import Any

import pytest
from pydantic_ai import ToolDefinition

from steward.models.planner.decisions import Call
from steward.models.planner.ranking import KnownTool
from steward.models.planner.readers import READER
from steward.models.planner.side_by_side import SideBySide


def tool(
    name: str, *, reads: bool = False, reader: str | None = None, choices: tuple[str, ...] = ()
) -> KnownTool:
    metadata: dict[str, Any] = {"read_only": reads} | ({READER: reader} if reader else {})
    properties = {"it": {"type": "string", **({"enum": list(choices)} if choices else {})}}
    schema = {"type": "object", "properties": properties}
    return KnownTool(ToolDefinition(name=name, parameters_json_schema=schema, metadata=metadata))


TOOLS = SideBySide([
    tool("make_folder"), tool("move_file"), tool("show_files", reads=True), tool("show_mail", reads=True),
    tool("add_task", reader="tasks"), tool("book_hall", choices=("elm", "oak")),
])  # fmt: skip


def call(name: str, *, helper: bool = False, **arguments: Any) -> Call:
    return Call(tool=name, arguments=arguments, goal=0, helper=helper)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (call("make_folder", it="Tax"), call("move_file", it="bill.pdf")),
        (call("show_files", it="Tax"), call("show_mail", it="bill")),
        (call("show_files"), call("make_folder", it="Tax")),
        (call("book_hall", it="elm"), call("move_file", it="elm")),
        (call("make_folder", it="2026-11-20"), call("move_file", it="2026-11-20")),
        (call("make_folder", size=4), call("move_file", size=4)),
    ],
)
def test_calls_that_need_nothing_of_each_other(first: Call, second: Call) -> None:
    assert TOOLS.may_begin([first])
    assert TOOLS.of_each_other(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (call("make_folder", it="Tax"), call("move_file", it="bill.pdf", to="Tax")),
        (call("make_folder", it="Tax"), call("move_file", to={"path": "home/tax"})),
        (call("make_folder", it="Tax"), call("show_files")),
        (call("make_folder", it="Tax"), call("add_task", it="milk")),
        (call("make_folder", it="Tax"), call("show_files", helper=True)),
        (call("make_folder", it="Tax"), call("unknown")),
    ],
)
def test_calls_that_may_need_the_first(first: Call, second: Call) -> None:
    assert not TOOLS.of_each_other(first, second)
