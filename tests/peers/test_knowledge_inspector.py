"""The library in the configuration that Cursor and Claude read, opened by the MCP Inspector."""

import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.peers.setup import npm
from tests.peers.test_peers import printed


async def test_the_inspector_opens_the_library_by_an_editors_configuration(
    tmp_path: Path, database_url: str
) -> None:
    library = tmp_path / "library"
    library.mkdir()
    (library / "tea.md").write_text("# Tea\n\n## Brewing\n\nGreen tea is brewed at eighty degrees.\n")
    entry = {
        "command": sys.executable,
        "args": ["-m", "steward", "serve", "knowledge"],
        "env": {
            "PATH": os.environ["PATH"],
            "STEWARD_HOME": str(tmp_path / "home"),
            "STEWARD_ALLOWED_ROOTS": str(library),
            "DATABASE_URL": database_url,
            "OTEL_EXPORTER_OTLP_ENDPOINT": "none",
        },
    }
    config = tmp_path / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"knowledge": entry}}))
    inspector = npm("@modelcontextprotocol/inspector", "clients/launcher/build/index.js")

    async def ask(*arguments: str) -> dict[str, Any]:
        command = [*inspector, "--cli", "--config", str(config), "--server", "knowledge"]
        return json.loads(await printed(*command, "--method", *arguments))

    async def call(tool: str, **arguments: str) -> dict[str, Any]:
        given = [part for key, value in arguments.items() for part in ("--tool-arg", f"{key}={value}")]
        return await ask("tools/call", "--tool-name", tool, *given)

    assert len((await ask("tools/list"))["tools"]) == 5
    await call("manage_collections", action="create", collection_name="papers")
    taken = await call("ingest_documents", path=str(library), collection="papers")
    assert taken["structuredContent"]["added"] == 1
    found = await call("query_knowledge_base", query="how is tea brewed")
    assert found["structuredContent"]["results"][0]["header_path"] == "Tea > Brewing"
    assert found["content"][0]["text"].startswith("## Results for")
    read = await ask("resources/read", "--uri", "knowledge://collections")
    assert json.loads(read["contents"][0]["text"])[0]["documents"] == 1
    assert {item["name"] for item in (await ask("prompts/list"))["prompts"]} == {
        "refine_query",
        "extract_context",
    }
