"""A guess at what a tool does, for tools that nobody has rated.

Owns how name, description, schema and hints are weighed. The guess never lowers a risk: it raises one
that rests on a tool's own word, and it is what a person sees when asked for a rating. Evidence adds up
in log-odds; without evidence for reading only, a tool counts as one that changes things.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any, cast

from steward.contract import linear_re as re
from steward.contract.tool import RiskLevel, ToolHints, ToolSpec
from steward.policy.lexicon import PLAIN_READS, VERBS, Act, Verb
from steward.policy.side_effects import (
    is_left_somewhere,
    keeps_what_it_reads,
    saves_by_parameter,
    takes_a_step,
)
from steward.policy.wording import (
    CAMEL,
    head_verb,
    name_verb,
    name_words,
    opening_verb,
    says_it_reads,
    sentences,
)


class EffectKind(StrEnum):
    """As the protocol's annotations mean them: a write only adds, the destructive changes what was there."""

    READ_ONLY = "read_only"
    WRITE = "write"
    DESTRUCTIVE = "destructive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    kind: EffectKind
    probability: float
    reasons: tuple[str, ...] = ()

    @property
    def rating(self) -> RiskLevel:
        """The rating to propose to a person."""
        return _PROPOSED[self.kind]


_PROPOSED = {
    EffectKind.READ_ONLY: RiskLevel.REVERSIBLE,
    EffectKind.WRITE: RiskLevel.REVERSIBLE_WITH_DELAY,
    EffectKind.DESTRUCTIVE: RiskLevel.IRREVERSIBLE,
}

# Log-odds that a tool changes something; docs/decisions/0008 says how they were chosen and measured.
_PRIOR = 1.5
_NAME = {Act.READ: -3.0, Act.WRITE: 3.5, Act.DESTROY: 4.5, Act.EXECUTE: 3.5}
_HEAD = {Act.READ: -2.0, Act.WRITE: 2.5, Act.DESTROY: 3.0, Act.EXECUTE: 2.0}
_WEAK = {Act.READ: -0.9, Act.WRITE: 1.0}
_PLAIN_READ_WITHOUT_NAME = -2.6  # 'db-stats: Returns statistics'
_READ_WITHOUT_NAME = -1.5
_NO_SURE_READ = 3.7  # 'analyze', 'audit', 'scrape': often more than a look
_LEAVES = 2.0
_SAVES = 4.0
_READ_BELOW = 0.4
_MAX_NAME = 128
_MAX_DESCRIPTION = 4_000

_READ_CLAIM = re.compile(
    r"\b(?:this|it)\b[^.]{0,40}\bread[- ]?only\b|^\W*read[- ]?only\b"
    r"|\bread[- ]only (?:tool|operation|search|query|sql|access|action|request|call|and)"
    r"|\b(?:does|do|will) not (?:modify|change|alter|write|mutate|affect)\b"
    r"|\bwithout (?:modifying|changing|altering)\b|\bno side[- ]effects?\b"
    r"|\bonly (?:allows |supports |accepts )?select\b|\bselect[- ](?:only|queries only)\b",
    re.IGNORECASE | re.MULTILINE,
)
_DANGER = re.compile(
    r"\b(?:permanent(?:ly)?|irreversibl[ey]|cannot be (?:undone|reversed|recovered)|can't be undone"
    r"|destructive|overwrit(?:e|es|ing|ten)|will be lost|data loss|deletes?|removes?|erases?|wipes?"
    r"|drops?)\b",
    re.IGNORECASE,
)
_DANGER_WITHIN = 600
_NEGATED = re.compile(r"(?:not|never|no|non)[- ]?$|n't $", re.IGNORECASE)
_JOB = re.compile(
    r"\b(?:waits? (?:for|until) [^.]{0,40}(?:complete|finish)|background (?:job|task)|asynchronous(?:ly)?)"
)
_SQL = re.compile(
    r"\b(?:sql|postgres(?:ql)?|mysql|mariadb|sqlite|mssql|oracle|snowflake|athena|clickhouse|bigquery"
    r"|redshift|duckdb|databricks|trino|presto|hive|cockroach(?:db)?|influx(?:db|ql)?|cypher|neo4j|gql"
    r"|graphql|mutation|databases?)\b",
    re.IGNORECASE,
)
_SQL_WITHIN = 300
_QUERY_WORDS = frozenset({"query", "sql", "cypher", "graphql"})
_ABOUT_QUERIES = frozenset(
    {"explain", "validate", "describe", "list", "examples", "parse", "format", "get", "search"}
    | {"inspect", "introspect"}
)
_CHOICES = re.compile(r"\b(?:actions?|operations?|modes?|methods?|commands?)\b[^\n]{0,160}", re.IGNORECASE)
_QUOTED = re.compile(r"['\"`]([a-z]+)['\"`]")
_OUTPUT = re.compile(
    r"(?:output|save|download|dest|destination|target|export)_?(?:path|file|dir|directory|folder|to)$"
    r"|_file_path$"
)
_SWITCHES = frozenset({"action", "method", "operation", "op", "mode", "command", "verb", "task"})
_SCRIPTS = frozenset({"command", "cmd", "script", "code", "shell", "expression", "javascript", "function"})
_CONTENT = frozenset(
    {"content", "contents", "body", "payload", "patch", "changes", "updates", "edits", "message", "text"}
    | {"value", "values", "data", "fields", "labels", "assignee", "assignees"}
)
_RESOLUTE = frozenset(
    {"overwrite", "force", "confirm", "confirmed", "dry_run", "cascade", "upsert", "permanent", "purge"}
)


