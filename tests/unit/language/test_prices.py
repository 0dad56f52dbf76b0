"""So many of a thing at so much each, and what it comes to."""

import pytest

from steward.language.prices import PricedSum, priced_sum


@pytest.mark.parametrize(
    ("said", "expression", "sign"),
    [
        ("if i get 6 tins of paint at 18.50 a tin whats that", "6 * 18.50", ""),
        ("how much are 12 chairs at £35 each?", "12 * 35", "£"),
        ("what would three nights at 120 a night come to", "3 * 120", ""),
        ("4 tickets for 22 euros apiece, what's the damage?", "4 * 22", ""),
        ("what do I pay for 3 jars at 2.40 each and 5 buns at 3.10 a bun", "3 * 2.40 + 5 * 3.10", ""),
        ("twenty bags of gravel costing $7.25 per bag, how much altogether", "20 * 7.25", "$"),
        ("what is 1,200 bricks at 0.85 a piece?", "1200 * 0.85", ""),
    ],
)
def test_counts_and_prices_are_summed_up(said: str, expression: str, sign: str) -> None:
    assert priced_sum(said) == PricedSum(expression, sign)


@pytest.mark.parametrize(
    "said",
    [
        "buy 6 tins of paint at 18.50 a tin",
        "remind me what 6 tins at 18.50 each cost",
        "what are 6 tins at 18.50 each with 10% off?",
        "what is the rent for 2 rooms at 400 a month?",
        "what's on at 7 each day?",
        "how much are 3 jars at £2 each and 2 jars at $3 each?",
        "what is 7 times 23.99?",
    ],
)
def test_what_is_no_such_question_is_left_alone(said: str) -> None:
    assert priced_sum(said) is None
