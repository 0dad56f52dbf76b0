"""Routes on the workspace's rules: policy.toml as it stands, and a person's change of it."""

import asyncio
from datetime import datetime
from functools import partial
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from steward.bootstrap.replay import MOST_CALLS, replay
from steward.contract.errors import NotFoundError
from steward.contract.tool import RiskLevel
from steward.policy.replay import Ruling
from steward.policy.rules import Rule
from steward.surfaces.api.identity import Admin, Approver, Reader
from steward.surfaces.api.shapes import Strict
from steward.surfaces.api.state import Here

router = APIRouter(prefix="/v1/policy", tags=["policy"])


class RuleShape(BaseModel):
    id: str = Field(description="The same for rules that say the same.")
    tool: str = Field(description="A tool's name, or a pattern of names.")
    risk: RiskLevel | None = None
    trust: bool | None = None
    never: bool = Field(default=False, description="It does not run, and nobody is asked.")
    when: dict[str, str] = Field(default={}, description="Arguments and the patterns they must match.")
    arguments: dict[str, Any] | None = Field(default=None, description="Exactly these, and no others.")
    user: str | None = Field(default=None, description="For whom it holds; null: for everybody.")

    @classmethod
    def of(cls, rule: Rule) -> "RuleShape":
        return cls(
            id=rule.id,
            tool=rule.tool,
            risk=rule.risk,
            trust=rule.trust,
            never=rule.never,
            when=dict(rule.when),
            arguments=None if rule.arguments is None else dict(rule.arguments),
            user=rule.user,
        )


class PolicyShape(BaseModel):
    text: str = Field(description="policy.toml, whole; empty for who is no administrator.")
    problem: str | None = Field(description="Why no call passes now, where the file cannot be used.")
    rules: list[RuleShape] = Field(description="The rules in force.")


class PolicyBody(Strict):
    text: str = Field(
        max_length=1_000_000, description="The whole file anew.", examples=['trust = ["notes__append"]\n']
    )
    before: str = Field(max_length=1_000_000, description="The file as you have seen it.")


class ReplayBody(Strict):
    text: str = Field(max_length=1_000_000, description="policy.toml as it would be.", examples=[""])
    since: datetime | None = Field(default=None, description="Only calls since then.")
    limit: int = Field(default=2_000, ge=1, le=MOST_CALLS, description="The latest so many calls.")


class ChangedRulingShape(BaseModel):
    """Calls of one tool and user whose decision changes alike; the latest of them stands for all."""

    model_config = ConfigDict(from_attributes=True)

    tool: str
    user: str | None
    before: Ruling = Field(description="By the policy in force.")
    after: Ruling = Field(description="By the edited one.")
    why: str
    times: int
    at: datetime
    call_id: str
    arguments: dict[str, Any] = Field(description="As recorded: secrets are masked.")


class ReplayShape(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    calls: int = Field(description="How many were looked at.")
    gone: int = Field(description="Of them, calls of tools that are not there any more, or erased ones.")
    changes: list[ChangedRulingShape]


@router.get("")
async def get_policy(platform: Here, identity: Reader) -> PolicyShape:
    """The rules of this workspace that hold for you; for an administrator all of them, and their file.

    A rule may hold the arguments of somebody's call.
    """
    rules = platform.rules
    everything = identity.only is None
    return PolicyShape(
        text=await asyncio.to_thread(rules.text) if everything else "",
        problem=await asyncio.to_thread(rules.problem),
        rules=[
            RuleShape.of(rule)
            for rule in rules.known.rules
            if everything or rule.user in (None, identity.user)
        ],
    )


@router.put("")
async def put_policy(platform: Here, body: PolicyBody, identity: Admin) -> PolicyShape:
    """Write policy.toml anew. What cannot be used is refused (400), and a change of an older file (409)."""
    rewrite = partial(platform.rules.rewrite, body.text, before=body.before)
    await platform.undoing.change_policy(platform.rules, rewrite, user=identity.user)
    return await get_policy(platform, identity)


@router.post("/replay")
async def replay_policy(platform: Here, body: ReplayBody, _: Admin) -> ReplayShape:
    """Which recorded calls an edited policy would decide otherwise. Nothing is written and nothing runs."""
    found = await replay(platform, body.text, since=body.since, limit=body.limit)
    return ReplayShape.model_validate(found)


@router.delete("/rules/{rule_id}", status_code=204)
async def remove_rule(platform: Here, rule_id: str, identity: Approver) -> None:
    """Take a rule out of policy.toml: one's own, or for an administrator any."""
    rules = await asyncio.to_thread(platform.rules)
    rule = next((each for each in rules.rules if each.id == rule_id), None)
    if rule is None:
        raise NotFoundError(f"There is no rule '{rule_id}'.", fix="See 'steward policy list'.")
    if rule.user != identity.user:
        identity.require_admin()
    remove = partial(platform.rules.remove, rule_id)
    await platform.undoing.change_policy(platform.rules, remove, user=identity.user)
