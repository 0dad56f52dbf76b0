"""The workspace's own rules: what `policy.toml` may say and what it may not.

Owns the file's format and its limits. Reading the file belongs to bootstrap; applying the rules to
`approval`. A file that asks for less than the specifications fix is refused as a whole.
"""

import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, cast

from steward.contract import linear_re as re
from steward.contract.errors import ConfigError
from steward.contract.tool import RiskLevel
from steward.policy.bounds import NO_BOUNDS, Bounds
from steward.policy.containment import ContainmentProblemError, ContainmentRules, parse_containment
from steward.policy.globs import matches_glob
from steward.policy.risk import RATINGS
from steward.policy.sensitive import Resolve, plain_path

_WILD = re.compile(r"[*?]")
_PATTERN = re.compile(r"[A-Za-z0-9_*?-]{1,64}")
_DEVIOUS = re.compile(r"(?:^|[/\\])\.\.(?:[/\\]|$)|[\0%\\]|//|/\./")
_LINE = re.compile(r" \(at line (\d+), column \d+\)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One call, as rules look at it."""

    names: Sequence[str]  # the tool's name and its aliases
    arguments: Mapping[str, Any]
    user: str | None = None  # for whom it acts
    resolve: Resolve | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What the workspace says about the tools that a pattern names, when the conditions hold."""

    tool: str
    risk: RiskLevel | None = None
    trust: bool | None = None
    never: bool = False  # it does not run, and nobody is asked
    when: tuple[tuple[str, str], ...] = ()
    arguments: Mapping[str, Any] | None = None  # exactly these, and no others
    user: str | None = None  # for this user only

    @property
    def exact(self) -> bool:
        return not _WILD.search(self.tool)

    @property
    def id(self) -> str:
        """The same for rules that say the same, wherever in the file they stand."""
        said = [self.tool, self.risk, self.trust, self.never, self.when, self.arguments, self.user]
        packed = json.dumps(said, sort_keys=True, default=str)
        return hashlib.sha256(packed.encode()).hexdigest()[:8]

    def covers(self, asked: Asked) -> bool:
        if self.user is not None and self.user != asked.user:
            return False
        if not any(matches_glob(name, self.tool) for name in asked.names):
            return False
        if self.arguments is not None and not _same(self.arguments, asked.arguments):
            return False
        return all(
            _holds(key, asked.arguments.get(key), pattern, resolve=asked.resolve)
            for key, pattern in self.when
        )


def _same(one: object, other: object) -> bool:
    """Whether two JSON values are the same one: 1, 1.0 and true are three."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        ours, theirs = cast("Mapping[str, object]", one), cast("Mapping[str, object]", other)
        return ours.keys() == theirs.keys() and all(_same(ours[key], theirs[key]) for key in ours)
    if isinstance(one, list) and isinstance(other, list):
        items, others = cast("list[object]", one), cast("list[object]", other)
        return len(items) == len(others) and all(map(_same, items, others))
    return type(cast("object", one)) is type(other) and one == other


class DoubtError(Exception):
    """A condition that may or may not hold: the call is then treated as irreversible."""


def _holds(key: str, value: object, pattern: str, *, resolve: Resolve | None) -> bool:
    """Whether an argument matches, however it is spelled. Spellings that disagree raise DoubtError."""
    if value is None:
        return False
    text = str(value) if isinstance(value, str | int | float) else None
    if text is None or _DEVIOUS.search(text):
        raise DoubtError(f"policy.toml has a condition on '{key}', which is not plainly spelled here.")
    readings = {matches_glob(text, pattern), matches_glob(text.casefold(), pattern.casefold())}
    if resolve is not None and "/" in text:
        absolute = pattern if pattern.startswith("/") else f"**/{pattern.removeprefix('~/')}"
        readings.add(matches_glob(resolve(text), absolute))
    if len(readings) > 1:
        raise DoubtError(f"policy.toml has a condition on '{key}' that holds for one spelling only.")
    return readings.pop()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    rules: tuple[Rule, ...] = ()
    protected: tuple[str, ...] = ()
    bounds: Bounds = NO_BOUNDS  # where no tool goes at all
    contain: ContainmentRules = field(default_factory=ContainmentRules)

    def protecting(self, *paths: str) -> "Rules":
        """These rules with more paths whose use always asks, as the folders of the workspace itself."""
        return replace(self, protected=(*self.protected, *(f"{plain_path(path)}/**" for path in paths)))

    def and_rule(self, rule: Rule) -> "Rules":
        return replace(self, rules=(*self.rules, rule))

    def rating(self, asked: Asked) -> RiskLevel | None:
        """The configured rating of a tool by its names: a full name beats a pattern; the highest counts."""
        rated = [
            (rule.exact, rule.risk) for rule in self.rules if rule.risk is not None and rule.covers(asked)
        ]
        if not rated:
            return None
        closest = max(exact for exact, _ in rated)
        return max((risk for exact, risk in rated if exact is closest), key=lambda risk: risk.rank)

    def ratings(self, names: Sequence[str]) -> list[RiskLevel]:
        """Every rating whose pattern fits, whatever its conditions."""
        return [
            rule.risk
            for rule in self.rules
            if rule.risk is not None and any(matches_glob(name, rule.tool) for name in names)
        ]

    def trusts(self, asked: Asked) -> bool | None:
        """Whether the workspace trusts this call: one 'no' outweighs any 'yes'; None when it is silent."""
        words = {rule.trust for rule in self.rules if rule.trust is not None and rule.covers(asked)}
        return None if not words else words == {True}

    def forbids(self, asked: Asked) -> Rule | None:
        """The rule by which this call never runs."""
        return next((rule for rule in self.rules if rule.never and rule.covers(asked)), None)


def floor(tool: str) -> RiskLevel:
    """The rating below which no configuration may go: what the built-in table says of the bare name."""
    bare = RATINGS.get(tool.rpartition("__")[2])
    return RiskLevel.REVERSIBLE if bare is None else bare


def parse_rules(text: str, *, source: str = "policy.toml") -> Rules:
    """The rules in a file's text. Raises ConfigError that names the file, the place and the fix."""
    return _Parser(text, source).parse()


class _Parser:
    def __init__(self, text: str, source: str) -> None:
        self._text = text
        self._source = source

    def parse(self) -> Rules:
        try:
            document: dict[str, Any] = tomllib.loads(self._text)
        except tomllib.TOMLDecodeError as error:
            reason = str(error)
            line = _LINE.search(reason)
            place = f", line {line[1]}" if line else ", at its end"
            self._refuse(place, f"is not valid TOML: {_LINE.sub('', reason)}.", "Correct that line.")
        self._only(document, {"trust", "ratings", "rule", "protect", "contain"}, "")
        rules = [
            *(Rule(tool=self._tool(name, "trust"), trust=True) for name in self._strings(document, "trust")),
            *(
                Rule(tool=self._tool(name, "ratings"), risk=self._risk(value, f"ratings.{name}"))
                for name, value in self._table(document.get("ratings", {}), "ratings").items()
            ),
            *(self._rule(entry, index) for index, entry in enumerate(self._entries(document), start=1)),
        ]
        for rule in rules:
            self._within_limits(rule)
        protected = tuple(self._protect(path) for path in self._strings(document, "protect"))
        return Rules(rules=tuple(rules), protected=protected, contain=self._contain(document))

    def _contain(self, document: Mapping[str, Any]) -> ContainmentRules:
        try:
            return parse_containment(self._table(document.get("contain", {}), "contain"))
        except ContainmentProblemError as error:
            self._refuse_key(error.key, error.problem, error.fix)

    def _rule(self, entry: object, index: int) -> Rule:
        where = f"rule {index}"
        table = self._table(entry, where)
        self._only(table, {"tool", "risk", "trust", "never", "when", "arguments", "user"}, f"{where}.")
        if "tool" not in table:
            self._refuse_key(
                where, "has no 'tool'.", 'Name the tool, for example tool = "files__write_file".'
            )
        risk, trust, never = self._said(table, where)
        when = self._table(table.get("when", {}), f"{where}.when")
        for name, pattern in when.items():
            if not isinstance(pattern, str) or not pattern:
                self._refuse_key(f"{where}.when.{name}", "must be a pattern.", 'Write "/home/me/notes/**".')
        user = table.get("user")
        if not (user is None or (isinstance(user, str) and user)):
            self._refuse_key(f"{where}.user", "must be a user.", 'Write user = "local".')
        return Rule(
            tool=self._tool(table["tool"], f"{where}.tool"),
            risk=risk,
            trust=trust,
            never=never,
            when=tuple((name, str(pattern)) for name, pattern in when.items()),
            arguments=self._table(table["arguments"], f"{where}.arguments") if "arguments" in table else None,
            user=user,
        )

    def _said(self, table: Mapping[str, Any], where: str) -> tuple[RiskLevel | None, bool | None, bool]:
        risk, trust, never = table.get("risk"), table.get("trust"), table.get("never", False)
        if not (trust is None or isinstance(trust, bool)):
            self._refuse_key(f"{where}.trust", "must be true or false.", "Write trust = true.")
        if not isinstance(never, bool):
            self._refuse_key(f"{where}.never", "must be true or false.", "Write never = true.")
        if risk is None and trust is None and not never:
            self._refuse_key(where, "says nothing.", 'Add risk = "...", trust = true or never = true.')
        if never and not (risk is None and trust is None):
            self._refuse_key(where, "says never and something else.", "Leave out 'risk' and 'trust'.")
        return None if risk is None else self._risk(risk, f"{where}.risk"), trust, never

    def _within_limits(self, rule: Rule) -> None:
        """Refuse what the door would not honour anyway, so that nobody relies on it."""
        for name, fixed in RATINGS.items():
            touched = matches_glob(name, rule.tool) or rule.tool.rpartition("__")[2] == name
            if touched and rule.risk is not None and rule.risk.rank < fixed.rank:
                self._refuse_key(
                    rule.tool,
                    f"rates '{name}' {rule.risk}, below the fixed {fixed}.",
                    'Raise or remove it; a pattern can be narrowed to one server, as in "notes__*".',
                )
            if touched and rule.trust and fixed is RiskLevel.IRREVERSIBLE:
                self._refuse_key(
                    rule.tool,
                    f"trusts '{name}', which is irreversible and always asks.",
                    'Remove it; a pattern can be narrowed to one server, as in "notes__*".',
                )

    def _tool(self, name: object, where: str) -> str:
        if not isinstance(name, str) or not _PATTERN.fullmatch(name):
            self._refuse_key(
                where,
                f"holds {name!r}, which is no tool name.",
                "Use letters, digits, '_', '-' and '*' or '?' for patterns.",
            )
        return name

    def _risk(self, value: object, where: str) -> RiskLevel:
        try:
            return RiskLevel(cast("str", value))
        except ValueError:
            self._refuse_key(where, f"is {value!r}, which is no risk.", f"Use one of {', '.join(RiskLevel)}.")

    def _protect(self, path: str) -> str:
        """A pattern that holds wherever the folder turns up: '~/Private/**' becomes '**/private/**'."""
        parts = path.replace("\\", "/").casefold().removeprefix("~").strip("/")
        if not parts.strip("*/"):
            self._refuse_key("protect", f"holds {path!r}, which would protect everything.", "Name a folder.")
        return f"**/{parts}"

    def _strings(self, document: Mapping[str, Any], key: str) -> list[str]:
        value: object = document.get(key, [])
        items = cast("list[object]", value) if isinstance(value, list) else [None]
        if not all(isinstance(item, str) for item in items):
            self._refuse_key(key, "must be a list of strings.", f'Write {key} = ["..."].')
        return cast("list[str]", items)

    def _entries(self, document: Mapping[str, Any]) -> list[object]:
        value: object = document.get("rule", [])
        if not isinstance(value, list):
            self._refuse_key("rule", "must be a list of tables.", "Start each rule with [[rule]].")
        return cast("list[object]", value)

    def _table(self, value: object, where: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            self._refuse_key(where, "must be a table.", f"Write [{where}] with one entry a line.")
        return cast("dict[str, Any]", value)

    def _only(self, table: Mapping[str, Any], known: set[str], prefix: str) -> None:
        for key in table:
            if key not in known:
                self._refuse_key(
                    f"{prefix}{key}", "is unknown.", f"Known keys here: {', '.join(sorted(known))}."
                )

    def _refuse_key(self, key: str, problem: str, fix: str) -> NoReturn:
        self._refuse(f"{self._line(key)}, '{key}'", problem, fix)

    def _refuse(self, place: str, problem: str, fix: str) -> NoReturn:
        raise ConfigError(f"{self._source}{place} {problem}", fix=fix, details={"source": self._source})

    def _line(self, key: str) -> str:
        """TOML keeps no positions past the syntax: the first line that spells the key's last part."""
        last = key.rpartition(".")[2]
        for number, line in enumerate(self._text.splitlines(), start=1):
            if last in line:
                return f", line {number}"
        return ""
