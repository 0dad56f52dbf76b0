"""A yes for always, or a never: which rule it becomes, where it is not to be had, and how it is written."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.deciders import deciding

from steward.contract.deciding import Always, Role
from steward.contract.errors import ConflictError, InputError, NotFoundError
from steward.contract.tool import Effect, Origin, ToolHints, ToolSpec
from steward.policy import RiskLevel, Rule, Rules, assess, needs_person, parse_rules
from steward.policy.lasting_rules import Lasting, rule_for_no
from steward.policy.replay import RecordedCall, Ruling
from steward.policy.who_decides import may_not_make_rule
from steward.policy.writing import LONGEST_ARGUMENTS, with_rule, without_rule

REVERSIBLE, DELAYED, IRREVERSIBLE = RiskLevel
STATUS = {"repo": "/srv/site"}


def served(name: str = "git__git_status", about: str = "Shows the status.", **fields: Any) -> ToolSpec:
    return ToolSpec(name=name, description=about, origin=Origin.SERVER, **fields)


def yes(
    spec: ToolSpec, policy: str = "", *, always: Always = Always.TOOL, asks_always: bool = False, **more: Any
) -> Rule | str:
    arguments = more.pop("arguments", STATUS)
    lasting = Lasting(spec=spec, arguments=arguments, user="ana", asks_always=asks_always)
    return lasting.rule_for_yes(always, parse_rules(policy))


def asks(spec: ToolSpec, rules: Rules, arguments: dict[str, Any], *, user: str | None = "ana") -> bool:
    return needs_person(assess(spec, arguments, rules, user=user), confidence=0.0) is not None


# --- what is offered ---


@pytest.mark.parametrize(
    ("spec", "rating"),
    [
        (served(), REVERSIBLE),
        (served("notes__append_note", "Appends a line to a note."), DELAYED),
        (served("mail__send_email", "Lists mail."), DELAYED),  # the table's floor
    ],
)
def test_always_on_a_tool_that_nobody_rated_records_what_it_seems_to_be(
    spec: ToolSpec, rating: RiskLevel
) -> None:
    assert yes(spec) == Rule(tool=spec.name, risk=rating, trust=True, user="ana")


@pytest.mark.parametrize(
    ("spec", "policy"),
    [
        (served("notes__append", "Appends a line.", risk=DELAYED), ""),
        (
            served(
                "notes__append", "Appends a line.", hints_trusted=True, hints=ToolHints(destructive=False)
            ),
            "",
        ),
        (served("notes__append", "Appends a line."), "[ratings]\nnotes__append = 'reversible_with_delay'"),
        (
            ToolSpec(
                name="tidy",
                description="",
                origin=Origin.BUILTIN,
                risk=DELAYED,
                effect=Effect.WRITES_OUTSIDE,
            ),
            "",
        ),
    ],
)
def test_always_on_a_rated_tool_is_trust_alone(spec: ToolSpec, policy: str) -> None:
    assert yes(spec, policy) == Rule(tool=spec.name, trust=True, user="ana")


@pytest.mark.parametrize(
    ("spec", "arguments"),
    [
        (served("disk__wipe", "Erases a disk."), {}),
        (served("disk__look", "Shows a disk.", hints=ToolHints(destructive=True)), {}),
        (served("disk__look", "Shows a disk.", risk=IRREVERSIBLE), {}),
        (served("disk__look", "Shows a disk.", rated_there=IRREVERSIBLE), {}),
        (served("bank__send_money", "Shows the balance."), {}),
        (ToolSpec(name="code_execution", description="", origin=Origin.BUILTIN), {"code": "1"}),
        (served(), {"repo": "/home/me/.ssh/id_rsa"}),
    ],
)
@pytest.mark.parametrize("always", Always)
def test_always_is_never_offered_for_what_cannot_be_taken_back_or_is_said_to_destroy(
    spec: ToolSpec, arguments: dict[str, Any], always: Always
) -> None:
    assert isinstance(yes(spec, arguments=arguments, always=always), str)


@pytest.mark.parametrize(
    ("policy", "word"),
    [
        ("[[rule]]\ntool = 'git__*'\ntrust = false", "must ask"),
        ("[[rule]]\ntool = 'git__*'\nnever = true", "never"),
        ("[ratings]\ngit__git_status = 'irreversible'", "cannot be taken back"),
        ("[[rule]]\ntool = 'git__*'\ntrust = true\nwhen = {repo = '/srv/*'}", ""),
    ],
)
def test_always_is_offered_only_where_the_rule_would_let_the_call_run(policy: str, word: str) -> None:
    found = yes(served(), policy)
    assert isinstance(found, str) is bool(word)
    assert word in str(found)


def test_always_does_not_outweigh_an_agent_that_asks_before_every_call() -> None:
    assert yes(served(), asks_always=True) == "Its agent asks before every call."


# --- what the rules do ---


def test_always_for_these_arguments_holds_for_exactly_these_and_this_user() -> None:
    spec, exact = served("notes__append", "Appends a line."), {"n": 1, "to": ["a", {"b": True}]}
    rule = yes(spec, always=Always.ARGUMENTS, arguments=exact)
    assert isinstance(rule, Rule)
    rules = Rules(rules=(rule,))
    others: list[dict[str, Any]] = [
        exact | {"n": 1.0}, exact | {"n": True}, exact | {"more": 1}, {"n": 1}, exact | {"to": ["a"]},
        exact | {"to": ["a", {"b": 1}]},
    ]  # fmt: skip
    assert not asks(spec, rules, dict(exact))
    assert all(asks(spec, rules, other) for other in others)
    assert asks(spec, rules, dict(exact), user="bob")
    assert asks(spec, rules, dict(exact), user=None)


@pytest.mark.parametrize("always", Always)
def test_never_refuses_without_asking_and_names_the_rule_that_takes_it_back(always: Always) -> None:
    rule = rule_for_no("git__git_status", STATUS, always, user="ana")
    rules = Rules(rules=(rule,))
    refused = assess(served(), STATUS, rules, user="ana").refused
    assert refused is not None
    assert rule.id in refused
    assert assess(served(), STATUS, rules, user="bob").refused is None
    other = assess(served(), {"repo": "/x"}, rules, user="ana").refused
    assert (other is None) is (always is Always.ARGUMENTS)


def test_a_never_for_everybody_holds_for_calls_of_nobody() -> None:
    rules = Rules(rules=(rule_for_no("git__git_status", {}, Always.TOOL, user=None),))
    assert "for '" not in str(assess(served(), {}, rules).refused)


# --- who may ---


@pytest.mark.parametrize(
    ("role", "owner", "holds_for", "allowed"),
    [
        (Role.USE, "ana", "ana", False),
        (Role.APPROVE, "ana", "ana", True),
        (Role.APPROVE, "bob", "bob", False),
        (Role.APPROVE, "ana", None, False),
        (Role.APPROVE, "ana", "bob", False),
        (Role.ADMIN, "bob", "bob", True),
        (Role.ADMIN, None, None, True),
    ],
)
def test_a_rule_for_others_is_an_admins(
    role: Role, owner: str | None, holds_for: str | None, *, allowed: bool
) -> None:
    refusal = may_not_make_rule(deciding("ana", role=role), owner=owner, holds_for=holds_for)
    assert (refusal is None) is allowed


# --- the file ---

HAND_WRITTEN = """# mine
trust = ["notes__append", 'calendar__*']

