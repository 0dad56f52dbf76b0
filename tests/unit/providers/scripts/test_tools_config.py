"""tools.json: what it may say, and what is said when it may not."""

import json
from pathlib import Path
from typing import Any

import pytest

from steward.contract.errors import ConfigError, ConflictError, InputError, NotFoundError
from steward.contract.tool import Origin, RiskLevel, ToolSpec
from steward.providers.scripts.tools_config import LocalTools, ToolsFile, parse_entry

HELLO = {"name": "hello", "description": "Says hello.", "script": "hello.py"}
FULL = {
    **HELLO,
    "input_schema": {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]},
    "output_schema": {"type": "string"},
    "function": "greet",
    "parallel_capable": True,
    "timeout": 5,
    "risk": "REVERSIBLE",
    "category": "social",
    "examples": ["greet Ada"],
}


def tools_file(tmp_path: Path, content: Any) -> ToolsFile:
    file = ToolsFile(tmp_path)
    file.path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
    return file


@pytest.mark.req("SKL-ENT-Tool", "SKL-ENT-ToolsFile")
@pytest.mark.req("SKL-FR-001")
def test_every_field_reaches_the_definition(tmp_path: Path) -> None:
    tools = tools_file(tmp_path, {"tools": [HELLO | {"name": "plain"}, FULL]}).load().tools
    assert [entry.spec() for entry in tools.values()] == [
        ToolSpec(name="plain", description="Says hello.", origin=Origin.LOCAL, parallel=False),
        ToolSpec(
            name="hello",
            description="Says hello.",
            input_schema=FULL["input_schema"],
            output_schema={"type": "string"},
            origin=Origin.LOCAL,
            risk=RiskLevel.REVERSIBLE,
            timeout=5,
            parallel=True,
            category="social",
            examples=("greet Ada",),
        ),
    ]


def test_a_bare_list_is_understood_too(tmp_path: Path) -> None:
    assert list(tools_file(tmp_path, [HELLO]).load().tools) == ["hello"]


@pytest.mark.req("SKL-FR-012", "SKL-EDGE-04", "SKL-Q04")
@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"timeout": -1}, 6),
        ({"timeout": "soon"}, 6),
        ({"risk": "none"}, 6),
        ({"colour": "red"}, 6),
        ({"parallel_capable": "yes"}, 6),
        ({"input_schema": {"type": "array"}}, 6),
        ({"output_schema": {"type": "nothing"}}, 6),
        ({"script": "../hello.py"}, 5),
        ({"script": "/etc/hello.py"}, 5),
        ({"script": "a\\hello.py"}, 5),
        ({"script": "hello.sh"}, 5),
        ({"name": "no spaces"}, 3),
        ({"name": "x" * 65}, 3),
        ({"description": ""}, 4),
        ({"function": "a.b"}, 6),
    ],
)
def test_a_wrong_field_is_named_with_file_line_and_fix(
    tmp_path: Path, change: dict[str, Any], line: int
) -> None:
    entry = HELLO | change
    text = '{"tools": [\n {\n' + ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in entry.items())
    file = tools_file(tmp_path, text + "\n }\n]}\n")
    with pytest.raises(ConfigError) as caught:
        file.load()
    assert caught.value.code == "CONFIG_INVALID"
    assert caught.value.message.startswith(f"{file.path}, line {line}: tool ")
    assert next(iter(change)) in caught.value.message
    assert caught.value.fix


@pytest.mark.parametrize(
    "content", ["{}", '{"tools": {}}', "3", '{"tools": [3]}', {"tools": [HELLO, HELLO]}, "{", ""]
)
def test_a_file_of_another_shape_is_refused(tmp_path: Path, content: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        tools_file(tmp_path, content).load()
    assert caught.value.code == "CONFIG_INVALID"
    assert "line" in caught.value.message


@pytest.mark.req("SKL-EDGE-04")
def test_a_file_that_went_missing_halts_and_says_how_to_go_on(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        ToolsFile(tmp_path).load()
    assert caught.value.code == "CONFIG_MISSING"
    assert '{"tools": []}' in caught.value.explain()


def test_a_new_home_gets_an_empty_file_and_an_old_one_keeps_its_own(tmp_path: Path) -> None:
    file = ToolsFile(tmp_path / "tools")
    file.initialise()
    assert file.load() == LocalTools({})
    file.path.write_text(json.dumps([HELLO]))
    file.initialise()
    assert list(file.load().tools) == ["hello"]


def test_writing_keeps_what_else_stands_in_the_file_and_restoring_every_byte(tmp_path: Path) -> None:
    text = '{"$schema": "x",   "tools": []}'
    file = tools_file(tmp_path, text)
    reading = file.read()
    file.write(reading, reading.tools.add(parse_entry(HELLO)))
    assert json.loads(file.path.read_text()) == {"$schema": "x", "tools": [HELLO]}
    file.restore(reading)
    assert file.path.read_text() == text


def test_changes_that_make_no_sense_are_refused() -> None:
    tools = LocalTools({}).add(parse_entry(HELLO))
    with pytest.raises(ConflictError) as twice:
        tools.add(parse_entry(HELLO))
    with pytest.raises(NotFoundError) as unknown:
        tools.remove("other")
    with pytest.raises(NotFoundError):
        tools.update(parse_entry(HELLO | {"name": "other"}))
    assert (twice.value.code, unknown.value.code) == ("TOOL_DUPLICATE", "TOOL_NOT_FOUND")
    assert tools.update(parse_entry(FULL)).tools["hello"].timeout == 5
    assert tools.remove("hello") == LocalTools({})


def test_a_wrong_entry_from_outside_names_each_wrong_field() -> None:
    with pytest.raises(InputError) as caught:
        parse_entry({"name": "x y", "timeout": 0, "script": "x.py"})
    fields = [problem["field"] for problem in caught.value.details["problems"]]
    assert fields == ["name", "description", "timeout"]
    with pytest.raises(InputError):
        parse_entry({"name": object()})


@pytest.mark.req("SKL-EDGE-03")
def test_a_script_must_not_be_a_link_out_of_the_folder(tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text("def run(): ...")
    file = ToolsFile(tmp_path / "tools")
    file.initialise()
    (file.folder / "hello.py").symlink_to(outside)
    with pytest.raises(InputError):
        file.script_of(parse_entry(HELLO))
