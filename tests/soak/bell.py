"""An MCP server in the standard library whose tools leave a line in a file each time they run."""

import json
import os
import sys

SCHEMA = {"type": "object", "properties": {"marker": {"type": "string"}}, "required": ["marker"]}
TOOLS = [
    {"name": "ring", "description": "Ring the bell.", "inputSchema": SCHEMA},
    {"name": "toll", "description": "Toll the bell.", "inputSchema": SCHEMA},
]


def answer(request: dict) -> dict:
    match request["method"]:
        case "initialize":
            return {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "bell", "version": "1"},
            }
        case "tools/list":
            return {"tools": TOOLS}
        case "tools/call":
            line = json.dumps({"marker": request["params"]["arguments"]["marker"]}) + "\n"
            receiver = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND)
            os.write(receiver, line.encode())
            os.close(receiver)
            return {"content": [{"type": "text", "text": "rung"}]}
        case _:
            return {}


for text in sys.stdin:
    request = json.loads(text)
    if "id" in request:
        known = request["method"] in ("initialize", "tools/list", "tools/call", "ping")
        result = {"result": answer(request)} if known else {"error": {"code": -32601, "message": "not known"}}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], **result}) + "\n")
        sys.stdout.flush()
