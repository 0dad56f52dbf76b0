"""What whoever watches a turn hears of the tools that were shown."""

import pytest

from steward.agents.profile import Profile
from steward.agents.turn.ledger import Shown
from steward.agents.turn.toolset import ToolOffer
from steward.agents.turn.watching import TurnWatch
from steward.conversations.model import Progress, TurnEvent


@pytest.mark.parametrize("pays", [True, False])
async def test_tokens_saved_are_told_where_tokens_cost_something(pays: bool) -> None:
    heard: list[TurnEvent] = []

    async def listen(event: TurnEvent) -> None:
        heard.append(event)

    profile = Profile(name="a", description="", instructions="", offer=ToolOffer(pays_tokens=pays))
    await TurnWatch(profile, listen).shown(Shown(30, 214, 21_000))
    assert heard == ([Progress("30 of 214 tools fit: about 21,000 tokens saved")] if pays else [])
