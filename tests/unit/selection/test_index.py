from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from steward.contract.tool import ToolSpec
from steward.models.embedding import MiniLMEmbedder
from steward.selection.definitions import Definition, first_sentence, name_words, tokens
from steward.selection.index import ToolIndex
from steward.selection.past import MOST, PastRequests

EMBEDDER = MiniLMEmbedder()
TOOLS = [
    ToolSpec(name="calendar__create_event", description="Put an event into a calendar."),
    ToolSpec(name="mail__send", description="Send an e-mail message to a recipient."),
    ToolSpec(name="photos__crop", description="Cut a picture to a smaller size."),
    ToolSpec(name="time", description="Tell the time.", aliases=("clock",)),
]


def filled(tools: Sequence[ToolSpec]) -> ToolIndex:
    index = ToolIndex(EMBEDDER)
    index.sync(tools)
    texts = index.missing()
    index.supply(dict(zip(texts, EMBEDDER.embed(texts), strict=True)))
    return index


def names(index: ToolIndex, query: str, tools: Sequence[ToolSpec] = TOOLS, limit: int = 3) -> list[str]:
    return [hit.tool.name for hit in index.rank(query, tools, limit=limit)]


def test_meaning_finds_what_words_do_not() -> None:
    assert names(filled(TOOLS), "trim this photograph", limit=1) == ["photos__crop"]
    assert names(ToolIndex(), "trim this photograph", limit=1) == []


@pytest.mark.parametrize("said", ["mail__send", "please call mail__send about the weather"])
def test_a_tool_that_is_called_by_name_comes_first_and_surely(said: str) -> None:
    hit = filled(TOOLS).rank(said, TOOLS, limit=1)[0]
    assert (hit.tool.name, hit.score) == ("mail__send", 1.0)


def test_an_alias_is_a_name_but_a_word_in_a_sentence_is_not() -> None:
    index = filled(TOOLS)
    assert index.rank("clock", TOOLS, limit=1)[0].score == 1.0
    assert index.rank("time to send a mail", TOOLS, limit=1)[0].score < 1.0


def test_the_score_says_when_nothing_fits() -> None:
    index = filled(TOOLS)
    fitting = index.rank("send an e-mail message to Ana", TOOLS, limit=1)[0].score
    strange = index.rank("tighten the bolts of the left wing", TOOLS, limit=1)[0].score
    assert fitting > 0.5 > 0.1 > strange


def test_a_tools_own_examples_find_it() -> None:
    said = "let granny know that we are coming"
    shown = [
        replace(tool, examples=("Tell grandma we will come.",) * (tool.name == "photos__crop"))
        for tool in TOOLS
    ]
    assert names(filled(TOOLS), said, TOOLS, limit=1) != ["photos__crop"]
    assert names(filled(shown), said, shown, limit=1) == ["photos__crop"]


def test_past_requests_teach_what_descriptions_do_not_say() -> None:
    index = filled(TOOLS)
    before = names(index, "let granny know that we are coming", limit=1)
    taught = ["tell granny that we visit her", "let grandma know about Sunday", "inform granny we are coming"]
    index.learn(
        (text, "mail__send", vector) for text, vector in zip(taught, EMBEDDER.embed(taught), strict=True)
    )
    assert names(index, "let granny know that we are coming", limit=1) == ["mail__send"]
    assert before != ["mail__send"]
    assert names(index, "cut the picture", limit=1) == ["photos__crop"]


def test_past_requests_of_tools_that_are_gone_say_nothing() -> None:
    index = filled(TOOLS)
    index.learn([("fly to the moon", "rocket__fly", EMBEDDER.embed(["fly to the moon"])[0])])
    assert "rocket__fly" not in names(index, "fly to the moon")


def test_tools_come_and_go_without_the_others_being_read_again() -> None:
    index = filled(TOOLS)
    more = [*TOOLS, *(ToolSpec(name=f"n{i}", description=f"Number {i} of a series") for i in range(40))]
    index.sync(more)
    new = index.missing()
    assert all("umber" in text or text.startswith("n") for text in new)
    index.supply(dict(zip(new, EMBEDDER.embed(new), strict=True)))
    assert len(index) == 44
    index.sync(TOOLS)  # most are gone: the arrays are made anew, from vectors that are known
    assert (len(index), index.missing()) == (4, [])
    assert names(index, "trim this photograph", limit=1) == ["photos__crop"]


def test_a_changed_definition_is_a_new_tool() -> None:
    index = filled(TOOLS)
    changed = [ToolSpec(name="mail__send", description="Water the orchids on the balcony."), *TOOLS[2:]]
    assert names(index, "water the orchids", changed, limit=1) == ["mail__send"]


def test_an_empty_question_finds_nothing() -> None:
    assert filled(TOOLS).rank("  ", TOOLS, limit=3) == ()


def unit(*numbers: float) -> NDArray[np.float32]:
    vector = np.array(numbers, np.float32)
    return vector / np.linalg.norm(vector)


def test_a_request_is_learned_once_and_the_oldest_are_forgotten() -> None:
    past = PastRequests()
    past.learn([("a", "t", unit(1, 0)), ("A ", "t", unit(1, 0)), ("a", "u", unit(1, 0))])
    assert len(past) == 2
    past.learn((str(i), "t", unit(1, i)) for i in range(MOST))
    assert len(past) == MOST


def test_far_requests_have_no_voice() -> None:
    past = PastRequests()
    assert past.hear(unit(1, 0), {"t": 0}, count=1) is None
    past.learn([("a", "t", unit(0, 1))])
    assert past.hear(unit(1, 0), {"t": 0}, count=1) is None
    assert past.hear(unit(0, 1), {"other": 0}, count=1) is None


def test_definitions_are_read_as_words() -> None:
    told = Definition(
        ToolSpec(
            name="git_hub__getUserName",
            description="Get a name.\nMore.",
            input_schema={"type": "object", "properties": {"id": {"description": "Whose"}, "odd": True}},
        )
    )
    assert (told.names, told.server, told.opening) == ("get user name", "git hub", "Get a name.")
    assert told.parameters == "id Whose odd"
    assert Definition(ToolSpec(name="x", description="", input_schema={"properties": 3})).parameters == ""
    assert (name_words("HTTPServer_v2"), first_sentence("")) == ("http server v2", "")
    assert tokens([ToolSpec(name="abcd", description="efgh", input_schema={})]) == 2
