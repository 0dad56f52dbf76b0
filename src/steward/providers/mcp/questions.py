"""What a server asks while it works, handed to whoever waits for that call.

Questions go through the channel of the call that asks, unchanged where its other side speaks MCP itself. The
older wires do not say which call that is; when it could be several people's, nobody is asked. Nothing is ever
answered on a person's behalf.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import mcp_types as types
from mcp.client.session import ClientRequestContext
from pydantic import BaseModel

from steward.contract.call import Channel, ClientChannel, SamplingChannel, ToolCall, current_call
from steward.contract.federation import asked_about
from steward.providers.mcp import federation

_ANY_FORM: dict[str, Any] = {"type": "object", "properties": {}}


class Questions:
    def __init__(self, calls_in_flight: Callable[[], Iterable[ToolCall]]) -> None:
        self._calls_in_flight = calls_in_flight

    def _channel(self) -> Channel | None:
        call = current_call.get()
        if call is not None:
            return call.channel
        channels = {id(call.channel): call.channel for call in self._calls_in_flight()}
        return next(iter(channels.values())) if len(channels) == 1 else None

    async def elicit(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        if (proposal := asked_about(context.request_id, params.meta)) is not None:
            call = current_call.get()
            return federation.answer(proposal, self._calls_in_flight() if call is None else (call,))
        channel = self._channel()
        if isinstance(channel, ClientChannel):
            raw = await _passed_on(channel, "elicitation/create", context, params)
            return types.ElicitResult.model_validate({"action": "cancel"} if raw is None else raw)
        if isinstance(params, types.ElicitRequestURLParams):
            message, schema = f"{params.message}\n{params.url}", _ANY_FORM
        else:
            message, schema = params.message, params.requested_schema
        answer = None if channel is None else await channel.elicit(message, schema)
        if answer is None:
            return types.ElicitResult(action="cancel")
        content = dict(answer.content) if answer.action == "accept" and schema is not _ANY_FORM else None
        return types.ElicitResult(action=answer.action, content=content)

    async def sample(
        self, context: ClientRequestContext, params: types.CreateMessageRequestParams
    ) -> types.CreateMessageResult | types.CreateMessageResultWithTools | types.ErrorData:
        channel = self._channel()
        answer: Mapping[str, Any] | None = None
        if isinstance(channel, ClientChannel):
            answer = await _passed_on(channel, "sampling/createMessage", context, params)
        elif isinstance(channel, SamplingChannel):
            answer = await channel.sample(params.model_dump(by_alias=True, mode="json", exclude_none=True))
        return _lacking("sampling") if answer is None else types.CreateMessageResult.model_validate(answer)

    async def roots(self, context: ClientRequestContext) -> types.ListRootsResult | types.ErrorData:
        channel = self._channel()
        answer: Mapping[str, Any] | None = None
        if isinstance(channel, ClientChannel):
            answer = await _passed_on(channel, "roots/list", context, None)
        return _lacking("roots") if answer is None else types.ListRootsResult.model_validate(answer)


async def _passed_on(
    channel: ClientChannel, method: str, context: ClientRequestContext, params: BaseModel | None
) -> Mapping[str, Any] | None:
    asked = {} if params is None else params.model_dump(by_alias=True, mode="json", exclude_none=True)
    asked.pop("_meta", None)
    key = context.request_id if isinstance(context.request_id, str) else None
    return await channel.ask(method, asked, key=key)


def _lacking(capability: str) -> types.ErrorData:
    return types.ErrorData(
        code=types.MISSING_REQUIRED_CLIENT_CAPABILITY,
        message=f"Nobody here can answer this: the caller has no '{capability}'",
        data={"requiredCapabilities": {capability: {}}},
    )
