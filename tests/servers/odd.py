"""A stdio server that follows a scenario nobody should: `python odd.py SCENARIO`."""

import json
import sys

SCENARIO = sys.argv[1]
TOOL = {"name": "talk", "inputSchema": {"type": "object"}}
ODD_TOOLS = [
    TOOL,
    {"name": "talk", "description": "Twice."},
    {"description": "No name."},
    {"name": "bad_schema", "inputSchema": {"type": "nonsense"}},
    {"name": "no_schema"},
    {"name": "text_schema", "inputSchema": "text"},
    {"name": "remote_ref", "inputSchema": {"$ref": "https://example.com/schema.json"}},
    {"name": "odd name!", "inputSchema": {}, "annotations": {"title": "Odd", "readOnlyHint": "yes"}},
    "not even an object",
]


def send(message: object) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def answer(request_id: object, result: object) -> None:
    send({"jsonrpc": "2.0", "id": request_id, "result": result})


def notify(about: str, params: object) -> None:
    send({"jsonrpc": "2.0", "method": f"notifications/{about}", "params": params})


def refuse(request_id: object, code: int, message: str, data: object = None) -> None:
    send({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message, "data": data}})


def converse(request_id: object) -> None:
    """Everything a server may say while a call runs, some of it wrong."""
    send([{"jsonrpc": "2.0", "id": 900, "method": "ping"}, 5])  # a batch
    send({"jsonrpc": "2.0", "id": 901, "method": "no/such/method"})
    send({"jsonrpc": "2.0", "id": 902, "method": "sampling/createMessage", "params": {"messages": 5}})
    send({"jsonrpc": "2.0", "id": 99999, "result": {}})  # an answer to nobody
    send({"jsonrpc": "2.0", "id": None, "result": {}})
    send(
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": [], "progress": 1}}
    )
    send(
        {
            "jsonrpc": "2.0",
            "method": "notifications/progress",
            "params": {"progressToken": 1, "progress": "x"},
        }
    )
    send({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "hello"}})
    send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 12345}})
    said: dict[object, object] = {}
    while len(said) < 3:
        message = json.loads(sys.stdin.readline())
        if "method" not in message:
            said[message["id"]] = message
    seen = {
        str(key): "result" if "result" in value else value["error"]["code"] for key, value in said.items()
    }
    answer(request_id, {"content": [{"type": "text", "text": json.dumps(seen, sort_keys=True)}]})


def call(request_id: object) -> None:
    if SCENARIO == "converse":
        converse(request_id)
    elif SCENARIO == "flood":
        for _ in range(20_000):
            send(
                {
                    "jsonrpc": "2.0",
                    "method": "notifications/message",
                    "params": {"level": "info", "data": "x"},
                }
            )
        answer(request_id, {"content": [{"type": "text", "text": "after the flood"}]})
    elif SCENARIO == "picture":
        picture = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
        answer(request_id, {"content": [{"type": "text", "text": "look"}, picture]})
    elif SCENARIO == "invalid_params":
        refuse(request_id, -32602, "no such colour", {"field": "colour"})
    elif SCENARIO == "wants_page":
        refuse(request_id, -32042, "sign in first", {"elicitations": []})
    elif SCENARIO == "wrong_code":
        refuse(request_id, "x", "what")  # type: ignore[arg-type]
    else:
        answer(request_id, {"content": []})


def listed(request_id: object, cursor: object) -> None:
    if SCENARIO == "same_cursor":
        answer(request_id, {"tools": [TOOL], "nextCursor": "again"})
    elif SCENARIO == "endless_pages":
        answer(request_id, {"tools": [], "nextCursor": str(int(cursor or 0) + 1)})
    elif SCENARIO == "no_list":
        answer(request_id, {"tools": "none"})
    elif SCENARIO == "odd_tools":
        answer(request_id, {"tools": ODD_TOOLS})
    else:
        answer(request_id, {"tools": [TOOL]})


def handle(message: dict[str, object]) -> None:
    method, request_id, params = message.get("method"), message.get("id"), message.get("params") or {}
    if method == "server/discover":
        if SCENARIO == "dies_on_probe":
            sys.exit(1)
        if SCENARIO == "foreign":
            refuse(request_id, -32022, "unsupported", {"supported": ["2099-01-01"], "requested": "x"})
        elif SCENARIO == "advertises_old":
            result = {"supportedVersions": ["2025-06-18"], "capabilities": {}, "resultType": "complete"}
            answer(request_id, {**result, "ttlMs": 0, "cacheScope": "public"})
        elif SCENARIO != "ignores_probe":
            refuse(request_id, -32601, "no such method")
    elif method == "initialize":
        version = "1999-01-01" if SCENARIO == "ancient" else "2024-11-05"
        info = {"name": "odd", "version": "0"}
        capabilities = {} if SCENARIO == "no_tools" else {"tools": {}}
        answer(request_id, {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info})
    elif method == "tools/list":
        listed(request_id, params.get("cursor"))
    elif method == "tools/call":
        call(request_id)
    elif request_id is not None:
        refuse(request_id, -32601, "no such method")  # to a ping, that is a sign of life as well


for line in sys.stdin:
    handle(json.loads(line))
