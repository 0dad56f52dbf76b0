"""A domain's own language through the planner: several things in one breath, questions, its own words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pytest
from pydantic_ai import ToolDefinition
from tests.support.invented_tools import Invented
from tests.support.planner_talk import NOW, Talk

from steward.agents.turn.toolset import ToolOffer
from steward.contract.errors import ToolError
from steward.language.reading import Readable, ReadCall
from steward.models.planner.dialogue import Step
from steward.models.planner.model import PlannerModel
from steward.models.planner.readers import InterpretedCall, Meant, Mention, ReaderQuestion, Record


@dataclass
class Gardener:
    """Says what calls of its tools mean: 'create the plants a, b', 'delete all plants'."""

    world: Invented
    told: list[Sequence[Step]] = field(default_factory=list)

    def interpret(
        self, calls: Sequence[ReadCall], utterance: str, *, unasked: bool, now: datetime
    ) -> Sequence[InterpretedCall]:
        noun, key = self.world.noun, f"{self.world.noun}_id"
        _, _, rest = utterance.strip(" .!?").partition(" ")
        rest = rest.removeprefix("the ").removeprefix(f"{noun}s ").removeprefix(f"{noun} ")
        match calls[0].tool.partition("_")[0]:
            case "create" if not calls[0].arguments:
                return [
                    InterpretedCall(
                        tool=f"create_{noun}", question=ReaderQuestion("Sow what?", {"waits": "name"})
                    )
                ]
            case "create":
                return [
                    InterpretedCall(tool=f"create_{noun}", arguments={"title": each})
                    for each in rest.split(", ")
                ]
            case "delete":
                return [
                    InterpretedCall(
                        tool=f"delete_{noun}", mentions={key: self._mention(rest)}, memo={"picked": rest}
                    )
                ]
            case "rename":
                return [
                    InterpretedCall(
                        tool=f"rename_{noun}", mentions={key: self._mention(rest)}, finish=self._painted
                    )
                ]
            case _:
                return [InterpretedCall(tool=f"list_{noun}s")]

    def _mention(self, rest: str) -> Mention:
        if rest == "it":
            return Mention(it=True)
        if rest.isdigit():
            return Mention(places=(int(rest),))

        def among(records: Sequence[Record]) -> Meant:
            if rest == f"all {self.world.noun}s":
                return Meant(records, every=True)
            return Meant([each for each in records if rest in str(each.get("title"))])

        return Mention(text=rest, among=among)

    def _painted(self, record: Record) -> Mapping[str, Any] | ReaderQuestion:
        if "grey" in str(record["title"]):
            return ReaderQuestion(
                "It is grey already. Which colour?", {"waits": "colour", "id": record["id"]}
            )
        return {"title": f"grey {record['title']}"}

    def answer(
        self, memo: Mapping[str, Any], utterance: str, tools: Sequence[ToolDefinition], now: datetime
    ) -> Sequence[InterpretedCall] | str | None:
        if utterance == "nothing":
            return "As you like."
        if utterance.startswith("list"):
            return None
        if memo.get("waits") == "colour":
            arguments = {f"{self.world.noun}_id": memo["id"], "title": utterance}
            return [InterpretedCall(tool=f"rename_{self.world.noun}", arguments=arguments)]
        return [InterpretedCall(tool=f"create_{self.world.noun}", arguments={"title": utterance})]

    def which(
        self, tool: str, mention: str, records: Sequence[Record], now: datetime
    ) -> tuple[str, list[str]]:
        return f"Which {mention}?", [f"the {each['title']}" for each in records]

    def abilities(self, unmet: str | None) -> str:
        return f"No {unmet} here." if unmet else "Sow and pick."

    def nothing(self, tool: str, mention: str) -> ReaderQuestion:
        return ReaderQuestion(f"No {mention} grows here. Sow one?", {"waits": "name"})

    def shown(self, step: Step) -> Sequence[Record] | None:
        return list(reversed(step.data[f"{self.world.noun}s"])) if step.tool.startswith("list") else None

    def tell(self, steps: Sequence[Step], known: Sequence[Step], now: datetime) -> str:
        self.told.append(list(steps))
        return " ".join(f"{step.tool.split('_')[0]}:{'no' if step.failure else 'yes'}" for step in steps)


class Stony(Invented):
    """Nothing can be picked here."""

    def _delete(self, **given: Any) -> dict[str, Any]:
        raise ToolError("The spade is broken.")


async def garden(seed: int, *titles: str, broken: bool = False) -> tuple[Invented, Gardener, Talk]:
    world = Stony(seed) if broken else Invented(seed)
    world.noun = "plant"
    for title in titles:
        world.thing(title)
    reader = Gardener(world)
    model = PlannerModel(now=lambda: NOW, readers={"plants": reader})
    offer = ToolOffer(reader_of=lambda spec: "plants" if world.noun in spec.name else None)
    return world, reader, Talk(await world.door(), model=model, offer=offer)


async def test_several_things_in_one_breath_are_all_done_and_told_in_the_readers_words() -> None:
    world, _, talk = await garden(1)
    assert await talk.say("create the plants rose, lily, oak") == "create:yes create:yes create:yes"
    assert [each["title"] for each in world.things] == ["rose", "lily", "oak"]


async def test_everything_that_is_meant_is_touched_once_each() -> None:
    world, _, talk = await garden(2, "rose", "lily", "oak")
    assert await talk.say("delete all plants") == "delete:yes delete:yes delete:yes"
    assert (world.things, [name for name, _ in world.calls].count(f"list_{world.noun}s")) == ([], 1)


async def test_a_note_about_a_call_is_there_when_its_result_is_told() -> None:
    _, reader, talk = await garden(3, "rose")
    await talk.say("delete the plant rose")
    assert [step.memo for step in reader.told[-1]] == [{"picked": "rose"}]


async def test_several_matches_are_asked_about_in_the_readers_words_and_some_can_be_chosen() -> None:
    world, _, talk = await garden(4, "red rose", "white rose", "dog rose", "oak")
    assert (
        await talk.say("delete the plant rose")
        == "Which rose?\n1. the red rose\n2. the white rose\n3. the dog rose"
    )
    await talk.say("1 and 3")
    assert [each["title"] for each in world.things] == ["white rose", "oak"]


@pytest.mark.parametrize("answer", ["both", "all of them"])
async def test_all_of_the_offered_ones_can_be_chosen(answer: str) -> None:
    world, _, talk = await garden(5, "red rose", "white rose", "oak")
    await talk.say("delete the plant rose")
    await talk.say(answer)
    assert [each["title"] for each in world.things] == ["oak"]


async def test_an_offer_can_be_turned_down() -> None:
    world, _, talk = await garden(6, "red rose", "white rose")
    await talk.say("delete the plant rose")
    await talk.say("none of them")
    assert len(world.things) == 2


async def test_an_answer_that_fits_nothing_is_asked_again_and_a_new_request_is_heard() -> None:
    world, _, talk = await garden(7, "red rose", "white rose")
    question = await talk.say("delete the plant rose")
    assert await talk.say("the blue bayou") == question
    assert await talk.say("list the plants") == "list:yes"
    assert len(world.things) == 2


async def test_a_place_counts_in_what_was_shown_and_not_in_what_was_looked_up() -> None:
    world, _, talk = await garden(8, "rose", "lily", "oak")
    await talk.say("list the plants")  # shown in reverse: oak, lily, rose
    await talk.say("delete the plant lily")  # looks everything up on the way
    await talk.say("delete the plant 1")
    assert [each["title"] for each in world.things] == ["rose"]


async def test_a_place_that_the_list_does_not_have_means_nothing() -> None:
    world, _, talk = await garden(9, "rose")
    await talk.say("list the plants")
    assert await talk.say("delete the plant 7") == "No  grows here. Sow one?"
    assert len(world.things) == 1


async def test_it_is_what_was_touched_last() -> None:
    world, _, talk = await garden(10, "rose", "lily")
    await talk.say("rename the plant lily")
    await talk.say("delete it")
    assert world.calls[-1][0] == f"delete_{world.noun}"
    assert [each["title"] for each in world.things] == ["rose"]


async def test_arguments_may_follow_from_the_thing_found_or_turn_out_to_be_missing() -> None:
    world, _, talk = await garden(11, "rose", "grey lily")
    await talk.say("rename the plant rose")
    assert world.calls[-1][1]["title"] == "grey rose"
    assert await talk.say("rename the plant lily") == "It is grey already. Which colour?"
    await talk.say("blue")
    assert world.calls[-1][1] == {f"{world.noun}_id": world.things[1]["id"], "title": "blue"}


async def test_a_readers_question_binds_the_next_turn() -> None:
    world, _, talk = await garden(12)
    assert await talk.say("create a plant") == "Sow what?"
    await talk.say("rose")
    assert [each["title"] for each in world.things] == ["rose"]


async def test_a_readers_question_can_be_waved_away_or_passed_over() -> None:
    world, _, talk = await garden(13)
    await talk.say("create a plant")
    assert await talk.say("nothing") == "As you like."
    await talk.say("create a plant")
    assert await talk.say("list the plants") == "list:yes"
    assert world.things == []


async def test_a_description_that_fits_nothing_may_lead_to_something_else() -> None:
    world, _, talk = await garden(14, "rose")
    assert await talk.say("delete the plant fern") == "No fern grows here. Sow one?"
    await talk.say("fern")
    assert [each["title"] for each in world.things] == ["rose", "fern"]


async def test_what_can_be_done_here_and_what_cannot_is_said_in_the_only_language_there_is() -> None:
    world, _, talk = await garden(20)
    assert await talk.say("what can you do?") == "Sow and pick."
    assert await talk.say("how is the weather?") == "No how is the weather? here."
    assert world.calls == []


async def test_a_place_is_chosen_by_nothing_that_only_has_a_number_in_it() -> None:
    world, _, talk = await garden(21, "red rose", "white rose")
    question = await talk.say("delete the plant rose")
    assert await talk.say("not before december 2nd") == question
    assert len(world.things) == 2


async def test_what_removes_is_called_on_all_at_once_and_each_failure_told_by_the_reader() -> None:
    world, _, talk = await garden(16, "rose", "lily", broken=True)
    assert await talk.say("delete all plants") == "delete:no delete:no"
    assert len(world.things) == 2


async def test_more_than_a_turn_may_do_is_left_for_another() -> None:
    world, _, talk = await garden(17, *(f"plant {number}" for number in range(30)))
    answer = await talk.say("delete all plants")
    assert ("more are left for another turn" in answer, 0 < len(world.things) < 30) == (True, True)


@dataclass
class Guarded(Gardener):
    """Keeps one of its tools to itself."""

    @property
    def sole(self) -> frozenset[str]:
        return frozenset({f"create_{self.world.noun}"})


async def test_a_tool_whose_arguments_are_no_everyday_words_needs_to_be_meant_beyond_doubt() -> None:
    world = Invented(21)
    world.noun = "plant"
    model = PlannerModel(now=lambda: NOW, readers={"garden": Guarded(world)}, judge=Doubts())
    talk = Talk(await world.door(), model=model, offer=ToolOffer(reader_of=lambda _: "garden"))
    await talk.say("create the plant rose")
    assert world.calls == []


class Doubts:
    """Implements `ToolJudge`: everything fits well, and nothing beyond doubt."""

    def fits(self, request: str, tools: Sequence[Readable]) -> Mapping[str, float]:
        return {tool.name: 0.85 if tool.name.startswith("create") else 0.1 for tool in tools}
