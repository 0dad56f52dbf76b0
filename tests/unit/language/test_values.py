"""A piece of a request as the value that a slot takes."""

from datetime import datetime
from typing import Any

import pytest

from steward.language.formats import wanted_format
from steward.language.slots import Slot, slots_of
from steward.language.values import Moment, Said, item_of, value_of


def slot_of(**schema: Any) -> Slot:
    [slot] = slots_of({"type": "object", "properties": {"it": schema}})
    return slot


def value(text: str, piece: str, *moments: Moment, **schema: Any) -> Any:
    start = text.index(piece)
    return value_of(slot_of(**schema), Said(text, moments), start, start + len(piece))


def moment(text: str, piece: str, *when: int, timed: bool = False, dated: bool = True) -> Moment:
    start = text.index(piece)
    return Moment(start, start + len(piece), datetime(*when), timed, dated)  # type: ignore[arg-type]  # noqa: DTZ001


def test_a_text_loses_its_edges() -> None:
    assert value("call (mom)!", "mom)!", type="string") == "mom"


def test_brackets_that_belong_to_a_text_stay() -> None:
    assert value("plot f(x) now", "f(x)", type="string") == "f(x)"


@pytest.mark.parametrize(
    ("text", "piece", "taken"),
    [
        ("what is (9+6)*3?", "9+6)*3", "(9+6)*3"),
        ("the charts (of AVL (north)) please", "AVL (north", "AVL (north)"),
        ("call Ana (or Bo) now", "Ana (or", "Ana (or"),
    ],
)
def test_a_bracket_inside_takes_in_its_partner(text: str, piece: str, taken: str) -> None:
    assert value(text, piece, type="string") == taken


def test_a_comma_before_the_closing_quote_is_no_part_of_a_text() -> None:
    assert value('call it "Night Owls," please', "Night Owls", type="string") == "Night Owls"


@pytest.mark.parametrize("quotes", ['""', "“”", "``", "''", "«»"])
def test_all_between_quotes_is_taken(quotes: str) -> None:
    text = f"send {quotes[0]}see you at ten, Ana{quotes[1]} to Bo, who waits for it since this morning"
    assert value(text, "at ten", type="string") == "see you at ten, Ana"


def test_an_apostrophe_is_no_quote() -> None:
    assert value("book Luigi's and Mario's place", "Luigi's", type="string") == "Luigi's"


def test_a_number_is_taken_whole() -> None:
    assert value("a room for 1,250 euros", "250", type="integer") == 1250


def test_a_number_keeps_its_sign_and_its_decimals() -> None:
    assert value("cool to -12.5 degrees", "12", type="number") == -12.5


def test_an_exponent_is_no_number_of_its_own() -> None:
    assert value("derive x^2 at 5", "2", type="integer") is None


def test_a_fraction_of_one_is_no_whole_number() -> None:
    assert value("take 2.5 of it", "2.5", type="integer") is None


def test_words_that_are_no_number_give_none() -> None:
    assert value("take some of it", "some", type="integer") is None


def test_percent_becomes_a_fraction() -> None:
    assert value("at 5% a year", "5", type="number") == 0.05


def test_percent_stays_where_percent_is_asked_for() -> None:
    assert value("at 5% a year", "5", type="number", description="Rate in percent") == 5


def test_a_choice_is_spelled_as_the_schema_does() -> None:
    assert value("make it HIGH", "HIGH", type="string", enum=["low", "high"]) == "high"


def test_a_choice_that_is_none_gives_none() -> None:
    assert value("make it huge", "huge", type="string", enum=["low", "high"]) is None


def test_a_switch_is_read_from_yes_and_no() -> None:
    assert value("urgent: yes", "yes", type="boolean") is True


def test_an_object_is_not_read_from_words() -> None:
    assert value("with this", "this", type="object") is None


def test_a_member_of_a_list_has_its_own_type() -> None:
    slot = slot_of(type="array", items={"type": "integer"})
    assert item_of(slot, Said("add 4 and 5"), 4, 5) == 4


