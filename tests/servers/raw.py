"""A legacy MCP server in the standard library that can be told to misbehave.

Tools: `echo`, `count` (noted in the state file, so that a test sees how often it ran), `hang`, `die`, and one
for each way of answering badly. Faults: see the options.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

OPTIONS = argparse.ArgumentParser()
OPTIONS.add_argument("--fault", default="")
OPTIONS.add_argument("--state", default="")
OPTIONS.add_argument("--tools", type=int, default=0)
OPTIONS.add_argument("--delay", type=float, default=0.0)
OPTIONS.add_argument("--description", default="Says it back.")
args = OPTIONS.parse_args()

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}
READS = {"readOnlyHint": True, "idempotentHint": True}
BAD = (
    "bad_json",
    "not_rpc",
    "no_content",
    "wrong_result",
    "wrong_error",
    "huge",
    "endless",
    "chatter",
    "late",
)


def send(message: object) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def note(line: str) -> None:
    if args.state:
        with Path(args.state).open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def tools() -> list[dict[str, object]]:
    named = [
        {"name": "echo", "description": args.description, "inputSchema": TEXT, "annotations": READS},
        {"name": "count", "description": "Counts.", "inputSchema": TEXT},
        {"name": "hang", "description": "Never answers.", "inputSchema": TEXT},
        {"name": "die", "description": "Ends the server in the middle.", "inputSchema": TEXT},
        {"name": "die_reading", "description": "Ends once.", "inputSchema": TEXT, "annotations": READS},
        {"name": "forget", "description": "Changes the list of tools.", "inputSchema": TEXT},
        {
            "name": "add",
            "description": "Adds.",
            "inputSchema": {"type": "object"},
            "outputSchema": {
                "type": "object",
                "properties": {"sum": {"type": "number"}},
                "required": ["sum"],
            },
        },
    ]
    named += [{"name": name, "description": name, "inputSchema": TEXT} for name in BAD]
    named += [
        {"name": f"tool_{n}", "description": f"Tool {n}.", "inputSchema": TEXT} for n in range(args.tools)
    ]
    return named


def answer_badly(name: str, request_id: object) -> None:
    if name == "bad_json":
        sys.stdout.write(f'{{"jsonrpc": "2.0", "id": {request_id}, "result": {{"content": [}}\n')
    elif name == "not_rpc":
        send({"jsonrpc": "2.0", "id": request_id})
    elif name == "no_content":
        send({"jsonrpc": "2.0", "id": request_id, "result": {"words": 1}})
    elif name == "wrong_result":
        send({"jsonrpc": "2.0", "id": request_id, "result": [1, 2]})
    elif name == "wrong_error":
        send({"jsonrpc": "2.0", "id": request_id, "error": "no"})
    elif name == "huge":
        send(
            {
                "jsonrpc": "2.0",
                "id": request_id,
                "result": {"content": [{"type": "text", "text": "x" * 5_000_000}]},
            }
        )
    elif name == "endless":
        sys.stdout.write(f'{{"jsonrpc": "2.0", "id": {request_id}, "result": "')
        while True:
            sys.stdout.write("x" * 65536)
            sys.stdout.flush()
    elif name == "chatter":
        sys.stdout.write("Listening on nothing at all\n\n[1, 2\n")
        reply(request_id, "after the chatter")
    elif name == "late":
        time.sleep(0.2)
        reply(request_id, "late")
    sys.stdout.flush()


def reply(request_id: object, text: str) -> None:
    send({"jsonrpc": "2.0", "id": request_id, "result": {"content": [{"type": "text", "text": text}]}})


def call(request_id: object, name: str, arguments: dict[str, object]) -> None:
    note(f"call {name}")
    if name == "echo" or name.startswith("tool_"):
        reply(request_id, str(arguments.get("text", "")))
    elif name == "count":
        reply(request_id, "counted")
    elif name == "add":
        total = sum(arguments.get("numbers", []))
        structured = {"sum": total} if arguments.get("numbers") else {"total": total}
        content = [{"type": "text", "text": json.dumps(structured)}]
        send(
            {
                "jsonrpc": "2.0",
                "id": request_id,
                "result": {"content": content, "structuredContent": structured},
            }
        )
    elif name == "die":
        os._exit(3)
    elif name == "die_reading":
        once = Path(args.state + ".died")
        if not once.exists():
            once.touch()
            os._exit(3)
        reply(request_id, "second time")
    elif name == "forget":
        reply(request_id, "forgotten")
        args.tools += 1
        send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    elif name in BAD:
        answer_badly(name, request_id)


def handle(method: str, request_id: object, params: dict[str, object]) -> None:
    if method == "initialize":
        info = {"name": "raw", "version": "1"}
        capabilities = {"tools": {"listChanged": True}}
        result = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": capabilities,
            "serverInfo": info,
        }
        send({"jsonrpc": "2.0", "id": request_id, "result": result})
    elif method == "tools/list":
        everything = tools()
        start = int(params.get("cursor") or 0)
        page = {"tools": everything[start : start + 10]}
        if start + 10 < len(everything):
            page["nextCursor"] = str(start + 10)
        send({"jsonrpc": "2.0", "id": request_id, "result": page})
    elif method == "tools/call":
        call(request_id, params["name"], params.get("arguments") or {})
    elif method == "ping":
        note("ping")
        if args.fault != "deaf":
            send({"jsonrpc": "2.0", "id": request_id, "result": {}})
    elif method == "notifications/cancelled":
        note(f"cancelled {params['requestId']}")
    elif request_id is not None:
        send({"jsonrpc": "2.0", "id": request_id, "error": {"code": -32601, "message": "Method not found"}})


def main() -> None:
    note("start")
    time.sleep(args.delay)
    if args.fault == "dies":
        print("cannot open the database", file=sys.stderr, flush=True)
        sys.exit(7)
    if args.fault == "silent":
        time.sleep(3600)
    if args.fault == "stubborn":
        # A child that ignores its parent's end, as npx leaves behind.
        child = subprocess.Popen(
            [sys.executable, "-c", "import time; time.sleep(3600)"], start_new_session=True
        )
        note(f"child {child.pid}")
    for line in sys.stdin:
        message = json.loads(line)
        handle(message.get("method"), message.get("id"), message.get("params") or {})
    if args.fault == "stubborn":
        time.sleep(3600)


if __name__ == "__main__":
    main()
