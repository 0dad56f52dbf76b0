"""Who may decide about a call that waits. Pure, and closed to whoever is not clearly allowed."""

from steward.contract.call import CallerKind
from steward.contract.deciding import Decider, Role


def may_not_decide(decider: Decider, *, owner: str | None) -> str | None:
    """Why not, in plain words; None for a person who may. `owner` is the user whose call waits."""
    who = decider.caller
    if who.kind is not CallerKind.PERSON:
        return f"Only a person may decide on a proposal, not {who.kind.value} '{who.id}'."
    if decider.role < Role.APPROVE:
        return f"The role '{decider.role.word}' may not decide on a proposal."
    if decider.role < Role.ADMIN and (owner is None or owner != decider.user):
        return "It waits for somebody else: only its own user or an admin decides on a proposal."
    return None


def may_decide(decider: Decider | None, *, owner: str | None) -> bool:
    return decider is not None and may_not_decide(decider, owner=owner) is None


def may_not_make_rule(decider: Decider, *, owner: str | None, holds_for: str | None) -> str | None:
    """Why this answer may not last; None where it may. `holds_for`: the rule's only user, None for all."""
    refusal = may_not_decide(decider, owner=owner)
    if refusal is None and decider.role < Role.ADMIN and holds_for != decider.user:
        return "Only an admin makes a rule that holds for others."
    return refusal
