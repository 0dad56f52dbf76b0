"""Words for who decides."""

import pytest

from steward.contract.deciding import LONGEST_CLIENT, Role, client_name
from steward.contract.errors import InputError


def test_roles_grow():
    assert Role.READ < Role.USE < Role.APPROVE < Role.ADMIN


def test_a_role_is_read_by_its_word():
    assert Role.parse("Approve") is Role.APPROVE


def test_a_word_that_is_no_role_is_refused_with_those_that_are():
    with pytest.raises(InputError, match="no role 'king'") as refused:
        Role.parse("king")
    assert "read, use, approve, admin" in refused.value.explain()


@pytest.mark.parametrize(
    ("claimed", "kept"),
    [(None, ""), ("", ""), ("cursor/1.2", "cursor/1.2"), (" a\n\x1b[31mb\u202e ", "a [31mb")],
)
def test_a_programs_name_is_kept_as_one_plain_line(claimed: str | None, kept: str):
    assert client_name(claimed) == kept


def test_a_long_name_is_cut():
    assert len(client_name("x" * 5_000)) == LONGEST_CLIENT
