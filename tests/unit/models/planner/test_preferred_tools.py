"""Descriptions say when to prefer which of two tools that both seem to fit. The tools are made up anew."""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pydantic_ai import ToolDefinition
from tests.support.door import Door
from tests.support.invented_tools import STRING, Invented, made_up_words, text
from tests.support.planner_talk import Talk

from steward.models.planner.ranking import KnownTool, Ranking

SEEDS = st.sampled_from(range(3))
few = settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
INSTRUCTIONS = (
    # What a tool says, and what the other one says; {case} is when the first is to be preferred.
    ("Use this instead of {other} for {case}.", ""),
    ("Prefer this over `{other}` when somebody speaks of {case}.", ""),
    ("", "Prefer {other} for {case}."),
    ("", "Not for {case}; use {other}."),
    ("", "If it is about {case}, use {other} instead."),
    ("Use for {case}.", ""),
    ("Best for {case} or {more}.", "Do not use this for {case}."),
)


class Pair:
    """Two tools of one kind. Without instructions nothing tells them apart but their names."""

    def __init__(self, seed: int) -> None:
        self.luck = random.Random(seed)
        self.noun, self.case, self.more, self.none, first, second = made_up_words(self.luck, 6)
        self.names = (f"{first}_{self.noun}", f"{second}_{self.noun}")
        self.world = Invented(seed)

    async def door(self, *instructions: str) -> Door:
        """The tools with these instructions in their descriptions, the first one's first."""
        return await Door().with_tools(
            *(
                self.world.recorded(
                    name,
                    lambda **given: dict(given),
                    description=f"Ponder a {self.noun}. "
                    + said.format(other=other, case=self.case, more=self.more),
                    input_schema=text(title=STRING),
                )
                for name, other, said in zip(self.names, reversed(self.names), instructions, strict=True)
            )
        )

    async def asked(self, said: str, *instructions: str) -> list[str]:
        """Which tools were called for a sentence."""
        await Talk(await self.door(*instructions)).say(said)
        called = [name for name, _ in self.world.calls]
        self.world.calls.clear()
        return called


@pytest.mark.req("SKL-Q07", "SKL-EDGE-02")
@pytest.mark.parametrize("instructions", INSTRUCTIONS)
@few
@given(seed=SEEDS)
async def test_an_instruction_chooses_and_the_choice_flips_with_it(
    seed: int, instructions: tuple[str, str]
) -> None:
    pair = Pair(seed)
    said = f'ponder the {pair.noun} "blue" of {pair.case}'
    told = await pair.asked(said, *instructions)
    swapped = await pair.asked(said, *reversed(instructions))
    assert (told, swapped) == ([pair.names[0]], [pair.names[1]])


@pytest.mark.req("SKL-Q07")
@few
@given(seed=SEEDS)
async def test_where_the_case_is_another_one_the_usual_tool_is_taken(seed: int) -> None:
    pair = Pair(seed)
    said = f'ponder the {pair.noun} "blue" of {pair.none}'
    told = await pair.asked(said, "Use this instead of {other} for {case}.", "")
    unless = await pair.asked(said, "Use this instead of {other} unless it is about {case}.", "")
    assert (told, unless) == ([pair.names[1]], [pair.names[0]])


def known(name: str, description: str, **more: Any) -> KnownTool:
    return KnownTool(ToolDefinition(name=name, description=description, **more))


def test_an_instruction_makes_no_tool_fit() -> None:
    loud = known("brew_tea", "Brew tea. Use this instead of play_song always. Use this for songs.")
    asked = Ranking().rank("play a song", [loud, known("play_song", "Play a song.")])
    assert asked[0].tool.name == "play_song"


def test_a_tool_gains_nothing_from_the_words_it_sends_away() -> None:
    offered = [known("ponder_a", "Ponder. Not for tulips."), known("ponder_b", "Ponder.")]
    ranked = Ranking().rank("ponder tulips", offered)
    assert [each.tool.name for each in ranked] == ["ponder_b", "ponder_a"]


def test_a_servers_name_may_be_left_out() -> None:
    offered = [
        known("a__ponder", "Ponder. Use this instead of reflect for tulips."),
        known("b__reflect", "Ponder."),
    ]
    ranked = Ranking().rank("ponder tulips", offered)
    assert ranked[0].tool.name == "a__ponder"


class Weathers:
    """An embedder that knows what rain has to do with storms."""

    name = "weathers"
    dimensions = 2

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = [[float(any(word in text.lower() for word in ("rain", "storm"))), 0.2] for text in texts]
        vectors = np.array(rows, np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.req("SKL-Q07")
@pytest.mark.parametrize("first", ["ponder_a", "ponder_b"])
def test_a_condition_may_be_met_in_other_words(first: str) -> None:
    second = "ponder_b" if first == "ponder_a" else "ponder_a"
    offered = [known(first, f"Ponder. Prefer {second} when it rains."), known(second, "Ponder.")]
    told = Ranking(Weathers()).rank("ponder the storm", offered)
    untold = Ranking(Weathers()).rank("ponder the tulips", offered)
    assert (told[0].tool.name, untold[0].tool.name) == (second, first)
