import os
from pathlib import Path

import pytest
from fastmcp import Client

from steward.contract.places import Places
from steward.servers import files


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "open"
    (folder / "deep").mkdir(parents=True)
    (folder / "note.md").write_text("hello", encoding="utf-8")
    (folder / "deep" / "other.md").write_text("bonjour", encoding="utf-8")
    (folder / "image.bin").write_bytes(b"\x89PNG\0\0")
    (folder / "latin.txt").write_bytes(b"caf\xe9")
    (tmp_path / "secret.txt").write_text("do not read", encoding="utf-8")
    return folder


async def call(root: Path, tool: str, max_bytes: int = 1000, **arguments: str):
    async with Client(files.build(Places.of([root]), max_bytes=max_bytes)) as client:
        return await client.call_tool_mcp(tool, arguments)


def code(answer) -> str:
    assert answer.is_error
    return answer.structured_content["code"]


@pytest.mark.req("RES-FR-007")
async def test_a_file_below_a_root_is_read_as_text(root: Path):
    for path in ("note.md", str(root / "note.md"), "deep/../note.md"):
        answer = await call(root, "read_file", path=path)
        assert answer.structured_content == {"result": "hello"}


@pytest.mark.req("RES-FR-007")
async def test_no_tool_of_the_server_can_write(root: Path):
    async with Client(files.build(Places.of([root]))) as client:
        tools = await client.list_tools()
    assert {tool.name for tool in tools} == {"read_file", "list_directory", "search_files"}
    assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)


@pytest.mark.parametrize("path", ["../secret.txt", "deep/../../secret.txt", "/etc/passwd", "~/.profile"])
async def test_a_path_outside_the_roots_is_refused(root: Path, path: str):
    assert code(await call(root, "read_file", path=path)) == "FORBIDDEN"


async def test_a_link_that_leads_out_is_refused(root: Path):
    (root / "link.txt").symlink_to(root.parent / "secret.txt")
    (root / "way").symlink_to(root.parent)
    assert code(await call(root, "read_file", path="link.txt")) == "FORBIDDEN"
    assert code(await call(root, "read_file", path="way/secret.txt")) == "FORBIDDEN"
    assert code(await call(root, "list_directory", path="way")) == "FORBIDDEN"


async def test_a_link_that_stays_inside_is_followed(root: Path):
    (root / "inside.md").symlink_to(root / "deep" / "other.md")
    answer = await call(root, "read_file", path="inside.md")
    assert answer.structured_content == {"result": "bonjour"}


async def test_a_folder_whose_name_only_begins_like_a_root_is_outside(root: Path):
    sibling = root.parent / "open-not"
    sibling.mkdir()
    (sibling / "x.txt").write_text("x")
    assert code(await call(root, "read_file", path=str(sibling / "x.txt"))) == "FORBIDDEN"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("missing.md", "NOT_FOUND"),
        ("deep", "INVALID_INPUT"),
        ("image.bin", "FILE_IS_BINARY"),
        ("latin.txt", "FILE_IS_BINARY"),
        ("", "INVALID_INPUT"),
        ("a\0b", "INVALID_INPUT"),
    ],
)
async def test_what_cannot_be_read_is_explained_by_a_code(root: Path, path: str, expected: str):
    assert code(await call(root, "read_file", path=path)) == expected


async def test_a_file_over_the_limit_is_not_read(root: Path):
    (root / "big.txt").write_text("x" * 11)
    assert code(await call(root, "read_file", max_bytes=10, path="big.txt")) == "FILE_TOO_LARGE"


async def test_a_pipe_is_not_a_file_and_does_not_block(root: Path):
    os.mkfifo(root / "pipe")
    assert code(await call(root, "read_file", path="pipe")) == "INVALID_INPUT"


async def test_a_file_replaced_by_a_link_after_the_check_is_not_followed(root: Path):
    real = root / "swap.txt"
    real.symlink_to(root.parent / "secret.txt")
    with pytest.raises(files.InputError):
        files._open(real, "swap.txt")


async def test_a_folder_replaced_by_a_link_after_the_check_is_noticed(root: Path):
    (root / "moved").symlink_to(root / "deep")
    with pytest.raises(files.ForbiddenError):
        files._open(root / "moved" / "other.md", "moved/other.md")


async def test_without_roots_nothing_may_be_read(tmp_path: Path):
    async with Client(files.build(Places())) as client:
        answer = await client.call_tool_mcp("read_file", {"path": "x"})
    assert code(answer) == "FORBIDDEN"


async def test_a_folder_is_listed_with_kinds_and_sizes(root: Path):
    answer = await call(root, "list_directory")
    assert answer.structured_content == {
        "path": str(root),
        "entries": [
            {"name": "deep", "kind": "folder", "size": 0},
            {"name": "image.bin", "kind": "file", "size": 6},
            {"name": "latin.txt", "kind": "file", "size": 4},
            {"name": "note.md", "kind": "file", "size": 5},
        ],
        "truncated": False,
    }


@pytest.mark.parametrize(("path", "expected"), [("nowhere", "NOT_FOUND"), ("note.md", "INVALID_INPUT")])
async def test_what_is_no_folder_cannot_be_listed(root: Path, path: str, expected: str):
    assert code(await call(root, "list_directory", path=path)) == expected


async def test_files_are_found_by_name_below_a_folder(root: Path):
    answer = await call(root, "search_files", pattern="*.md")
    assert answer.structured_content == {
        "paths": [str(root / "note.md"), str(root / "deep" / "other.md")],
        "truncated": False,
    }


async def test_a_long_answer_is_cut_and_says_so(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(files, "MAX_ENTRIES", 1)
    found = await call(root, "search_files", pattern="*.md")
    listed = await call(root, "list_directory")
    assert found.structured_content["truncated"]
    assert listed.structured_content["truncated"]
    assert len(listed.structured_content["entries"]) == 1
