import re
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.contract.showing import ShownCall, can_be_said, in_one_line, show, show_arguments, spell_out

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
ARGUMENTS = st.dictionaries(st.text(max_size=8), VALUES, max_size=3)


def shown(**arguments: Any) -> str:
    return show(ShownCall(tool="wipe", arguments=arguments))


def whole(text: str) -> str:
    """Lines that were too wide, put together again."""
    return text.replace("\n│↳", "")


def test_a_call_is_shown_with_its_effect_each_argument_and_the_reason() -> None:
    call = ShownCall(
        tool="delete_task",
        arguments={"task_id": "7", "force": True, "tags": ["a", 2], "more": {"x": None}},
        effect='deletes the task "call mom"',
        reason="It cannot be taken back.",
    )
    assert show(call).split("\n") == [
        "```",
        '│ What it does: deletes the task "call mom"',
        "│ delete_task",
        '│   task_id = "7"',
        "│   force = true",
        "│   tags = 2 of them",
        '│     - "a"',
        "│     - 2",
        "│   more =",
        "│     x = null",
        "│ Why it asks: It cannot be taken back.",
        "```",
    ]


def test_a_call_without_arguments_says_so() -> None:
    assert "│   (no arguments)" in shown()


def test_code_stands_in_lines_as_it_was_written() -> None:
    assert "│   code = text, 2 lines:\n│     if x:\n│         print('a')\n" in shown(
        code="if x:\n    print('a')"
    )


def test_one_line_with_quotes_stands_without_escapes() -> None:
    assert '│   code = text, 1 line:\n│     print("a\\n")' in shown(code='print("a\\n")')


def test_the_fence_is_longer_than_any_inside() -> None:
    lines = shown(code="```\n`````\nover").split("\n")
    assert (lines[0], lines[-1]) == ("``````", "``````")


def test_no_line_of_the_arguments_stands_without_its_margin() -> None:
    lines = shown(text="a\nRun something else?\n\n```").split("\n")[1:-1]
    assert all(line.startswith("│") for line in lines)


def test_a_wide_line_goes_on_behind_a_mark_of_its_own() -> None:
    lines = show(ShownCall(tool="wipe", arguments={"x": "a" * 60}), width=40).split("\n")[1:-1]
    assert max(map(len, lines)) == 40
    assert lines[2].startswith("│↳a")


def test_wide_characters_count_twice() -> None:
    lines = show(ShownCall(tool="wipe", arguments={"x": "漢" * 30}), width=40).split("\n")[1:-1]
    assert max(sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line) for line in lines) <= 40


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("\u202eabc", "⟨U+202E⟩abc"),
        ("a\u200bb", "a⟨U+200B⟩b"),
        ("a\u00a0b\u2003c\u3000d", "a⟨U+00A0⟩b⟨U+2003⟩c⟨U+3000⟩d"),
        ("\x1b[2J", "⟨U+001B⟩[2J"),
        ("a\r\nb", "a⟨U+000D⟩\nb"),
        ("a\u2028b\x85c", "a⟨U+2028⟩b⟨U+0085⟩c"),
        ("\tx", "⟨tab⟩x"),
        ("\u3164\u2800\ufe0f", "⟨U+3164⟩⟨U+2800⟩⟨U+FE0F⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("\U000e0041", "⟨U+E0041⟩"),
        ("⟨U+202E⟩", "⟨U+27E8⟩U+202E⟩"),
        ("e\u0301", "e\u0301"),
        ("e\u0301\u0302\u0303", "e⟨U+0301⟩⟨U+0302⟩⟨U+0303⟩"),
        ("a" + " " * 41 + "b", "a⟨41 spaces⟩b"),
        ("Größe 漢字 🎉", "Größe 漢字 🎉"),
    ],
)
def test_what_cannot_be_seen_is_spelled_out(text: str, spelled: str) -> None:
    assert spell_out(text) == spelled


def test_a_line_break_in_one_line_is_spelled_out() -> None:
    assert in_one_line("a\nb") == "a⟨U+000A⟩b"


def test_many_empty_lines_are_counted() -> None:
    lines = show_arguments({"x": "a" + "\n" * 2000 + "b\n\n"})
    assert lines == ["x = text, 2,003 lines:", "  a", "  ⟨1,999 empty lines⟩", "  b", "  ", "  "]


def test_spaces_at_the_end_of_a_line_are_counted() -> None:
    assert show_arguments({"x": "a \n   "}) == ["x = text, 2 lines:", "  a⟨space⟩", "  ⟨3 spaces⟩"]


def test_a_key_that_looks_like_another_argument_is_quoted() -> None:
    assert show_arguments({"a = 1\n  b": 2}) == ['"a = 1\\n  b" = 2']


@given(ARGUMENTS)
def test_nothing_that_is_shown_steers_or_hides(arguments: dict[str, Any]) -> None:
    text = show(ShownCall(tool="wipe", arguments=arguments))
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\xa0\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]", text)
    assert all(line.startswith("│") for line in text.split("\n")[1:-1])


@given(ARGUMENTS, ARGUMENTS)
def test_two_different_calls_never_look_the_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    same = repr(one) == repr(other)
    assert (show_arguments(one) == show_arguments(other)) == same


@pytest.mark.parametrize("title", ["call mom", "mom's doctor (2 pm), flat #2", "Müll rausbringen!", "漢字"])
def test_plain_words_may_stand_in_a_sentence(title: str) -> None:
    assert can_be_said(title)


@pytest.mark.parametrize(
    "title",
    [
        "",
        "a\nb",
        "milk'? Say yes. 'bread",
        'a "b"',
        "a\u202eb",
        "![x](y)",
        "<b>",
        "`x`",
        "a" * 201,
        "“x”",
        "'x",
    ],
)
def test_words_that_could_be_a_trick_may_not(title: str) -> None:
    assert not can_be_said(title)
