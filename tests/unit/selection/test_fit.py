"""How surely a tool serves a request: compared apart, and read together where it is near."""

from collections.abc import Sequence
from dataclasses import astuple
from typing import Any

import pytest

from steward.contract.tool import ToolSpec
from steward.language.filling import Marks
from steward.language.layout import Layout, ToolText
from steward.language.reading import Readable
from steward.models.reader import TaughtReader, TextsApart, taught_reader
from steward.selection.definitions import Definition
from steward.selection.fit import LOOKED_AT, FitJudge, says_name, weigh, weigh_all
from steward.selection.lexical import stem

TEXT = {"type": "string"}


def tool(name: str, about: str, **properties: Any) -> Readable:
    return Readable(name, about, {"type": "object", "properties": properties, "required": list(properties)})


LIGHT = tool("control_light", "Switch the lights of a room on or off.", room=TEXT)
MAIL = tool("send_email", "Send an e-mail to somebody.", to=TEXT, subject=TEXT)
BRANCH = tool("git checkout!", "Switch to another branch of a repository.", branch_name=TEXT)


@pytest.fixture(scope="module")
def judge() -> FitJudge:
    return FitJudge(TextsApart(), together=taught_reader())


def test_the_tool_that_serves_a_request_fits_best(judge: FitJudge) -> None:
    fits = judge.fits("switch over to the branch develop", [LIGHT, MAIL, BRANCH])
    assert max(fits, key=lambda name: fits[name]) == BRANCH.name


def test_what_no_tool_does_fits_none(judge: FitJudge) -> None:
    fits = judge.fits("knit a scarf for my grandmother", [LIGHT, MAIL, BRANCH])
    assert max(fits.values()) < 0.5


class Counting(TaughtReader):
    def __init__(self) -> None:
        super().__init__()
        self.looked_at = 0

    def mark(self, request: str, tools: Sequence[ToolText]) -> list[tuple[Layout, Marks]]:
        self.looked_at += len(tools)
        return super().mark(request, tools)


def test_only_the_nearest_tools_are_read_together_where_one_of_them_fits() -> None:
    reader = Counting()
    about = "Counts the sheep of field {}."
    others = [tool(f"tool_{each}", about.format(each), field=TEXT) for each in range(20)]
    FitJudge(TextsApart(), together=reader).fits("send an email to Eva about lunch", [MAIL, *others])
    assert reader.looked_at == LOOKED_AT


def test_tools_behind_those_that_were_read_are_no_better_than_the_last_of_them(judge: FitJudge) -> None:
    others = [
        ToolSpec(name=f"tool_{number}", description=f"Counts sheep of field {number}.")
        for number in range(20)
    ]
    judged = judge.judge("count the sheep of field 3", [Definition(each) for each in others])
    assert [each.fit for each in judged] == sorted((each.fit for each in judged), reverse=True)


def test_a_pair_that_was_read_is_not_read_again() -> None:
    reader = TaughtReader()
    text = reader.tool(MAIL.name, MAIL.description, MAIL.schema)
    [(_, first)] = reader.mark("send an email to Eva", [text])
    [(_, again)] = reader.mark("send an email to Eva", [text])
    assert again is first


@pytest.mark.parametrize(
    ("said", "named"),
    [("pause the music", True), ("send an e mail to Bo", False), ("pause the print", False)],
)
def test_a_tool_is_called_by_its_own_name_or_by_that_of_its_server(said: str, named: bool) -> None:
    player = Definition(ToolSpec(name="music__pause_playback", description="Pause.", input_schema={}))
    assert says_name(player, frozenset(stem(word) for word in said.split())) is named


def test_a_page_beside_many_tools_is_weighed_as_beside_each_alone() -> None:
    reader = TextsApart()
    page, *tools = reader.read(["Book a table for two in Lisbon. " * 60, "books tables", "plays music", "x"])
    for together, alone in zip(weigh_all(page, tools), [weigh(page, each) for each in tools], strict=True):
        assert astuple(together) == pytest.approx(astuple(alone), abs=1e-5)