@dataclass(slots=True)
class _Scale:
    """Evidence that a tool changes something, in log-odds, and how badly."""

    score: float = _PRIOR
    worst: Act = Act.READ
    reasons: list[str] = field(default_factory=list[str])

    def add(self, weight: float, reason: str, act: Act = Act.READ) -> None:
        self.score += weight
        self.worst = max(self.worst, act)
        self.reasons.append(reason)

    def verdict(self) -> Estimate:
        changes = 1 / (1 + math.exp(-self.score))
        reasons = tuple(self.reasons)
        if changes < _READ_BELOW:
            return Estimate(kind=EffectKind.READ_ONLY, probability=round(1 - changes, 4), reasons=reasons)
        kind = EffectKind.WRITE if self.worst is Act.WRITE else EffectKind.DESTRUCTIVE
        return Estimate(kind=kind, probability=round(max(changes, 0.5), 4), reasons=reasons)


class _Definition:
    """A tool's definition as a key: two tools with the same hash are the same to the estimate."""

    def __init__(self, spec: ToolSpec) -> None:
        self.spec = spec

    def __hash__(self) -> int:
        return hash(self.spec.definition_hash)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Definition) and other.spec.definition_hash == self.spec.definition_hash


def estimate(spec: ToolSpec) -> Estimate:
    return _estimate_once(_Definition(spec))


@lru_cache(maxsize=4096)
def _estimate_once(definition: _Definition) -> Estimate:
    spec = definition.spec
    return estimate_tool(spec.name, spec.description, spec.input_schema, hints=spec.hints)


def estimate_tool(
    name: str,
    description: str,
    input_schema: Mapping[str, Any] | None = None,
    *,
    hints: ToolHints | None = None,
) -> Estimate:
    """What a tool with this definition probably does. Its own hints are believed only against itself."""
    scale = _Scale()
    description = description[:_MAX_DESCRIPTION]
    words = name_words(name[:_MAX_NAME])
    first, *later = sentences(description) or [""]
    headed = head_verb(first)
    named = name_verb(words, headed)
    _weigh_verbs(scale, named, headed)
    if not says_it_reads(words, first, said=(named, headed)):
        scale.add(_NO_SURE_READ, "nothing in it says plainly that it reads")
    _weigh_later(scale, later)
    _weigh_leavings(scale, first, description)
    _weigh_warnings(scale, description)
    _weigh_schema(scale, input_schema or {})
    if _free_sql(words, description, said=(named, headed)):
        scale.add(5.0, "it takes a query in a language that can write", Act.EXECUTE)
    if _READ_CLAIM.search(description):
        scale.add(-4.0, "it says that it only reads")
    if hints is not None and (hints.destructive or hints.read_only is False):
        scale.add(6.0, "it says that it changes things", Act.DESTROY if hints.destructive else Act.READ)
    return scale.verdict()


