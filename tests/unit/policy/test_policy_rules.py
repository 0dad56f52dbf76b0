"""What policy.toml may say, and the errors for what it may not."""

from pathlib import Path

import pytest

from steward.contract.errors import ConfigError, ErrorCode
from steward.policy import RiskLevel, Rule, Rules, find_sensitive, parse_rules

WHOLE_FILE = """
trust = ["notes__append", "calendar__*"]
protect = ["~/Private/**", "C:\\\\Taxes"]

[ratings]
"weather__*" = "reversible"
mail__send = "reversible_with_delay"

[[rule]]
tool = "files__write_file"
when = { path = "/home/me/notes/**" }
risk = "reversible_with_delay"
trust = true

[[rule]]
tool = "log_to_obsidian"
trust = false
"""


def test_a_whole_file_becomes_rules() -> None:
    assert parse_rules(WHOLE_FILE) == Rules(
        rules=(
            Rule(tool="notes__append", trust=True),
            Rule(tool="calendar__*", trust=True),
            Rule(tool="weather__*", risk=RiskLevel.REVERSIBLE),
            Rule(tool="mail__send", risk=RiskLevel.REVERSIBLE_WITH_DELAY),
            Rule(
                tool="files__write_file",
                when=(("path", "/home/me/notes/**"),),
                risk=RiskLevel.REVERSIBLE_WITH_DELAY,
                trust=True,
            ),
            Rule(tool="log_to_obsidian", trust=False),
        ),
        protected=("**/private/**", "**/c:/taxes"),
    )


def test_an_empty_file_means_the_defaults() -> None:
    assert parse_rules("") == Rules()


@pytest.mark.parametrize(
    ("text", "place", "cause"),
    [
        ("trust = [", "my.toml", "not valid TOML"),
        ("a = 1\nb = = 2", "my.toml, line 2", "not valid TOML"),
        ("trusted = []", "my.toml, line 1, 'trusted'", "unknown"),
        ("\n[[rule]]\ntool = 'x'\nrisks = 'reversible'", "my.toml, line 4, 'rule 1.risks'", "unknown"),
        ("trust = 'x'", "my.toml, line 1, 'trust'", "list of strings"),
        ("trust = [1]", "my.toml, line 1, 'trust'", "list of strings"),
        ("trust = ['a b']", "my.toml, line 1, 'trust'", "no tool name"),
        ("ratings = []", "my.toml, line 1, 'ratings'", "table"),
        ("[ratings]\nx = 'low'", "my.toml, line 2, 'ratings.x'", "no risk"),
        ("[ratings]\nx = 1", "my.toml, line 2, 'ratings.x'", "no risk"),
        ("[ratings]\nx = ['reversible']", "my.toml, line 2, 'ratings.x'", "no risk"),
        ("[ratings]\n'a b' = 'reversible'", "my.toml, line 1, 'ratings'", "no tool name"),
        ("rule = 'x'", "my.toml, line 1, 'rule'", "list of tables"),
        ("rule = ['x']", "my.toml, 'rule 1'", "must be a table"),
        ("[[rule]]\nrisk = 'reversible'", "my.toml, 'rule 1'", "no 'tool'"),
        ("[[rule]]\ntool = 'x'", "my.toml, 'rule 1'", "says nothing"),
        ("[[rule]]\ntool = 1\ntrust = true", "my.toml, line 2, 'rule 1.tool'", "no tool name"),
        ("[[rule]]\ntool = 'x'\ntrust = 'yes'", "my.toml, line 3, 'rule 1.trust'", "true or false"),
        ("[[rule]]\ntool = 'x'\ntrust = true\nwhen = 'y'", "my.toml, line 4, 'rule 1.when'", "table"),
        (
            "[[rule]]\ntool = 'x'\ntrust = true\nwhen = {path = 1}",
            "my.toml, line 4, 'rule 1.when.path'",
            "pattern",
        ),
        (
            "[[rule]]\ntool = 'x'\ntrust = true\nwhen = {path = ''}",
            "my.toml, line 4, 'rule 1.when.path'",
            "pattern",
        ),
        ("[[rule]]\ntool = 'x'\nnever = 1", "my.toml, line 3, 'rule 1.never'", "true or false"),
        ("[[rule]]\ntool = 'x'\nnever = false", "my.toml, 'rule 1'", "says nothing"),
        ("[[rule]]\ntool = 'x'\nnever = true\ntrust = true", "my.toml, 'rule 1'", "something else"),
        ("[[rule]]\ntool = 'x'\nnever = true\nuser = ''", "my.toml, line 4, 'rule 1.user'", "a user"),
        ("[[rule]]\ntool = 'x'\nnever = true\nuser = 1", "my.toml, line 4, 'rule 1.user'", "a user"),
        ("[[rule]]\ntool = 'x'\ntrust = true\narguments = 1", "my.toml, line 4, 'rule 1.arguments'", "table"),
        ("protect = ['**']", "my.toml, line 1, 'protect'", "everything"),
    ],
)
def test_a_broken_file_is_refused_with_its_place_and_a_fix(text: str, place: str, cause: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_rules(text, source="my.toml")
    assert caught.value.code == ErrorCode.CONFIG_INVALID
    assert caught.value.message.startswith(place)
    assert cause in caught.value.message
    assert caught.value.fix


@pytest.mark.req("ORC-FR-011")
@pytest.mark.parametrize(
    "text",
    [
        "[ratings]\ndelete_file = 'reversible'",
        "[ratings]\ndelete_task = 'reversible_with_delay'",
        "[ratings]\nsend_email = 'reversible'",
        "[ratings]\nlog_to_obsidian = 'reversible'",
        "[ratings]\nfiles__delete_file = 'reversible'",
        "[ratings]\n'*' = 'reversible'",
        "[ratings]\n'delete_*' = 'reversible_with_delay'",
        "[ratings]\n'*__send_money' = 'reversible'",
        "trust = ['delete_task']",
        "trust = ['*']",
        "trust = ['code_*']",
        "trust = ['bank__send_money']",
        "[[rule]]\ntool = 'delete_file'\ntrust = true\nwhen = {path = '/tmp/**'}",
        "[[rule]]\ntool = 'delete_file'\nrisk = 'reversible'\nwhen = {path = '/tmp/**'}",
    ],
)
def test_a_rule_below_what_the_specifications_fix_is_refused(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_rules(text)
    assert caught.value.code == ErrorCode.CONFIG_INVALID


@pytest.mark.parametrize(
    "text",
    [
        "[ratings]\nread_file = 'irreversible'",
        "[ratings]\ndelete_file = 'irreversible'",
        "[ratings]\n'notes__*' = 'reversible'",
        "[[rule]]\ntool = 'delete_task'\ntrust = false",
        "trust = ['notes__*', 'read_file']",
    ],
)
def test_raising_and_narrow_patterns_are_accepted(text: str) -> None:
    assert parse_rules(text).rules


def test_the_documented_file_is_accepted_and_protects_what_it_says() -> None:
    page = (Path(__file__).parents[3] / "docs" / "policy.md").read_text(encoding="utf-8")
    rules = parse_rules(page.split("```toml\n", 1)[1].split("```", 1)[0])
    assert len(rules.rules) == 6
    for path in ("/home/me/Private/diary.md", "exports/customers.csv", "customers.csv"):
        assert find_sensitive({"path": path}, protected=rules.protected)
    assert not find_sensitive({"path": "exports/suppliers.csv"}, protected=rules.protected)
