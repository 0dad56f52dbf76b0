"""Deleting a conversation as a tool behind the door. It can be restored for 30 days, so it need not ask.

No agent is offered it: a person deletes a conversation on the page or over the API, not in one.
"""

from steward.contract.call import current_call
from steward.contract.tool import Effect, Origin, RiskLevel, ToolHints, ToolSpec
from steward.conversations.ports import ConversationStore
from steward.conversations.turns import unknown
from steward.policy.access import LOCAL_USER
from steward.providers.functions import FunctionTool, LegacyToolAgent

CONVERSATIONS_AGENT = "conversations"
DELETE_CONVERSATION = "delete_conversation"


def conversations_agent(store: ConversationStore) -> LegacyToolAgent:
    return LegacyToolAgent(
        CONVERSATIONS_AGENT, [_delete(store)], name="Conversations", capabilities=("conversations",)
    )


def _delete(store: ConversationStore) -> FunctionTool:
    async def delete(conversation_id: str) -> dict[str, str]:
        call = current_call.get()
        user = (call.user if call else None) or LOCAL_USER
        if not await store.delete(conversation_id, user=user):
            raise unknown(conversation_id)
        return {"deleted": conversation_id}

    return FunctionTool(
        ToolSpec(
            name=DELETE_CONVERSATION,
            description="Delete a conversation with all its turns. It can be restored for 30 days; what was "
            "done in it stays done. "
            "Prefer forget_memory for something that is remembered.",
            input_schema={
                "type": "object",
                "properties": {"conversation_id": {"type": "string", "description": "The conversation."}},
                "required": ["conversation_id"],
                "additionalProperties": False,
            },
            output_schema={
                "type": "object",
                "properties": {"deleted": {"type": "string"}},
                "required": ["deleted"],
            },
            origin=Origin.BUILTIN,
            risk=RiskLevel.REVERSIBLE,
            effect=Effect.WRITES_STORE,
            hints=ToolHints(read_only=False, destructive=False, idempotent=True, open_world=False),
            category="conversations",
        ),
        delete,
    )
