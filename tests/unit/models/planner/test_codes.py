"""What a person gives by its identifier is not looked up."""

import pytest

from steward.models.planner.things import is_code


@pytest.mark.parametrize(
    "said", ["WEB-31", "QWERTZ", "fix/login-2", "#42a", "77-31022", "#4512", "987654321", 8504]
)
def test_a_code_names_the_thing_itself(said: object) -> None:
    assert is_code(said)


@pytest.mark.parametrize("said", ["2", 2, "the second one", "milk", "WEB", None, "buy 2 stamps"])
def test_words_and_places_describe_a_thing(said: object) -> None:
    assert not is_code(said)
