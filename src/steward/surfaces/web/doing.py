"""What a person does on the page with a tool: called through the one door, and their click is the yes.

Owns the step from a call that waits to its approval by whoever has just been asked. Where they may not
approve, it waits on for somebody who may.
"""

from collections.abc import Mapping
from typing import Any

from fastapi import Request

from steward.contract.call import Failed, ToolCall
from steward.contract.deciding import Role
from steward.contract.errors import ConflictError, ErrorCode, ForbiddenError, UnavailableError
from steward.surfaces.api.identity import Identity
from steward.surfaces.api.routes import proposals as proposal_routes
from steward.surfaces.api.shapes import ToolResultShape
from steward.surfaces.api.state import platform_of

WAITS = "It waits for a yes under Approvals."


async def call(
    request: Request,
    identity: Identity,
    tool: str,
    arguments: Mapping[str, Any],
    *,
    incidental: bool = False,
) -> ToolResultShape:
    """`incidental`: only to show what comes of it; Activity leaves it out unless it is asked for."""
    result = await platform_of(request).orchestrator.execute(
        ToolCall(
            tool=tool,
            arguments=arguments,
            caller=identity.caller,
            user=identity.user,
            incidental=incidental,
        )
    )
    if isinstance(result, Failed) and result.code in (ErrorCode.TOOL_NOT_FOUND, ErrorCode.RECORD_FAILED):
        raise UnavailableError(result.error, code=result.code)
    return ToolResultShape.of(result)


async def confirmed(
    request: Request, identity: Identity, asked: ToolResultShape, *, as_shown: bool = True
) -> ToolResultShape:
    """What came of a call to which the person has just said yes on the page.

    `as_shown`: what it is about is still what they saw when they clicked. That is looked at once the call
    waits: from then on it cannot do anything else.
    """
    if asked.status != "pending_approval" or asked.proposal_id is None:
        return asked
    if not identity.role >= Role.APPROVE:
        return asked
    if not as_shown:
        raise ConflictError(
            "Nothing was done: this is not what the page showed any more.",
            fix="What it is now waits for your yes under Approvals.",
        )
    try:
        return await proposal_routes.approve_proposal(
            platform_of(request), asked.proposal_id, identity, request=request
        )
    except ForbiddenError:
        return asked


def problem_of(result: ToolResultShape) -> str | None:
    """Why it did not take effect, in words; None when it did."""
    if result.status == "pending_approval":
        return WAITS
    return None if result.success else result.error or "It failed."


def require(result: ToolResultShape) -> None:
    """Raise where it did not take effect."""
    if problem := problem_of(result):
        raise ConflictError(problem, code=result.error_code or ErrorCode.CONFLICT)
