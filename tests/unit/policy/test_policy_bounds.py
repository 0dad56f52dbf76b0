from typing import Any

import pytest

from steward.contract.tool import Origin, RiskLevel, ToolSpec
from steward.policy.approval import assess
from steward.policy.bounds import Bounds, out_of_bounds, why_withheld
from steward.policy.rules import Rules

HOME = "/srv/steward"
BOUNDS = Bounds(closed=(HOME,), opened=(f"{HOME}/uploads",))
SHELF = ToolSpec(name="shelf__fetch", description="Fetch", origin=Origin.SERVER, risk=RiskLevel.REVERSIBLE)


def nested(depth: int, value: object) -> object:
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": HOME},
        {"path": f"{HOME}/token"},
        {"filePath": f"{HOME}/token"},
        {"path": "/srv/Steward/TOKEN"},
        {"path": "/srv/./x/../steward//token"},
        {"path": "/srv/%73teward/token"},
        {"uri": f"file://{HOME}/token"},
        {"uri": f"file://localhost{HOME}/token"},
        {"files": ["/tmp/a", f"{HOME}/token"]},
        {"deep": {"er": [{"source": f"{HOME}/token"}]}},
        {"anything": f"{HOME}/logs/x.log"},
        {"anything": f"file:{HOME}/token"},
        {"path": f"{HOME}/uploads/../token"},
        nested(10, f"{HOME}/token"),
    ],
)
def test_a_path_into_the_home_is_out_of_bounds(arguments: object) -> None:
    assert out_of_bounds(arguments, BOUNDS) is not None


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "/srv/stewardship/notes.md"},
        {"path": f"{HOME}/uploads/papers/report.pdf"},
        {"path": "/srv"},
        {"url": f"https://example.org{HOME}/token"},
        {"title": f"{HOME}/token"},
        {"code": f"{HOME}/skills/sum/run.sh"},
        {"text": f"look into {HOME}/token"},
        {"path": f"{HOME}\0"},
        {"path": ""},
        {"path": "x" * 5_000},
        {"count": 3},
        nested(40, f"{HOME}/token"),
    ],
)
def test_other_arguments_are_within_bounds(arguments: object) -> None:
    assert out_of_bounds(arguments, BOUNDS) is None


def test_more_values_than_can_be_looked_at_are_left_to_the_rule_that_asks() -> None:
    assert out_of_bounds([0] * 30_000, BOUNDS) is None


def test_a_link_is_judged_by_where_it_leads() -> None:
    assert out_of_bounds({"path": "notes.md"}, BOUNDS, resolve=lambda _: f"{HOME}/token") is not None


def test_without_a_closed_folder_nothing_is_out_of_bounds() -> None:
    assert out_of_bounds({"path": "/anywhere"}, Bounds()) is None


def test_nobody_can_agree_to_what_is_out_of_bounds() -> None:
    assessment = assess(SHELF, {"path": f"{HOME}/token"}, Rules(bounds=BOUNDS))
    assert "STEWARD_HOME" in str(assessment.refused)


def test_a_resolver_that_fails_leaves_a_call_that_asks() -> None:
    def broken(_: str) -> str:
        raise OSError

    assert assess(SHELF, {"path": "x"}, Rules(bounds=BOUNDS), resolve=broken).level is RiskLevel.IRREVERSIBLE


@pytest.mark.parametrize(
    ("path", "what"),
    [("/a/passwords.txt", "a file of secrets"), ("/a/id_rsa", "a private key"), ("/a/b.md", None)],
)
def test_a_file_is_withheld_for_what_it_is(path: str, what: Any) -> None:
    assert why_withheld(path) == what
