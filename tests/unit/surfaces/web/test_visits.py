"""Visits of the page: which key a browser that comes back acts with, and when that ends."""

import pytest

from steward.surfaces.web import visits
from steward.surfaces.web.visits import COOKIE, SECONDS_KEPT, Visits, cookie_for


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def word(cookie: str | None) -> str:
    assert cookie is not None
    return cookie.partition(";")[0].partition("=")[2]


def test_a_visit_is_known_until_it_is_forgotten() -> None:
    kept = Visits()
    assert kept.recall("a") is None
    kept.remember("a", "key")
    assert (kept.recall("a"), kept.recall("b")) == ("key", None)
    kept.forget("a")
    kept.forget("a")
    assert kept.recall("a") is None


def test_a_visit_ends_after_a_long_absence_and_not_while_it_goes_on() -> None:
    clock = Clock()
    kept = Visits(clock)
    kept.remember("here", "key")
    kept.remember("away", "other")
    clock.now += SECONDS_KEPT - 1
    assert kept.recall("here") == "key"
    clock.now += 2
    assert (kept.recall("here"), kept.recall("away")) == ("key", None)


def test_a_new_browser_gets_a_word_that_no_script_and_no_other_site_can_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(visits, "VISITS", Visits())
    cookie = cookie_for("")
    assert cookie is not None
    assert cookie.partition("; ")[2] == "Path=/; HttpOnly; SameSite=Lax"
    assert len(word(cookie)) >= 43
    assert word(cookie_for("")) != word(cookie)


@pytest.mark.parametrize("sent", [f"{COOKIE}=planted", 'x="', f"{COOKIE}=", f"{COOKIE}"])
def test_a_word_that_nobody_came_in_with_is_replaced(monkeypatch: pytest.MonkeyPatch, sent: str) -> None:
    monkeypatch.setattr(visits, "VISITS", Visits())
    assert word(cookie_for(sent)) not in ("planted", "")


def test_a_visit_that_is_known_keeps_its_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "VISITS", Visits())
    visits.VISITS.remember("known", "key")
    assert cookie_for(f"theme=dark; {COOKIE}=known") is None
