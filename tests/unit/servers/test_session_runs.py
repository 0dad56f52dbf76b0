"""What a client's session has read so far is that client's own."""

from steward.servers.gateway.callers import SessionKey
from steward.servers.gateway.calls import MOST_RUNS, SessionRuns

ANA, BEN = SessionKey("ana", "s1"), SessionKey("ben", "s1")


def test_a_session_goes_on_with_what_it_has_read():
    runs = SessionRuns()
    assert runs.of(ANA) is runs.of(ANA)


def test_the_same_id_in_another_holders_hands_is_another_run():
    runs = SessionRuns()
    assert runs.of(ANA) is not runs.of(BEN)


def test_without_a_session_nothing_is_kept():
    assert SessionRuns().of(SessionKey("ana", "")) is None


def test_whoever_opens_many_sessions_loses_their_own_oldest_and_nobody_elses():
    runs = SessionRuns()
    kept = runs.of(ANA)
    first = runs.of(BEN)
    for number in range(MOST_RUNS + 1):
        runs.of(SessionKey("ben", f"more{number}"))
    assert runs.of(ANA) is kept
    assert runs.of(BEN) is not first


def test_a_session_that_ended_is_forgotten():
    runs = SessionRuns()
    before = runs.of(ANA)
    runs.forget("s1")
    assert runs.of(ANA) is not before
