"""Somebody without a key, on the same machine or behind a proxy."""

from tests.attacks.conftest import Victim


def test_a_stranger_without_a_key_is_nobody_where_a_key_is_set(victim: Victim) -> None:
    assert victim.client().get("/v1/tasks").status_code == 401


def test_a_key_that_nobody_made_is_refused(victim: Victim) -> None:
    assert victim.client("stw_made_up").get("/v1/tasks").status_code == 401
