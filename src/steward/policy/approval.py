"""The approval rule: how risky one call of one tool is, and whether a person must agree to it.

Owns whose word on a tool's risk counts, and the order in which it is asked. Does not own what happens
to a call that waits (the orchestrator's proposals). Nothing here lowers a risk that the built-in table
fixes, and whatever goes wrong on the way ends in asking.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from steward.contract.runs import RunRecord
from steward.contract.tool import Effect, Origin, RiskLevel, ToolHints, ToolSpec
from steward.policy.bounds import out_of_bounds
from steward.policy.estimate import EffectKind, estimate
from steward.policy.leaks import would_carry
from steward.policy.risk import rate_by_name, requires_approval
from steward.policy.rules import Asked, DoubtError, Rule, Rules, floor
from steward.policy.sensitive import Resolve, find_sensitive

TRUSTED_BUILTINS = frozenset({"log_to_obsidian"})
"""Built-in tools that write outside the store to a place which the workspace configured for them."""

SURE_TO_RAISE = 0.99
"""How sure the estimate must be to contradict a trusted server that calls its tool read-only."""

_IRREVERSIBLE = RiskLevel.IRREVERSIBLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    level: RiskLevel
    effect: Effect
    reasons: tuple[str, ...] = ()
    trusted: bool = False
    sensitive: bool = False  # what it touches is all that makes it irreversible
    refused: str | None = None  # why nobody can agree to it
    carries: str | None = None  # the private words it would send out
    asked_there: bool = False  # a Steward behind the tool rates each call itself, and asks a person


def assess(
    spec: ToolSpec,
    arguments: Mapping[str, Any],
    rules: Rules,
    *,
    user: str | None = None,
    resolve: Resolve | None = None,
    run: RunRecord | None = None,
) -> Assessment:
    """Rate one call. `resolve` follows links to real paths; without it paths are judged as written.

    `user` is for whom it acts; rules for one user hold for nobody else. `run` is what was read before it;
    without one nothing is known of that.
    """
    try:
        asked = Asked(names=(spec.name, *spec.aliases), arguments=arguments, user=user, resolve=resolve)
        refused = out_of_bounds(arguments, rules.bounds, resolve=resolve) or _forbidden(rules.forbids(asked))
        assessment = _assess(spec, asked, rules)
        carries = would_carry(spec, arguments, run)
        if refused is None and carries is None:
            return assessment
        return replace(assessment, refused=refused, carries=carries)
    except DoubtError as doubt:
        return _ask(str(doubt))
    except Exception as error:  # noqa: BLE001 - what cannot be judged is irreversible
        return _ask(f"The call could not be assessed ({type(error).__name__}).")


def _ask(reason: str) -> Assessment:
    return Assessment(level=_IRREVERSIBLE, effect=Effect.WRITES_OUTSIDE, reasons=(reason,))


def _forbidden(rule: Rule | None) -> str | None:
    if rule is None:
        return None
    whose = "" if rule.user is None else f" for '{rule.user}'"
    return f"policy.toml says never to '{rule.tool}'{whose}; 'steward policy remove {rule.id}' takes it back."


def _assess(spec: ToolSpec, asked: Asked, rules: Rules) -> Assessment:
    level, reason = _rate(spec, asked, rules)
    reasons = [reason]
    effect = spec.effect if spec.origin is Origin.BUILTIN else _effect_of(level)
    sensitive = find_sensitive(asked.arguments, resolve=asked.resolve, protected=rules.protected)
    only_sensitive = bool(sensitive) and level is not _IRREVERSIBLE
    if sensitive:
        reasons = [*sensitive] if only_sensitive else [reason, *sensitive]
        level = _IRREVERSIBLE
    trusted = rules.trusts(asked)
    if trusted is None:
        trusted = spec.origin is Origin.BUILTIN and spec.name in TRUSTED_BUILTINS
    if trusted and level is _IRREVERSIBLE:
        trusted = False
        reasons.append("Trust in policy.toml does not cover irreversible calls.")
    there = not sensitive and _only_rated_there(spec, rules.rating(asked))
    return Assessment(
        level=level,
        effect=effect,
        reasons=tuple(reasons),
        trusted=trusted,
        sensitive=only_sensitive,
        asked_there=there,
    )


def _only_rated_there(spec: ToolSpec, configured: RiskLevel | None) -> bool:
    """Whether nobody here has a word on it, so that the Steward it belongs to asks."""
    return spec.rated_there is not None and configured is None and spec.risk is None


def _rate(spec: ToolSpec, asked: Asked, rules: Rules) -> tuple[RiskLevel, str]:
    configured = rules.rating(asked)
    if spec.origin is Origin.BUILTIN:
        ratings = [rate_by_name(spec.name, asked.arguments), spec.risk, configured]
        known = [rating for rating in ratings if rating is not None]
        if not known:
            return _IRREVERSIBLE, f"Nobody has rated '{spec.name}'."
        level = max(known, key=lambda rating: rating.rank)
        return level, f"Steward rates '{spec.name}' {level}."
    if configured is not None:
        level, reason = configured, f"policy.toml rates '{spec.name}' {configured}."
    elif spec.risk is not None:
        level, reason = spec.risk, f"Its configuration rates '{spec.name}' {spec.risk}."
    elif spec.rated_there is not None:
        level, reason = spec.rated_there, f"Its own Steward rates '{spec.name}' {spec.rated_there}."
    elif spec.hints_trusted:
        level, reason = _rate_hints(spec)
    else:
        return _IRREVERSIBLE, f"Nobody has rated '{spec.name}'."
    return level.at_least(floor(spec.name)), reason


def may_run_unasked(spec: ToolSpec, rules: Rules) -> bool:
    """Whether any word on another's tool would let some call of it run without a person.

    Conditions on arguments count as met: what is asked is whether somebody must look at the tool first.
    """
    if spec.rated_there is not None:
        return True  # whether a person is asked is for the Steward behind it to say
    rated = [*rules.ratings((spec.name, *spec.aliases)), spec.risk]
    if spec.hints_trusted:
        rated.append(_rate_hints(spec)[0])
    return any(level is not None and level.at_least(floor(spec.name)) is not _IRREVERSIBLE for level in rated)


def _rate_hints(spec: ToolSpec) -> tuple[RiskLevel, str]:
    """A tool's own annotations, unless the rest of its definition speaks against them."""
    claimed = _claimed(spec.hints)
    if claimed is RiskLevel.REVERSIBLE:
        guess = estimate(spec)
        if guess.kind is EffectKind.DESTRUCTIVE and guess.probability >= SURE_TO_RAISE:
            return guess.rating, f"'{spec.name}' says that it only reads, but {guess.reasons[0]}."
    return claimed, f"Its trusted server describes '{spec.name}' so."


