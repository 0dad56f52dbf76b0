"""Not to forget is to remember: where the thing itself begins."""

import pytest

from steward.language.telling import fact_not_to_forget, to_be_remembered


@pytest.mark.parametrize(
    ("said", "thing"),
    [
        ("I must not forget to feed the hens", "feed the hens"),
        ("I mustnt forget paying the milkman", "paying the milkman"),
        ("don't let me forget about the choir", "the choir"),
        ("please do not let me ever forget that I have to renew the pass", "renew the pass"),
        ("I can\u2019t forget my sister's recital", "my sister's recital"),
        ("we should never forget to lock the gate", "lock the gate"),
        ("I must not to forget the tyres", "the tyres"),
        ("not forgetting to thank Ines", "thank Ines"),
    ],
)
def test_what_is_not_to_be_forgotten_begins_behind_it(said: str, thing: str) -> None:
    found = to_be_remembered(said)
    assert found is not None
    assert said[found[1] :] == thing


@pytest.mark.parametrize(
    "said",
    ["forget my old address", "I want to forget that film", "so I don't forget", "did I forget the keys?"],
)
def test_what_is_to_be_forgotten_is_no_such_wish(said: str) -> None:
    assert to_be_remembered(said) is None


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("don't forget that the spare key is with Bea", "the spare key is with Bea"),
        ("never forget that the alarm code is 9921!", "the alarm code is 9921"),
        ("don't forget that I need to call Bea", None),
        ("don't forget to feed the cat", None),
        ("add soap, and don't forget that Bea is away", None),
    ],
)
def test_a_fact_that_is_not_to_be_forgotten_is_no_task(said: str, fact: str | None) -> None:
    assert fact_not_to_forget(said) == fact