DATES = [
    ({"format": "date"}, "2026-12-24"),
    ({"description": "Day, YYYY-MM-DD"}, "2026-12-24"),
    ({"description": "MM/DD/YYYY"}, "12/24/2026"),
    ({"description": "as DD.MM.YYYY"}, "24.12.2026"),
    ({"format": "date-time"}, "2026-12-24T18:30:00"),
    ({"description": "ISO 8601 date and time"}, "2026-12-24T18:30:00"),
    ({"description": "Start, HH:MM"}, "18:30"),
    ({"format": "time"}, "18:30"),
]


@pytest.mark.parametrize(("schema", "wanted"), DATES)
def test_a_date_is_written_as_asked_for(schema: dict[str, Any], wanted: str) -> None:
    text = "on christmas eve at half past six"
    day = moment(text, "christmas eve", 2026, 12, 24)
    clock = moment(text, "half past six", 2026, 12, 24, 18, 30, timed=True)
    assert value(text, "christmas eve at half past six", day, clock, type="string", **schema) == wanted


def test_a_date_stays_in_words_where_no_format_is_asked_for() -> None:
    text = "on christmas eve"
    day = moment(text, "christmas eve", 2026, 12, 24)
    assert value(text, "christmas eve", day, type="string", description="Day") == "christmas eve"


def test_words_without_a_date_stay_words() -> None:
    assert value("on doomsday", "doomsday", type="string", format="date") == "doomsday"


def test_a_time_that_was_not_said_stays_words() -> None:
    text = "on christmas eve"
    day = moment(text, "christmas eve", 2026, 12, 24)
    assert value(text, "christmas eve", day, type="string", format="time") == "christmas eve"


def test_nothing_is_asked_for_by_default() -> None:
    assert wanted_format({"description": "The name"}) is None


@pytest.mark.parametrize(
    ("text", "piece", "meant"),
    [
        ("Read the file .env", "env", ".env"),
        ("Read .env.", ".env.", ".env"),
        ("read ../notes.txt please", "notes.txt", "../notes.txt"),
        ("read ./notes.txt", "/notes.txt", "./notes.txt"),
        ("Stop. Notes", "Notes", "Notes"),
        ("wait ... notes", "notes", "notes"),
    ],
)
def test_the_dots_that_begin_a_name_belong_to_it(text: str, piece: str, meant: str) -> None:
    assert value(text, piece, type="string") == meant


def named(text: str, piece: str, name: str, **schema: Any) -> Any:
    [slot] = slots_of({"type": "object", "properties": {name: {"type": "string", **schema}}})
    start = text.index(piece)
    return value_of(slot, Said(text), start, start + len(piece))


@pytest.mark.parametrize(
    ("piece", "slot", "expected"),
    [
        ("the Budget spreadsheet", "spreadsheet", "Budget"),
        ("the Budget spreadsheet", "sheet_title", "Budget spreadsheet"),
        ("cell B7", "cell", "B7"),
        ("New York City", "city", "New York City"),
        ("birthday message", "message", "birthday message"),
        ("my playlist", "playlist", "my playlist"),
    ],
)
def test_a_name_comes_without_the_kind_of_thing_that_its_slot_says(
    piece: str, slot: str, expected: str
) -> None:
    assert named(f"use {piece} now", piece, slot) == expected


@pytest.mark.parametrize("piece", ["darkmode", "feature"])
def test_a_piece_of_a_path_is_all_of_it(piece: str) -> None:
    assert named("merge feature/darkmode now", piece, "branch") == "feature/darkmode"


def test_a_k_behind_kilometres_is_no_thousand() -> None:
    assert named("ran 5k today", "5k", "distance_km", type="number") == 5
    assert named("pay 5k today", "5k", "amount", type="number") == 5000


@pytest.mark.parametrize(
    ("text", "piece", "taken"),
    [
        ("comment on 12 that it fails on firefox 140", "it fails on firefox", "it fails on firefox 140"),
        ("comment on 12 that it fails on firefox 140.", "it fails on firefox", "it fails on firefox 140"),
        ("set the lamp to 40", "lamp", "lamp"),
        ("say we meet at noon 3 times", "we meet at noon", "we meet at noon"),
    ],
)
def test_what_is_told_goes_on_to_the_number_at_its_end(text: str, piece: str, taken: str) -> None:
    assert value(text, piece, type="string") == taken
