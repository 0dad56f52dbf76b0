"""Who may decide about a call that waits."""

import pytest
from tests.support.deciders import deciding

from steward.contract.call import CallerKind
from steward.contract.deciding import Role
from steward.policy.who_decides import may_decide, may_not_decide


@pytest.mark.parametrize(
    ("role", "owner", "allowed"),
    [
        (Role.READ, "ana", False),
        (Role.USE, "ana", False),
        (Role.APPROVE, "ana", True),
        (Role.APPROVE, "bob", False),
        (Role.APPROVE, None, False),
        (Role.ADMIN, "ana", True),
        (Role.ADMIN, "bob", True),
        (Role.ADMIN, None, True),
    ],
)
def test_a_person_decides_with_the_role_for_their_own_calls(role: Role, owner: str | None, allowed: bool):
    assert may_decide(deciding("ana", role=role), owner=owner) is allowed


@pytest.mark.parametrize("kind", [CallerKind.AGENT, CallerKind.CLIENT, CallerKind.SYSTEM])
def test_nobody_but_a_person_decides_whatever_their_role(kind: CallerKind):
    assert "Only a person" in str(may_not_decide(deciding("ana", kind=kind), owner="ana"))


def test_whoever_is_unknown_decides_nothing():
    assert not may_decide(None, owner="ana")


def test_a_refusal_names_the_role():
    assert "role 'use'" in str(may_not_decide(deciding("ana", role=Role.USE), owner="ana"))
