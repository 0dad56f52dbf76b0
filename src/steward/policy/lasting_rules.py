"""A person's answer that lasts: "always for this tool", "always for these arguments", "never".

Owns which rule such an answer becomes, and where it is not to be had. A yes for always is never offered for
what cannot be taken back, nor where somebody says that the tool destroys; and only where the rule, once
written, would let exactly this call run. Does not own who may give it (`deciding`) or the file (`writing`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from steward.contract.deciding import Always
from steward.contract.tool import Origin, RiskLevel, ToolSpec
from steward.policy.approval import assess, needs_person, why_always
from steward.policy.estimate import EffectKind, estimate
from steward.policy.rules import Asked, Rule, Rules, floor
from steward.policy.sensitive import Resolve

ALL_WAYS = (Always.TOOL, Always.ARGUMENTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lasting:
    """The call that the answer is given to, and for whom the answer would hold."""

    spec: ToolSpec
    arguments: Mapping[str, Any]
    user: str | None  # None: for everybody
    asks_always: bool = False  # its agent's manifest says that every call of it asks
    resolve: Resolve | None = None

    def rule_for_yes(self, always: Always, rules: Rules) -> Rule | str:
        """The rule, or why there is none to be had."""
        spec = self.spec
        rating = None
        if spec.origin is not Origin.BUILTIN:
            destroys = _says_it_destroys(spec)
            if destroys is not None:
                return destroys
            asked = Asked(
                names=(spec.name, *spec.aliases),
                arguments=self.arguments,
                user=self.user,
                resolve=self.resolve,
            )
            rated = spec.risk is not None or spec.rated_there is not None or spec.hints_trusted
            if not rated and rules.rating(asked) is None:
                rating = estimate(spec).rating.at_least(floor(spec.name))
        rule = Rule(
            tool=spec.name,
            risk=rating,
            trust=True,
            arguments=_narrowed(self.arguments, always),
            user=self.user,
        )
        return self._why_still_asked(rules, rule) or rule

    def _why_still_asked(self, rules: Rules, rule: Rule) -> str | None:
        """What would stop this very call although the rule stands."""
        then = assess(self.spec, self.arguments, rules.and_rule(rule), user=self.user, resolve=self.resolve)
        if then.refused is not None:
            return then.refused
        if then.level is RiskLevel.IRREVERSIBLE:
            return f"{why_always(then)} So it asks every time. {' '.join(then.reasons)}"
        if not then.trusted:
            return f"policy.toml says elsewhere that '{self.spec.name}' must ask; remove that rule first."
        return needs_person(then, confidence=0.0, agent_requires_approval=self.asks_always)


def _says_it_destroys(spec: ToolSpec) -> str | None:
    if spec.hints.destructive:
        return f"'{spec.name}' says of itself that it destroys, so it asks every time."
    guess = estimate(spec)
    if guess.kind is EffectKind.DESTRUCTIVE:
        return f"'{spec.name}' seems to change what is there, so it asks every time: {guess.reasons[0]}."
    return None


def rule_for_no(tool: str, arguments: Mapping[str, Any], always: Always, *, user: str | None) -> Rule:
    """It never runs, and nobody is asked: that can be had of every tool."""
    return Rule(tool=tool, never=True, arguments=_narrowed(arguments, always), user=user)


def _narrowed(arguments: Mapping[str, Any], always: Always) -> Mapping[str, Any] | None:
    return dict(arguments) if always is Always.ARGUMENTS else None
