"""Whoever waits at the other end of a call, for tests."""

from collections.abc import Mapping
from typing import Any

from steward.contract.call import Caller, CallerKind, ElicitAnswer, ToolCall, current_call
from steward.providers.mcp.server_agent import MCPServerAgent


class Person:
    """A channel with somebody at its end."""

    def __init__(self, answer: ElicitAnswer | None = None) -> None:
        self.answer = answer or ElicitAnswer("accept", {"value": True})
        self.asked: list[str] = []
        self.progressed: list[tuple[float, float | None, str | None]] = []

    async def progress(self, done: float, total: float | None, message: str | None) -> None:
        self.progressed.append((done, total, message))

    async def elicit(self, message: str, schema: Mapping[str, Any]) -> ElicitAnswer | None:
        assert schema["type"] == "object"
        self.asked.append(message)
        return self.answer


class PersonWithModel(Person):
    async def sample(self, request: Mapping[str, Any]) -> Mapping[str, Any] | None:
        self.asked.append(request["messages"][0]["content"]["text"])
        return {"role": "assistant", "content": {"type": "text", "text": "42"}, "model": "test"}


async def execute(agent: MCPServerAgent, tool: str, channel: Any = None, **arguments: Any) -> Any:
    caller = Caller(CallerKind.PERSON, "ana")
    token = current_call.set(ToolCall(tool=tool, arguments=arguments, caller=caller, channel=channel))
    try:
        return await agent.execute(f"{agent.config.namespace}__{tool}", arguments)
    finally:
        current_call.reset(token)
