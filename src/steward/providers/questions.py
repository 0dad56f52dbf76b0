"""What a server asks while it works, handed to whoever waits for that call.

Elicitation and sampling go through the channel of the call being run. Where nobody can be asked, the server
is told so; no question is ever answered on a person's behalf.
"""

from typing import Any

import mcp_types as types
from mcp.client.session import ClientRequestContext

from steward.contract.call import SamplingChannel, current_call

_ANY_FORM: dict[str, Any] = {"type": "object", "properties": {}}


async def elicit(
    context: ClientRequestContext, params: types.ElicitRequestParams
) -> types.ElicitResult | types.ErrorData:
    del context
    call = current_call.get()
    if call is None or call.channel is None:
        return types.ElicitResult(action="cancel")
    if isinstance(params, types.ElicitRequestURLParams):
        message, schema = f"{params.message}\n{params.url}", _ANY_FORM
    else:
        message, schema = params.message, params.requested_schema
    answer = await call.channel.elicit(message, schema)
    if answer is None:
        return types.ElicitResult(action="cancel")
    content = dict(answer.content) if answer.action == "accept" and schema is not _ANY_FORM else None
    return types.ElicitResult(action=answer.action, content=content)


async def sample(
    context: ClientRequestContext, params: types.CreateMessageRequestParams
) -> types.CreateMessageResult | types.CreateMessageResultWithTools | types.ErrorData:
    del context
    call = current_call.get()
    channel = None if call is None else call.channel
    if isinstance(channel, SamplingChannel):
        request = params.model_dump(by_alias=True, mode="json", exclude_none=True)
        answer = await channel.sample(request)
        if answer is not None:
            return types.CreateMessageResult.model_validate(answer)
    return types.ErrorData(code=types.INVALID_REQUEST, message="Nobody here can sample for you")
