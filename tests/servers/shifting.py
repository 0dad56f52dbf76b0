"""A legacy MCP server in the standard library whose tools are what a file says now.

`STATE/offers.json` holds its tools; each call is noted in `STATE/ran` under the server's own name for it.
"""

import json
import sys
from pathlib import Path

STATE = Path(sys.argv[1])


def send(request_id: object, result: object) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request_id, "result": result}) + "\n")
    sys.stdout.flush()


def handle(method: str, request_id: object, params: dict[str, object]) -> None:
    if method == "initialize":
        about = {"capabilities": {"tools": {}}, "serverInfo": {"name": "shifting", "version": "1"}}
        send(request_id, {"protocolVersion": params["protocolVersion"], **about})
    elif method == "tools/list":
        send(request_id, {"tools": json.loads((STATE / "offers.json").read_text(encoding="utf-8"))})
    elif method == "tools/call":
        with (STATE / "ran").open("a", encoding="utf-8") as file:
            file.write(f"{params['name']}\n")
        send(request_id, {"content": [{"type": "text", "text": "done"}]})
    elif request_id is not None:
        send(request_id, {})


for line in sys.stdin:
    message = json.loads(line)
    handle(message.get("method"), message.get("id"), message.get("params") or {})
