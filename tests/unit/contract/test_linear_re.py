"""Patterns over text from outside mean what they mean in `re`, and take time linear in the text."""

import re
import string
import subprocess
import sys
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steward.contract import linear_re
from steward.contract.linear_syntax import Alphabet, NotLinear, translate

PATTERNS = (
    (r"\b(?:add|caf\u00e9)\b", re.IGNORECASE),
    (r"(?P<first>\w+)\s+(?P<second>\d+)?", 0),
    (r"[^\W_]+(?:['\u2019][^\W_]+)?", 0),
    (r"^\s*(\S.*?)\s*$", re.MULTILINE),
    (r"^\s*(\S.*?)\s*$", re.DOTALL),
    (r"\Aa|b\Z|\B-\B|.$", 0),
    (r"[\u2010-\u2014a-f]{2,3}?|[^x]|x*", 0),
    (r"(?i:k)s|(?:(a)|(b))+|\S\D\W", 0),
    ("a b # a comment\n | c", re.VERBOSE),
    (r"(?:[^\s\S]|q)+x", 0),
)
ALPHABET = "abKk1_ \n\t-'xqcfs\u00e9\u00c9\u2019\u2012\u212a\u017f\u0130\u0663\u2003\u05d0\u2603\u00b2"


@pytest.mark.parametrize(("pattern", "flags"), PATTERNS)
@settings(max_examples=60, deadline=None)
@given(text=st.text(ALPHABET, max_size=24))
def test_a_pattern_finds_what_it_finds_in_re(pattern: str, flags: int, text: str):
    ours, theirs = linear_re.compile(pattern, flags), re.compile(pattern, flags)
    assert ours.linear or ours.plain is not None
    assert [_all(each) for each in ours.finditer(text)] == [_all(each) for each in theirs.finditer(text)]
    assert _all(ours.match(text)) == _all(theirs.match(text))
    assert _all(ours.fullmatch(text)) == _all(theirs.fullmatch(text))
    assert _all(ours.search(text, 2)) == _all(theirs.search(text, 2))
    assert ours.split(text, 2) == theirs.split(text, 2)
    assert ours.findall(text) == theirs.findall(text)
    assert ours.subn("<\\g<0>>", text) == theirs.subn("<\\g<0>>", text)


def _all(found: Any) -> Any:
    if found is None:
        return None
    return found.span(), found.groups(), found.groupdict(), found.lastindex, found.lastgroup, found.string


@pytest.mark.parametrize(
    "pattern", [r"a(?=b)", r"(a)\1", r"a++b", "a{1,2000}b", r"(?a)\w+b", r"[\u0100-\uffff]+a"]
)
def test_what_re2_cannot_express_is_run_by_re(pattern: str):
    ours, theirs = linear_re.compile(pattern), re.compile(pattern)
    text = "xaabab\u0101a"
    assert not ours.linear
    assert [each.span() for each in ours.finditer(text)] == [each.span() for each in theirs.finditer(text)]
    assert _all(ours.search(text)) == _all(theirs.search(text))
    assert _all(ours.match(text, 1)) == _all(theirs.match(text, 1))
    assert _all(ours.fullmatch(text)) == _all(theirs.fullmatch(text))
    assert (ours.findall(text), ours.split(text)) == (theirs.findall(text), theirs.split(text))
    assert ours.sub("-", text) == theirs.sub("-", text)


@pytest.mark.parametrize(
    ("pattern", "quick"),
    [
        (r"[^\W_]+", True),
        (r"https?://(?:\S+|x)", True),
        (r"\d?a|b+", True),
        (r"x(ab+)", True),
        (r"\A[a-z]*+[.]?x", True),
        (r"[a-z]*+[.]?x", False),
        (r"\A(?:ab)*+x", False),
        (r"a+b", False),
        (r"(?:ab)+", False),
        (r"(?:a|b+)c", False),
        (r"(a+)c", False),
        (r"a+?", False),
    ],
)
def test_what_re_runs_in_linear_time_too_is_left_to_it(pattern: str, quick: bool):
    assert (linear_re.compile(pattern).plain is not None) is quick


