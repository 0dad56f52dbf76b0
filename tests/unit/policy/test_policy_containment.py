"""The table [contain] of policy.toml."""

import pytest

from steward.contract.errors import ConfigError
from steward.policy import parse_rules
from steward.policy.containment import DEFAULT_PROCESSES, ContainmentRules


def test_without_the_table_nothing_is_opened_or_narrowed() -> None:
    rules = parse_rules("").contain
    assert rules == ContainmentRules(processes=DEFAULT_PROCESSES)
    assert not rules.opens_network("code_execution")


def test_everything_can_be_said() -> None:
    text = """
[contain]
network = ["code_execution", "weather*"]
hide = ["~/.ssh"]
read_only = ["/srv/archive"]
memory_mib = 512
processes = 32
"""
    rules = parse_rules(text).contain
    assert (rules.hide, rules.read_only) == (("~/.ssh",), ("/srv/archive",))
    assert (rules.memory_mib, rules.processes) == (512, 32)
    assert [rules.opens_network(tool) for tool in ("code_execution", "weather_now", "other")] == [
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    "line",
    [
        "netwrk = []",
        "network = true",
        "network = ['']",
        "hide = ['secret']",
        "hide = ['/']",
        "read_only = [3]",
        "memory_mib = 3",
        "memory_mib = true",
        "processes = 'many'",
        "processes = 4000000",
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_place_and_a_fix(line: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_rules(f"[contain]\n{line}\n")
    assert "line 2" in refused.value.message
    assert refused.value.fix


def test_the_table_must_be_one() -> None:
    with pytest.raises(ConfigError):
        parse_rules("contain = 3")
