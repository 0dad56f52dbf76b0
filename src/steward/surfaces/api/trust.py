"""The route behind "always allow this tool here": a person's standing yes, written to policy.toml."""

import asyncio

from fastapi import APIRouter

from steward.contract.errors import ConflictError
from steward.contract.tool import RiskLevel
from steward.surfaces.api.identity import Admin
from steward.surfaces.api.shapes import ToolShape
from steward.surfaces.api.state import Here

router = APIRouter(prefix="/v1/tools", tags=["tools"])


@router.post("/{name}/trust")
async def trust_tool(platform: Here, name: str, _: Admin) -> ToolShape:
    """Let a tool run without asking from now on. Never possible for what cannot be taken back."""
    tool = platform.orchestrator.registry.get(name)
    rating = platform.rating(tool.spec)
    if rating is RiskLevel.IRREVERSIBLE:
        raise ConflictError(
            f"'{tool.spec.name}' is rated irreversible and always asks.",
            fix="If nobody has rated it yet, rate it in policy.toml first (docs/policy.md).",
        )
    await asyncio.to_thread(platform.rules.trust, tool.spec.name)
    return ToolShape.of(tool, platform.rating(tool.spec))
