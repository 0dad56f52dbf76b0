"""Who may run what without asking: the public names of the policy room.

Pure and closed: nothing here reads a file, a clock or the environment, and whatever cannot be judged
counts as irreversible.
"""

from steward.contract.tool import RiskLevel
from steward.policy.approval import Assessment, assess, needs_person
from steward.policy.estimate import EffectKind, Estimate, estimate
from steward.policy.risk import categorize_action_risk, requires_approval
from steward.policy.rules import Rule, Rules, parse_rules
from steward.policy.sensitive import find_sensitive

__all__ = [
    "Assessment",
    "EffectKind",
    "Estimate",
    "RiskLevel",
    "Rule",
    "Rules",
    "assess",
    "categorize_action_risk",
    "estimate",
    "find_sensitive",
    "needs_person",
    "parse_rules",
    "requires_approval",
]
