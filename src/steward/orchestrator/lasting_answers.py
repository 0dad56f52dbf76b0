"""Answers that last: what "always" and "never" can be said about a call that waits, and saying so.

Owns that such a rule is made only by whoever may, only where the policy has one, and that it stands exactly
when the decision that it came with was made. Does not own which rule that is (policy) or the file.
"""

import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from steward.contract.deciding import Always, Decider
from steward.contract.errors import ConflictError, ErrorCode, ForbiddenError, InputError
from steward.orchestrator.ports import RuleKeeper
from steward.orchestrator.proposals import Proposal
from steward.orchestrator.registry import RegisteredTool
from steward.policy.lasting_rules import ALL_WAYS, Lasting, rule_for_no
from steward.policy.rules import Rule, Rules
from steward.policy.who_decides import may_not_make_rule
from steward.policy.writing import with_rule

logger = logging.getLogger(__name__)

NO_KEEPER = "No rules are kept here."


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What a person adds to a yes or a no that is to last."""

    always: Always
    everyone: bool = False  # otherwise it holds for the user whose call waits


@dataclass(frozen=True, slots=True, kw_only=True)
class LastingOffer:
    always: tuple[Always, ...] = ()  # what a yes may reach
    why_not: str | None = None  # where it reaches nothing beyond this call


class LastingAnswers:
    def __init__(
        self,
        *,
        rules: Callable[[], Rules],
        resolve: Callable[[str], str] | None,
        keeper: RuleKeeper | None,
    ) -> None:
        self._rules = rules
        self._resolve = resolve
        self._keeper = keeper

    def offer(self, tool: RegisteredTool, proposal: Proposal) -> LastingOffer:
        """Looks at every character of the arguments: for long ones callers use a thread."""
        if self._keeper is None:
            return LastingOffer(why_not=NO_KEEPER)
        lasting = self._lasting(tool, proposal.arguments, proposal.user)
        rules = self._rules()
        found = {always: _sayable(lasting.rule_for_yes(always, rules)) for always in ALL_WAYS}
        always = tuple(each for each, rule in found.items() if isinstance(rule, Rule))
        why = next((rule for rule in found.values() if isinstance(rule, str)), None)
        return LastingOffer(always=always, why_not=None if always else why)

    @asynccontextmanager
    async def yes(
        self,
        tool: RegisteredTool,
        proposal: Proposal,
        reach: Reach | None,
        *,
        by: Decider,
        arguments: Mapping[str, Any],
    ) -> AsyncGenerator[None]:
        """The rule stands while the decision is made inside, and stays unless that fails."""
        if reach is None:
            yield
            return
        user = _holds_for(proposal, reach, by)
        rule = self._lasting(tool, arguments, user).rule_for_yes(reach.always, self._rules())
        if isinstance(rule, str):
            raise ConflictError(
                f"Nothing was decided. {rule}",
                code=ErrorCode.ALWAYS_REFUSED,
                fix=f"Approve this one alone: 'steward approve {proposal.id}'.",
            )
        async with self._keeping(rule, f"{by.caller.id} said always to proposal {proposal.id}"):
            yield

    @asynccontextmanager
    async def no(self, proposal: Proposal, reach: Reach | None, *, by: Decider) -> AsyncGenerator[None]:
        if reach is None:
            yield
            return
        user = _holds_for(proposal, reach, by)
        rule = rule_for_no(proposal.tool, proposal.arguments, reach.always, user=user)
        async with self._keeping(rule, f"{by.caller.id} said never to proposal {proposal.id}"):
            yield

    @asynccontextmanager
    async def _keeping(self, rule: Rule, note: str) -> AsyncGenerator[None]:
        if self._keeper is None:
            raise ConflictError(f"Nothing was decided. {NO_KEEPER}", code=ErrorCode.ALWAYS_REFUSED)
        added = await self._keeper.add(rule, note=note)
        try:
            yield
        except BaseException:
            if added:
                await self._keeper.remove(rule.id)
            raise
        logger.info("rule_made", extra={"rule": rule.id, "tool": rule.tool})

    def _lasting(self, tool: RegisteredTool, arguments: Mapping[str, Any], user: str | None) -> Lasting:
        return Lasting(
            spec=tool.spec,
            arguments=arguments,
            user=user,
            asks_always=tool.agent_requires_approval,
            resolve=self._resolve,
        )


def _sayable(rule: Rule | str) -> Rule | str:
    """Some arguments make no line of policy.toml."""
    if isinstance(rule, Rule):
        try:
            with_rule("", rule, note="")
        except InputError as error:
            return error.message
    return rule


def _holds_for(proposal: Proposal, reach: Reach, by: Decider) -> str | None:
    user = None if reach.everyone else proposal.user
    refusal = may_not_make_rule(by, owner=proposal.user, holds_for=user)
    if refusal is not None:
        raise ForbiddenError(refusal, fix="Decide on this call alone, or ask an admin.")
    return user
