"""Whether some word on another's tool would let a call of it run without a person."""

import pytest

from steward.contract.tool import Origin, RiskLevel, ToolHints, ToolSpec
from steward.policy.approval import may_run_unasked
from steward.policy.rules import parse_rules

READS = ToolHints(read_only=True)


def spec(name: str = "notes__get_one", **more: object) -> ToolSpec:
    return ToolSpec(name=name, description="Gets one.", origin=Origin.SERVER, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "policy",
    [
        '[ratings]\n"notes__*" = "reversible"',
        '[ratings]\n"notes__get_one" = "reversible_with_delay"',
        '[[rule]]\ntool = "notes__*"\nrisk = "reversible"\nwhen = {path = "/tmp/**"}',
        '[ratings]\n"short" = "reversible"',
    ],
)
def test_a_rating_that_fits_would_whatever_its_conditions(policy: str) -> None:
    assert may_run_unasked(spec(aliases=("short",)), parse_rules(policy))


@pytest.mark.parametrize(
    "policy",
    [
        "",
        '[ratings]\n"notes__*" = "irreversible"',
        '[ratings]\n"x__*" = "reversible"',
        'trust = ["notes__*"]',
    ],
)
def test_nothing_that_still_asks_would(policy: str) -> None:
    assert not may_run_unasked(spec(), parse_rules(policy))


def test_a_risk_in_mcp_json_would() -> None:
    assert may_run_unasked(spec(risk=RiskLevel.REVERSIBLE), parse_rules(""))


def test_a_hint_counts_only_from_a_trusted_server() -> None:
    assert may_run_unasked(spec(hints=READS, hints_trusted=True), parse_rules(""))
    assert not may_run_unasked(spec(hints=READS), parse_rules(""))


def test_a_name_that_is_always_asked_about_would_not() -> None:
    assert not may_run_unasked(spec("notes__delete_file", risk=RiskLevel.REVERSIBLE), parse_rules(""))


def test_a_tool_of_another_steward_would_because_that_one_asks() -> None:
    assert may_run_unasked(spec(rated_there=RiskLevel.IRREVERSIBLE), parse_rules(""))
