"""From marks to calls, with marks that a reader could have made."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from steward.language.filling import FilledCall, Marks, fill
from steward.language.layout import Layout, lay_out, tool_text
from steward.language.values import Said

TABLE = {
    "guest": {"type": "string"},
    "people": {"type": "integer"},
    "needs": {"type": "array", "items": {"type": "string"}},
    "place": {"type": "string", "enum": ["indoor", "outdoor"]},
    "quiet": {"type": "boolean"},
}


@dataclass
class Words:
    """A tokenizer that knows no pieces: one number a word."""

    ids: list[int]
    offsets: list[tuple[int, int]]


def words(text: str) -> Words:
    offsets: list[tuple[int, int]] = []
    at = 0
    for word in text.split():
        start = text.index(word, at)
        at = start + len(word)
        offsets.append((start, at))
    return Words([1000 + len(word) for word in text.split()], offsets)


@dataclass
class Marking:
    """Marks under construction: what a reader points at."""

    request: str
    layout: Layout

    def __post_init__(self) -> None:
        slots, tokens = len(self.layout.slots), self.layout.request_tokens
        self.spans = np.full((3, slots, tokens), 0.001, np.float32)
        self.there = np.full(slots, 0.01, np.float32)
        self.chosen = np.full(len(self.layout.choices), 0.01, np.float32)
        self.calls = np.array([1, 0, 0, 0], np.float32)
        self.starts = np.zeros(tokens, np.float32)
        self.shared = np.zeros(tokens, np.float32)

    def _tokens(self, piece: str) -> tuple[int, int]:
        start = self.request.index(piece)
        inside = [
            at
            for at, (left, right) in enumerate(self.layout.offsets)
            if left < start + len(piece) and right > start
        ]
        return inside[0], inside[-1]

    def _slot(self, name: str) -> int:
        return next(at for at, slot in enumerate(self.layout.slots) if slot.name == name)

    def point(self, name: str, piece: str, sure: float = 0.95) -> "Marking":
        slot, (first, last) = self._slot(name), self._tokens(piece)
        self.spans[0, slot, first] = self.spans[1, slot, last] = sure
        self.spans[2, slot, first : last + 1] = sure
        self.there[slot] = sure
        return self

    def choose(self, name: str, *values: Any) -> "Marking":
        for at, (slot, value) in enumerate(self.layout.choices):
            if slot == self._slot(name) and value in values:
                self.chosen[at] = 0.95
                self.there[slot] = 0.95
        return self

    def several(self, count: int, *starts: str, shared: tuple[str, ...] = ()) -> "Marking":
        self.calls = np.eye(4, dtype=np.float32)[count - 1]
        for piece in starts:
            self.starts[self._tokens(piece)[0]] = 0.9
        for piece in shared:
            first, last = self._tokens(piece)
            self.shared[first : last + 1] = 0.9
        return self

    def filled(self) -> list[FilledCall]:
        marks = Marks(
            0.9, self.calls, self.calls, self.spans, self.there, self.chosen, self.starts, self.shared
        )
        return fill(Said(self.request), self.layout, marks)

    def arguments(self) -> list[dict[str, Any]]:
        return [dict(call.arguments) for call in self.filled()]


def marking(request: str, *required: str, **properties: Any) -> Marking:
    schema = {"type": "object", "properties": properties or TABLE, "required": list(required)}
    return Marking(request, lay_out(words(request), tool_text("book", "Book a table", schema, words)))


def test_what_is_pointed_at_fills_its_slot() -> None:
    marked = marking("a table for Ana with 4 people").point("guest", "Ana").point("people", "4")
    assert marked.arguments() == [{"guest": "Ana", "people": 4}]


def test_the_places_of_the_values_are_told() -> None:
    [call] = marking("a table for Ana").point("guest", "Ana").filled()
    assert call.where == {"guest": (12, 15)}


def test_a_required_value_that_nobody_said_is_missing() -> None:
    [call] = marking("a table for Ana", "people").point("guest", "Ana").filled()
    assert [slot.name for slot in call.missing] == ["people"]


@pytest.mark.parametrize(("required", "filled"), [((), {}), (("guest",), {"guest": "Ana"})])
def test_words_for_a_slot_that_is_hardly_mentioned_fill_it_only_where_it_is_required(
    required: tuple[str, ...], filled: dict[str, Any]
) -> None:
    marked = marking("a table for Ana", *required).point("guest", "Ana", sure=0.3)
    marked.there[:] = 0.01
    assert marked.arguments() == [filled]


def test_no_words_fill_two_slots() -> None:
    texts = {"host": {"type": "string"}, "guest": {"type": "string"}}
    marked = marking("dinner with Ana", "host", "guest", **texts).point("host", "Ana", sure=0.9)
    assert marked.point("guest", "Ana", sure=0.4).arguments() == [{"host": "Ana"}]


def test_words_that_are_no_number_fill_no_number() -> None:
    assert marking("a table for some people").point("people", "some").arguments() == [{}]


def test_choices_of_a_list_come_in_the_order_in_which_they_are_said() -> None:
    metrics = {"by": {"type": "array", "items": {"type": "string", "enum": ["cost", "energy_use", "age"]}}}
    marked = marking("compare them by energy use and cost", **metrics).choose("by", "cost", "energy_use")
    assert marked.arguments() == [{"by": ["energy_use", "cost"]}]


def test_choices_that_are_said_in_other_words_come_last() -> None:
    metrics = {"by": {"type": "array", "items": {"type": "string", "enum": ["cost", "energy_use", "age"]}}}
    marked = marking("compare how old they are and their energy use", **metrics).choose(
        "by", "energy_use", "age"
    )
    assert marked.arguments() == [{"by": ["energy_use", "age"]}]


def test_a_list_takes_all_that_is_pointed_at() -> None:
    marked = marking("no nuts and no milk please").point("needs", "nuts").point("needs", "milk")
    assert marked.arguments() == [{"needs": ["nuts", "milk"]}]


def test_a_list_in_brackets_is_taken_as_written() -> None:
    marked = marking('needs ["nuts", "milk"] please').point("needs", '["nuts",')
    assert marked.arguments() == [{"needs": ["nuts", "milk"]}]


def test_brackets_that_are_no_json_are_parted_by_commas() -> None:
    marked = marking("needs [nuts, milk] please").point("needs", "milk]")
    assert marked.arguments() == [{"needs": ["nuts", "milk"]}]


def test_a_span_with_commas_is_a_list_of_its_members() -> None:
    marked = marking("without nuts, milk, and fish").point("needs", "nuts, milk, and fish")
    assert marked.arguments() == [{"needs": ["nuts", "milk", "fish"]}]


def test_a_choice_is_made_by_its_likelihood() -> None:
    assert marking("outside please").choose("place", "outdoor").arguments() == [{"place": "outdoor"}]


def test_a_required_choice_is_made_on_less() -> None:
    marked = marking("a table", "quiet").choose("quiet", True)
    marked.chosen *= 0.3
    marked.there *= 0.3
    assert marked.arguments() == [{"quiet": True}]


def test_a_list_of_choices_takes_every_likely_one() -> None:
    days = {"days": {"type": "array", "items": {"type": "string", "enum": ["mo", "tu", "we"]}}}
    assert marking("x y", **days).choose("days", "mo", "we").arguments() == [{"days": ["mo", "we"]}]


def test_fields_of_an_object_become_an_object() -> None:
    inner = {"type": "object", "properties": {"city": {"type": "string"}}}
    assert marking("to Rome", address=inner).point("address.city", "Rome").arguments() == [
        {"address": {"city": "Rome"}}
    ]


def two_tables() -> Marking:
    marked = marking("tables for Ana with 4 and for Bo with 2", "guest")
    marked = marked.point("guest", "Ana").point("people", "4").point("guest", "Bo").point("people", "2")
    return marked.several(2, "Bo")


def test_several_calls_are_cut_where_the_next_one_begins() -> None:
    assert two_tables().arguments() == [{"guest": "Ana", "people": 4}, {"guest": "Bo", "people": 2}]


def test_a_shared_value_goes_to_every_call() -> None:
    marked = marking("tables for Ana and Bo with 4 each").point("guest", "Ana").point("guest", "Bo")
    marked = marked.point("people", "4").several(2, "Bo", shared=("4",))
    assert [call["people"] for call in marked.arguments()] == [4, 4]


def test_a_required_value_is_inherited_by_the_next_call() -> None:
    marked = marking("for Ana 4 or else 6", "guest").point("guest", "Ana").point("people", "4")
    marked = marked.point("people", "6").several(2, "6")
    assert [call["guest"] for call in marked.arguments()] == ["Ana", "Ana"]


def test_choices_of_several_calls_follow_their_order() -> None:
    marked = two_tables().choose("place", "indoor", "outdoor")
    assert len({call["place"] for call in marked.arguments()}) == 2


def test_one_choice_holds_for_all_calls() -> None:
    assert [call["place"] for call in two_tables().choose("place", "indoor").arguments()] == ["indoor"] * 2


@pytest.mark.parametrize("count", [2, 4])
def test_several_calls_without_a_second_place_are_one(count: int) -> None:
    marked = marking("a table for Ana").point("guest", "Ana").several(count)
    assert marked.arguments() == [{"guest": "Ana"}]