[ratings]
"weather__*" = "reversible"  # sunny

# before the rule
[[rule]]
tool = "files__write_file"
when = { path = "/home/me/notes/**" }
risk = "reversible_with_delay"

[[rule]]
tool = "log_to_obsidian"
trust = false
"""

VALUES = st.recursive(
    st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(arguments=st.dictionaries(st.text(), VALUES, max_size=4), note=st.text())
def test_a_written_rule_says_exactly_what_was_meant_and_goes_without_a_trace(
    arguments: dict[str, Any], note: str
) -> None:
    rule = Rule(tool="notes__append", risk=DELAYED, trust=True, arguments=arguments, user="ana")
    try:
        grown = with_rule(HAND_WRITTEN, rule, note=note)
    except InputError:  # half of a character, which no file holds
        return
    assert parse_rules(grown).rules[-1].id == rule.id
    assert with_rule(grown, rule, note="again") == grown
    assert without_rule(grown, rule.id) == HAND_WRITTEN


def test_every_kind_of_rule_is_written_and_read_back() -> None:
    rules = [
        Rule(tool="a", never=True),
        Rule(tool="b", risk=REVERSIBLE, when=(("path", "/x/*"),), user="ana"),
        Rule(tool="c", trust=False, arguments={"text": "\x7f\n\"'"}),
    ]
    text = ""
    for rule in rules:
        text = with_rule(text, rule, note="ana said so\nand more")
    assert list(parse_rules(text).rules) == rules


@pytest.mark.parametrize("at", range(5))
def test_each_rule_of_a_hand_written_file_can_be_taken_out_alone(at: int) -> None:
    before = [rule.id for rule in parse_rules(HAND_WRITTEN).rules]
    after = without_rule(HAND_WRITTEN, before[at])
    assert [rule.id for rule in parse_rules(after).rules] == before[:at] + before[at + 1 :]
    assert after.startswith("# mine\n")


def test_a_rule_that_stands_twice_goes_altogether() -> None:
    text = "trust = ['notes__append']\n[[rule]]\ntool = 'notes__append'\ntrust = true\n"
    assert parse_rules(without_rule(text, parse_rules(text).rules[0].id)).rules == ()


def test_a_rule_that_is_not_there_is_named() -> None:
    with pytest.raises(NotFoundError, match="no rule '12345678'"):
        without_rule(HAND_WRITTEN, "12345678")


def test_a_rule_that_cannot_be_cut_out_is_left_to_its_writer() -> None:
    text = 'rule = [{tool = "a__x", trust = true}, {tool = "b__y", trust = true}]'
    with pytest.raises(ConflictError, match="only you"):
        without_rule(text, parse_rules(text).rules[0].id)


@pytest.mark.parametrize(
    "arguments", [{"x": None}, {"x": ["\ud800"]}, {"x": "a" * LONGEST_ARGUMENTS}, {"\udfff": 1}]
)
def test_arguments_that_the_file_cannot_say_make_no_rule(arguments: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        with_rule("", Rule(tool="a", trust=True, arguments=arguments), note="")


# --- replay ---


@pytest.mark.parametrize(
    ("policy", "ruling"),
    [
        ("", Ruling.ASKS),
        ("[ratings]\ngit__git_status = 'reversible'", Ruling.RUNS),
        ("[[rule]]\ntool = 'git__*'\nnever = true", Ruling.REFUSED),
        ("[[rule]]\ntool = 'git__*'\nnever = true\nuser = 'bob'", Ruling.ASKS),
    ],
)
def test_a_recorded_call_is_decided_by_any_rules(policy: str, ruling: Ruling) -> None:
    call = RecordedCall(spec=served(), arguments=STATUS, user="ana", confidence=1.0)
    found, why = call.ruling(parse_rules(policy))
    assert found is ruling
    assert why
