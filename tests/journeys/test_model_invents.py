"""A language model that invents facts about the person in every turn: none of them reaches the person."""

import re
from itertools import cycle, islice
from pathlib import Path

import pytest
from tests.support.scripted_model import Say, ScriptedModel
from tests.support.talking import ANA, TalkSetup, open_house, wire

from steward.contract.call import Done, ToolCall

TURNS = 200
NAMES = ("Jana", "Tomasz", "Ophelia", "Ravi", "Brunhilde", "Kwame", "Ingrid", "Mateo", "Yuki", "Saoirse")
PLACES = ("Oslo", "Lima", "Graz", "Perth", "Tallinn", "Fez", "Porto", "Kyoto", "Leeds", "Quito")
ASKED_AND_INVENTED = (
    ("What is my wife called?", "Your wife is called {name}."),
    ("Where do I live?", "You live in {place}, near the river."),
    ("What am I allergic to?", "You are allergic to {thing}, as you told me."),
    ("What's my phone number?", "According to my records your number is {number}."),
    ("Who is my dentist?", "Your dentist is Dr {name}. The practice is in {place}."),
    ("What do I like to eat?", "You like {thing} best. You also love {other}."),
    ("When is my mother's birthday?", "Your mother was born on {number} May."),
    ("Tell me a joke", "Why did the hen cross the road? By the way, your brother {name} lives in {place}."),
    ("How do I boil an egg?", "Boil it for seven minutes. You told me you moved to {place} in {number}."),
    ("Where did I park?", "You parked on level {number} of the {thing} garage."),
)
THINGS = (
    "walnuts",
    "mango",
    "lilies",
    "penicillin",
    "herring",
    "okra",
    "barley",
    "saffron",
    "plums",
    "turnips",
)


def invented() -> list[tuple[str, str, set[str]]]:
    rows: list[tuple[str, str, set[str]]] = []
    for at, (question, answer) in enumerate(islice(cycle(ASKED_AND_INVENTED), TURNS)):
        made_up = {
            "name": NAMES[at * 7 % 10],
            "place": PLACES[at * 3 % 10],
            "thing": THINGS[at % 10],
            "other": THINGS[(at + 3) % 10],
            "number": str(1900 + at),
        }
        used = {made_up[name] for name in re.findall(r"{(\w+)}", answer)}
        rows.append((question, answer.format(**made_up), used))
    return rows


@pytest.mark.timeout(600)
async def test_nothing_invented_about_the_person_passes_in_200_turns(
    wired: TalkSetup, model: ScriptedModel
) -> None:
    rows = invented()
    model.answer(*(Say(answer) for _, answer, _ in rows), Say("Done."))
    passed: list[str] = []
    for question, _, made_up in rows:
        answer = await wired.ask(question, "assistant")
        passed += [answer.answer for each in made_up if each in answer.answer]
    assert passed == []


async def test_what_memory_knows_is_told_before_a_model_is_asked(
    wired: TalkSetup, model: ScriptedModel
) -> None:
    model.answer(Say("Your wife is called Brunhilde."))
    call = ToolCall(
        tool="store_memory",
        arguments={"content": "My wife is called Jana."},
        caller=ANA.caller,
        user=ANA.user,
    )
    assert isinstance(await wired.platform.orchestrator.execute(call), Done)

    answer = await wired.ask("What is my wife called?", "assistant")

    assert "Jana" in answer.answer
    assert "Brunhilde" not in answer.answer
    assert [each.tool for each in answer.tool_calls] == ["search_memory"]


async def test_what_the_person_said_or_a_tool_returned_may_be_told(
    wired: TalkSetup, model: ScriptedModel
) -> None:
    model.answer(Say("Nice to meet you."), Say("Your dog Rex is brown."))
    first = await wired.ask("By the way, my dog is called Rex and he is brown", "assistant")

    answer = await wired.ask("Say that again", "assistant", conversation=first.conversation)

    assert "Rex" in answer.answer


