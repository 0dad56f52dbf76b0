"""Whose word on a tool's risk counts, and when a person must agree."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.contract.tool import Effect, Origin, ToolHints, ToolSpec
from steward.policy import Assessment, RiskLevel, Rules, assess, needs_person, parse_rules
from steward.policy.risk import RATINGS

REVERSIBLE, DELAYED, IRREVERSIBLE = RiskLevel


def builtin(name: str, **fields: Any) -> ToolSpec:
    return ToolSpec(
        **({"name": name, "description": "", "origin": Origin.BUILTIN, "effect": Effect.READS} | fields)
    )


def served(name: str = "files__read_file", **fields: Any) -> ToolSpec:
    return ToolSpec(**({"name": name, "description": "Read a file.", "origin": Origin.SERVER} | fields))


def level(spec: ToolSpec, policy: str = "", **arguments: Any) -> RiskLevel:
    return assess(spec, arguments, parse_rules(policy)).level


def asks(spec: ToolSpec, policy: str = "", *, confidence: float = 1.0, **arguments: Any) -> bool:
    assessment = assess(spec, arguments, parse_rules(policy))
    return needs_person(assessment, confidence=confidence) is not None


def test_a_built_in_tool_is_rated_by_its_name() -> None:
    assert assess(builtin("web_search"), {"query": "x"}, Rules()) == Assessment(
        level=REVERSIBLE, effect=Effect.READS, reasons=("Steward rates 'web_search' reversible.",)
    )


def test_a_built_in_tool_outside_the_table_is_rated_by_its_definition() -> None:
    assert level(builtin("fetch_page", risk=REVERSIBLE)) is REVERSIBLE


def test_the_higher_of_table_and_definition_counts_for_a_built_in_tool() -> None:
    assert level(builtin("read_file", risk=DELAYED)) is DELAYED
    assert level(builtin("delete_task", risk=REVERSIBLE)) is IRREVERSIBLE


def test_a_built_in_tool_that_nobody_rated_is_irreversible() -> None:
    assert level(builtin("brand_new")) is IRREVERSIBLE


def test_policy_can_raise_a_built_in_tool() -> None:
    assert level(builtin("read_file"), "[ratings]\nread_file = 'irreversible'", path="a") is IRREVERSIBLE


def test_a_servers_tool_gains_nothing_from_a_built_in_name() -> None:
    assert level(served("read_file")) is IRREVERSIBLE
    assert level(served("files__read_file")) is IRREVERSIBLE


def test_words_on_a_servers_tool_count_in_order() -> None:
    hinted = {"hints": ToolHints(read_only=True), "hints_trusted": True}
    assert level(served(**hinted)) is REVERSIBLE
    assert level(served(**hinted, risk=DELAYED)) is DELAYED
    assert level(served(**hinted, risk=DELAYED), "[ratings]\n'files__*' = 'reversible'") is REVERSIBLE


@pytest.mark.parametrize(
    ("hints", "rating"),
    [
        (ToolHints(), IRREVERSIBLE),
        (ToolHints(read_only=True), REVERSIBLE),
        (ToolHints(read_only=True, destructive=False), REVERSIBLE),
        (ToolHints(read_only=True, destructive=True), IRREVERSIBLE),
        (ToolHints(read_only=False), IRREVERSIBLE),
        (ToolHints(destructive=False), DELAYED),
        (ToolHints(read_only=False, destructive=False), DELAYED),
        (ToolHints(destructive=True), IRREVERSIBLE),
        (ToolHints(idempotent=True, open_world=False), IRREVERSIBLE),
    ],
)
def test_hints_of_a_trusted_server_are_read_with_the_protocols_defaults(
    hints: ToolHints, rating: RiskLevel
) -> None:
    assert level(served("files__info", hints=hints, hints_trusted=True)) is rating


def test_hints_of_any_other_server_count_for_nothing() -> None:
    assert level(served(hints=ToolHints(read_only=True, destructive=False))) is IRREVERSIBLE


@pytest.mark.parametrize(
    ("tool", "lowest"),
    [("bank__send_money", IRREVERSIBLE), ("mail__send_email", DELAYED), ("delete_file", IRREVERSIBLE)],
)
def test_no_configuration_lowers_a_name_that_the_specifications_rate(tool: str, lowest: RiskLevel) -> None:
    assert level(served(tool, risk=REVERSIBLE)) is lowest
    assert level(served(tool, hints=ToolHints(read_only=True), hints_trusted=True)) is lowest
    assert level(ToolSpec(name=tool, description="", risk=REVERSIBLE)) is lowest


def test_a_pattern_cannot_lower_a_name_that_the_specifications_rate() -> None:
    assert level(served("files__delete_file"), "[ratings]\n'files__*' = 'reversible'") is IRREVERSIBLE


def test_a_full_name_beats_a_pattern_and_the_highest_of_equals_counts() -> None:
    policy = """
    [ratings]
    "files__*" = "irreversible"
    "files__r*" = "reversible_with_delay"
    files__read = "reversible"
    """
    assert level(served("files__read"), policy) is REVERSIBLE
    assert level(served("files__rename"), policy) is IRREVERSIBLE


def test_a_rule_on_another_name_of_a_tool_counts() -> None:
    spec = builtin("web_search", aliases=("search_web",))
    assert level(spec, "[ratings]\nsearch_web = 'irreversible'", query="x") is IRREVERSIBLE


def test_the_workspaces_own_folders_can_be_protected() -> None:
    rules = Rules().protecting("/home/me/.local/share/Steward/database")
    inside = {"path": "/home/me/.local/share/steward/database/base/1"}
    assert assess(builtin("read_file"), inside, rules).level is IRREVERSIBLE
    assert assess(builtin("read_file"), {"path": "/home/me/steward.md"}, rules).level is REVERSIBLE


@pytest.mark.req("RES-EDGE-04")
def test_sensitive_arguments_raise_whatever_was_configured() -> None:
    spec = served(risk=REVERSIBLE)
    policy = "trust = ['files__*']\n[ratings]\n'files__*' = 'reversible'"
    assert not asks(spec, policy, path="notes.md")
    assert asks(spec, policy, path="~/.ssh/id_rsa")
    assert asks(spec, "protect = ['~/Diary/**']\n" + policy, path="/home/me/diary/monday.md")


def test_the_reason_for_asking_is_what_made_the_call_risky() -> None:
    reasons = {
        name: needs_person(assess(builtin(name), {"path": ".env"}, Rules()), confidence=1.0)
        for name in ("read_file", "delete_file")
    }
    assert reasons == {
        "read_file": "It touches something sensitive. The arguments name an environment file.",
        "delete_file": "It cannot be taken back. Steward rates 'delete_file' irreversible."
        " The arguments name an environment file.",
    }


def test_the_effect_of_a_servers_tool_follows_from_its_rating() -> None:
    effects = {risk: assess(served(risk=risk, effect=Effect.READS), {}, Rules()).effect for risk in RiskLevel}
    assert effects == {
        REVERSIBLE: Effect.READS,
        DELAYED: Effect.WRITES_OUTSIDE,
        IRREVERSIBLE: Effect.WRITES_OUTSIDE,
    }


@pytest.mark.req("ORC-FR-011", "ORC-Q02")
@pytest.mark.parametrize("confidence", [0.0, 0.84, 0.85, 1.0])
def test_what_changes_things_outside_our_store_asks_at_any_confidence(confidence: float) -> None:
    assert asks(served("files__write_file", risk=DELAYED), confidence=confidence)
    assert asks(builtin("export", risk=REVERSIBLE, effect=Effect.WRITES_OUTSIDE), confidence=confidence)


@pytest.mark.req("ORC-FR-011", "ORC-Q02")
def test_what_reads_or_writes_our_own_store_just_runs() -> None:
    assert not asks(builtin("add_task", effect=Effect.WRITES_STORE), confidence=0.0, title="x")
    assert not asks(builtin("list_tasks"), confidence=0.0)


def test_an_action_with_delay_in_our_own_store_asks_below_the_threshold() -> None:
    spec = builtin("archive", risk=DELAYED, effect=Effect.WRITES_STORE)
    assert (asks(spec, confidence=0.84), asks(spec, confidence=0.85)) == (True, False)


def test_trust_waives_the_question_for_what_can_be_taken_back() -> None:
    spec = served("files__write_file", risk=DELAYED)
    assert not asks(spec, "trust = ['files__write_file']", confidence=0.0)
    assert asks(spec, "trust = ['files__other']", confidence=0.0)


@pytest.mark.req("ORC-FR-011")
def test_trust_never_waives_an_irreversible_call() -> None:
    assessment = assess(served("files__wipe"), {}, parse_rules("trust = ['files__wipe']"))
    assert assessment.trusted is False
    assert "does not cover irreversible" in " ".join(assessment.reasons)
    assert needs_person(assessment, confidence=1.0) is not None


def test_the_daily_note_is_trusted_unless_the_workspace_says_otherwise() -> None:
    spec = builtin("log_to_obsidian", effect=Effect.WRITES_OUTSIDE)
    assert not asks(spec, confidence=0.0, text="Called the bank.")
    assert asks(spec, "[[rule]]\ntool = 'log_to_obsidian'\ntrust = false", text="Called the bank.")
    assert asks(served("log_to_obsidian", risk=DELAYED), text="Called the bank.")


def test_one_no_outweighs_any_yes() -> None:
    policy = "trust = ['files__write_file']\n[[rule]]\ntool = 'files__*'\ntrust = false"
    assert asks(served("files__write_file", risk=DELAYED), policy)


def test_an_agent_that_asks_before_every_call_is_heard_even_where_the_tool_is_trusted() -> None:
    trusted = Assessment(level=REVERSIBLE, effect=Effect.READS, trusted=True)
    assert (
        needs_person(trusted, confidence=1.0, agent_requires_approval=True)
        == "Its agent asks before every call."
    )
    assert needs_person(trusted, confidence=1.0) is None


NOTES = """
[[rule]]
tool = "files__write_file"
when = { path = "%s" }
trust = true
"""


@pytest.mark.parametrize(
    ("pattern", "path", "runs"),
    [
        ("/home/me/notes/**", "/home/me/notes/a.md", True),
        ("/home/me/notes/**", "/home/me/notes/2026/a.md", True),
        ("/home/me/notes/*", "/home/me/notes/2026/a.md", False),
        ("/home/me/notes/**", "/home/me/other/a.md", False),
        ("/home/me/notes/**", "/home/me/notes/../other/a.md", False),
        ("/home/me/notes/**", "/home/me/notes//a.md", False),
        ("/home/me/notes/**", "/home/me/notes/%2e%2e/a.md", False),
        ("/home/me/notes/**", "/home/me/NOTES/a.md", False),
        ("/home/me/notes/**", None, False),
        ("/home/me/notes/**", ["/home/me/notes/a.md"], False),
        ("3", 3, True),
        ("**/?.md", "/x/a.md", True),
        ("**/?.md", "a.md", True),
        ("**/?.md", "ab.md", False),
        ("**.md", "/x/ab.md", True),
    ],
)
def test_trust_can_depend_on_an_argument(pattern: str, path: object, runs: bool) -> None:
    spec = served("files__write_file", risk=DELAYED)
    assert asks(spec, NOTES % pattern, path=path) is not runs


@pytest.mark.parametrize(
    ("pattern", "path", "target", "runs"),
    [
        ("/home/me/notes/**", "/home/me/notes/a.md", "/home/me/notes/a.md", True),
        ("/home/me/notes/**", "/home/me/notes/link/a.md", "/srv/shared/a.md", False),
        ("~/notes/**", "~/notes/a.md", "/home/me/notes/a.md", True),
        ("notes/**", "notes/a.md", "/home/me/notes/a.md", True),
        ("notes/**", "notes/a.md", "/srv/a.md", False),
        ("a.md", "a.md", "/srv/b.md", True),
    ],
)
def test_a_condition_holds_for_the_file_behind_the_link(
    pattern: str, path: str, target: str, runs: bool
) -> None:
    def resolve(_: str) -> str:
        return target

    spec = served("files__write_file", risk=DELAYED)
    assessment = assess(spec, {"path": path}, parse_rules(NOTES % pattern), resolve=resolve)
    assert (needs_person(assessment, confidence=1.0) is None) is runs


def test_a_doubtful_condition_is_explained() -> None:
    rules = parse_rules(NOTES % "/home/me/notes/**")
    assessment = assess(served("files__write_file", risk=DELAYED), {"path": "/home/me/notes/../x"}, rules)
    assert assessment == Assessment(
        level=IRREVERSIBLE,
        effect=Effect.WRITES_OUTSIDE,
        reasons=("policy.toml has a condition on 'path', which is not plainly spelled here.",),
    )


class Hostile(Mapping[str, Any]):
    def __getitem__(self, key: str) -> Any:
        raise RuntimeError(key)

    def __iter__(self) -> Any:
        raise RuntimeError("no")

    def __len__(self) -> int:
        return 1


@pytest.mark.parametrize(
    "arguments", [None, 3, "x", [], Hostile(), {"a": object()}, {1: {2: 3}}, {None: None}]
)
def test_strange_arguments_never_raise(arguments: Any) -> None:
    for spec in (builtin("manage_collections"), served(risk=DELAYED), builtin("web_search")):
        assessment = assess(spec, arguments, parse_rules(NOTES % "x"))
        assert isinstance(assessment.level, RiskLevel)


def test_what_cannot_be_assessed_asks() -> None:
    assessment = assess(builtin("web_search"), Hostile(), Rules())
    assert assessment == Assessment(
        level=IRREVERSIBLE,
        effect=Effect.WRITES_OUTSIDE,
        reasons=("The call could not be assessed (RuntimeError).",),
    )


def test_a_level_that_is_none_of_ours_asks() -> None:
    strange: Any = "reversible"
    assert needs_person(Assessment(level=strange, effect=Effect.READS), confidence=1.0) is not None


names = st.sampled_from([*RATINGS, "files__read_file", "bank__send_money", "anything"])
risks = st.none() | st.sampled_from(RiskLevel)
specs = st.builds(
    ToolSpec,
    name=names,
    description=st.text(max_size=30),
    origin=st.sampled_from(Origin),
    risk=risks,
    effect=st.sampled_from(Effect),
    hints=st.builds(
        ToolHints,
        read_only=st.none() | st.booleans(),
        destructive=st.none() | st.booleans(),
    ),
    hints_trusted=st.booleans(),
)
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.binary(max_size=20)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(scalars, inner, max_size=3),
    max_leaves=8,
)
POLICY = parse_rules(
    """
    trust = ["files__*", "bank__*", "anything", "add_task"]
    [ratings]
    "files__*" = "reversible"
    "bank__*" = "reversible"
    """
)


@given(specs, st.dictionaries(st.text(max_size=8), values, max_size=4), st.floats())
@pytest.mark.req("ORC-FR-011")
def test_nothing_waives_an_irreversible_call(
    spec: ToolSpec, arguments: dict[str, Any], confidence: float
) -> None:
    assessment = assess(spec, arguments, POLICY)
    if assessment.level is IRREVERSIBLE:
        assert not assessment.trusted
        assert needs_person(assessment, confidence=confidence) is not None


@given(specs, st.dictionaries(st.text(max_size=8), values, max_size=4))
def test_arguments_only_ever_raise_a_risk(spec: ToolSpec, arguments: dict[str, Any]) -> None:
    safe_action = {"action": "list"}
    plain = assess(spec, safe_action, POLICY).level
    assert assess(spec, arguments | safe_action, POLICY).level.rank >= plain.rank


@given(specs, values)
def test_assessing_never_raises_and_never_falls_below_the_table(spec: ToolSpec, arguments: Any) -> None:
    assessment = assess(spec, arguments, POLICY)
    if spec.origin is Origin.BUILTIN and spec.name in RATINGS:
        assert assessment.level.rank >= RATINGS[spec.name].rank


def test_a_tool_of_another_steward_is_rated_and_asked_about_there() -> None:
    tool = served("home__delete_task", rated_there=IRREVERSIBLE)
    assert level(tool) is IRREVERSIBLE
    assert not asks(tool)


@pytest.mark.parametrize(
    ("policy", "fields"),
    [
        ('[ratings]\n"home__*" = "irreversible"', {}),
        ("", {"risk": IRREVERSIBLE}),
    ],
)
def test_a_word_of_ours_on_another_stewards_tool_is_asked_about_here(
    policy: str, fields: dict[str, Any]
) -> None:
    assert asks(served("home__read", rated_there=REVERSIBLE, **fields), policy)


def test_sensitive_arguments_for_another_steward_are_asked_about_here() -> None:
    assert asks(served("home__read", rated_there=REVERSIBLE), path="/home/ana/.ssh/id_rsa")


def test_an_agent_that_asks_before_every_call_is_asked_about_here() -> None:
    assessment = assess(served(rated_there=REVERSIBLE), {}, Rules())
    assert needs_person(assessment, confidence=1.0, agent_requires_approval=True) is not None
