"""OpenTelemetry's names for what our spans say: its conventions for generative AI and for MCP.

They stand beside RES's own names, so that viewers made for the conventions show our spans as what they are.
"""

from collections.abc import Mapping
from typing import Any

from steward.contract.tool import GET_OWN_PROMPT, GET_PROMPT, READ_OWN_RESOURCE, READ_RESOURCE

ERROR_TYPE = "error.type"
MOST_SHOWN = 200  # characters of what a client names


def tool_call(tool: str, arguments: Mapping[str, Any], call_id: str | None) -> dict[str, Any]:
    """Without the session's id: whoever has it could speak in that session."""
    if tool in (READ_RESOURCE, READ_OWN_RESOURCE):
        return _named("resources/read", "mcp.resource.uri", arguments.get("uri"))
    if tool in (GET_PROMPT, GET_OWN_PROMPT):
        return _named("prompts/get", "gen_ai.prompt.name", arguments.get("name"))
    said: dict[str, Any] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "gen_ai.tool.type": "function",
        "mcp.method.name": "tools/call",
    }
    if call_id:
        said["gen_ai.tool.call.id"] = call_id
    return said


def _named(method: str, attribute: str, value: object) -> dict[str, Any]:
    return {"mcp.method.name": method, attribute: str(value)[:MOST_SHOWN]}


def agent_run(agent: str | None, conversation: str | None = None) -> dict[str, Any]:
    said: dict[str, Any] = {"gen_ai.operation.name": "invoke_agent", "gen_ai.provider.name": "steward"}
    if agent:
        said["gen_ai.agent.name"] = agent
    if conversation:
        said["gen_ai.conversation.id"] = conversation
    return said