LEASE = """# Lease of the flat at 12 Hill Street

## Deposit
The tenant pays a deposit of 1,900 euros before moving in. It is returned within six weeks after moving out.

## Notice
Either side may end the lease with three months' notice in writing.

## Pets
Small caged animals need no permission. Dogs need the landlord's written consent.

## Heating
The boiler is serviced every October by the landlord. Radiators must not be painted.
"""
MANUAL = """# Coffee machine KM4

## Descaling
Descale the machine every 200 cups with citric acid.

## Warranty
The warranty lasts 30 months from the day of purchase.

## Errors
Error E7 means that the water tank is empty.
"""
# Before documents were asked, a model answered all of these. Of the last ten eight were right when first met.
OF_DOCUMENTS = (
    ("How much is the deposit in the lease?", "1,900"),
    ("How long is the notice period of the lease?", "three months"),
    ("What does the lease say about dogs?", "written consent"),
    ("Who services the boiler?", "landlord"),
    ("May radiators be painted?", "must not"),
    ("How often must the coffee machine be descaled?", "200 cups"),
    ("How long is the warranty of the coffee machine?", "30 months"),
    ("What does error E7 mean?", "tank is empty"),
    ("When is the deposit returned?", "six weeks"),
    ("What is the machine descaled with?", "citric"),
    ("What deposit does the tenant pay?", "1,900"),
    ("When is the boiler serviced?", "October"),
    ("Which animals need no permission?", "caged"),
    ("How can the lease be ended?", "three months"),
    ("What acid is used for descaling the KM4?", "citric"),
    ("From when does the warranty count?", "purchase"),
    ("What do I need for keeping a dog in the flat?", "consent"),
    ("Within what time does the tenant get the deposit back?", "six weeks"),
    ("After how many cups should I descale?", "200"),
    ("What's wrong when the machine shows E7?", "empty"),
    ("Who has to agree to a dog?", "landlord"),
    ("What must not be done to the radiators?", "painted"),
    ("In which month is the boiler serviced?", "October"),
    ("How much notice is needed to end the lease?", "three months"),
    ("How many euros is the deposit?", "1,900"),
    ("Does a hamster need permission? What do small caged animals need?", "no permission"),
    ("Is the warranty 30 months?", "30 months"),
    ("What should I use to descale the coffee machine?", "citric"),
    ("The display says E7, what does this error mean?", "empty"),
    ("For how long is the KM4 under warranty?", "30 months"),
)
OF_NO_DOCUMENT = (
    "What is the capital of France?",
    "Write a haiku about rain",
    "How many legs does a spider have?",
    "What is due today?",
)
MADE_UP = "The answer is forty-two zebras."


def _written(folder: Path) -> str:
    folder.mkdir()
    (folder / "lease.md").write_text(LEASE)
    (folder / "manual.md").write_text(MANUAL)
    return str(folder)


async def _read(house: TalkSetup, path: str) -> None:
    for tool, given in (
        ("manage_collections", {"action": "create", "collection_name": "papers"}),
        ("ingest_documents", {"path": path, "collection": "papers"}),
    ):
        call = ToolCall(tool=tool, arguments=given, caller=ANA.caller, user=ANA.user)
        assert isinstance(await house.platform.orchestrator.execute(call), Done)


async def test_documents_are_asked_before_a_model_answers(
    tmp_path: Path, database_url: str, model: ScriptedModel
) -> None:
    model.answer(*(Say(MADE_UP) for _ in OF_DOCUMENTS))
    async with open_house(tmp_path, database_url, **wire(model)) as house:
        await _read(house, _written(tmp_path / "docs"))
        told = [(await house.ask(question, "assistant")).answer for question, _ in OF_DOCUMENTS]
    right = [part in answer for (_, part), answer in zip(OF_DOCUMENTS, told, strict=True)]
    assert sum(right) / len(right) >= 0.9, told


async def test_what_no_document_says_is_left_to_the_model(
    tmp_path: Path, database_url: str, model: ScriptedModel
) -> None:
    model.answer(*(Say(MADE_UP) for _ in OF_NO_DOCUMENT))
    async with open_house(tmp_path, database_url, **wire(model)) as house:
        await _read(house, _written(tmp_path / "docs"))
        told = [(await house.ask(said, "assistant")).answer for said in OF_NO_DOCUMENT]
    assert told == [MADE_UP] * len(OF_NO_DOCUMENT)
