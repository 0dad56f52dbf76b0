"""The route behind "always allow this tool here": a person's standing yes, written to policy.toml."""

import asyncio
from functools import partial

from fastapi import APIRouter

from steward.contract.deciding import Always
from steward.contract.errors import ConflictError, ErrorCode
from steward.policy.lasting_rules import Lasting
from steward.surfaces.api.identity import Admin
from steward.surfaces.api.shapes import ToolShape
from steward.surfaces.api.state import Here

router = APIRouter(prefix="/v1/tools", tags=["tools"])


@router.post("/{name}/trust")
async def trust_tool(platform: Here, name: str, identity: Admin) -> ToolShape:
    """Let a tool run without asking from now on, for everybody. Never what cannot be taken back.

    For a tool that nobody has rated this is a rating: the one that it seems to deserve.
    """
    tool = platform.orchestrator.registry.get(name)
    problem = await asyncio.to_thread(platform.rules.problem)
    if problem is not None:
        raise ConflictError(f"Nothing was changed. {problem}", fix="Mend policy.toml first.")
    lasting = Lasting(spec=tool.spec, arguments={}, user=None, asks_always=tool.agent_requires_approval)
    rule = lasting.rule_for_yes(Always.TOOL, platform.rules.known)
    if isinstance(rule, str):
        raise ConflictError(
            f"Nothing was changed. {rule}",
            code=ErrorCode.ALWAYS_REFUSED,
            fix="A rule of your own in policy.toml can rate it (docs/policy.md).",
        )
    add = partial(platform.rules.add, rule, note=f"{identity.name} said always")
    await platform.undoing.change_policy(platform.rules, add, user=identity.user)
    return ToolShape.of(tool, platform.rating(tool.spec))