def _claimed(hints: ToolHints) -> RiskLevel:
    """Annotations with the protocol's defaults: silent means it may destroy."""
    if hints.destructive:
        return _IRREVERSIBLE
    if hints.read_only:
        return RiskLevel.REVERSIBLE
    return RiskLevel.REVERSIBLE_WITH_DELAY if hints.destructive is False else _IRREVERSIBLE


def _effect_of(level: RiskLevel) -> Effect:
    return Effect.READS if level is RiskLevel.REVERSIBLE else Effect.WRITES_OUTSIDE


def why_always(assessment: Assessment) -> str:
    """What makes such a call ask whatever the confidence."""
    return "It touches something sensitive." if assessment.sensitive else "It cannot be taken back."


def needs_person(
    assessment: Assessment, *, confidence: float, agent_requires_approval: bool = False
) -> str | None:
    """Why a person must agree before this call runs, in plain words; None when it may just run."""
    here = assessment.carries or (agent_requires_approval and "Its agent asks before every call.") or None
    if assessment.asked_there:
        return here
    detail = " ".join(assessment.reasons)
    if assessment.level not in (RiskLevel.REVERSIBLE, RiskLevel.REVERSIBLE_WITH_DELAY):
        return " ".join(filter(None, (why_always(assessment), detail, assessment.carries)))
    if here is not None or assessment.trusted:
        return here
    if requires_approval(assessment.level, confidence):
        return f"It can be taken back only with delay, and confidence is low. {detail}".strip()
    if assessment.effect is Effect.WRITES_OUTSIDE:
        return f"It changes something outside Steward's own store. {detail}".strip()
    return None
