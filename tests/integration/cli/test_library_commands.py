"""`research-agent` and `steward memory`, as typed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from steward.models.embedding import NAME
from steward.surfaces.cli.app import app as steward_app
from steward.surfaces.cli.library.knowledge import app as library_app

Typed = Callable[..., Result]


@pytest.fixture
def typed(tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Typed:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEWARD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "none")

    def run(program: str, *arguments: str) -> Result:
        app = library_app if program == "research-agent" else steward_app
        return CliRunner().invoke(app, arguments)

    return run


def said(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.req("KB-2.1-query", "KB-2.1-collections", "KB-2.1-ingest", "KB-2.1-projects")
@pytest.mark.req("KB-2.1-augment")
@pytest.mark.req("KB-2.1", "KB-7.2", "KB-CFG-path")
def test_a_library_by_commands(typed: Typed, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "tea.md").write_text(
        "# Tea\n\n## Brewing\n\nGreen tea is brewed at eighty degrees.\n"
    )
    (tmp_path / "notes" / "photo.jpg").write_bytes(b"\xff\xd8")
    (tmp_path / "notes" / "later.md").write_text("\n")
    assert typed("research-agent", "collections", "create", "notes").exit_code == 0
    taken = typed("research-agent", "kb", "add-document", "notes", "-c", "notes")
    assert taken.stdout == "notes: 1 added, 0 updated, 0 unchanged, 0 removed, 1 new chunks\n"
    assert "skipped: 1 .jpg, 1 empty" in taken.stderr
    named = said(typed("research-agent", "kb", "list", "-c", "notes", "--json"))
    assert [item["title"] for item in named["items"]] == ["Tea"]
    assert "Tea\t1\t" in typed("research-agent", "kb", "list", "-c", "notes").stdout
    assert "1. Tea > Brewing" in typed("research-agent", "query", "how is tea brewed").stdout
    asked = typed("research-agent", "history").stdout.splitlines()
    assert [line.split("\t")[3:] for line in asked] == [
        ["QUERY WAS", "QUERY"],
        ["optimal", "how is tea brewed"],
    ]
    kept = ("kb", "add-text", "Coffee is brewed hotter.", "--source", "blog", "-c", "web")
    assert typed("research-agent", "collections", "create", "web").exit_code == 0
    assert typed("research-agent", *kept).exit_code == 0
    assert (
        typed("research-agent", "projects", "create", "drinks", "--collections", "notes,web").exit_code == 0
    )
    assert typed("research-agent", "projects", "set-defaults", "drinks", "web").exit_code == 0
    assert typed("research-agent", "projects", "list").stdout.splitlines()[1:] == ["drinks\tnotes, web\tweb"]
    within = said(typed("research-agent", "query", "how is it brewed", "--project", "drinks", "--json"))
    assert {hit["metadata"]["collection"] for hit in within["results"]} == {"web"}
    assert typed("research-agent", "collections", "delete", "web", "--yes").exit_code == 0
    unknown = typed("research-agent", "collections", "delete", "nope")
    assert (unknown.exit_code, "KB_COLLECTION" in unknown.stderr) == (2, True)
    waits = typed("research-agent", "collections", "delete", "notes")
    assert (waits.exit_code, "steward approve" in waits.stderr) == (3, True)
    assert typed("research-agent", "collections", "delete", "notes", "--yes").exit_code == 0
    assert typed("research-agent", "collections", "list").stdout == "There are no collections yet.\n"


@pytest.mark.req("KB-4.1-CLI", "KB-4.2-CLI", "KB-4.3-CLI", "KB-7.2-mapping", "KB-DEP-subprocess")
def test_the_commands_of_the_document_do_what_their_tools_do(typed: Typed, tmp_path: Path) -> None:
    (tmp_path / "tea.md").write_text("# Tea\n\n## Brewing\n\nGreen tea is brewed at eighty degrees.\n")

    def by_tool(name: str, **arguments: Any) -> Any:
        call = ("tools", "call", name, "--args", json.dumps(arguments), "--json")
        return said(typed("steward", *call))["data"]

    made = typed("research-agent", "collections", "create", "papers", "--type=project-specific")
    assert made.exit_code == 0
    assert by_tool("manage_collections", action="info", collection_name="papers")["collection"]["type"] == (
        "project-specific"
    )
    assert typed("research-agent", "kb", "add-document", "tea.md", "--collection=papers").exit_code == 0
    again = by_tool("ingest_documents", path="tea.md", collection="papers")
    assert (again["added"], again["unchanged"]) == (0, 1)
    asked = "how is tea brewed"
    typed_in = said(typed("research-agent", "query", asked, "--collections=papers", "--top-k=1", "--json"))
    called = by_tool("query_knowledge_base", query=asked, collections="papers", top_k=1)
    assert typed_in["results"][0]["header_path"] == "Tea > Brewing"
    assert typed_in["results"] == called["results"]


def test_memories_by_commands(typed: Typed) -> None:
    for words in ("Ana lives in Lisbon.", "Ana moved to Porto.", "The boiler is new."):
        assert typed("steward", "tools", "call", "store_memory", "--arg", f"content={words}").exit_code == 0
    hello = typed("steward", "tools", "call", "store_memory", "--arg", "content=Hello!", "--json")
    assert json.loads(hello.stdout)["error_code"] == "MEMORY_NOT_KEPT"
    listed = typed("steward", "memory", "list").stdout.splitlines()
    assert [line.split("\t")[-1] for line in listed] == [
        "MEMORY",
        "The boiler is new.",
        "Ana moved to Porto.",
    ]
    assert "Ana lives in Lisbon. (replaced by " in typed("steward", "memory", "list", "--all").stdout
    assert "There are more" in typed("steward", "memory", "list", "--limit", "1").stderr
    (porto, *_) = said(typed("steward", "memory", "search", "where does Ana live", "--json"))["items"]
    assert porto["content"] == "Ana moved to Porto."
    unknown = typed("steward", "memory", "forget", "nope")
    assert (unknown.exit_code, "NOT_FOUND" in unknown.stderr) == (2, True)
    assert typed("steward", "memory", "forget").exit_code == 2
    assert typed("steward", "memory", "forget", porto["id"]).exit_code == 3
    assert typed("steward", "memory", "forget", porto["id"], "--yes").stdout == "Forgot 2.\n"
    assert typed("steward", "memory", "forget", "--all", "--yes").stdout == "Forgot 1.\n"
    assert typed("steward", "memory", "list").stdout == "Nothing is remembered yet.\n"


def test_an_old_embedders_vectors_are_listed_and_removed_with_a_yes(
    typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed("research-agent", "collections", "create", "papers")
    typed("research-agent", "kb", "add-text", "A swarm leaves.", "-c", "papers", "--source", "bees")
    assert typed("research-agent", "kb", "embedders").stdout.splitlines()[0].split("\t") == [
        *("EMBEDDER", "DIMENSIONS", "DOCUMENTS", "VECTORS", "BYTES", "IN USE")
    ]
    (kept,) = said(typed("research-agent", "kb", "embedders", "--json"))["items"]
    assert kept == {"name": NAME, "dimensions": 384, "documents": 1, "vectors": 1, "in_use": True} | {
        "size_bytes": kept["size_bytes"]
    }
    in_use = typed("research-agent", "kb", "remove-embedder", NAME, "--yes", "--json")
    assert (in_use.exit_code, json.loads(in_use.stdout)["error_code"]) == (1, "CONFLICT")

    monkeypatch.setenv("STEWARD_EMBEDDER", "ollama:other")
    unknown = typed("research-agent", "kb", "remove-embedder", "never", "--json")
    assert (unknown.exit_code, json.loads(unknown.stdout)["error_code"]) == (2, "NOT_FOUND")
    asked = typed("research-agent", "kb", "remove-embedder", NAME)
    assert (asked.exit_code, "Nothing was removed. Add --yes to do it." in asked.output) == (3, True)
    removed = typed("research-agent", "kb", "remove-embedder", NAME, "--yes")
    assert removed.stdout == f"Removed 1 vectors of '{NAME}'.\n"
    assert typed("research-agent", "kb", "embedders").stdout == "There are no vectors yet.\n"
    assert (
        said(typed("research-agent", "kb", "list", "-c", "papers", "--json"))["items"][0]["source"] == "bees"
    )
