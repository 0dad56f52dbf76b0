"""Steward's tools for the steps of a flow. A call that a person must agree to answers with its proposal.

`steward` is a resource of the workspace: {"url": "https://…", "key": "…"}; its role is `use`, no more.
"""

import json
import os
import urllib.error
import urllib.request


def call(steward: dict, tool: str, arguments: dict, step: str) -> dict:
    """The answer. A step that is repeated in the same run asks nobody twice: it finds the first answer."""
    run = os.environ["WM_ROOT_FLOW_JOB_ID"]
    return _said(steward, f"/v1/tools/{tool}/call", {"arguments": arguments}, f"windmill/{run}/{step}")


def proposal(steward: dict, number: str) -> dict:
    """What became of a call that waited: its `state`, and its `result` once there is one."""
    return _said(steward, f"/v1/proposals/{number}")


def _said(steward: dict, path: str, body: dict | None = None, step: str = "") -> dict:
    headers = {"X-API-Key": steward["key"], "Content-Type": "application/json"}
    if step:
        headers["Idempotency-Key"] = step
    request = urllib.request.Request(
        steward["url"] + path, data=None if body is None else json.dumps(body).encode(), headers=headers
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as problem:
        said = json.load(problem)
        raise RuntimeError(f"{said['detail']} {said.get('fix', '')}") from problem
