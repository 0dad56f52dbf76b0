"""Sums and units are worked out exactly, in bounded time, and nothing else is."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.contract.errors import InputError
from steward.contract.tool import Effect, RiskLevel
from steward.providers.calculating import calculate, calculate_tool


@pytest.mark.parametrize(
    ("said", "result"),
    [
        ("17 * 23", "391"),
        ("What is 17 * 23?", "391"),
        ("0.1 + 0.2", "0.3"),
        ("1/3 + 1/6", "0.5"),
        ("2^100", "1267650600228229401496703205376"),
        ("17.5% of 240", "42"),
        ("eighteen percent of 2,350", "423"),
        ("fifteen percent off 80", "68"),
        ("41,500 plus 3.2%", "42828"),
        ("six hundred divided by twelve", "50"),
        ("square root of 1764", "42"),
        ("10!", "3628800"),
        ("25 squared", "625"),
        ("1000 mod 7", "6"),
        ("average of 14, 18, 21 and 9", "15.5"),
        ("0xFF + 1", "256"),
        ("-(3 + 4) * 2", "-14"),
        ("5 miles to km", "8.04672 km"),
        ("How many grams are 3 ounces?", "85.048569375 grams"),
        ("5 ft 11 in to cm", "180.34 cm"),
        ("-40 c to f", "-40 f"),
        ("2 weeks in hours", "336 hours"),
    ],
)
def test_it_comes_to(said: str, result: str) -> None:
    assert calculate(said)["result"] == result


@pytest.mark.parametrize(
    "said",
    [
        "9**9**9",
        "2**(10**9)",
        "(10**500)*(10**501)",
        "301!",
        "1/0",
        "3 km in kg",
        "sqrt(-1)",
        "__import__('os').system('id')",
        "(1).__class__.__mro__",
        "'a'*9",
        "[1 for x in (1,2)]",
        "lambda: 1",
        "open('/etc/passwd')",
        "hello there",
        "",
        "1+" * 400 + "1",
        "(" * 240 + "1" + ")" * 240,
    ],
)
def test_anything_else_is_refused_soon_with_one_code(said: str) -> None:
    begun = time.monotonic()
    with pytest.raises(InputError) as refused:
        calculate(said)
    assert refused.value.code == "NOT_CALCULATED"
    assert time.monotonic() - begun < 60


@given(st.text(alphabet="0123456789+-*/%^()!., eximpl'\"[]{}", max_size=60))
def test_no_text_brings_out_anything_but_a_number_or_that_code(text: str) -> None:
    outcome: object
    try:
        outcome = set(calculate(text))
    except InputError as refused:
        outcome = refused.code
    assert outcome in ({"answer", "result", "value"}, "NOT_CALCULATED")


def test_nobody_is_asked_about_a_sum() -> None:
    spec = calculate_tool().spec
    assert (spec.risk, spec.effect) == (RiskLevel.REVERSIBLE, Effect.READS)
