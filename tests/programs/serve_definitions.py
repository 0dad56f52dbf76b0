"""`python serve_definitions.py FILE SERVER`: serves the tools that a file defines; each says it was done."""

import json
import sys
from pathlib import Path
from typing import Any

from fastmcp import FastMCP
from fastmcp.tools import Tool, ToolResult


class Defined(Tool):
    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        return ToolResult(content=f"{self.name}: done with {json.dumps(arguments)}")


if __name__ == "__main__":
    server = FastMCP(sys.argv[2])
    for each in json.loads(Path(sys.argv[1]).read_text())[sys.argv[2]]:
        server.add_tool(
            Defined(name=each["name"], description=each["description"], parameters=each["inputSchema"])
        )
    server.run(show_banner=False, log_level="ERROR")
