"""Numbers as people write them."""

import pytest

from steward.language.numbers import number_in


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("42", 42), ("-7", -7), ("3.5", 3.5), ("1,200", 1200), ("1,234,567.5", 1234567.5), ("$80", 80),
        (".5", 0.5), ("2e3", 2000), ("three", 3), ("twenty five", 25), ("two hundred", 200), ("10k", 10000),
        ("three thousand two hundred", 3200), ("5 million", 5e6), ("half", 0.5), ("two dozen", 24),
        ("3/4", 0.75), ("the 3rd", 3), ("third", 3), ("twice", 2),
        ("six and a half", 6.5), ("2 and a quarter", 2.25), ("a dozen", 12), ("a hundred", 100),
    ],
)  # fmt: skip
def test_a_number_is_read(text: str, value: float) -> None:
    found = number_in(text)
    assert found is not None
    assert found.value == pytest.approx(value)


def test_a_factor_behind_the_words_counts() -> None:
    found = number_in("3", after=" million people")
    assert found is not None
    assert found.value == 3e6


@pytest.mark.parametrize("after", ["%", " percent", " per cent of it"])
def test_percent_behind_a_number_is_noticed(after: str) -> None:
    found = number_in("12", after=after)
    assert found is not None
    assert found.percent


def test_a_list_of_numbers_gives_its_first() -> None:
    found = number_in("2,5,8")
    assert found is not None
    assert found.value == 2


@pytest.mark.parametrize("text", ["", "milk", "9" * 60])
def test_what_is_no_number_is_none(text: str) -> None:
    assert number_in(text) is None
