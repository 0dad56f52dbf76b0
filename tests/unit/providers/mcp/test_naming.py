import re

from hypothesis import given
from hypothesis import strategies as st

from steward.providers.mcp.naming import registered_names

VALID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def test_names_carry_their_namespace() -> None:
    assert registered_names("files", ["read", "list-all"]) == {
        "read": "files__read",
        "list-all": "files__list-all",
    }
    assert registered_names("", ["read"]) == {"read": "read"}


def test_odd_characters_are_replaced_and_long_names_cut_with_a_mark() -> None:
    names = registered_names("my server", ["do.it/now", "x" * 100])
    assert names["do.it/now"] == "my_server__do_it_now"
    assert re.fullmatch(r"my_server__x{44}_[0-9a-f]{8}", names["x" * 100])


def test_a_name_that_needs_no_change_keeps_it_when_another_collides() -> None:
    names = registered_names("s", ["a.b", "a_b", "a/b"])
    assert names["a_b"] == "s__a_b"
    assert len(set(names.values())) == 3


@given(
    st.text(max_size=80), st.lists(st.text(min_size=1, max_size=90), unique=True, max_size=12), st.randoms()
)
def test_names_are_valid_unique_and_independent_of_order(
    namespace: str, tools: list[str], random: st.DataObject
) -> None:
    names = registered_names(namespace, tools)
    assert set(names) == set(tools)
    assert all(VALID.fullmatch(name) for name in names.values())
    assert len(set(names.values())) == len(tools)
    shuffled = list(tools)
    random.shuffle(shuffled)
    assert registered_names(namespace, shuffled) == names


def test_a_name_that_was_given_stays_whoever_comes_later() -> None:
    first = registered_names("s", ["a b"])
    assert first == {"a b": "s__a_b"}
    later = registered_names("s", ["a b", "a_b"], kept=first)
    assert later["a b"] == "s__a_b"
    assert later["a_b"].startswith("s__a_b_")


def test_a_name_is_not_given_again_when_its_tool_is_gone() -> None:
    assert registered_names("s", ["a_b"], kept={"a b": "s__a_b"})["a_b"] != "s__a_b"


def test_names_of_another_namespace_are_not_kept() -> None:
    assert registered_names("new", ["a"], kept={"a": "old__a"}) == {"a": "new__a"}


def test_a_tool_for_which_no_name_is_left_has_none() -> None:
    marked = registered_names("s", ["a_b"], kept={"a b": "s__a_b"})["a_b"]
    assert registered_names("s", ["a_b"], kept={"a b": "s__a_b", "other": marked}) == {}