def test_a_pattern_too_large_for_re2_is_run_by_re():
    assert not linear_re.compile("(?:(?:ab?c{0,900}){0,900}){0,900}").linear


@pytest.mark.parametrize("pattern", [r"(?P<a>a)(\s+)(?!b)(c)?", r"(?=\s)\s+", r"(?<=a)\s+|b(?!\s)"])
@settings(max_examples=40, deadline=None)
@given(text=st.lists(st.sampled_from(["a", "b", "c", " " * 17, " " * 40, "\n", "\t" * 9, " "]), max_size=8))
def test_long_rows_of_blanks_change_nothing_for_what_re_runs(pattern: str, text: list[str]):
    ours, theirs, said = linear_re.compile(pattern), re.compile(pattern), "".join(text)
    assert [_all(each) for each in ours.finditer(said)] == [_all(each) for each in theirs.finditer(said)]
    assert _all(ours.search(said, 3)) == _all(theirs.search(said, 3))


def test_a_long_row_of_blanks_does_not_slow_what_re_runs():
    started = time.perf_counter()
    assert linear_re.search(r"\s*,?\s*(?=x)\s*y", "a" + " " * 100_000 + "b") is None
    assert time.perf_counter() - started < 1


def test_groups_are_told_by_number_and_name():
    found = linear_re.compile(r"(?P<one>a)(b)?(c)").search("ac")
    assert found is not None
    assert (found["one"], found[2], found.group(3)) == ("a", None, "c")
    assert (found.group(), found.group(1, "one")) == ("ac", ("a", "a"))
    assert (found.start(3), found.end("one"), found.span(2)) == (1, 1, (-1, -1))


def test_a_replacement_may_be_a_function_or_name_groups():
    pattern = linear_re.compile(r"(?P<word>[a-z]+)(\d)?")
    assert pattern.sub(lambda found: found[0].upper(), "ab1 c") == "AB1 C"
    assert pattern.sub(r"\g<word>\2\\", "ab1 c", count=1) == "ab1\\ c"


def test_the_functions_of_re_are_there():
    assert linear_re.search("b", "abc") is not None
    assert linear_re.match("b", "abc") is None
    assert linear_re.fullmatch("ABC", "abc", linear_re.IGNORECASE) is not None
    assert [each[0] for each in linear_re.finditer(r"\w", "ab")] == ["a", "b"]
    assert linear_re.findall("(a)(b)?", "ab a") == [("a", "b"), ("a", "")]
    assert linear_re.split(r",\s*", "a, b,c", maxsplit=1) == ["a", "b,c"]
    assert linear_re.sub("a", "b", "aa", count=1) == "ba"


def test_a_pattern_that_was_made_first_reads_characters_that_a_later_one_names():
    first = linear_re.compile(r"\w+\b")
    assert first.findall("\u0436\u0436 \u0416") == ["\u0436\u0436", "\u0416"]
    assert linear_re.compile("\u0436+\\b", re.IGNORECASE).findall("\u0436 \u0416") == ["\u0436", "\u0416"]
    assert first.findall("\u0436\u0436 \u0416") == ["\u0436\u0436", "\u0416"]


def test_a_text_of_many_megabytes_is_read():
    assert len(linear_re.findall("\u00e9+b", "\u00e9" * 1_100_000 + "b")) == 1


def test_an_alphabet_has_an_end():
    with pytest.raises(NotLinear):
        Alphabet().add(map(chr, range(0x400, 0x500)))


def test_a_pattern_that_tells_every_letter_apart_keeps_re_for_its_word_boundaries():
    letters = string.ascii_letters + string.digits + "_"
    with pytest.raises(NotLinear):
        translate(rf"\b{letters}\b", 0)


def test_time_grows_with_the_text_and_no_faster():
    started = time.perf_counter()
    assert linear_re.search(r"(?:\s*,?\s*)*(?:\w+\s*)*x$", "Add a" + " " * 100_000 + "b" * 100_000) is None
    assert time.perf_counter() - started < 1


def test_naming_a_pattern_does_not_load_re2():
    program = "import sys; from steward.contract import linear_re as r; r.compile('a'); sys.exit('re2' in sys.modules)"  # noqa: E501
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
