"""A visit: which key it acts with, and how it is told that something went wrong.

The key lives in the memory of this process only: it is never written down. Loading the page again keeps it,
closing the browser or leaving ends it (visits.py). Signing in happens before the page (gate.py).
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

import streamlit as st

from steward.contract.errors import ErrorCode, StewardError
from steward.surfaces.web.client import Api
from steward.surfaces.web.look import plain
from steward.surfaces.web.visits import COOKIE, VISITS

ROLES = ("read", "use", "approve", "admin")


def api() -> Api:
    kept: Api | None = st.session_state.get("api")
    if kept is None:
        kept = st.session_state["api"] = Api(
            _place()["api"], st.session_state.get("key"), proof=_place()["proof"]
        )
    return kept


def me() -> dict[str, Any]:
    return st.session_state["me"]


def may(role: str) -> bool:
    return ROLES.index(me()["role"]) >= ROLES.index(role)


def sign_in() -> bool:
    """Whether this visit may go on; otherwise what it takes is on the page."""
    if "key" not in st.session_state and (known := VISITS.recall(_visit())):
        st.session_state["key"] = known
    if not st.session_state.get("key"):
        _send_away("You are not signed in.")
        return False
    try:
        st.session_state["me"] = api().get("/v1/me")
    except StewardError as error:
        if error.code == ErrorCode.UNAUTHENTICATED:
            sign_out()
            _send_away("The key that you signed in with opens nothing any more.")
        else:
            explain(error)
            st.button("Try again", icon=":material/refresh:")
        return False
    return True


def sign_out() -> None:
    VISITS.forget(_visit())
    if "api" in st.session_state:
        api().close()
    for name in list(st.session_state):
        del st.session_state[name]


def _send_away(why: str) -> None:
    st.title("Steward")
    st.write(why)
    st.html('<a href="/sign-in">Sign in</a>')  # plain: parts of the page come no more to who is not signed in


def explain(error: StewardError) -> None:
    """What went wrong and what to do about it, in plain words."""
    st.error(plain(error.explain()), icon=":material/error:")


@contextmanager
def plainly() -> Generator[None]:
    """Within it, what the API refuses is shown where it happened, and the rest of the page goes on."""
    try:
        yield
    except StewardError as error:
        explain(error)


@contextmanager
def quietly() -> Generator[None]:
    """The same for a callback, which runs before there is a page to show anything on."""
    try:
        yield
    except StewardError as error:
        say(error.explain(), icon=":material/error:")


def say(message: str, *, icon: str = ":material/check:") -> None:
    """Something that happened, said after the page is drawn again."""
    st.session_state.setdefault("toasts", []).append((message, icon))


def speak() -> None:
    for message, icon in st.session_state.pop("toasts", []):
        st.toast(plain(message), icon=icon)


def remember_pages(pages: Mapping[str, Any]) -> None:
    st.session_state["pages"] = pages


def go(page: str, **query: str) -> NoReturn:
    """Leave for another page of this visit."""
    st.switch_page(st.session_state["pages"][page], query_params=query)


def _visit() -> str:
    return st.context.cookies.get(COOKIE, "")


def _place() -> dict[str, Any]:
    return dict(st.secrets["steward"])
