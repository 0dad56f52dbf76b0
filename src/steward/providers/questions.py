"""What a server asks while it works, handed to whoever waits for that call.

Elicitation and sampling go through the channel of the call that asks. The older wires do not say which call
that is; when it could be several people's, nobody is asked. Nothing is ever answered on a person's behalf.
"""

from collections.abc import Callable, Iterable
from typing import Any

import mcp_types as types
from mcp.client.session import ClientRequestContext

from steward.contract.call import Channel, SamplingChannel, ToolCall, current_call

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
        del context
        channel = self._channel()
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
        del context
        channel = self._channel()
        if isinstance(channel, SamplingChannel):
            answer = await channel.sample(params.model_dump(by_alias=True, mode="json", exclude_none=True))
            if answer is not None:
                return types.CreateMessageResult.model_validate(answer)
        return types.ErrorData(code=types.INVALID_REQUEST, message="Nobody here can sample for you")
