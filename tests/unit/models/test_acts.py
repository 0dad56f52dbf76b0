"""What somebody does by saying something, as the taught reader hears it. None of these lines was taught."""

import pytest

from steward.models.acts import acts_in


@pytest.mark.parametrize(
    "said",
    [
        "my salary came in yesterday",
        "the general channel is so noisy lately",
        "I love rainy days",
        "had a rotten night, the baby was up at four",
        "ugh, feels like monday and it's only wednesday",
        "my printer jammed three times, i could have screamed",
        "calendars were simpler on paper",
        "no don't add anything, i was thinking out loud",
        "my brother plays the drums, it drives the street mad",
    ],
)
def test_who_only_tells_something_talks(said: str) -> None:
    assert acts_in(said).only_talks


@pytest.mark.parametrize(
    "said",
    [
        "book me a taxi",
        "had a look at flights, book the cheapest",
        "i'd like a pizza",
        "could you dim the lights",
        "turn the radio on",
        "that is wrong, delete it",
    ],
)
def test_what_is_to_be_done_is_a_wish(said: str) -> None:
    assert acts_in(said).wishes


@pytest.mark.parametrize("said", ["weather in Rome", "emails from Bob", "what is the capital of France?"])
def test_who_wants_to_know_does_not_only_talk(said: str) -> None:
    assert not acts_in(said).only_talks


def test_the_three_shares_are_one_together() -> None:
    shares = acts_in("hello there")
    assert shares.talk + shares.wish + shares.ask == pytest.approx(1)
