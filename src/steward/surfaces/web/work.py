"""Work that takes its time: it runs in a thread of its own, and the page looks after it.

A person may go on, change the page and come back; the work neither stops nor starts twice.
"""

import threading
from collections.abc import Callable, Iterable
from typing import Any

import streamlit as st

from steward.contract.errors import StewardError

LOOK_EVERY = 0.4  # seconds


class Job:
    """`notes` grows while the work runs; `result` or `error` is there once it is `done`."""

    def __init__(self, work: "Callable[[Job], Any]", notes: Iterable[Any] = ()) -> None:
        self.notes: list[Any] = list(notes)
        self.share = 0.0  # how much of it is done, from 0 to 1
        self.result: Any = None
        self.error: StewardError | None = None
        self._work = work
        self._finished = threading.Event()
        threading.Thread(target=self._run, name="page-work", daemon=True).start()

    @property
    def done(self) -> bool:
        return self._finished.is_set()

    def wait(self, seconds: float) -> bool:
        return self._finished.wait(seconds)

    def _run(self) -> None:
        try:
            self.result = self._work(self)
        except StewardError as error:
            self.error = error
        except Exception as error:  # noqa: BLE001 - a thread's end; the page must not wait for ever
            self.error = StewardError(f"This page could not go on ({type(error).__name__}).")
        finally:
            self._finished.set()


def start(name: str, work: Callable[[Job], Any], *, notes: Iterable[Any] = ()) -> Job:
    """Begin, unless this work of this visit already runs."""
    running = find(name)
    if running is None or running.done:
        running = _jobs()[name] = Job(work, notes)
    return running


def find(name: str) -> Job | None:
    return _jobs().get(name)


def take(name: str) -> Job | None:
    """The finished work of this name, once; None while it runs and when there is none."""
    job = find(name)
    return _jobs().pop(name) if job is not None and job.done else None


def ended(kind: str) -> list[tuple[str, Job]]:
    """Finished work whose names begin alike, once, each with the rest of its name."""
    names = [name for name, job in _jobs().items() if name.startswith(kind) and job.done]
    return [(name.removeprefix(kind), _jobs().pop(name)) for name in names]


def rename(name: str, new: str) -> None:
    _jobs()[new] = _jobs().pop(name)


def watch(
    job: Job, draw: Callable[[Job], object], *, until: Callable[[Job], object] = lambda job: job.done
) -> None:
    """Draw running work again and again; once it has come as far as `until`, the whole page follows."""

    @st.fragment(run_every=LOOK_EVERY)
    def look() -> None:
        draw(job)
        if until(job):
            st.rerun()

    look()


def _jobs() -> dict[str, Job]:
    return st.session_state.setdefault("jobs", {})
