"""Turns that run: begun on the page, followed by their events, stopped on request. One a conversation.

A turn goes on whatever its visitor looks at meanwhile. A new conversation has no name until the API gives it
one, which is before its first event; until then its turn is kept under `NEW`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from steward.surfaces.web import work
from steward.surfaces.web.client import Event
from steward.surfaces.web.session import api, quietly, say
from steward.surfaces.web.work import Job

NEW = "turn:"
CONVERSATION = "x-conversation-id"


def begin(message: str, *, conversation: str | None, agent: str | None = None) -> None:
    client = api()  # here, because the thread has no visit to take it from
    body = {"message": message, "conversation": conversation, "agent": agent}

    def run(job: Job) -> Mapping[str, Any] | None:
        def opened(headers: Mapping[str, str]) -> None:
            job.notes.append(("opened", {"conversation": headers[CONVERSATION]}))

        for name, data in client.events("/v1/chat", body, opened=opened):
            job.notes.append((name, data))
            if name == "done":
                return data
        return None

    work.start(_name(conversation), run, notes=[("said", {"text": message})])


def running(conversation: str | None) -> Job | None:
    return work.find(_name(conversation))


def ended(conversation: str | None) -> Job | None:
    """The turn of this conversation that has ended, once."""
    return work.take(_name(conversation))


def named() -> str | None:
    """The name that a new conversation has got meanwhile; from now on its turn is kept under it."""
    job = work.find(NEW)
    conversation = job and opened(job)
    if conversation:
        work.rename(NEW, _name(conversation))
    return conversation


def opened(job: Job) -> str | None:
    return next((data["conversation"] for name, data in notes(job) if name == "opened"), None)


def said(job: Job) -> str:
    return next(data["text"] for name, data in notes(job) if name == "said")


def notes(job: Job) -> Sequence[Event]:
    return list(job.notes)


def stop(conversation: str) -> None:
    with quietly():
        if api().post(f"/v1/conversations/{conversation}/stop")["stopped"]:
            say("Stopped. What was done until then stays done.", icon=":material/stop_circle:")


def _name(conversation: str | None) -> str:
    return NEW if conversation is None else f"{NEW}{conversation}"