def _weigh_verbs(scale: _Scale, named: Verb | None, headed: Verb | None) -> None:
    if named is not None:
        weight = _WEAK[named.act] if named.weak else _NAME[named.act]
        scale.add(weight, f"its name says '{named.base}'", named.act)
    if headed is None:
        return
    if headed.weak:
        weight = _WEAK[headed.act]
    elif headed.act is Act.READ and named is None:
        weight = _PLAIN_READ_WITHOUT_NAME if headed.base in PLAIN_READS else _READ_WITHOUT_NAME
    else:
        weight = _HEAD[headed.act]
    scale.add(weight, f"its description begins with '{headed.base}'", headed.act)


def _weigh_leavings(scale: _Scale, first: str, description: str) -> None:
    """A reader that leaves something behind: a file, a cache, an analysis that goes on."""
    if keeps_what_it_reads(first):
        scale.add(_LEAVES, "it keeps what it reads")
    if (said := is_left_somewhere(description)) is not None:
        scale.add(_LEAVES, f"its description says '{said}'")
    if (step := takes_a_step(description)) > Act.READ:
        scale.add(_LEAVES, "one of its steps changes things", step)


def _weigh_later(scale: _Scale, later: Sequence[str]) -> None:
    openings = [said for part in later if (said := opening_verb(part)) is not None]
    changes = [said.act for said in openings if said.act > Act.READ]
    if changes:
        weight = 1.0 if max(changes) is Act.WRITE else 2.0
        scale.add(weight, "its description goes on to change things", max(changes))
    elif openings:
        scale.add(-0.5, "its description goes on to read")


def _weigh_warnings(scale: _Scale, description: str) -> None:
    choices = _QUOTED.findall(" ".join(_CHOICES.findall(description)))
    offered = max((VERBS.get(word, Act.READ) for word in choices), default=Act.READ)
    if offered > Act.READ:
        scale.add(2.0, "its description offers an action that changes things", offered)
    start = description[:_DANGER_WITHIN]
    for warning in _DANGER.finditer(start):
        if not _NEGATED.search(start[: warning.start()]):
            scale.add(1.2, f"its description warns: '{warning[0].lower()}'", Act.DESTROY)
            break
    if _JOB.search(description):
        scale.add(3.5, "it starts work that goes on")


def _weigh_schema(scale: _Scale, schema: Mapping[str, Any]) -> None:
    properties: object = schema.get("properties")
    if not isinstance(properties, Mapping):
        return
    if (place := saves_by_parameter(cast("Mapping[object, object]", properties))) is not None:
        scale.add(_SAVES, f"it takes '{place[:_MAX_NAME]}' to save to")
    for key, value in cast("Mapping[object, object]", properties).items():
        name = CAMEL.sub("_", str(key)[:_MAX_NAME]).casefold()
        choices = cast("Mapping[str, object]", value).get("enum") if isinstance(value, Mapping) else None
        if name in _SWITCHES:
            _weigh_choices(scale, choices)
        if name in _SCRIPTS and not choices:
            scale.add(2.5, f"it takes '{name}' to run", Act.EXECUTE)
        if name in _CONTENT or name.startswith("new_"):
            scale.add(0.5, f"it takes '{name}'")
        if _OUTPUT.match(name):
            scale.add(4.0, f"it takes '{name}' to write to")
        if name in _RESOLUTE:
            scale.add(1.5, f"it takes '{name}'")


def _weigh_choices(scale: _Scale, choices: object) -> None:
    if not isinstance(choices, list):
        return
    verbs = [name_verb(name_words(str(choice))) for choice in cast("list[object]", choices)]
    worst = max((said for said in verbs if said is not None), key=lambda said: said.act, default=None)
    if worst is not None and worst.act is Act.READ:
        scale.add(-1.5, "it offers only actions that read")
    elif worst is not None:
        scale.add(4.0, f"it offers the action '{worst.base}'", worst.act)


def _free_sql(words: Sequence[str], description: str, *, said: Sequence[Verb | None]) -> bool:
    """A query tool for a language that can also write."""
    querying = not _QUERY_WORDS.isdisjoint(words) or any(one and one.act is Act.EXECUTE for one in said)
    if not querying or not _ABOUT_QUERIES.isdisjoint(words):
        return False
    return _SQL.search(" ".join(words) + " " + description[:_SQL_WITHIN]) is not None
