"""Who is signed in: visits, the key each acts with, and the one-time addresses that begin them."""

import pytest

from steward.surfaces.web.visits import (
    COOKIE,
    LINK_SECONDS,
    MOST_LINKS,
    SECONDS_KEPT,
    SignInLinks,
    Visits,
    cookie_of,
    word_in,
)


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def code(path: str) -> str:
    assert path.startswith("/sign-in?code=")
    return path.partition("=")[2]


def test_a_visit_is_known_until_it_is_forgotten() -> None:
    kept = Visits()
    here, there = kept.begin("key"), kept.begin("other")
    assert (kept.recall(here), kept.recall(there), kept.recall("planted"), kept.recall("")) == (
        "key",
        "other",
        None,
        None,
    )
    kept.forget(here)
    kept.forget(here)
    assert (kept.recall(here), kept.recall(there)) == (None, "other")


def test_a_visit_ends_after_a_long_absence_and_not_while_it_goes_on() -> None:
    clock = Clock()
    kept = Visits(clock)
    here, away = kept.begin("key"), kept.begin("other")
    clock.now += SECONDS_KEPT - 1
    assert kept.recall(here) == "key"
    clock.now += 2
    assert (kept.recall(here), kept.recall(away)) == ("key", None)


def test_a_browser_gets_a_word_that_no_script_and_no_other_site_can_use() -> None:
    word = Visits().begin("key")
    assert cookie_of(word) == f"{COOKIE}={word}; Path=/; HttpOnly; SameSite=Strict"
    assert len(word) >= 43


@pytest.mark.parametrize(
    ("sent", "word"),
    [("", ""), ('x="', ""), (f"{COOKIE}=", ""), (COOKIE, ""), (f"theme=dark; {COOKIE}=known", "known")],
)
def test_a_visits_word_is_found_among_other_cookies(sent: str, word: str) -> None:
    assert word_in(sent) == word


def test_an_address_is_good_for_one_use() -> None:
    links = SignInLinks()
    one, two = code(links.make("key")), code(links.make("other"))
    assert [links.use(each) for each in (one, one, two, "guessed", "")] == ["key", None, "other", None, None]


def test_an_address_is_good_for_some_minutes() -> None:
    clock = Clock()
    links = SignInLinks(clock)
    early, late = code(links.make("key")), code(links.make("key"))
    clock.now += LINK_SECONDS - 1
    assert links.use(early) == "key"
    clock.now += 2
    assert links.use(late) is None


def test_addresses_that_nobody_uses_do_not_pile_up() -> None:
    links = SignInLinks()
    made = [code(links.make("key")) for _ in range(MOST_LINKS + 1)]
    assert [links.use(made[0]), links.use(made[1]), links.use(made[-1])] == [None, "key", "key"]
